/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Sessions: where a flow lives, how it is found and ends. It opens in open.h, moves to the established
 * table in promote.h; what a packet does to it is in tcp.h; who asks is verdict.h.
 *
 *             allow             answered                    expired, cut, both FINs + timer
 *   (nothing) ─────► secg_new ──────────► secg_established ────────────────────────────────► free
 *                                  bucket full: secg_overflow
 */
#ifndef SECG_BPF_SESSION_H
#define SECG_BPF_SESSION_H

#include <bpf/bpf_helpers.h>

#include "limit.h"

/* Set by the daemon before loading. */
const volatile __u32 secg_bucket_mask __attribute__((weak)) = 65535; /* buckets - 1 */
const volatile __u64 secg_hash_seed __attribute__((weak)) = 1;

__inline __u32 now_ticks(void)
{
	return (__u32)(bpf_jiffies64() >> SECG_TICK_SHIFT);
}

/* A live session, wherever it is: a slot has state and account one behind the other, as the hashes do. */
struct session {
	struct secg_flow *flow;
	__u32 word;    /* state word, when it was found */
	__u32 is_slot; /* in the established table, not in one of the hashes */
};
_Static_assert(__builtin_offsetof(struct secg_slot, a) - __builtin_offsetof(struct secg_slot, s) ==
		       __builtin_offsetof(struct secg_flow, a),
	       "a slot holds a flow");

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
	/* Else a question were the answer to one whose identifier looks like its type and code. */
	if (p->l4 >= L4_ICMP_QUERY && (p->l4 == L4_ICMP_QUERY) == (direction == SECG_TO))
		key->flags |= SECG_KEY_ASKED_TO;
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

/* `port` is the one on which it opened. */
__inline int is_expired(const struct secg_port *port, __u8 proto, const struct secg_flow *flow,
			__u32 word, __u32 now)
{
	__u32 which = secg_flow_timeout(proto, word), limit = port->timeout[which & 7];
	__s32 idle = (__s32)(now - flow->s.seen);

	if (unlikely(word & SECG_FLOW_OWN_TIMEOUT) && secg_flow_is_own_timeout(which))
		limit = flow->a.timeout;
	return idle > 0 && (__u32)idle > limit;
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
			.flow = (struct secg_flow *)&slot->s,
			.word = word,
			.is_slot = 1,
		};
		return 1;
	}
	return 0;
}

__inline int flow_found(struct session *found, struct secg_flow *flow)
{
	if (!flow || !flow_phase(flow->s.state))
		return 0;
	*found = (struct session){.flow = flow, .word = flow->s.state};
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
	scratch->flow = *found->flow;
	found->flow = &scratch->flow;
	found->is_slot = 0;
	return 1;
}

#define ENDED_SLOT 0x10000u /* of session_ended: it was in a slot */

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
	if (__sync_val_compare_and_swap(&found->flow->s.state, found->word, word) != found->word)
		return 0;
	found->word = word;
	return 1;
}

/* What is left to do for the session of the scratch's key, which has ended: counts, its entry in a hash. */
__attribute__((noinline, weak)) int session_ended(const struct guard *g, __u32 hash, __u32 word,
						  __u32 port_and_place)
{
	struct scratch *scratch = scratch_get();
	const struct secg_flow_key *key;

	if (!g || !scratch)
		return 0;
	key = &scratch->key;
	limit_give(g, key, port_and_place & 0xffff, word);
	if (port_and_place & ENDED_SLOT)
		return 0;
	if (flow_phase(word) == SECG_FLOW_NEW)
		bpf_map_delete_elem(&secg_new, key);
	else if (!bpf_map_delete_elem(&secg_overflow, key))
		overflow_add(hash, -1);
	return 0;
}

__inline void session_free(struct session *found, const struct guard *g, __u32 hash)
{
	__u32 word = found->word;

	if (session_become(found, word & ~SECG_FLOW_PHASE_MASK) && !is_traced())
		session_ended(g, hash, word,
			      found->flow->a.port | (found->is_slot ? ENDED_SLOT : 0));
}

/* The port on which it opened, of which it has rules and timeouts; NULL: that port is gone. */
__inline const struct secg_port *session_owner(const struct session *found, const struct guard *g,
					       const struct secg_port *port)
{
	const struct secg_port *owner;

	if (!unlikely(port->flags & SECG_PORT_SHARED))
		return port;
	owner = guard_port(g, found->flow->a.port);
	return owner && (owner->flags & (SECG_PORT_VALID | SECG_PORT_RELEASED)) == SECG_PORT_VALID
		       ? owner
		       : 0;
}

#endif
