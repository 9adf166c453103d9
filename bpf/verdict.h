/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The one verdict, the same at every hook. Order of evaluation:
 * malformed → infrastructure → session or related → fragment → rules → default.
 * A reason of SECG_REASON_NONE lets the packet pass; every other drops it under that name.
 */
#ifndef SECG_BPF_VERDICT_H
#define SECG_BPF_VERDICT_H

#include "account.h"
#include "fragment.h"
#include "guard.h"
#include "icmp_error.h"
#include "infra.h"
#include "outcome.h"
#include "recheck.h"
#include "tcp.h"

/* A packet of a live session. Sets o->is_known where that decides. */
__inline void session_packet(struct outcome *o, const struct guard *g, const struct packet *p,
			     struct session *found, const struct secg_flow_key *key, __u32 hash)
{
	__u32 opened = found->word & SECG_FLOW_OPENED_TO ? SECG_TO : SECG_FROM;
	__u32 side = opened == g->direction ? SECG_ORIG : SECG_REPLY;
	enum step step;

	if (is_expired(g->port, p->proto, found->s, found->word, g->now)) {
		session_free(found, key, hash);
		return;
	}
	if (found->s->generation != g->port->policy_generation &&
	    !(g->port->flags & SECG_PORT_KEEP) && !session_recheck(g, found, p, side)) {
		session_free(found, key, hash);
		o->is_cut = 1;
		TRACE(session, SECG_TRACE_SESSION_CUT);
		return;
	}
	step = session_step(found, p, side);
	if (step == STEP_ANEW) {
		session_free(found, key, hash);
		return;
	}
	o->is_known = 1;
	TRACE(session, SECG_TRACE_SESSION_FOUND);
	if (step == STEP_BAD_FLAGS || step == STEP_RST_WINDOW) {
		o->reason = step == STEP_BAD_FLAGS ? SECG_REASON_TCP_BAD_FLAGS
						   : SECG_REASON_TCP_RST_WINDOW;
		return;
	}
	o->rule = found->s->rule;
	found->a->packets[side] += p->packets;
	found->a->bytes[side] += p->bytes;
	if (found->s->seen != g->now)
		found->s->seen = g->now;
	if (step == STEP_PROMOTE) {
		__u32 word = (found->word & ~SECG_FLOW_PHASE_MASK) | SECG_FLOW_ESTABLISHED;

		if (p->proto == IPPROTO_TCP)
			word = tcp_fins(word, p->tcp_flags, side);
		if (promote(key, found, hash, g->ports, word))
			o->reason = SECG_REASON_SESSION_FULL;
	} else if (step == STEP_END) {
		session_free(found, key, hash);
	}
}

/* Whether a flow of the packet can be followed at all. */
__inline int is_trackable(const struct packet *p)
{
	return p->family != SECG_FAMILY_OTHER &&
	       (p->l4 == L4_NONE || p->l4 == L4_PORTS || p->l4 == L4_ICMP_QUERY);
}

/* A packet that `allow` lets pass opens a session, or says why it cannot. */
static __attribute__((noinline)) __u32 session_open(const struct guard *g, const struct packet *p,
						    const struct secg_flow_key *key, __u32 rule)
{
	struct secg_flow flow = {
		.s.state = SECG_FLOW_NEW | (g->direction == SECG_TO ? SECG_FLOW_OPENED_TO : 0),
		.s.seen = g->now,
		.s.rule = rule,
		.s.generation = g->port->policy_generation,
		.a.packets[SECG_ORIG] = p->packets,
		.a.bytes[SECG_ORIG] = p->bytes,
		.a.created = g->now,
		.a.port = g->id,
	};

	if (p->proto == IPPROTO_TCP) {
		if (!tcp_flags_are_sane(p->tcp_flags))
			return SECG_REASON_TCP_BAD_FLAGS;
		if (!is_opening_syn(p->tcp_flags)) {
			if (g->port->flags & SECG_PORT_TCP_STRICT)
				return SECG_REASON_TCP_NOT_SYN;
			/* The rules let it pass; there is nothing left to follow. */
			if (p->tcp_flags & TCP_RST)
				return SECG_REASON_NONE;
			flow.s.state =
				tcp_fins(flow.s.state | SECG_FLOW_PICKUP, p->tcp_flags, SECG_ORIG);
			flow.a.edge[SECG_ORIG] = p->ack;
		}
		flow.a.edge[SECG_REPLY] = p->seq + !!(p->tcp_flags & TCP_SYN);
	}
	TRACE(would_create, 1);
	if (is_traced())
		return SECG_REASON_NONE;
	/* Another CPU may have been first with the same flow, which then is open. */
	bpf_map_update_elem(&secg_new, key, &flow, BPF_NOEXIST);
	return SECG_REASON_NONE;
}

/* The rule that decided, and what it wants to be told. */
__inline void outcome_of_rule(struct outcome *o, const struct query *q)
{
	o->rule = rule_word(q->counters, q->slot);
	if (q->entry & SECG_ENTRY_WATCH)
		o->what |= TELL_RULE;
	if (q->entry & SECG_ENTRY_AUDIT)
		o->what |= TELL_AUDIT;
}

