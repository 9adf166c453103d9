/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Infrastructure rules: which kind of message a packet is, and whether the port lets it through below
 * its policy. Needs load_bytes() of the hook.
 */
#ifndef SECG_BPF_INFRA_H
#define SECG_BPF_INFRA_H

#include <linux/if_ether.h>
#include <linux/in.h>

#include <bpf/bpf_endian.h>

#include "classify.h"
#include "packet.h"

#define ETH_P_LACP        0x8809 /* slow protocols */
#define ETH_P_EAPOL       0x888e
#define PROTO_VRRP        112

#define ICMP6_MLD_QUERY   130
#define ICMP6_MLD_REPORT  131
#define ICMP6_MLD_DONE    132
#define ICMP6_RS          133
#define ICMP6_RA          134
#define ICMP6_NS          135
#define ICMP6_NA          136
#define ICMP6_REDIRECT    137
#define ICMP6_MLD2_REPORT 143

#define BIT(infra)        (1u << SECG_INFRA_##infra)

__inline __u32 infra_of_ethertype(const struct packet *p)
{
	switch (p->ethertype) {
	case ETH_P_ARP:
		return BIT(ARP);
	case ETH_P_LACP:
		return BIT(LACP);
	case ETH_P_LLDP:
		return BIT(LLDP);
	case ETH_P_EAPOL:
		return BIT(EAPOL);
	default:
		return p->is_stp ? BIT(STP) : 0;
	}
}

__inline __u32 infra_of_icmp6(const struct packet *p)
{
	switch (p->icmp_type) {
	case ICMP6_RS:
	case ICMP6_NS:
	case ICMP6_NA:
		return BIT(ND);
	case ICMP6_RA:
	case ICMP6_REDIRECT:
		return BIT(RA);
	case ICMP6_MLD_QUERY:
	case ICMP6_MLD_REPORT:
	case ICMP6_MLD_DONE:
	case ICMP6_MLD2_REPORT:
		return BIT(MLD);
	default:
		return 0;
	}
}

__inline __u32 infra_of_udp(struct hook_context *ctx, const struct packet *p, __u32 wanted)
{
	__u16 client = p->family == SECG_FAMILY_IPV4 ? 68 : 546;
	__u16 server = p->family == SECG_FAMILY_IPV4 ? 67 : 547;
	__u16 from = bpf_ntohs(p->sport), to = bpf_ntohs(p->dport);
	__u32 marker = 1;

	if (from == client && to == server)
		return BIT(DHCP_CLIENT_REQUEST) | BIT(DHCP_SERVER_REQUEST);
	if (from == server && to == client)
		return BIT(DHCP_CLIENT_ANSWER) | BIT(DHCP_SERVER_ANSWER);
	if (!(wanted & BIT(IKE)))
		return 0;
	if (from == 500 || to == 500)
		return BIT(IKE);
	/* RFC 3948 §2.2: IKE on 4500 begins with a zero where ESP has its SPI. */
	if ((from == 4500 || to == 4500) && p->l4_offset + 12 <= p->end &&
	    !load_bytes(ctx, p->l4_offset + 8, &marker, 4) && !marker)
		return BIT(IKE);
	return 0;
}

/* Candidate bits of a packet; `wanted` are those of the port. */
__inline __u32 infra_of(struct hook_context *ctx, const struct packet *p, __u32 wanted)
{
	if (p->family == SECG_FAMILY_OTHER)
		return infra_of_ethertype(p);
	if (p->proto == IPPROTO_TCP || p->fragment)
		return 0;
	if (p->proto == IPPROTO_UDP)
		return infra_of_udp(ctx, p, wanted);
	if (p->proto == PROTO_VRRP)
		return BIT(VRRP);
	if (p->family == SECG_FAMILY_IPV6)
		return p->l4 == L4_ICMP_OTHER ? infra_of_icmp6(p) : 0;
	return p->proto == IPPROTO_IGMP ? BIT(IGMP) : 0;
}

enum infra_verdict {
	INFRA_NO, /* not infrastructure, or the port does not let it through */
	INFRA_PASS,
	INFRA_HOP_LIMIT, /* would be, but it crossed a router */
};

/* *ret_bit is the lowest matching bit with INFRA_PASS. */
__inline enum infra_verdict infra(struct hook_context *ctx, const struct packet *p, __u32 wanted,
				  __u32 *ret_bit)
{
	__u32 bits = infra_of(ctx, p, wanted) & wanted;

	if (!bits)
		return INFRA_NO;
	if ((bits & (BIT(ND) | BIT(RA) | BIT(VRRP))) && p->hop_limit != 255)
		return INFRA_HOP_LIMIT;
	*ret_bit = lowest_bit(bits);
	return INFRA_PASS;
}

#endif
