/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Anti-spoof, in direction from: whether a frame's sender may use the MAC and the addresses that it
 * claims, and may be a router or a DHCP server. Before every rule, infrastructure too. What is allowed
 * stands in the third line of the port (secg/policy.h): two exact pairs and a compiled policy. Called by
 * verdict.h; needs load_bytes() of the hook.
 *
 * Each claim is checked, not the frame as a whole: an ARP or neighbour message may come from one MAC
 * and name another, as virtual routers do; what ends up in the receiver's cache must be a pair that is
 * allowed.
 */
#ifndef SECG_BPF_ANTISPOOF_H
#define SECG_BPF_ANTISPOOF_H

#include "antispoof_nd.h"
#include "guard.h"
#include "infra.h"
#include "sender.h"

#define ARP_SIZE 28
/* Ethernet, IPv4, and the sizes of their addresses. */
#define ARP_TYPES       0x00010800
#define ARP_SIZES       0x0604

#define DHCP_CLIENT     68
#define DHCP_SERVER     67
#define DHCP6_CLIENT    546

#define ANTISPOOF_FLAGS (SECG_PORT_ANTI_SPOOF | SECG_PORT_RA_GUARD | SECG_PORT_DHCP_GUARD)

/* ARP and RARP of Ethernet and IPv4. The address 0.0.0.0 is a probe's, or RARP's that has none yet. */
__inline __u32 arp_check(struct hook_context *ctx, const struct packet *p, struct sender *sender)
{
	const __u8 *head = sender->head;

	if (!sender_listed(SECG_FAMILY_OTHER))
		return SECG_REASON_SPOOF_MAC;
	if (load_bytes(ctx, p->l3_offset, sender->head, ARP_SIZE) ||
	    *(const __be32 *)head != bpf_htonl(ARP_TYPES) ||
	    *(const __be16 *)(head + 4) != bpf_htons(ARP_SIZES))
		return SECG_REASON_SPOOF_ARP;
	sender_name(sender, head + 8);
	__builtin_memcpy(sender->packet.src, head + 14, 4);
	if (sender->packet.src[0] ? sender_may(SECG_FAMILY_IPV4) : sender_listed(SECG_FAMILY_OTHER))
		return SECG_REASON_NONE;
	return SECG_REASON_SPOOF_ARP;
}

/* IPv4 that a host sends before it has an address. */
__inline int is_unaddressed4(const struct packet *p)
{
	if (p->src[0] || p->fragment)
		return 0;
	if (p->proto == IPPROTO_IGMP)
		return (p->dst[0] & bpf_htonl(0xf0000000)) == bpf_htonl(0xe0000000);
	return p->proto == IPPROTO_UDP && p->sport == bpf_htons(DHCP_CLIENT) &&
	       p->dport == bpf_htons(DHCP_SERVER) && p->dst[0] == 0xffffffff;
}

/* The same of IPv6: duplicate address detection, router solicitation, MLD reports (RFC 3590). */
__inline int is_unaddressed6(const struct packet *p)
{
	if (!is_unspecified(p->src) || p->fragment || p->l4 != L4_ICMP_OTHER ||
	    *(const __u8 *)p->dst != 0xff)
		return 0;
	return p->icmp_type == ICMP6_NS || p->icmp_type == ICMP6_RS ||
	       p->icmp_type == ICMP6_MLD_REPORT || p->icmp_type == ICMP6_MLD_DONE ||
	       p->icmp_type == ICMP6_MLD2_REPORT;
}

/* The source of an IP packet; its fragments show it too. */
__inline __u32 source_check(const struct packet *p)
{
	if (sender_may(p->family))
		return SECG_REASON_NONE;
	if (!sender_listed(SECG_FAMILY_OTHER))
		return SECG_REASON_SPOOF_MAC;
	if (p->family == SECG_FAMILY_IPV4 ? is_unaddressed4(p) : is_unaddressed6(p))
		return SECG_REASON_NONE;
	return SECG_REASON_SPOOF_IP;
}

/* Everything that the two pairs do not settle. `line` is that of the port's struct secg_port_spoof. */
__attribute__((noinline)) int HOOK(sender_check)(struct hook_context *ctx, const struct packet *p,
						 __u32 line)
{
	struct scratch *scratch = scratch_get();
	struct sender *sender;

	if (!p || !scratch)
		return SECG_REASON_UNDECIDED;
	sender = &scratch->sender;
	sender->line = line;
	sender->packet.absent = p->absent;
	sender_name(sender, p->byte + SECG_BYTE_SRC_MAC);
	__builtin_memcpy(sender->packet.src, p->src, 16);
	if (p->family == SECG_FAMILY_OTHER) {
		if (p->ethertype == ETH_P_ARP || p->ethertype == ETH_P_RARP)
			return arp_check(ctx, p, sender);
		return sender_listed(SECG_FAMILY_OTHER) ? SECG_REASON_NONE : SECG_REASON_SPOOF_MAC;
	}
	return source_check(p);
}

/*
 * Routers and DHCP servers. A client believes an answer from any port: what it is says the one that it
 * goes to (as RFC 7610 §5 has it for DHCPv6).
 */
__inline __u32 role_check(__u32 flags, const struct packet *p)
{
	__u16 client = p->family == SECG_FAMILY_IPV4 ? DHCP_CLIENT : DHCP6_CLIENT;

	if ((flags & SECG_PORT_RA_GUARD) && is_nd(p) &&
	    (p->icmp_type == ICMP6_RA || p->icmp_type == ICMP6_REDIRECT))
		return SECG_REASON_RA_GUARD;
	if ((flags & SECG_PORT_DHCP_GUARD) && p->l4 == L4_PORTS && p->proto == IPPROTO_UDP &&
	    p->dport == bpf_htons(client))
		return SECG_REASON_DHCP_GUARD;
	return SECG_REASON_NONE;
}

/* The common case, an IP packet of one of the pairs, is settled here. */
__inline __u32 spoof_check(struct hook_context *ctx, const struct guard *g, const struct packet *p)
{
	__u32 line = g->ports + g->id * SECG_PORT_LINES + 2;
	const struct secg_port_spoof *spoof = table_line(line);
	__u32 reason;

	if (!spoof)
		return SECG_REASON_UNDECIDED;
	if (p->family != SECG_FAMILY_OTHER && !is_nd(p) &&
	    (is_pair(&spoof->pair[0], p) || is_pair(&spoof->pair[1], p)))
		return SECG_REASON_NONE;
	reason = HOOK(sender_check)(ctx, p, line);
	return reason || !is_nd(p) ? reason : HOOK(nd_check)(ctx, p);
}

/* SECG_REASON_NONE, or the claim that does not hold. */
__inline __u32 antispoof(struct hook_context *ctx, const struct guard *g,
			 const struct secg_port *port, const struct packet *p)
{
	__u32 flags = port->flags, reason;

	if (!(flags & ANTISPOOF_FLAGS))
		return SECG_REASON_NONE;
	reason = role_check(flags, p);
	if (reason == SECG_REASON_NONE && (flags & SECG_PORT_ANTI_SPOOF))
		reason = spoof_check(ctx, g, p);
	TRACE(antispoof, reason ? SECG_TRACE_ANTISPOOF_FAIL : SECG_TRACE_ANTISPOOF_PASS);
	return reason;
}

#endif
