/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Sessions: where a flow lives, how it opens, moves to the established table and ends. What a packet
 * does to a TCP session is in tcp.h; who asks is verdict.h.
 *
 *             allow             answered                    expired, cut, both FINs + timer
 *   (nothing) ─────► secg_new ──────────► secg_established ────────────────────────────────► free
 *                                  bucket full: secg_overflow
 */
#ifndef SECG_BPF_SESSION_H
#define SECG_BPF_SESSION_H

#include <bpf/bpf_helpers.h>

#include "classify.h"
#include "maps.h"
#include "packet.h"
#include "scratch.h"
#include "trace.h"

/* Set by the daemon before loading. */
const volatile __u32 secg_bucket_mask __attribute__((weak)) = 65535; /* buckets - 1 */
const volatile __u64 secg_hash_seed __attribute__((weak)) = 1;

__inline __u32 now_ticks(void)
{
	return (__u32)(bpf_jiffies64() >> SECG_TICK_SHIFT);
}

/* A live session: its state and account, wherever they are. `slot` NULL: in one of the hashes. */
struct session {
	struct secg_flow_state *s;
	struct secg_flow_account *a;
	struct secg_slot *slot;
	__u32 version; /* of the slot, when it was found */
	__u32 word;    /* state word, when it was found */
};

/* Numerically compares endpoints as stored: is (src, sport) above (dst, dport)? */
__inline int is_source_above(const struct packet *p)
{
#pragma unroll
	for (int i = 0; i < 4; i++)
		if (p->src[i] != p->dst[i])
			return p->src[i] > p->dst[i];
	return p->sport > p->dport;
}

__inline void key_make(struct secg_flow_key *key, const struct packet *p, __u32 domain,
		       __u32 direction)
{
	__u32 above = is_source_above(p);

	if (above) {
		__builtin_memcpy(key->addr[0], p->dst, 16);
		__builtin_memcpy(key->addr[1], p->src, 16);
		key->port[0] = p->dport;
		key->port[1] = p->sport;
	} else {
		__builtin_memcpy(key->addr[0], p->src, 16);
		__builtin_memcpy(key->addr[1], p->dst, 16);
		key->port[0] = p->sport;
		key->port[1] = p->dport;
	}
	key->domain = domain;
	key->proto = p->proto;
	key->flags = (direction ^ above ? SECG_KEY_PARITY : 0) |
		     (p->family == SECG_FAMILY_IPV6 ? SECG_KEY_IPV6 : 0);
}

__inline int key_equal(const struct secg_flow_key *a, const struct secg_flow_key *b)
{
	const __u64 *x = (const __u64 *)a, *y = (const __u64 *)b;

	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3] && x[4] == y[4];
}

__inline __u32 flow_phase(__u32 word)
{
	return word & SECG_FLOW_PHASE_MASK;
}

__inline int is_expired(const struct secg_port *port, __u8 proto, const struct secg_flow_state *s,
			__u32 word, __u32 now)
{
	__s32 idle = (__s32)(now - s->seen);

	return idle > 0 && (__u32)idle > port->timeout[secg_flow_timeout(proto, word) & 7];
}

/* Fills *found from the bucket; 0 where it is not there. *ret_overflow: the overflow hash may have it. */
__inline int slot_find(struct session *found, const struct secg_flow_key *key, __u32 hash,
		       __u32 *ret_overflow)
{
	__u32 first = (hash & secg_bucket_mask) * SECG_WAYS;

	*ret_overflow = 0;
#pragma unroll
	for (__u32 way = 0; way < SECG_WAYS; way++) {
		__u32 at = first + way;
		struct secg_slot *slot = bpf_map_lookup_elem(&secg_established, &at);
		__u32 version, word;

		if (!slot)
			return 0;
		if (way == 0)
			*ret_overflow = slot->overflow;
		version = *(volatile __u32 *)&slot->version;
		word = *(volatile __u32 *)&slot->s.state;
		if (!flow_phase(word) || (version & 1) || !key_equal(&slot->key, key))
			continue;
		/* The key was read under this version, or the slot is not ours. */
		if (*(volatile __u32 *)&slot->version != version)
			continue;
		*found = (struct session){
			.s = &slot->s,
			.a = &slot->a,
			.slot = slot,
			.version = version,
			.word = word,
		};
		return 1;
	}
	return 0;
}

__inline int flow_found(struct session *found, struct secg_flow *flow)
{
	if (!flow || !flow_phase(flow->s.state))
		return 0;
	*found = (struct session){
		.s = &flow->s,
		.a = &flow->a,
		.word = flow->s.state,
	};
	return 1;
}

__inline int session_find_live(struct session *found, const struct secg_flow_key *key, __u32 hash)
{
	__u32 overflow;

	if (slot_find(found, key, hash, &overflow))
		return 1;
	if (overflow && flow_found(found, bpf_map_lookup_elem(&secg_overflow, key)))
		return 1;
	return flow_found(found, bpf_map_lookup_elem(&secg_new, key));
}

/* The session of the key; in a traced run a copy of it, so that all that follows writes to the copy. */
__inline int session_find(struct session *found, const struct secg_flow_key *key, __u32 hash)
{
	struct scratch *scratch;

	if (!session_find_live(found, key, hash))
		return 0;
	if (!is_traced())
		return 1;
	scratch = scratch_get();
	if (!scratch)
		return 0;
	scratch->flow.s = *found->s;
	scratch->flow.a = *found->a;
	found->s = &scratch->flow.s;
	found->a = &scratch->flow.a;
	found->slot = 0;
	return 1;
}