/* Rules and default, for a packet that no session decides. */
__inline void rules_packet(struct outcome *o, const struct guard *g, const struct packet *p,
			   const struct secg_flow_key *key)
{
	__u32 direction = g->direction & 1, action = SECG_ACTION_NONE;
	const struct secg_port_rules *rules = guard_rules(g);
	struct scratch *scratch = scratch_get();

	if (!rules || !scratch) {
		o->reason = SECG_REASON_UNDECIDED;
		return;
	}
	if (rules->policy[direction]) {
		struct query *q = &scratch->query;

		query_make(q, p, rules->policy[direction], 0);
		q->counters = rules->counters[direction];
		action = classify(q);
		if (action != SECG_ACTION_NONE)
			outcome_of_rule(o, q);
	}
	if (action == SECG_ACTION_DROP) {
		rule_count(o->rule, p->packets, p->bytes);
		o->reason = SECG_REASON_RULE_DROP;
		return;
	}
	if (action == SECG_ACTION_NONE) {
		action = rules->otherwise[direction];
		if (action == SECG_ACTION_DROP || action == SECG_ACTION_NONE) {
			o->reason = SECG_REASON_DEFAULT;
			return;
		}
	}
	if (action == SECG_ACTION_ALLOW && p->l4 == L4_ICMP_ERROR && o->rule) {
		o->reason = SECG_REASON_ICMP_UNRELATED;
		return;
	}
	if (action != SECG_ACTION_ALLOW || !is_trackable(p))
		return;
	o->reason = session_open(g, p, key, o->rule);
	/* A direction without rules that refuses nothing passes also what no session can follow. */
	if (!rules->policy[direction])
		o->reason = SECG_REASON_NONE;
}

/* Infrastructure: 1 where it decides. */
__inline int infra_packet(struct outcome *o, struct hook_context *ctx, const struct guard *g,
			  const struct packet *p)
{
	__u32 bit = 0;

	switch (infra(ctx, p, g->port->infra[g->direction & 1], &bit)) {
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

/* Everything between parser and counters. */
__inline void judge(struct outcome *o, struct hook_context *ctx, const struct guard *g,
		    const struct packet *p)
{
	struct secg_flow_key key;
	struct session found;

	if (infra_packet(o, ctx, g, p))
		return;
	if (p->fragment == FRAGMENT_LATER) {
		o->reason = fragment_later(g, p, &o->rule);
	} else if (!(g->port->flags & SECG_PORT_STATEFUL)) {
		rules_packet(o, g, p, &key);
	} else if (p->l4 == L4_ICMP_ERROR && is_related(ctx, g, p, &o->rule)) {
		o->is_known = 1;
		TRACE(session, SECG_TRACE_SESSION_RELATED);
	} else {
		if (is_trackable(p) || p->l4 == L4_ICMP_ANSWER) {
			__u32 hash;

			key_make(&key, p, g->port->domain, g->direction);
			hash = secg_flow_hash(&key, secg_hash_seed);
			if (session_find(&found, &key, hash))
				session_packet(o, g, p, &found, &key, hash);
		}
		if (!o->is_known)
			rules_packet(o, g, p, &key);
	}
	if (o->is_cut && (o->reason == SECG_REASON_DEFAULT || o->reason == SECG_REASON_RULE_DROP))
		o->reason = SECG_REASON_POLICY_CHANGE;
	if (o->reason != SECG_REASON_NONE)
		return;
	rule_count(o->rule, p->packets, p->bytes);
	if (p->fragment == FRAGMENT_FIRST)
		fragment_first(g, p, o->rule);
}

__inline int released(void)
{
	TRACE(is_released, 1);
	return 0;
}

/* Everything behind the parser; nonzero: drop. */
__inline int verdict_of(struct hook_context *ctx, const struct packet *p,
			const struct arrival *arrival)
{
	struct outcome o = {};
	struct guard g;

	o.reason = arrival->reason;
	if (guard_find(&g, arrival))
		o.reason = SECG_REASON_UNDECIDED;
	else if (g.port->flags & SECG_PORT_RELEASED)
		return released();
	if (o.reason == SECG_REASON_NONE) {
		g.now = now_ticks();
		judge(&o, ctx, &g, p);
	}
	account(g.id, g.direction, p, o.reason);
	outcome_tell(&o, ctx, &g, p, arrival);
	TRACE(reason, o.reason);
	TRACE(rule, o.rule & SECG_RULE_NUMBER_MASK);
	return o.reason != SECG_REASON_NONE;
}

/* Parses the frame and judges it. Nonzero: drop. */
__inline int verdict(struct hook_context *ctx, const struct frame *f,
		     const struct secg_ifindex *entry, __u32 direction)
{
	struct packet p = {};
	struct arrival arrival = {
		.ifindex = entry ? entry->ifindex : 0,
		.port = entry ? entry->port : 0,
		.direction = direction,
		.length = f->length,
		.is_l3 = f->is_l3,
	};

	arrival.reason = parse(ctx, &p, f);
	return verdict_of(ctx, &p, &arrival);
}

#endif
