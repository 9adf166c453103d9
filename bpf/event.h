/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Telling the daemon: records in secg_events, as many a second as secg_watch says. Off the fast path: a
 * packet that has nothing to tell pays one test. A traced run tells nothing. Needs of the hook:
 * load_bytes(), hook_tag_type(), hook_tag(), `hook_context`, HOOK(name).
 */
#ifndef SECG_BPF_EVENT_H
#define SECG_BPF_EVENT_H

#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>

#include "guard.h"
#include "scratch.h"

/* Whether this second has room for one more record. Raced over, a record too many may be told. */
__inline int watch_has_room(struct secg_watch *watch, const struct tell *t, __u32 *ret_suppressed)
{
	__u32 start = *(volatile __u32 *)&watch->tick;

	if (!watch->rate)
		return 0;
	if ((__u32)(t->now - start) >= t->second &&
	    __sync_val_compare_and_swap(&watch->tick, start, t->now) == start)
		*(volatile __u32 *)&watch->used = 0;
	if (__sync_fetch_and_add(&watch->used, 1) >= watch->rate) {
		__sync_fetch_and_add(&watch->suppressed, 1);
		return 0;
	}
	*ret_suppressed = __sync_lock_test_and_set(&watch->suppressed, 0);
	return 1;
}

/* Ethernet header and tags, as they lie in the frame; a tag in metadata is in front of them. */
__inline void record_link(struct hook_context *ctx, struct secg_event *e, struct scratch *scratch)
{
	__u16 type, at = sizeof(struct ethhdr);
	struct ethhdr *eth = &scratch->eth;
	__be16 *tag = scratch->tag;

	if (load_bytes(ctx, 0, eth, sizeof(*eth)))
		return;
	__builtin_memcpy(e->dst_mac, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(e->src_mac, eth->h_source, ETH_ALEN);
	type = bpf_ntohs(eth->h_proto);
#pragma unroll
	for (int i = 0; i < 2; i++) {
		if ((type != ETH_P_8021Q && type != ETH_P_8021AD) || load_bytes(ctx, at, tag, 4))
			break;
		type = bpf_ntohs(tag[1]);
		at += 4;
	}
	e->tag_type = hook_tag_type(ctx);
	e->tag = hook_tag(ctx);
	e->l3_offset = at;
}

__inline void record_packet(struct secg_event *e, const struct packet *p)
{
	e->ethertype = p->ethertype;
	e->vlan = p->vlan;
	if (p->family == SECG_FAMILY_OTHER)
		return;
	if (p->family == SECG_FAMILY_IPV6)
		e->flags |= SECG_EVENT_IPV6;
	e->proto = p->proto;
	e->tcp_flags = p->tcp_flags;
	__builtin_memcpy(e->src, p->src, 16);
	__builtin_memcpy(e->dst, p->dst, 16);
	if (p->l4 == L4_PORTS) {
		e->sport = p->sport;
		e->dport = p->dport;
	} else {
		e->sport = p->l4 == L4_ICMP_ANSWER ? p->dport : p->sport;
		e->icmp_type = p->icmp_type;
		e->icmp_code = p->icmp_code;
	}
}

/* The record of a kind, without what only a reject has, in the scratch. */
__inline void record_fill(struct hook_context *ctx, const struct packet *p, struct scratch *scratch,
			  __u32 kind, __u32 suppressed)
{
	struct secg_event *e = &scratch->record.event;
	const struct tell *t = &scratch->tell;

	__builtin_memset(e, 0, sizeof(*e));
	e->time_ns = bpf_ktime_get_ns();
	e->kind = kind;
	e->ifindex = t->ifindex;
	e->rule = t->rule;
	e->suppressed = suppressed;
	e->port = t->port;
	e->direction = t->direction;
	e->reason = t->reason;
	e->action = t->action;
	e->flags = t->flags;
	e->length = t->length;
	if (!(t->flags & SECG_EVENT_L3))
		record_link(ctx, e, scratch);
	record_packet(e, p);
}

__inline void record_send(struct scratch *scratch, __u32 kind, __u32 size)
{
	__u64 *lost;

	if (!bpf_ringbuf_output(&secg_events, &scratch->record, size, 0))
		return;
	lost = bpf_map_lookup_elem(&secg_events_lost, &kind);
	if (lost)
		++*lost;
}

static __attribute__((noinline)) int record(struct hook_context *ctx, const struct packet *p,
					    struct scratch *scratch, __u32 kind, __u32 suppressed)
{
	record_fill(ctx, p, scratch, kind, suppressed);
	record_send(scratch, kind, sizeof(struct secg_event));
	return 0;
}

/* What its rule or default wants to hear of a packet. */
__inline void tell_rule(struct hook_context *ctx, const struct packet *p, struct scratch *scratch)
{
	const struct tell *t = &scratch->tell;
	__u32 key = t->watch, is_established = t->flags & SECG_EVENT_ESTABLISHED;
	__u32 sample, suppressed;
	struct secg_watch *watch;

	watch = bpf_map_lookup_elem(&secg_watch, &key);
	if (!watch)
		return;
	sample = watch->sample[is_established ? 1 : 0];
	if (sample && bpf_get_prandom_u32() % sample == 0)
		record(ctx, p, scratch, SECG_EVENT_SAMPLE, 0);
	if (is_established && !watch->log_all)
		return;
	if (watch_has_room(watch, t, &suppressed))
		record(ctx, p, scratch, t->what & TELL_AUDIT ? SECG_EVENT_AUDIT : SECG_EVENT_LOG,
		       suppressed);
}

/* A drop that neither a rule nor the default makes. */
__inline void tell_drop(struct hook_context *ctx, const struct packet *p, struct scratch *scratch)
{
	const struct tell *t = &scratch->tell;
	__u32 key = SECG_WATCH_REASON | t->reason, suppressed;
	struct secg_watch *watch;

	watch = bpf_map_lookup_elem(&secg_watch, &key);
	if (watch && watch_has_room(watch, t, &suppressed))
		record(ctx, p, scratch,
		       t->reason == SECG_REASON_SESSION_FULL ? SECG_EVENT_SESSION_FULL
							     : SECG_EVENT_DROP,
		       suppressed);
}

/*
 * Whether an answer may be sent: no reset and no ICMP error is answered, nothing to or from many, nothing
 * that has no IP (RFC 1122 §3.2.2, RFC 4443 §2.4(e)). Later fragments are not judged by rules.
 */
__inline int is_answerable(const struct packet *p, const struct secg_event *e)
{
	__u32 src = bpf_ntohl(p->src[0]), dst = bpf_ntohl(p->dst[0]);

	if (p->family == SECG_FAMILY_OTHER || p->l4 == L4_ICMP_ERROR)
		return 0;
	if ((e->dst_mac[0] | e->src_mac[0]) & 1)
		return 0;
	if (p->proto == IPPROTO_TCP && (p->tcp_flags & TCP_RST))
		return 0;
	if (p->family == SECG_FAMILY_IPV6) {
		/* A redirect is as good as an error; types below 128 are errors whoever assigns them. */
		if (p->proto == IPPROTO_ICMPV6 && (p->icmp_type < 128 || p->icmp_type == 137))
			return 0;
		return src >> 24 != 0xff && dst >> 24 != 0xff &&
		       (p->src[0] | p->src[1] | p->src[2] | p->src[3]);
	}
	if (p->proto == IPPROTO_ICMP && p->icmp_type == 5)
		return 0;
	/* Networks 0 and 127, class D and E, broadcast. */
	return src >> 24 && src >> 24 != 127 && src < 0xe0000000 && dst >> 24 && dst < 0xe0000000;
}

/* The head of the frame, and what an answer is made of; in the record. */
__inline void record_reject(struct hook_context *ctx, const struct packet *p,
			    struct scratch *scratch)
{
	struct secg_event_reject *record = &scratch->record;
	__u32 size = scratch->tell.length;
	__u8 doff = 0;

	record->l4_offset = p->l4_offset;
	record->seq = p->seq;
	record->ack = p->ack;
	record->payload = 0;
	__builtin_memset(record->zero, 0, sizeof(record->zero));
	__builtin_memset(record->head, 0, sizeof(record->head));
	if (p->proto == IPPROTO_TCP && !load_bytes(ctx, p->l4_offset + 12, &doff, 1))
		record->payload = p->end - p->l4_offset - (doff >> 4) * 4;
	if (size > SECG_EVENT_HEAD)
		size = SECG_EVENT_HEAD;
	/* The mask says 1 to SECG_EVENT_HEAD also to verifiers that learn nothing from comparisons. */
	size--;
	asm volatile("" : "+r"(size));
	size = (size & (SECG_EVENT_HEAD - 1)) + 1;
	if (load_bytes(ctx, 0, record->head, size))
		size = 0;
	record->head_size = size;
}

/* The daemon answers what was rejected. */
__inline void tell_reject(struct hook_context *ctx, const struct packet *p, struct scratch *scratch)
{
	__u32 key = SECG_WATCH_REJECT | scratch->tell.port, suppressed;
	struct secg_watch *watch = bpf_map_lookup_elem(&secg_watch, &key);

	if (!watch)
		return;
	record_fill(ctx, p, scratch, SECG_EVENT_REJECT, 0);
	if (!is_answerable(p, &scratch->record.event) ||
	    !watch_has_room(watch, &scratch->tell, &suppressed))
		return;
	scratch->record.event.suppressed = suppressed;
	record_reject(ctx, p, scratch);
	record_send(scratch, SECG_EVENT_REJECT, sizeof(struct secg_event_reject));
}

/* Tells what the scratch's `tell` says of the packet. A global function: verified once. */
__attribute__((noinline)) int HOOK(tell)(struct hook_context *ctx, const struct packet *p)
{
	struct scratch *scratch = scratch_get();

	if (!scratch || !p)
		return 0;
	if (scratch->tell.what & (TELL_RULE | TELL_AUDIT))
		tell_rule(ctx, p, scratch);
	if (scratch->tell.what & TELL_REJECT)
		tell_reject(ctx, p, scratch);
	if (scratch->tell.what & TELL_DROP)
		tell_drop(ctx, p, scratch);
	return 0;
}

#endif
