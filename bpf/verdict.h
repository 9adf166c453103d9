/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The one verdict, the same at every hook. Order of evaluation:
 * malformed → anti-spoof → infrastructure → session or related → fragment → rules → default.
 * A reason of SECG_REASON_NONE lets the packet pass; every other drops it under that name. What a packet
 * of an established session meets is inline; the rest are global functions, which the verifier reads once.
 */
#ifndef SECG_BPF_VERDICT_H
#define SECG_BPF_VERDICT_H

#include "account.h"
#include "antispoof.h"
#include "fragment.h"
#include "icmp_error.h"
#include "infra.h"
#include "rules.h"

/* An answered flow moves to the established table; the reason where there is no room. */
static __attribute__((noinline)) __u32 session_promote(struct session *found,
						       struct hook_context *ctx,
						       const struct guard *g,
						       const struct packet *p)
{
	struct scratch *scratch = scratch_get();
	const struct secg_port *port = guard_port(g, g->id);
	__u32 opened = found->word & SECG_FLOW_OPENED_TO ? SECG_TO : SECG_FROM;
	__u32 side = opened == g->direction ? SECG_ORIG : SECG_REPLY;
	struct secg_flow *flow;

	if (!scratch || !port)
		return SECG_REASON_UNDECIDED;
	flow = &scratch->opening;
	*flow = *found->flow;
	flow->s.state = (found->word & ~SECG_FLOW_PHASE_MASK) | SECG_FLOW_ESTABLISHED;
	if (p->proto == IPPROTO_TCP)
		flow->s.state = tcp_fins(flow->s.state, p->tcp_flags, side);
	note_macs(ctx, g, port, &flow->a, side);
	if (!promote(g, secg_flow_hash(&scratch->key, secg_hash_seed)))
		return SECG_REASON_NONE;
	return port->flags & SECG_PORT_FAIL_OPEN ? SECG_REASON_NONE : SECG_REASON_SESSION_FULL;
}

/* A packet of a live session. Sets o->is_known where that decides. */
__inline void session_packet(struct outcome *o, struct hook_context *ctx, const struct guard *g,
			     const struct secg_port *port, const struct packet *p,
			     struct session *found, __u32 hash)
{
	__u32 opened = found->word & SECG_FLOW_OPENED_TO ? SECG_TO : SECG_FROM;
	__u32 side = opened == g->direction ? SECG_ORIG : SECG_REPLY;
	const struct secg_port *owner = session_owner(found, g, port);
	enum step step;

	if (owner && is_expired(owner, p->proto, found->flow, found->word, g->now)) {
		session_free(found, g, hash);
		return;
	}
	if (!owner ||
	    (found->flow->s.generation != owner->policy_generation &&
	     !(owner->flags & SECG_PORT_KEEP) && !session_recheck(found, g, owner, p, side))) {
		session_free(found, g, hash);
		o->is_cut = 1;
		TRACE(session, SECG_TRACE_SESSION_CUT);
		return;
	}
	step = session_step(found, p, side);
	if (step == STEP_ANEW) {
		session_free(found, g, hash);
		return;
	}
	if (step == STEP_ASK) {
		o->is_again = 1;
		return;
	}
	o->is_known = 1;
	TRACE(session, SECG_TRACE_SESSION_FOUND);
	if (step == STEP_BAD_FLAGS || step == STEP_RST_WINDOW) {
		o->reason = step == STEP_BAD_FLAGS ? SECG_REASON_TCP_BAD_FLAGS
						   : SECG_REASON_TCP_RST_WINDOW;
		return;
	}
	outcome_of_session(o, found);
	found->flow->a.packets[side] += p->packets;
	found->flow->a.bytes[side] += p->bytes;
	if (found->flow->s.seen != g->now)
		found->flow->s.seen = g->now;
	if (step == STEP_PROMOTE)
		o->reason = session_promote(found, ctx, g, p);
	else if (step == STEP_END)
		session_free(found, g, hash);
}

/* Infrastructure: 1 where it decides. */
__inline int infra_packet(struct outcome *o, struct hook_context *ctx, const struct guard *g,
			  const struct secg_port *port, const struct packet *p)
{
	__u32 bit = 0;

	switch (infra(ctx, p, port->infra[g->direction & 1], &bit)) {
	case INFRA_PASS:
		account_infra(g->id, p, bit);
		return 1;
	case INFRA_HOP_LIMIT:
		o->reason = SECG_REASON_HOP_LIMIT;
		return 1;
	default:
		return 0;
	}
}

