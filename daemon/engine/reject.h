/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers sent: to packets that a rule rejects, and to both ends of sessions that expire. Without a
 * daemon, or without the right to send (CAP_NET_RAW), a rejected packet is dropped and no more.
 *
 * Where an answer leaves the host, by where its receiver is:
 *   beyond the port            out of the port's interface, past our own hook there
 *   on this side of the port   out of the bridge that the port is in, which knows where the receiver is;
 *                              else, or where the bridge itself is the receiver, as the routes say
 */
#ifndef SECG_ENGINE_REJECT_H
#define SECG_ENGINE_REJECT_H

#include <secg/event.h>

#include "dp/dp.h"

struct engine;

/* Answers since the daemon started. */
struct answer_counts {
	uint64_t sent;
	uint64_t failed;  /* the kernel did not take it */
	uint64_t skipped; /* must not be answered, or came too late */
	uint64_t resets;  /* at the end of sessions; both ends count */
};

/* `now_ns` is CLOCK_MONOTONIC. */
void reject_answer(struct engine *engine, const struct secg_event_reject *record, uint64_t now_ns);
/* For dp_sessions_sweep: resets both ends of an established TCP session where its port asks for it. */
void reject_reset(const struct dp_session *session, void *engine);

#endif
