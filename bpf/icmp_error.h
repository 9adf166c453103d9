/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * ICMP errors: related to a session when the packet they carry belongs to it and the error goes to who
 * sent that packet, whoever sends the error. Eight bytes of transport header suffice (RFC 792); options
 * and extension headers inside are walked. Needs load_bytes() of the hook.
 */
#ifndef SECG_BPF_ICMP_ERROR_H
#define SECG_BPF_ICMP_ERROR_H

#include "outcome.h"
#include "parse.h"
#include "session.h"

#define ICMP_HEADER_SIZE 8

/*
 * Offset of the embedded transport header, or 0. `end` is where the outer packet ends: the embedded one
 * is cut short, its own length says nothing.
 */
__inline __u32 inner_ipv4(struct hook_context *ctx, struct scratch *scratch, __u32 at, __u32 end)
{
	struct packet *inner = &scratch->inner;
	struct iphdr *ip = &scratch->ip4;

	if (at + sizeof(*ip) > end || load_bytes(ctx, at, ip, sizeof(*ip)))
		return 0;
	if (ip->version != 4 || ip->ihl < 5)
		return 0;
	if (bpf_ntohs(ip->frag_off) & IP_OFFSET_MASK)
		return 0;
	inner->src[0] = ip->saddr;
	inner->dst[0] = ip->daddr;
	inner->proto = ip->protocol;
	return at + ip->ihl * 4;
}

__inline __u32 inner_ipv6(struct hook_context *ctx, struct scratch *scratch, __u32 at, __u32 end)
{
	struct packet *inner = &scratch->inner;
	struct ipv6hdr *ip = &scratch->ip6;

	if (at + sizeof(*ip) > end || load_bytes(ctx, at, ip, sizeof(*ip)) || ip->version != 6)
		return 0;
	__builtin_memcpy(inner->src, &ip->saddr, 16);
	__builtin_memcpy(inner->dst, &ip->daddr, 16);
	inner->proto = ip->nexthdr;
	at += sizeof(*ip);
	if (!is_extension(inner->proto))
		return at;
	if (HOOK(extensions_walk)(ctx, inner->proto, at, end) ||
	    scratch->ext.fragment == FRAGMENT_LATER)
		return 0;
	inner->proto = scratch->ext.type;
	return scratch->ext.at;
}

/* The tuple of the packet embedded in at..end, into the scratch; 0 where it shows none. */
__attribute__((noinline)) int HOOK(inner_parse)(struct hook_context *ctx, __u32 family, __u32 at,
						__u32 end)
{
	struct scratch *scratch = scratch_get();
	struct packet *inner;
	__u8 *l4;

	if (!scratch)
		return 0;
	inner = &scratch->inner;
	l4 = scratch->l4;
	__builtin_memset(inner, 0, sizeof(*inner));
	inner->family = family;
	at = family == SECG_FAMILY_IPV4 ? inner_ipv4(ctx, scratch, at, end)
					: inner_ipv6(ctx, scratch, at, end);
	if (!at)
		return 0;
	/* That of the other family is a protocol like any other, as in parse_l4. */
	if (inner->proto == (family == SECG_FAMILY_IPV4 ? IPPROTO_ICMP : IPPROTO_ICMPV6)) {
		if (at + 8 > end || load_bytes(ctx, at, l4, 8))
			return 0;
		parse_icmp(inner, l4);
		return inner->l4 == L4_ICMP_QUERY || inner->l4 == L4_ICMP_ANSWER;
	}
	if (!secg_has_ports(inner->proto))
		return 1;
	if (at + 8 > end || load_bytes(ctx, at, l4, 8))
		return 0;
	inner->l4 = L4_PORTS;
	inner->sport = *(__be16 *)l4;
	inner->dport = *(__be16 *)(l4 + 2);
	return 1;
}

/* 1: the error belongs to a live session, whose rule lets it pass. A global function, verified once. */
__attribute__((noinline)) int HOOK(is_related)(struct hook_context *ctx, const struct packet *p,
					       const struct guard *g, struct outcome *o)
{
	struct scratch *scratch = scratch_get();
	const struct secg_port *port, *owner;
	struct secg_flow_key *key;
	struct session found;
	__u32 hash;

	if (!p || !g || !o || !scratch)
		return 0;
	port = guard_port(g, g->id);
	if (!port || !HOOK(inner_parse)(ctx, p->family, p->l4_offset + ICMP_HEADER_SIZE, p->end))
		return 0;
	for (int i = 0; i < 4; i++)
		if (scratch->inner.src[i] != p->dst[i])
			return 0;
	/* The embedded packet went the other way through this port. */
	key = &scratch->key;
	key_make(key, &scratch->inner, port->domain, !g->direction);
	hash = secg_flow_hash(key, secg_hash_seed);
	if (!session_find(&found, key, hash))
		return 0;
	owner = session_owner(&found, g, port);
	if (!owner || is_expired(owner, scratch->inner.proto, found.flow, found.word, g->now))
		return 0;
	/* An error renews nothing: a session not yet judged by the present policy waits for its own packet. */
	if (found.flow->s.generation != owner->policy_generation &&
	    !(owner->flags & SECG_PORT_KEEP))
		return 0;
	outcome_of_session(o, &found);
	return 1;
}

#endif
