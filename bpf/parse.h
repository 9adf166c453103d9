/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The one parser: frame in, struct packet out, or the reason why not. Reads nothing past data_end and
 * believes no length that it has not compared with the frame.
 */
#ifndef SECG_BPF_PARSE_H
#define SECG_BPF_PARSE_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>

#include "extensions.h"
#include "packet.h"

#define PARSE_MAX_TAGS     2
#define VLAN_ID_MASK       0x0fff
#define VLAN_TAG_SIZE      4u

#define IP_OFFSET_MASK     0x1fff
#define IP_MORE            0x2000

#define ICMP_TYPE_UNREACH  3
#define ICMP_TYPE_QUENCH   4
#define ICMP_TYPE_EXCEEDED 11
#define ICMP_TYPE_PARAM    12

#define ICMP6_TYPE_UNREACH 1
#define ICMP6_TYPE_PARAM   4

/* A pointer to `size` bytes at `offset`, or NULL where the first buffer ends before. */
__inline void *frame_at(const struct frame *f, __u32 offset, __u32 size)
{
	void *at;

	if (offset > 0x7fff)
		return 0;
	/* The verifier believes the mask, not what the compiler makes of the comparison. */
	asm volatile("" : "+r"(offset));
	at = f->data + (offset & 0x7fff);
	/* One pointer, checked and used: the compiler must not compute it a second time. */
	asm volatile("" : "+r"(at));
	if (at + size > f->data_end)
		return 0;
	return at;
}

/* RFC 792, RFC 950. A redirect is no answer to a packet but advice on routes: it takes a rule. */
__inline __u8 icmp4_kind(__u8 type)
{
	switch (type) {
	case 8:
	case 13:
	case 15:
	case 17:
		return L4_ICMP_QUERY;
	case 0:
	case 14:
	case 16:
	case 18:
		return L4_ICMP_ANSWER;
	case ICMP_TYPE_UNREACH:
	case ICMP_TYPE_QUENCH:
	case ICMP_TYPE_EXCEEDED:
	case ICMP_TYPE_PARAM:
		return L4_ICMP_ERROR;
	default:
		return L4_ICMP_OTHER;
	}
}

/* RFC 4443 §2.1. Types below 128 that nobody has assigned are errors about nothing. */
__inline __u8 icmp6_kind(__u8 type)
{
	if (type >= ICMP6_TYPE_UNREACH && type <= ICMP6_TYPE_PARAM)
		return L4_ICMP_ERROR;
	if (type == 128)
		return L4_ICMP_QUERY;
	return type == 129 ? L4_ICMP_ANSWER : L4_ICMP_OTHER;
}

/* The type of the query that an answer of this type belongs to. */
__inline __u8 icmp_query_type(__u8 family, __u8 answer)
{
	if (family == SECG_FAMILY_IPV4 && !answer)
		return 8; /* echo */
	return answer - 1;
}

/* A query and its answer show the same identifier, the same code and one pair of types. */
__inline __u8 parse_icmp(struct packet *p, const __u8 *header)
{
	__be16 id = *(const __be16 *)(header + 4);

	p->icmp_type = header[0];
	p->icmp_code = header[1];
	p->l4 = p->family == SECG_FAMILY_IPV4 ? icmp4_kind(header[0]) : icmp6_kind(header[0]);
	if (p->l4 == L4_ICMP_QUERY) {
		p->sport = id;
		p->dport = bpf_htons(p->icmp_type << 8 | p->icmp_code);
	} else if (p->l4 == L4_ICMP_ANSWER) {
		p->sport = bpf_htons(icmp_query_type(p->family, p->icmp_type) << 8 | p->icmp_code);
		p->dport = id;
	}
	return SECG_REASON_NONE;
}

__inline void note_traffic(struct packet *p, __u8 traffic_class)
{
	p->byte[SECG_BYTE_TRAFFIC] = traffic_class >> 2;
	p->absent &= ~ABSENT_TRAFFIC;
}

__inline void note_first_fragment(struct packet *p)
{
	p->fragment = FRAGMENT_FIRST;
	p->byte[SECG_BYTE_TRAFFIC] |= SECG_TRAFFIC_FRAGMENT;
}

/* A GSO packet counts as what will be on the wire: each segment repeats the `headers` bytes of headers. */
__inline void count_segments(struct packet *p, const struct frame *f, __u32 headers)
{
	if (!f->gso_size)
		return;
	/* Some senders leave the number to whoever segments. */
	if (!f->segments && f->length > headers)
		p->packets = (f->length - headers + f->gso_size - 1) / f->gso_size;
	p->bytes += (p->packets - 1) * (headers + f->tags * VLAN_TAG_SIZE);
}

