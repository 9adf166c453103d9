/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Later fragments inherit the verdict of the first of their datagram; one that comes before it is
 * dropped, so is one that overwrites a part of the first. No rule is ever matched with ports that a fragment
 * does not show.
 */
#ifndef SECG_BPF_FRAGMENT_H
#define SECG_BPF_FRAGMENT_H

#include "guard.h"
#include "packet.h"

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

/* The first fragment passes by the rule with counter `rule`: so will the rest. */
static __attribute__((noinline)) int fragment_first(const struct guard *g, const struct packet *p,
						    __u32 rule)
{
	struct secg_fragment value = {.seen = g->now, .rule = rule, .end = p->fragment_edge};
	struct secg_fragment_key key;

	if (is_traced())
		return 0;
	fragment_key(&key, g, p);
	return bpf_map_update_elem(&secg_fragments, &key, &value, BPF_ANY);
}

/* SECG_REASON_NONE and the rule that let the first pass. */
static __attribute__((noinline)) __u32 fragment_later(const struct guard *g, const struct packet *p,
						      __u32 *ret_rule)
{
	const struct secg_port_rules *rules = guard_rules(g);
	struct secg_fragment_key key;
	struct secg_fragment *first;

	if (!rules)
		return SECG_REASON_UNDECIDED;
	/* Nothing is refused in this direction, so nothing has to be known of the datagram. */
	if (!rules->policy[g->direction & 1] &&
	    rules->otherwise[g->direction & 1] != SECG_ACTION_DROP)
		return SECG_REASON_NONE;
	fragment_key(&key, g, p);
	first = bpf_map_lookup_elem(&secg_fragments, &key);
	/* Signed: another CPU may have stored it a tick after this one read the clock. */
	if (!first || (__s32)(g->now - first->seen) > FRAGMENT_LIFE_TICKS)
		return SECG_REASON_FRAG_EARLY;
	/* RFC 5722, RFC 1858 §3: it could put other ports in the place of those that were judged. */
	if (p->fragment_edge < first->end)
		return SECG_REASON_FRAG_OVERLAP;
	*ret_rule = first->rule;
	return SECG_REASON_NONE;
}

#endif
