/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A session opens: with a packet that `allow` lets pass, or in the first seconds of a port's guard with
 * one from the middle of a connection, then at once as an established one. Called by rules.h.
 */
#ifndef SECG_BPF_OPEN_H
#define SECG_BPF_OPEN_H

#include "outcome.h"
#include "promote.h"
#include "tcp.h"

/* Whether a flow of the packet can be followed at all. */
__inline int is_trackable(const struct packet *p)
{
	return p->family != SECG_FAMILY_OTHER &&
	       (p->l4 == L4_NONE || p->l4 == L4_PORTS || p->l4 == L4_ICMP_QUERY);
}

/* TCP from the middle of a connection, at a time when that opens established sessions. */
__inline int is_pickup(const struct secg_port *port, const struct guard *g, const struct packet *p)
{
	return (port->flags & SECG_PORT_PICKUP) && (__s32)(port->pickup_until - g->now) > 0 &&
	       p->proto == IPPROTO_TCP && p->l4 == L4_PORTS && tcp_flags_are_sane(p->tcp_flags) &&
	       !(p->tcp_flags & (TCP_SYN | TCP_RST));
}

/* Where the port resets sessions that expire, both ends' MACs as this frame shows them. None of a tagged one:
 * a session does not know its VLAN. */
__inline void note_macs(struct hook_context *ctx, const struct guard *g,
			const struct secg_port *port, struct secg_flow_account *a, __u32 side)
{
	struct scratch *scratch = scratch_get();

	if (!(port->flags & SECG_PORT_RESET) || g->is_l3 || !scratch || hook_tag_type(ctx) ||
	    load_bytes(ctx, 0, &scratch->eth, sizeof(scratch->eth)) ||
	    scratch->eth.h_proto == bpf_htons(ETH_P_8021Q) ||
	    scratch->eth.h_proto == bpf_htons(ETH_P_8021AD))
		return;
	__builtin_memcpy(a->mac[side & 1], scratch->eth.h_source, ETH_ALEN);
	__builtin_memcpy(a->mac[!side], scratch->eth.h_dest, ETH_ALEN);
}

/* The flow of a packet of side `side`, in the scratch. */
__inline struct secg_flow *flow_start(struct scratch *scratch, const struct guard *g,
				      const struct secg_port *port, const struct packet *p,
				      const struct outcome *o, __u32 side,
				      const struct keepsake *kept)
{
	__u32 opened = side == SECG_ORIG ? g->direction : !g->direction;
	struct secg_flow *flow = &scratch->opening;

	__builtin_memset(flow, 0, sizeof(*flow));
	flow->s.state = SECG_FLOW_NEW | (opened == SECG_TO ? SECG_FLOW_OPENED_TO : 0) | kept->flags;
	flow->s.seen = g->now;
	flow->s.rule = o->rule;
	flow->s.generation = port->policy_generation;
	flow->a.packets[side & 1] = p->packets;
	flow->a.bytes[side & 1] = p->bytes;
	flow->a.created = g->now;
	flow->a.port = g->id;
	flow->a.timeout = kept->timeout;
	return flow;
}

/* Opens an established session with the packet, of side `side`; the reason where it cannot. */
__inline __u32 session_pick_up(struct hook_context *ctx, const struct guard *g,
			       const struct secg_port *port, const struct packet *p,
			       const struct outcome *o, __u32 side, const struct keepsake *kept)
{
	__u32 opened = side == SECG_ORIG ? g->direction : !g->direction, reason;
	struct scratch *scratch = scratch_get();
	const struct secg_flow_key *key;
	struct secg_flow *flow;

	if (!scratch)
		return SECG_REASON_UNDECIDED;
	key = &scratch->key;
	flow = flow_start(scratch, g, port, p, o, side, kept);
	reason = port->flags & SECG_PORT_LIMITS ? limit_take(g, key, opened, 0) : SECG_REASON_NONE;
	if (reason)
		return reason;
	flow->s.state = tcp_fins((flow->s.state & ~SECG_FLOW_PHASE_MASK) | SECG_FLOW_PICKUP |
					 SECG_FLOW_ESTABLISHED,
				 p->tcp_flags, side);
	flow->a.edge[side & 1] = p->ack;
	flow->a.edge[!side] = p->seq;
	note_macs(ctx, g, port, &flow->a, side);
	TRACE(would_create, 1);
	if (!promote(g, secg_flow_hash(key, secg_hash_seed)))
		return SECG_REASON_NONE;
	limit_give(g, key, g->id, flow->s.state);
	return port->flags & SECG_PORT_FAIL_OPEN ? SECG_REASON_NONE : SECG_REASON_SESSION_FULL;
}

/* Opens a session with a packet that `allow` lets pass, or says why it cannot. */
__inline __u32 session_open(struct hook_context *ctx, const struct guard *g,
			    const struct secg_port *port, const struct packet *p,
			    const struct outcome *o, const struct keepsake *kept)
{
	struct scratch *scratch = scratch_get();
	const struct secg_flow_key *key;
	struct secg_flow *flow;
	__u32 reason;

	if (!scratch)
		return SECG_REASON_UNDECIDED;
	key = &scratch->key;
	if (p->proto == IPPROTO_TCP) {
		if (!tcp_flags_are_sane(p->tcp_flags))
			return SECG_REASON_TCP_BAD_FLAGS;
		if (is_pickup(port, g, p))
			return session_pick_up(ctx, g, port, p, o, SECG_ORIG, kept);
		if (!is_opening_syn(p->tcp_flags) && (port->flags & SECG_PORT_TCP_STRICT))
			return SECG_REASON_TCP_NOT_SYN;
		/* The rules let it pass; there is nothing left to follow. */
		if (p->tcp_flags & TCP_RST)
			return SECG_REASON_NONE;
	}
	reason = port->flags & SECG_PORT_LIMITS
			 ? limit_take(g, key, g->direction, p->proto == IPPROTO_TCP)
			 : SECG_REASON_NONE;
	if (reason)
		return reason;
	TRACE(would_create, 1);
	flow = flow_start(scratch, g, port, p, o, SECG_ORIG, kept);
	if (is_traced())
		return SECG_REASON_NONE;
	if (p->proto == IPPROTO_TCP) {
		flow->a.edge[SECG_REPLY] = p->seq + !!(p->tcp_flags & TCP_SYN);
		if (!is_opening_syn(p->tcp_flags)) {
			flow->s.state =
				tcp_fins(flow->s.state | SECG_FLOW_PICKUP, p->tcp_flags, SECG_ORIG);
			flow->a.edge[SECG_ORIG] = p->ack;
		}
	}
	note_macs(ctx, g, port, &flow->a, SECG_ORIG);
	/* Another CPU may have been first with the same flow, which then is open. */
	if (bpf_map_update_elem(&secg_new, key, flow, BPF_NOEXIST) &&
	    (port->flags & SECG_PORT_LIMITS))
		limit_give(g, key, g->id, flow->s.state);
	return SECG_REASON_NONE;
}

#endif