/*
 * The transport header at p->l4_offset; `room` bytes of IP payload follow it. A header that does not
 * fit: malformed, or tiny where it is a first fragment (RFC 1858 §3.2.1).
 */
__inline __u8 parse_l4(struct packet *p, const struct frame *f, __u32 room)
{
	__u8 cut = p->fragment == FRAGMENT_FIRST ? SECG_REASON_FRAG_TINY : SECG_REASON_MALFORMED;
	const __u8 *header;
	__u32 size;

	switch (p->proto) {
	case IPPROTO_TCP:
		size = 20;
		break;
	case IPPROTO_UDP:
	case PROTO_UDPLITE:
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		size = 8;
		break;
	case PROTO_SCTP:
	case PROTO_DCCP:
		size = 12;
		break;
	default:
		return SECG_REASON_NONE;
	}
	/* Of the other family: a protocol number like any other. */
	if ((p->proto == IPPROTO_ICMP && p->family != SECG_FAMILY_IPV4) ||
	    (p->proto == IPPROTO_ICMPV6 && p->family != SECG_FAMILY_IPV6))
		return SECG_REASON_NONE;
	if (room < size)
		return cut;
	header = frame_at(f, p->l4_offset, 8);
	if (!header)
		return SECG_REASON_MALFORMED;
	if (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6)
		return parse_icmp(p, header);
	p->l4 = L4_PORTS;
	p->sport = *(const __be16 *)header;
	p->dport = *(const __be16 *)(header + 2);
	if (p->proto == IPPROTO_UDP && !p->fragment && !f->gso_size) {
		__u32 length = bpf_ntohs(*(const __be16 *)(header + 4));

		/* Zero is a length in IPv6 only (RFC 2675 §4). */
		if ((length || p->family == SECG_FAMILY_IPV4) && (length < 8 || length > room))
			return SECG_REASON_MALFORMED;
	}
	if (p->proto == IPPROTO_TCP) {
		__u32 header_size;

		header = frame_at(f, p->l4_offset, 20);
		if (!header)
			return SECG_REASON_MALFORMED;
		header_size = (header[12] >> 4) * 4;
		if (header_size < 20)
			return SECG_REASON_MALFORMED;
		if (header_size > room)
			return cut;
		p->tcp_flags = header[13] & 0x3f;
		p->byte[SECG_BYTE_TCP_FLAGS] = header[13];
		p->absent &= ~ABSENT_TCP_FLAGS;
		p->seq = bpf_ntohl(*(const __be32 *)(header + 4));
		p->ack = bpf_ntohl(*(const __be32 *)(header + 8));
		count_segments(p, f, p->l4_offset + header_size);
	} else {
		count_segments(p, f, p->l4_offset + 8);
	}
	return SECG_REASON_NONE;
}

__inline __u8 parse_ipv4(struct packet *p, const struct frame *f, __u32 offset)
{
	const struct iphdr *ip = frame_at(f, offset, sizeof(*ip));
	__u32 header_size, total;
	__u16 fragment;

	if (!ip || ip->version != 4)
		return SECG_REASON_MALFORMED;
	header_size = ip->ihl * 4;
	total = bpf_ntohs(ip->tot_len);
	if (!total && f->gso_size) /* IPv4 BIG TCP */
		total = f->length - offset;
	if (header_size < sizeof(*ip) || total < header_size || offset + total > f->length)
		return SECG_REASON_MALFORMED;
	p->family = SECG_FAMILY_IPV4;
	p->src[0] = ip->saddr;
	p->dst[0] = ip->daddr;
	p->proto = ip->protocol;
	p->hop_limit = ip->ttl;
	note_traffic(p, ip->tos);
	p->l4_offset = offset + header_size;
	p->end = offset + total;
	fragment = bpf_ntohs(ip->frag_off);
	if (fragment & (IP_OFFSET_MASK | IP_MORE)) {
		p->fragment_id = ip->id;
		if (fragment & IP_OFFSET_MASK) {
			/* Offset 1 would overwrite the flags of a TCP header (RFC 1858 §3.2.2). */
			if ((fragment & IP_OFFSET_MASK) == 1 && p->proto == IPPROTO_TCP)
				return SECG_REASON_FRAG_TINY;
			p->fragment = FRAGMENT_LATER;
			p->fragment_edge = (fragment & IP_OFFSET_MASK) * 8;
			return SECG_REASON_NONE;
		}
		note_first_fragment(p);
		p->fragment_edge = total - header_size;
	}
	return parse_l4(p, f, total - header_size);
}

