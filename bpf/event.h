/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Telling the daemon: records in secg_events, as many a second as secg_watch says. Off the fast path: a
 * packet that has nothing to tell pays one test. A traced run tells nothing. Needs of the hook:
 * load_bytes(), hook_vlan(), `hook_context`, HOOK(name).
 */
#ifndef SECG_BPF_EVENT_H
#define SECG_BPF_EVENT_H

#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>

#include "guard.h"
#include "scratch.h"

/* The watch of what decided: of the rule, or of the default where no rule did. */
__inline __u32 watch_key(const struct tell *t)
{
	__u32 number = t->rule & SECG_RULE_NUMBER_MASK;

	return number ? number : SECG_WATCH_DEFAULT | t->port << 1 | t->direction;
}

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
	__u16 type, vlan = hook_vlan(ctx), at = sizeof(struct ethhdr);
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
		vlan = vlan ? vlan : bpf_ntohs(tag[0]) & 0xfff;
		type = bpf_ntohs(tag[1]);
		at += 4;
	}
	e->vlan = vlan;
	e->l3_offset = at;
}

__inline void record_packet(struct secg_event *e, const struct packet *p)
{
	e->ethertype = p->ethertype;
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
	__u32 key = watch_key(t), is_established = t->flags & SECG_EVENT_ESTABLISHED;
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

/* Tells what the scratch's `tell` says of the packet. A global function: verified once. */
__attribute__((noinline)) int HOOK(tell)(struct hook_context *ctx, const struct packet *p)
{
	struct scratch *scratch = scratch_get();

	if (!scratch || !p)
		return 0;
	if (scratch->tell.what & (TELL_RULE | TELL_AUDIT))
		tell_rule(ctx, p, scratch);
	if (scratch->tell.what & TELL_DROP)
		tell_drop(ctx, p, scratch);
	return 0;
}

#endif