/* Session, related error, fragment, rules. */
__inline void judge_flow(struct scratch *scratch, struct hook_context *ctx, const struct guard *g,
			 const struct secg_port *port)
{
	const struct packet *p = &scratch->packet;
	struct outcome *o = &scratch->outcome;
	struct session found;

	if (p->fragment == FRAGMENT_LATER) {
		fragment_later(g, p, o);
		return;
	}
	if ((port->flags & SECG_PORT_STATEFUL) && p->l4 == L4_ICMP_ERROR &&
	    HOOK(is_related)(ctx, p, g, o)) {
		o->is_known = 1;
		TRACE(session, SECG_TRACE_SESSION_RELATED);
		return;
	}
	if ((port->flags & SECG_PORT_STATEFUL) && (is_trackable(p) || p->l4 == L4_ICMP_ANSWER)) {
		struct secg_flow_key *key = &scratch->key;
		__u32 hash;

		key_make(key, p, port->domain, g->direction);
		hash = secg_flow_hash(key, secg_hash_seed);
		if (session_find(&found, key, hash))
			session_packet(o, ctx, g, port, p, &found, hash);
	}
	if (o->is_known)
		return;
	HOOK(rules_packet)(ctx, p, g, o);
	if ((port->flags & SECG_PORT_PICKUP) && is_refused(o->reason) && !o->is_again)
		HOOK(reply_picks_up)(ctx, p, g, o);
}

/* Everything between parser and counters. */
__inline void judge(struct scratch *scratch, struct hook_context *ctx, const struct guard *g,
		    const struct secg_port *port)
{
	const struct packet *p = &scratch->packet;
	struct outcome *o = &scratch->outcome;

	if (infra_packet(o, ctx, g, port, p))
		return;
	judge_flow(scratch, ctx, g, port);
	if (p->fragment == FRAGMENT_FIRST)
		fragment_first(g, p, o);
	if (o->reason == SECG_REASON_NONE || is_refused(o->reason))
		rule_count(o->rule, p->packets, p->bytes);
	if (o->is_cut && (is_refused(o->reason) || o->reason == SECG_REASON_TCP_NOT_SYN))
		o->reason = SECG_REASON_POLICY_CHANGE;
}

__inline int released(void)
{
	TRACE(is_released, 1);
	return 0;
}

/* Parses the frame and judges it. Nonzero: drop. */
__inline int verdict(struct hook_context *ctx, const struct frame *f,
		     const struct secg_ifindex *entry, __u32 direction)
{
	const struct secg_port *port;
	struct scratch *scratch = scratch_get();
	struct outcome *o;
	struct packet *p;
	struct guard g;
	struct arrival arrival = {
		.ifindex = entry ? entry->ifindex : 0,
		.port = entry ? entry->port : 0,
		.direction = direction,
		.length = f->length,
		.is_l3 = f->is_l3,
	};

	if (!scratch) /* cannot be */
		return 1;
	p = &scratch->packet;
	o = &scratch->outcome;
	__builtin_memset(p, 0, sizeof(*p));
	__builtin_memset(o, 0, sizeof(*o));
	o->reason = parse(ctx, p, f);
	port = guard_find(&g, &arrival);
	if (!port)
		o->reason = SECG_REASON_UNDECIDED;
	else if (port->flags & SECG_PORT_RELEASED)
		return released();
	if (o->reason == SECG_REASON_NONE && (port->flags & SECG_PORT_VALID)) {
		g.now = now_ticks();
		if (direction == SECG_FROM)
			o->reason = antispoof(ctx, &g, port, p);
		if (o->reason == SECG_REASON_NONE)
			judge(scratch, ctx, &g, port);
	}
	account(g.id, g.direction, p, o->reason);
	outcome_tell(o, ctx, &g, p, &arrival);
	TRACE(reason, o->reason);
	TRACE(rule, o->rule & SECG_RULE_NUMBER_MASK);
	return o->reason != SECG_REASON_NONE;
}

#endif