__inline __u8 parse_ipv6(struct hook_context *ctx, struct packet *p, const struct frame *f,
			 __u32 offset)
{
	const struct ipv6hdr *ip = frame_at(f, offset, sizeof(*ip));
	__u32 at = offset + sizeof(*ip), end;
	struct scratch *scratch;

	if (!ip || ip->version != 6)
		return SECG_REASON_MALFORMED;
	end = at + bpf_ntohs(ip->payload_len);
	if (!ip->payload_len && f->gso_size) /* IPv6 BIG TCP */
		end = f->length;
	if (end > f->length)
		return SECG_REASON_MALFORMED;
	p->family = SECG_FAMILY_IPV6;
	__builtin_memcpy(p->src, &ip->saddr, 16);
	__builtin_memcpy(p->dst, &ip->daddr, 16);
	p->hop_limit = ip->hop_limit;
	note_traffic(p, bpf_ntohs(*(const __be16 *)ip) >> 4);
	p->proto = ip->nexthdr;
	p->l4_offset = at;
	p->end = end;
	if (!is_extension(p->proto))
		return parse_l4(p, f, end - at);
	HOOK(extensions_walk)(ctx, p->proto, at, end);
	scratch = scratch_get();
	if (!scratch)
		return SECG_REASON_MALFORMED;
	p->proto = scratch->ext.type;
	p->fragment = scratch->ext.fragment;
	if (p->fragment == FRAGMENT_FIRST)
		note_first_fragment(p);
	p->fragment_id = scratch->ext.fragment_id;
	p->fragment_edge = scratch->ext.fragment_edge;
	p->l4_offset = scratch->ext.at;
	if (scratch->ext.reason || p->fragment == FRAGMENT_LATER)
		return scratch->ext.reason;
	return parse_l4(p, f, end - scratch->ext.at);
}

__inline __u8 parse_l3(struct hook_context *ctx, struct packet *p, const struct frame *f,
		       __u32 offset)
{
	p->family = SECG_FAMILY_OTHER;
	p->l3_offset = offset;
	if (p->ethertype == ETH_P_IP)
		return parse_ipv4(p, f, offset);
	if (p->ethertype == ETH_P_IPV6)
		return parse_ipv6(ctx, p, f, offset);
	return SECG_REASON_NONE;
}

/* By words: structures of the wire have no alignment, and the compiler would go byte by byte. */
__inline void read_macs(struct packet *p, const struct ethhdr *eth)
{
	const __u8 *at = eth->h_dest;

	*(__u32 *)(p->byte + SECG_BYTE_SRC_MAC) = *(const __u32 *)(at + ETH_ALEN);
	*(__u16 *)(p->byte + SECG_BYTE_SRC_MAC + 4) = *(const __u16 *)(at + ETH_ALEN + 4);
	*(__u16 *)(p->byte + SECG_BYTE_DST_MAC) = *(const __u16 *)at;
	*(__u32 *)(p->byte + SECG_BYTE_DST_MAC + 2) = *(const __u32 *)(at + 2);
}

/* SECG_REASON_NONE, or why the packet cannot be judged. *p is zeroed by the caller. */
__inline __u8 parse(struct hook_context *ctx, struct packet *p, const struct frame *f)
{
	__u32 offset = sizeof(struct ethhdr), tags = f->tags, i;
	const struct ethhdr *eth;
	const __u8 *llc;

	p->packets = f->segments ? f->segments : 1;
	p->bytes = f->length + tags * VLAN_TAG_SIZE;
	p->absent = ABSENT_TCP_FLAGS | ABSENT_TRAFFIC;
	if (f->is_l3) {
		p->absent |= ABSENT_MACS;
		p->ethertype = f->l3_type;
		return parse_l3(ctx, p, f, 0);
	}
	eth = frame_at(f, 0, sizeof(*eth));
	if (!eth)
		return SECG_REASON_MALFORMED;
	read_macs(p, eth);
	p->vlan = f->vlan;
	p->ethertype = bpf_ntohs(eth->h_proto);
	for (i = 0; i <= PARSE_MAX_TAGS; i++) {
		const __be16 *tag;

		if (p->ethertype != ETH_P_8021Q && p->ethertype != ETH_P_8021AD)
			break;
		if (tags == PARSE_MAX_TAGS)
			return SECG_REASON_TAG_DEPTH;
		tag = frame_at(f, offset, 4);
		if (!tag)
			return SECG_REASON_MALFORMED;
		if (!tags++)
			p->vlan = bpf_ntohs(tag[0]) & VLAN_ID_MASK;
		p->ethertype = bpf_ntohs(tag[1]);
		offset += 4;
	}
	if (p->ethertype < ETH_P_802_3_MIN) {
		llc = frame_at(f, offset, 3);
		p->is_stp = llc && llc[0] == 0x42 && llc[1] == 0x42 && llc[2] == 0x03;
	}
	return parse_l3(ctx, p, f, offset);
}

#endif
