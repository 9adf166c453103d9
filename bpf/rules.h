/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Rules and default, for a packet that no session decides. */
#ifndef SECG_BPF_RULES_H
#define SECG_BPF_RULES_H

#include "open.h"
#include "recheck.h"

/* The rule that decides, what it wants to be told, what a session keeps of it. SECG_ACTION_NONE: none. */
__inline __u32 rule_find(struct outcome *o, struct keepsake *kept, const struct guard *g,
			 const struct packet *p, const struct secg_port_rules *rules,
			 struct query *q)
{
	__u32 direction = g->direction & 1, action;

	if (!rules->policy[direction])
		return SECG_ACTION_NONE;
	query_make(q, p, rules->policy[direction], 0);
	q->counters = rules->counters[direction];
	action = policy_find(q, p);
	if (action == SECG_ACTION_NONE)
		return action;
	o->rule = rule_word(q->counters, q->slot);
	o->watch = watch_of_rule(o->rule);
	if (q->entry & SECG_ENTRY_WATCH)
		o->what |= TELL_RULE;
	if (q->entry & SECG_ENTRY_AUDIT)
		o->what |= TELL_AUDIT;
	if (action == SECG_ACTION_ALLOW)
		keepsake_of(kept, q->timeout_s, q->entry & SECG_ENTRY_WATCH ? o->watch : 0,
			    g->ticks_q8);
	return action;
}

/* Likewise the default. */
__inline __u32 default_find(struct outcome *o, struct keepsake *kept, const struct guard *g,
			    const struct secg_port *port, const struct secg_port_rules *rules)
{
	__u32 action = rules->otherwise[g->direction & 1];

	o->watch = watch_of_default(g->id, g->direction);
	if (port->flags & SECG_PORT_LOG_DEFAULT)
		o->what |= TELL_RULE;
	if (action != SECG_ACTION_ALLOW && action != SECG_ACTION_ALLOW_STATELESS &&
	    (port->flags & SECG_PORT_AUDIT)) {
		o->what |= TELL_AUDIT;
		action = SECG_ACTION_ALLOW;
	}
	if (action == SECG_ACTION_ALLOW)
		keepsake_of(kept, 0, port->flags & SECG_PORT_LOG_DEFAULT ? o->watch : 0,
			    g->ticks_q8);
	return action;
}

__inline void refuse(struct outcome *o, __u32 action)
{
	if (action == SECG_ACTION_REJECT)
		o->what |= TELL_REJECT;
	if (o->rule)
		o->reason = action == SECG_ACTION_REJECT ? SECG_REASON_RULE_REJECT
							 : SECG_REASON_RULE_DROP;
	else
		o->reason = SECG_REASON_DEFAULT;
}

/* What follows from `action`. */
__inline void act(struct outcome *o, struct hook_context *ctx, const struct guard *g,
		  const struct secg_port *port, const struct packet *p, const struct keepsake *kept)
{
	const struct secg_port_rules *rules = guard_rules(g, g->id);

	if (o->action != SECG_ACTION_ALLOW && o->action != SECG_ACTION_ALLOW_STATELESS) {
		refuse(o, o->action);
		return;
	}
	/* Not by what audit makes of a refusal: it drops nothing. */
	if (o->action == SECG_ACTION_ALLOW && p->l4 == L4_ICMP_ERROR && o->rule &&
	    !(o->what & TELL_AUDIT)) {
		o->reason = SECG_REASON_ICMP_UNRELATED;
		return;
	}
	if (o->action != SECG_ACTION_ALLOW || !is_trackable(p) || o->is_again || !rules)
		return;
	o->reason = session_open(ctx, g, port, p, o, kept);
	/* A direction without rules that refuses nothing passes also what no session can follow. */
	if (!rules->policy[g->direction & 1] &&
	    (o->reason == SECG_REASON_TCP_BAD_FLAGS || o->reason == SECG_REASON_TCP_NOT_SYN))
		o->reason = SECG_REASON_NONE;
}

/* Judges the packet, and opens a session where that follows. A global function, verified once. */
__attribute__((noinline)) int HOOK(rules_packet)(struct hook_context *ctx, const struct packet *p,
						 const struct guard *g, struct outcome *o)
{
	struct scratch *scratch = scratch_get();
	const struct secg_port_rules *rules;
	const struct secg_port *port;
	struct keepsake kept = {};

	if (!p || !g || !o)
		return 0;
	port = guard_port(g, g->id);
	rules = guard_rules(g, g->id);
	if (!port || !rules || !scratch) {
		o->reason = SECG_REASON_UNDECIDED;
		return 0;
	}
	o->action = rule_find(o, &kept, g, p, rules, &scratch->query);
	if (o->action == SECG_ACTION_NONE)
		o->action = default_find(o, &kept, g, port, rules);
	act(o, ctx, g, port, p, &kept);
	return 0;
}

/*
 * Its own rules refuse a packet from the middle of a connection: the other side may have opened it, if the
 * rules of the other direction let it. A global function, verified once.
 */
__attribute__((noinline)) int HOOK(reply_picks_up)(struct hook_context *ctx, const struct packet *p,
						   const struct guard *g, struct outcome *o)
{
	struct scratch *scratch = scratch_get();
	const struct secg_port *port;
	struct recheck *r;

	if (!p || !g || !o || !scratch)
		return 0;
	port = guard_port(g, g->id);
	r = &scratch->recheck;
	*r = (struct recheck){.owner = g->id, .opened = !g->direction, .is_reply = 1};
	if (!port || !is_pickup(port, g, p) || !recheck(g, p))
		return 0;
	o->rule = r->rule;
	o->what = 0;
	o->action = SECG_ACTION_ALLOW;
	o->reason = session_pick_up(ctx, g, port, p, o, SECG_REPLY, &r->kept);
	return 0;
}

#endif
