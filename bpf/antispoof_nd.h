/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Neighbour discovery of a sender whose source address is checked: which pairs of MAC and address it would
 * put into its neighbours' caches (RFC 4861 §4, §7). Called by antispoof.h; needs load_bytes() of the hook.
 */
#ifndef SECG_BPF_ANTISPOOF_ND_H
#define SECG_BPF_ANTISPOOF_ND_H

#include "infra.h"
#include "sender.h"

#define ND_OPTION_SOURCE 1 /* link-layer address of the sender */
#define ND_OPTION_TARGET 2 /* of the target */
#define ND_MAX_OPTIONS   32

/* Neighbour discovery that a host would read; of fragments it reads none (RFC 6980). */
__inline int is_nd(const struct packet *p)
{
	return p->l4 == L4_ICMP_OTHER && p->family == SECG_FAMILY_IPV6 &&
	       p->icmp_type >= ICMP6_RS && p->icmp_type <= ICMP6_REDIRECT;
}

__inline __u32 nd_size(__u8 type)
{
	switch (type) {
	case ICMP6_RS:
		return 8;
	case ICMP6_RA:
		return 16;
	case ICMP6_REDIRECT:
		return 40;
	default:
		return 24; /* NS, NA: the target */
	}
}

/* ff02::1:ff00:0/104 */
__inline int is_solicited_node(const __be32 *address)
{
	return address[0] == bpf_htonl(0xff020000) && !address[1] && address[2] == bpf_htonl(1) &&
	       (address[3] & bpf_htonl(0xff000000)) == bpf_htonl(0xff000000);
}

/* The option in sender->head claims a pair; in a redirect it is that of somebody else. */
__inline int is_claim(const struct sender *sender)
{
	if (sender->nd_type == ICMP6_REDIRECT)
		return 0;
	return sender->head[0] ==
	       (sender->nd_type == ICMP6_NA ? ND_OPTION_TARGET : ND_OPTION_SOURCE);
}

/* Reads the option at sender->at and moves on. */
__inline __u32 nd_step(struct hook_context *ctx, struct sender *sender)
{
	__u32 at = sender->at, size;

	if (at > 0x7fff || load_bytes(ctx, at, sender->head, 8))
		return SECG_REASON_SPOOF_ND;
	size = sender->head[1] * 8;
	if (!size || at + size > sender->end)
		return SECG_REASON_SPOOF_ND;
	sender->at = at + size;
	if (!is_claim(sender))
		return SECG_REASON_NONE;
	/* Who has no address yet tells none (RFC 4861 §7.1.1, §4.1): `::` is nobody's. */
	if (size != 8)
		return SECG_REASON_SPOOF_ND;
	sender->has_claimed = 1;
	sender_name(sender, sender->head + 2);
	return sender_may(SECG_FAMILY_IPV6) ? SECG_REASON_NONE : SECG_REASON_SPOOF_ND;
}

/* Walks the options, which are for the address in sender->packet.src. */
__inline __u32 nd_options(struct hook_context *ctx, struct sender *sender)
{
	for (__u32 i = 0; i < ND_MAX_OPTIONS; i++) {
		__u32 reason;

		if (sender->at >= sender->end)
			return SECG_REASON_NONE;
		reason = nd_step(ctx, sender);
		if (reason)
			return reason;
	}
	return sender->at >= sender->end ? SECG_REASON_NONE : SECG_REASON_SPOOF_ND;
}

/* The address that a message tells of itself, beside its source. */
__inline int nd_target(struct hook_context *ctx, const struct packet *p, struct sender *sender)
{
	return load_bytes(ctx, p->l4_offset + 8, sender->packet.src, 16);
}

/*
 * Called after the source was checked, which has told scratch->sender. The target of an advertisement is
 * the sender's, and so is that of a solicitation without source: it asks whether it may be (RFC 4862
 * §5.4), and would keep others from theirs.
 */
__attribute__((noinline)) int HOOK(nd_check)(struct hook_context *ctx, const struct packet *p)
{
	struct scratch *scratch = scratch_get();
	struct sender *sender;
	__u32 size, reason;

	if (!p || !scratch)
		return SECG_REASON_UNDECIDED;
	sender = &scratch->sender;
	size = nd_size(p->icmp_type);
	if (p->fragment || p->l4_offset + size > p->end)
		return SECG_REASON_SPOOF_ND;
	if (p->icmp_type == ICMP6_NS && is_unspecified(p->src)) {
		if (!is_solicited_node(p->dst) || nd_target(ctx, p, sender) ||
		    !sender_may(SECG_FAMILY_IPV6))
			return SECG_REASON_SPOOF_ND;
		__builtin_memset(sender->packet.src, 0, 16);
	}
	if (p->icmp_type == ICMP6_NA && nd_target(ctx, p, sender))
		return SECG_REASON_SPOOF_ND;
	sender->at = p->l4_offset + size;
	sender->end = p->end;
	sender->nd_type = p->icmp_type;
	sender->has_claimed = 0;
	reason = nd_options(ctx, sender);
	/* Where an advertisement names no MAC, the one of the frame is taken. */
	if (reason == SECG_REASON_NONE && p->icmp_type == ICMP6_NA && !sender->has_claimed &&
	    !sender_may(SECG_FAMILY_IPV6))
		return SECG_REASON_SPOOF_ND;
	return reason;
}

#endif
