/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* How a flow gets into the established table: a way of its bucket, or the overflow beside it. */
#ifndef SECG_BPF_PROMOTE_H
#define SECG_BPF_PROMOTE_H

#include "session.h"

/* Room in a way: nothing there, or an expired session. `version` is that of the slot. */
__inline int slot_has_room(const struct secg_slot *slot, __u32 version, const struct guard *g)
{
	__u32 word = *(volatile __u32 *)&slot->s.state;
	const struct secg_port *port;

	if (version & 1)
		return 0;
	if (!flow_phase(word))
		return 1;
	port = guard_port(g, slot->a.port);
	return !port ||
	       is_expired(port, slot->key.proto, (const struct secg_flow *)&slot->s, word, g->now);
}

/* Only the owner of an odd version fills a way. */
__inline int slot_claim(struct secg_slot *slot, const struct guard *g, __u32 *ret_version)
{
	__u32 version = *(volatile __u32 *)&slot->version;

	if (!slot_has_room(slot, version, g))
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
__inline int promote_traced(__u32 first, const struct guard *g)
{
	for (__u32 way = 0; way < SECG_WAYS; way++) {
		__u32 at = first + way;
		const struct secg_slot *slot = bpf_map_lookup_elem(&secg_established, &at);

		if (slot && slot_has_room(slot, slot->version, g))
			return 0;
	}
	TRACE(needs_overflow, 1);
	return 0;
}

/* Fills a claimed way with the flow; what was in it and had not ended has expired. */
__inline void slot_fill(struct secg_slot *slot, const struct guard *g,
			const struct secg_flow_key *key, const struct secg_flow *flow, __u32 word)
{
	__u32 empty = word & ~SECG_FLOW_PHASE_MASK, old;

	/* Free while it is written: neither a reader nor the sweep takes it for the old flow. */
	old = __sync_lock_test_and_set(&slot->s.state, empty);
	if (flow_phase(old))
		limit_give(g, &slot->key, slot->a.port, old);
	slot->key = *key;
	slot->a = flow->a;
	slot->s.seen = flow->s.seen;
	slot->s.rule = flow->s.rule;
	slot->s.generation = flow->s.generation;
	__sync_val_compare_and_swap(&slot->s.state, empty, word);
}

/* The established table has it now; who takes it out of the other has seen it answered. */
__inline void promoted(const struct guard *g, const struct secg_flow_key *key, __u32 port)
{
	if (!bpf_map_delete_elem(&secg_new, key))
		limit_answered(g, key, port);
}

/*
 * Puts the answered flow in the scratch's `opening`, under its `key`, into the established table: claim, write, publish,
 * look for a twin, delete the entry of secg_new if it has one. 0, or -1 where there is no room; the old
 * entry stays then. The compare-and-swaps also order the writes before them. Weak, because every hook
 * brings it along.
 */
__attribute__((noinline, weak)) int promote(const struct guard *g, __u32 hash)
{
	__u32 first = (hash & secg_bucket_mask) * SECG_WAYS, version, word;
	struct scratch *scratch = scratch_get();
	const struct secg_flow_key *key;
	struct secg_flow *flow;

	if (!g || !scratch)
		return -1;
	key = &scratch->key;
	flow = &scratch->opening;
	flow->s.seen = g->now;
	if (is_traced())
		return promote_traced(first, g);
	for (__u32 way = 0; way < SECG_WAYS; way++) {
		__u32 at = first + way;
		struct secg_slot *slot = bpf_map_lookup_elem(&secg_established, &at);

		if (!slot || !slot_claim(slot, g, &version))
			continue;
		word = (flow->s.state & 0xffff) |
		       (((slot->s.state >> SECG_FLOW_INCARNATION_SHIFT) + 1)
			<< SECG_FLOW_INCARNATION_SHIFT);
		slot_fill(slot, g, key, flow, word);
		__sync_val_compare_and_swap(&slot->version, version, version + 1);
		if (has_lower_twin(key, first, way))
			__sync_val_compare_and_swap(&slot->s.state, word,
						    word & ~SECG_FLOW_PHASE_MASK);
		promoted(g, key, flow->a.port);
		return 0;
	}
	if (bpf_map_update_elem(&secg_overflow, key, flow, BPF_NOEXIST))
		return -1;
	overflow_add(hash, 1);
	promoted(g, key, flow->a.port);
	return 0;
}

#endif
