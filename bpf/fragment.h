/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Later fragments inherit the verdict of the first of their datagram; one that comes before it is
 * dropped, so is one that overwrites a part of the first. No rule is ever matched with ports that a fragment
 * does not show.
 */
#ifndef SECG_BPF_FRAGMENT_H
#define SECG_BPF_FRAGMENT_H

#include "outcome.h"

#define FRAGMENT_TO   0x1
#define FRAGMENT_IPV6 0x2

/* How long a datagram may take to arrive, as the receiver's own reassembly (RFC 8200 §4.5), in ticks of
 * at least 8 ms: between 60 s and ten minutes; the LRU forgets earlier under load. */
#define FRAGMENT_LIFE_TICKS 7500

__inline void fragment_key(struct secg_fragment_key *key, const struct guard *g,
			   const struct packet *p)
{
	__builtin_memcpy(key->src, p->src, 16);
	__builtin_memcpy(key->dst, p->dst, 16);
	key->id = p->fragment_id;
	key->port = g->id;
	/* IPv6 names the protocol in the first fragment only. */
	key->proto = p->family == SECG_FAMILY_IPV6 ? 0 : p->proto;
	key->flags = (g->direction == SECG_TO ? FRAGMENT_TO : 0) |
		     (p->family == SECG_FAMILY_IPV6 ? FRAGMENT_IPV6 : 0);
}

/* Nothing is refused in this direction, so nothing has to be known of a datagram. */
__inline int refuses_nothing(const struct secg_port *port, const struct secg_port_rules *rules,
			     __u32 direction)
{
	__u32 action = rules->otherwise[direction & 1];

	if (rules->policy[direction & 1])
		return 0;
	return action == SECG_ACTION_ALLOW || action == SECG_ACTION_ALLOW_STATELESS ||
	       (port->flags & SECG_PORT_AUDIT);
}

/* The first fragment has been judged: so will be the rest. Weak, because every hook brings it along. */
__attribute__((noinline, weak)) int fragment_first(const struct guard *g, const struct packet *p,
						   struct outcome *o)
{
	const struct secg_port_rules *rules;
	const struct secg_port *port;
	struct secg_fragment value = {};
	struct secg_fragment_key key;

	if (!g || !p || !o)
		return 0;
	rules = guard_rules(g, g->id);
	port = guard_port(g, g->id);
	if (is_traced() || !rules || !port || refuses_nothing(port, rules, g->direction))
		return 0;
	value.seen = g->now;
	value.rule = o->rule;
	value.end = p->fragment_edge;
	value.is_dropped = o->reason != SECG_REASON_NONE;
	fragment_key(&key, g, p);
	if (!bpf_map_update_elem(&secg_fragments, &key, &value, BPF_ANY))
		return 0;
	if (o->reason == SECG_REASON_NONE && !(port->flags & SECG_PORT_FAIL_OPEN))
		o->reason = SECG_REASON_FRAG_FULL;
	return 0;
}

/* A later one passes by the rule that let the first pass. Weak, because every hook brings it along. */
__attribute__((noinline, weak)) int fragment_later(const struct guard *g, const struct packet *p,
						   struct outcome *o)
{
	const struct secg_port_rules *rules;
	struct secg_fragment_key key;
	const struct secg_port *port;
	struct secg_fragment *first;

	if (!g || !p || !o)
		return 0;
	rules = guard_rules(g, g->id);
	port = guard_port(g, g->id);
	o->reason = SECG_REASON_UNDECIDED;
	if (!rules || !port)
		return 0;
	o->reason = SECG_REASON_NONE;
	if (refuses_nothing(port, rules, g->direction))
		return 0;
	fragment_key(&key, g, p);
	first = bpf_map_lookup_elem(&secg_fragments, &key);
	/* Signed: another CPU may have stored it a tick after this one read the clock. */
	if (!first || (__s32)(g->now - first->seen) > FRAGMENT_LIFE_TICKS) {
		o->reason = SECG_REASON_FRAG_EARLY;
		return 0;
	}
	if (first->is_dropped) {
		o->reason = SECG_REASON_FRAG_VERDICT;
		return 0;
	}
	/* RFC 5722, RFC 1858 §3: it could put other ports in the place of those that were judged. */
	if (p->fragment_edge < first->end) {
		o->reason = SECG_REASON_FRAG_OVERLAP;
		return 0;
	}
	o->rule = first->rule;
	return 0;
}

#endif
