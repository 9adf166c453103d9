/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a port's senders may use: the question about one MAC and one address, in scratch->sender, answered by
 * the pairs and the policy of the port (struct secg_port_spoof). Called by antispoof.h.
 */
#ifndef SECG_BPF_SENDER_H
#define SECG_BPF_SENDER_H

#include "classify.h"
#include "packet.h"
#include "scratch.h"

__inline int is_group_mac(const __u8 *mac)
{
	return mac[0] & 1;
}

/* By words: both are aligned. */
__inline int is_mac(const __u8 *a, const __u8 *b)
{
	return *(const __u32 *)a == *(const __u32 *)b &&
	       *(const __u16 *)(a + 4) == *(const __u16 *)(b + 4);
}

__inline int is_unspecified(const __be32 *address)
{
	return !(address[0] | address[1] | address[2] | address[3]);
}

/* Where there is no Ethernet header any MAC will do. */
__inline int is_pair_mac(const struct secg_pair *pair, const struct packet *p)
{
	return (p->absent & ABSENT_MACS) || is_mac(pair->mac, p->byte + SECG_BYTE_SRC_MAC);
}

/* The packet's source MAC and address are the pair's. */
__inline int is_pair(const struct secg_pair *pair, const struct packet *p)
{
	__u32 family = p->family == SECG_FAMILY_IPV4 ? 4 : 6;

	return pair->family == family && pair->address[0] == p->src[0] &&
	       pair->address[1] == p->src[1] && pair->address[2] == p->src[2] &&
	       pair->address[3] == p->src[3] && is_pair_mac(pair, p);
}

__inline int is_listed_pair(const struct secg_pair *pair, const struct packet *p)
{
	if (p->family == SECG_FAMILY_OTHER)
		return pair->family && is_pair_mac(pair, p);
	return is_pair(pair, p);
}

/* The MAC that is asked about from now on. */
__inline void sender_name(struct sender *sender, const __u8 *mac)
{
	__builtin_memcpy(sender->packet.byte + SECG_BYTE_SRC_MAC, mac, 6);
}

/*
 * Whether the sender's MAC may be used with its address, of that family; SECG_FAMILY_OTHER: at all. A group
 * MAC is nobody's, whatever a mask says.
 */
__attribute__((noinline, weak)) int sender_listed(__u32 family)
{
	struct scratch *scratch = scratch_get();
	const struct secg_port_spoof *spoof;
	struct query *q;
	struct packet *p;

	if (!scratch)
		return 0;
	spoof = table_line(scratch->sender.line);
	if (!spoof)
		return 0;
	p = &scratch->sender.packet;
	p->family = family;
	if (is_group_mac(p->byte + SECG_BYTE_SRC_MAC))
		return 0;
	if (is_listed_pair(&spoof->pair[0], p) || is_listed_pair(&spoof->pair[1], p))
		return 1;
	if (!spoof->policy)
		return 0;
	q = &scratch->query;
	query_make(q, p, spoof->policy, 0);
	return policy_find(q, p) == SECG_ACTION_ALLOW_STATELESS;
}

/* The link-local address that every host makes of its MAC (RFC 4291, appendix A). */
__inline int is_eui64(const struct packet *p)
{
	const __u8 *mac = p->byte + SECG_BYTE_SRC_MAC;

	return !(p->absent & ABSENT_MACS) && p->src[0] == bpf_htonl(0xfe800000) && !p->src[1] &&
	       p->src[2] ==
		       bpf_htonl((__u32)(mac[0] ^ 2) << 24 | mac[1] << 16 | mac[2] << 8 | 0xff) &&
	       p->src[3] == bpf_htonl(0xfe000000 | mac[3] << 16 | mac[4] << 8 | mac[5]);
}

/* Whether the sender may use its MAC with its address, be it by the one that follows from the MAC. */
__inline int sender_may(__u32 family)
{
	struct scratch *scratch = scratch_get();

	if (sender_listed(family))
		return 1;
	return family == SECG_FAMILY_IPV6 && scratch && is_eui64(&scratch->sender.packet) &&
	       sender_listed(SECG_FAMILY_OTHER);
}

#endif
