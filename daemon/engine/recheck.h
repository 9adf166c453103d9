/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions under a new policy: judged by the daemon before the write is answered, so that the answer says
 * how many it has ended. What is opened meanwhile is left to the data path, which judges a session at its
 * next packet by the same rules.
 */
#ifndef SECG_ENGINE_RECHECK_H
#define SECG_ENGINE_RECHECK_H

#include "engine/generation.h"

struct engine;
struct dp_session;

/* Sessions of ports whose policy has changed. */
struct recheck_counts {
	uint64_t kept;
	uint64_t cut;
};

/*
 * Judges the sessions of all ports that `next` has changed or, unlike `before`, no longer has. Unless it is a trial, ends
 * those that `next`, which is live then, does not admit. -ENOMEM, or what the tables answered; counted is
 * what was judged until then.
 */
int recheck_sessions(struct engine *engine, const struct generation *before,
		     const struct generation *next, bool is_trial,
		     struct recheck_counts *ret_counts);

/* Whether the port's policy admits the session. Pure. */
bool recheck_admits(const struct generation_port *entry, const struct dp_session *session);

#endif
