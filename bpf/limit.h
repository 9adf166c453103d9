/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Limits: how many sessions a port has, how many of them half-open, how many a source has on it. Counted
 * here as sessions open and end; the daemon counts them anew every second, without those that end soon,
 * so that a limit never refuses below it. What ends without having been counted makes a count negative,
 * which is below every limit.
 */
#ifndef SECG_BPF_LIMIT_H
#define SECG_BPF_LIMIT_H

#include "guard.h"

#define LIMIT_TRIES 8

/* One more, unless there are `limit` (0: none). 0: there are. In a traced run nothing is counted. */
__inline int count_take(__u32 *count, __u32 limit)
{
	for (int i = 0; i < LIMIT_TRIES; i++) {
		__u32 old = *(volatile __u32 *)count;

		if (limit && (__s32)old >= (__s32)limit)
			return 0;
		if (is_traced() || __sync_val_compare_and_swap(count, old, old + 1) == old)
			return 1;
	}
	/* Everybody counts at once: rather one too many than one refused below the limit. */
	__sync_fetch_and_add(count, 1);
	return 1;
}

__inline void count_give(__u32 *count)
{
	if (!is_traced())
		__sync_fetch_and_add(count, -1);
}

/* The opener's address in the key of a session that opened in direction `opened`. */
__inline void source_key(struct secg_source_key *source, const struct secg_flow_key *key,
			 __u32 port, __u32 opened)
{
	int opener = !!(key->flags & SECG_KEY_PARITY) ^ (opened & 1);

	__builtin_memcpy(source->addr, opener ? key->addr[1] : key->addr[0], 16);
	source->port = port;
	source->family = key->flags & SECG_KEY_IPV6 ? 6 : 4;
	source->zero = 0;
}

__inline int source_take(const struct secg_flow_key *key, __u32 port, __u32 opened, __u32 limit)
{
	struct secg_source_key source;
	__u32 one = 1, *count;

	source_key(&source, key, port, opened);
	count = bpf_map_lookup_elem(&secg_sources, &source);
	if (!count && !is_traced()) {
		if (!bpf_map_update_elem(&secg_sources, &source, &one, BPF_NOEXIST))
			return 1;
		count = bpf_map_lookup_elem(&secg_sources, &source);
	}
	return !count || count_take(count, limit);
}

/*
 * A session is to be opened on the port. SECG_REASON_NONE: it has been counted; else the limit that
 * refuses it. Weak, because every hook brings it along.
 */
__attribute__((noinline, weak)) int
limit_take(const struct guard *g, const struct secg_flow_key *key, __u32 opened, __u32 is_half_open)
{
	const struct secg_port_rules *rules;
	struct secg_usage *usage;
	__u32 id;

	if (!g || !key)
		return SECG_REASON_UNDECIDED;
	id = g->id;
	rules = guard_rules(g, id);
	usage = bpf_map_lookup_elem(&secg_usage, &id);
	if (!rules || !usage)
		return SECG_REASON_UNDECIDED;
	if (!count_take(&usage->sessions, rules->limit_sessions))
		return SECG_REASON_LIMIT_PORT;
	if (is_half_open && !count_take(&usage->half_open, rules->limit_half_open)) {
		count_give(&usage->sessions);
		return SECG_REASON_LIMIT_HALF_OPEN;
	}
	if (!rules->limit_source || source_take(key, id, opened, rules->limit_source))
		return SECG_REASON_NONE;
	count_give(&usage->sessions);
	if (is_half_open)
		count_give(&usage->half_open);
	return SECG_REASON_LIMIT_SOURCE;
}

/* A session with that state word has ended that was opened on port `id`. */
__attribute__((noinline, weak)) int
limit_give(const struct guard *g, const struct secg_flow_key *key, __u32 id, __u32 word)
{
	const struct secg_port *port;
	struct secg_source_key source;
	struct secg_usage *usage;
	__u32 *count;

	if (!g || !key || is_traced())
		return 0;
	port = guard_port(g, id);
	usage = bpf_map_lookup_elem(&secg_usage, &id);
	if (!port || !usage || !(port->flags & SECG_PORT_LIMITS))
		return 0;
	count_give(&usage->sessions);
	if (key->proto == IPPROTO_TCP && (word & SECG_FLOW_PHASE_MASK) == SECG_FLOW_NEW)
		count_give(&usage->half_open);
	source_key(&source, key, id, !!(word & SECG_FLOW_OPENED_TO));
	count = bpf_map_lookup_elem(&secg_sources, &source);
	if (count)
		count_give(count);
	return 0;
}

/* It is answered, and not half-open any more. */
__inline void limit_answered(const struct guard *g, const struct secg_flow_key *key, __u32 id)
{
	const struct secg_port *port = guard_port(g, id);
	struct secg_usage *usage;

	if (key->proto != IPPROTO_TCP || !port || !(port->flags & SECG_PORT_LIMITS))
		return;
	usage = bpf_map_lookup_elem(&secg_usage, &id);
	if (usage)
		count_give(&usage->half_open);
}

#endif