__inline void overflow_add(__u32 hash, __u32 number)
{
	__u32 first = (hash & secg_bucket_mask) * SECG_WAYS;
	struct secg_slot *slot = bpf_map_lookup_elem(&secg_established, &first);

	if (slot)
		__sync_fetch_and_add(&slot->overflow, number);
}

/* Changes the state word if nobody else has: a slot freed and claimed anew has another incarnation. */
__inline int session_become(struct session *found, __u32 word)
{
	if (__sync_val_compare_and_swap(&found->s->state, found->word, word) != found->word)
		return 0;
	found->word = word;
	return 1;
}

__inline void session_free(struct session *found, const struct secg_flow_key *key, __u32 hash)
{
	__u32 is_new = flow_phase(found->word) == SECG_FLOW_NEW;

	if (!session_become(found, found->word & ~SECG_FLOW_PHASE_MASK) || found->slot ||
	    is_traced())
		return;
	if (is_new)
		bpf_map_delete_elem(&secg_new, key);
	else if (!bpf_map_delete_elem(&secg_overflow, key))
		overflow_add(hash, -1);
}

/* The port of an id in the live generation, SECG_PORT_LINES from line `ports` on. */
__inline const struct secg_port *port_find(__u32 ports, __u32 id)
{
	return table_line(ports + id * SECG_PORT_LINES);
}

/* Room in a way: nothing there, or an expired session. `version` is that of the slot. */
__inline int slot_has_room(const struct secg_slot *slot, __u32 version, __u32 ports, __u32 now)
{
	__u32 word = *(volatile __u32 *)&slot->s.state;
	const struct secg_port *port;

	if (version & 1)
		return 0;
	if (!flow_phase(word))
		return 1;
	port = port_find(ports, slot->a.port);
	return port && is_expired(port, slot->key.proto, &slot->s, word, now);
}

/* Only the owner of an odd version fills a way. */
__inline int slot_claim(struct secg_slot *slot, __u32 ports, __u32 now, __u32 *ret_version)
{
	__u32 version = *(volatile __u32 *)&slot->version;

	if (!slot_has_room(slot, version, ports, now))
		return 0;
	*ret_version = version + 1;
	return __sync_val_compare_and_swap(&slot->version, version, version + 1) == version;
}

/* Two CPUs may have promoted the same flow: the one in the lower way stays. */
__inline int has_lower_twin(const struct secg_flow_key *key, __u32 first, __u32 mine)
{
#pragma unroll
	for (__u32 way = 0; way < SECG_WAYS - 1; way++) {
		__u32 at = first + way;
		struct secg_slot *slot = bpf_map_lookup_elem(&secg_established, &at);

		if (!slot || way >= mine)
			return 0;
		if (flow_phase(slot->s.state) && !(slot->version & 1) && key_equal(&slot->key, key))
			return 1;
	}
	return 0;
}

/* Whether it would fit: only the daemon can say if the overflow hash is full. */
__inline int promote_traced(__u32 first, __u32 ports, __u32 now)
{
	for (__u32 way = 0; way < SECG_WAYS; way++) {
		__u32 at = first + way;
		const struct secg_slot *slot = bpf_map_lookup_elem(&secg_established, &at);

		if (slot && slot_has_room(slot, slot->version, ports, now))
			return 0;
	}
	TRACE(needs_overflow, 1);
	return 0;
}

/*
 * Moves an answered flow from secg_new to the established table: claim, write, publish, look for a
 * twin, delete the old entry. `word` is its state word to be. 0, or -1 where there is no room; the old
 * entry stays then. The compare-and-swaps also order the writes before them.
 */
static __attribute__((noinline)) int promote(const struct secg_flow_key *key, struct session *found,
					     __u32 hash, __u32 ports, __u32 word)
{
	__u32 first = (hash & secg_bucket_mask) * SECG_WAYS, now = now_ticks(), version;
	struct scratch *scratch = scratch_get();
	struct secg_flow *flow;

	if (is_traced())
		return promote_traced(first, ports, now);
	for (__u32 way = 0; way < SECG_WAYS; way++) {
		__u32 at = first + way, empty;
		struct secg_slot *slot = bpf_map_lookup_elem(&secg_established, &at);

		if (!slot || !slot_claim(slot, ports, now, &version))
			continue;
		word = (word & 0xffff) | (((slot->s.state >> SECG_FLOW_INCARNATION_SHIFT) + 1)
					  << SECG_FLOW_INCARNATION_SHIFT);
		empty = word & ~SECG_FLOW_PHASE_MASK;
		/* Free while it is written: neither a reader nor the sweep takes it for the old flow. */
		slot->s.state = empty;
		slot->key = *key;
		slot->a = *found->a;
		slot->s.seen = now;
		slot->s.rule = found->s->rule;
		slot->s.generation = found->s->generation;
		__sync_val_compare_and_swap(&slot->s.state, empty, word);
		__sync_val_compare_and_swap(&slot->version, version, version + 1);
		if (has_lower_twin(key, first, way))
			__sync_val_compare_and_swap(&slot->s.state, word, empty);
		bpf_map_delete_elem(&secg_new, key);
		return 0;
	}
	if (!scratch)
		return -1;
	flow = &scratch->opening;
	flow->s = *found->s;
	flow->a = *found->a;
	flow->s.state = word;
	flow->s.seen = now;
	if (bpf_map_update_elem(&secg_overflow, key, flow, BPF_NOEXIST))
		return -1;
	overflow_add(hash, 1);
	bpf_map_delete_elem(&secg_new, key);
	return 0;
}

#endif
