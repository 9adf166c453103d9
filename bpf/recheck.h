/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A session that was judged under an older policy of its port: would it be opened today? */
#ifndef SECG_BPF_RECHECK_H
#define SECG_BPF_RECHECK_H

#include "outcome.h"
#include "session.h"

/*
 * Judges the opener's tuple, as the scratch's `recheck` asks, by the rules of the direction in which it opened; `p` is one of the session's
 * packets. 1: it stays. A global function, verified once; weak, because every hook brings it along.
 */
__attribute__((noinline, weak)) int recheck(const struct guard *g, const struct packet *p)
{
	__u32 action = SECG_ACTION_NONE, timeout_s = 0, opened, watch = 0;
	struct scratch *scratch = scratch_get();
	const struct secg_port_rules *rules;
	const struct secg_port *port;
	struct recheck *r;
	struct query *q;

	if (!g || !p || !scratch)
		return 0;
	r = &scratch->recheck;
	opened = r->opened & 1;
	port = guard_port(g, r->owner);
	rules = guard_rules(g, r->owner);
	if (!port || !rules)
		return 0;
	q = &scratch->query;
	if (rules->policy[opened]) {
		query_make(q, p, rules->policy[opened], r->is_reply);
		query_session(q, rules->own[opened], r->rule);
		action = policy_find(q, p);
	}
	if (action != SECG_ACTION_NONE) {
		r->rule = rule_word(rules->counters[opened], q->slot);
		timeout_s = q->timeout_s;
		watch = q->entry & SECG_ENTRY_WATCH ? watch_of_rule(r->rule) : 0;
	} else {
		action = rules->otherwise[opened];
		r->rule = 0;
		if (port->flags & SECG_PORT_LOG_DEFAULT)
			watch = watch_of_default(r->owner, opened);
		if (port->flags & SECG_PORT_AUDIT)
			action = SECG_ACTION_ALLOW;
	}
	if (action != SECG_ACTION_ALLOW)
		return 0;
	keepsake_of(&r->kept, timeout_s, watch, g->ticks_q8);
	return 1;
}

/* 1: the session stays, under its present rule and generation. 0: it is to be cut. */
static __attribute__((noinline)) int session_recheck(struct session *found, const struct guard *g,
						     const struct secg_port *owner,
						     const struct packet *p, __u32 side)
{
	struct scratch *scratch = scratch_get();
	struct recheck *r;

	if ((owner->flags & SECG_PORT_CUT) || !scratch)
		return 0;
	r = &scratch->recheck;
	*r = (struct recheck){
		.owner = found->flow->a.port,
		.opened = found->word & SECG_FLOW_OPENED_TO ? SECG_TO : SECG_FROM,
		.is_reply = side == SECG_REPLY,
		.rule = found->flow->s.rule,
	};
	if (!recheck(g, p))
		return 0;
	found->flow->s.rule = r->rule;
	found->flow->a.timeout = r->kept.timeout;
	found->flow->s.generation = owner->policy_generation;
	session_become(found, (found->word & ~(SECG_FLOW_OWN_TIMEOUT | SECG_FLOW_WATCHED)) |
				      r->kept.flags);
	return 1;
}

#endif
