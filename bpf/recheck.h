/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A session that was judged under an older policy of its port: would it be opened today? */
#ifndef SECG_BPF_RECHECK_H
#define SECG_BPF_RECHECK_H

#include "classify.h"
#include "guard.h"
#include "scratch.h"
#include "session.h"

/*
 * Judges the opener's tuple by the rules of the direction in which it opened; `p` is a packet of side
 * `side`. 1: it stays, under its present rule and generation. 0: it is to be cut.
 */
static __attribute__((noinline)) int session_recheck(const struct guard *g, struct session *found,
						     const struct packet *p, __u32 side)
{
	__u32 opened = found->word & SECG_FLOW_OPENED_TO ? SECG_TO : SECG_FROM;
	const struct secg_port_rules *rules = guard_rules(g);
	__u32 action = SECG_ACTION_NONE, rule = 0;
	struct scratch *scratch = scratch_get();
	struct query *q;

	if (!rules || !scratch)
		return 0;
	q = &scratch->query;
	if (rules->policy[opened]) {
		query_make(q, p, rules->policy[opened], side == SECG_REPLY);
		action = classify(q);
		if (action != SECG_ACTION_NONE)
			rule = rule_word(rules->counters[opened], q->slot);
	}
	if (action == SECG_ACTION_NONE)
		action = rules->otherwise[opened];
	if (action != SECG_ACTION_ALLOW)
		return 0;
	found->s->rule = rule;
	found->s->generation = g->port->policy_generation;
	return 1;
}

#endif
