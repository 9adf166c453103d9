/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Dimensions that few lists have: VLAN, EtherType, single bytes (MACs, TCP flags, DSCP), and a session's
 * own rule. Their vectors are found in a list of any length, in the scratch, so that a list of rules
 * without them pays for one test. Likewise a list that goes on, after a pass, from the middle of a line.
 * Called by classify.h.
 */
#ifndef SECG_BPF_RARE_H
#define SECG_BPF_RARE_H

#include "query.h"
#include "scratch.h"
#include "tree.h"

#define TABLES_PER_LINE 4
#define WORDS_PER_LINE  16

/* Line of the vector of one byte of the packet, relative to the policy; 0 where the table is broken. */
__inline __u32 byte_find(__u32 base, const struct secg_byte_table *table, const struct packet *p)
{
	__u32 byte = table->byte & (PACKET_BYTES - 1);
	const struct secg_line *line;
	__u8 value;

	if (p->absent >> byte & 1)
		return table->absent;
	value = p->byte[byte];
	line = table_line(base + table->table + value / WORDS_PER_LINE);
	return line ? line->w[value % WORDS_PER_LINE] : 0;
}

/* Finds the vectors of VLAN, EtherType, own rule; 0, or -1 where the table is broken. */
__inline void rare_find_keys(struct rare *rare, const struct query *q, const struct packet *p,
			     const struct secg_section *s)
{
	__u32 base = q->policy, dims = q->dims;

	rare->line[0] = dims & SECG_DIM_VLAN ? base + tree_find(base, s->vlan, p->vlan) : 0;
	rare->line[1] =
		dims & SECG_DIM_ETHERTYPE ? base + tree_find(base, s->ethertype, p->ethertype) : 0;
	rare->line[2] = dims & SECG_DIM_OWN ? base + tree_find(base, s->own, q->own) : 0;
	rare->count = RARE_KEYS;
}

/* Finds those of the bytes, too; 0, or -1 where the table is broken. */
__inline int rare_find_bytes(struct rare *rare, const struct query *q, const struct packet *p,
			     const struct secg_section *s)
{
	__u32 base = q->policy;

	for (__u32 i = 0; i < SECG_BYTE_COUNT; i++) {
		const struct secg_byte_table *table;

		if (i >= s->byte_count)
			break;
		table = table_line(base + s->bytes + i / TABLES_PER_LINE);
		if (!table)
			return -1;
		table += i % TABLES_PER_LINE;
		rare->line[RARE_KEYS + i] = base + byte_find(base, table, p);
		rare->count = RARE_KEYS + i + 1;
	}
	return 0;
}

/* Finds the vectors of the query's rare dimensions for rare_line. 0, or -1 where the table is broken. */
__attribute__((noinline, weak)) int rare_find(const struct query *q, const struct packet *p)
{
	struct scratch *scratch = scratch_get();
	const struct secg_section *s;

	if (!q || !p || !scratch)
		return -1;
	s = table_line(q->policy + (p->family & 3));
	if (!s)
		return -1;
	rare_find_keys(&scratch->rare, q, p, s);
	return q->dims & SECG_DIM_BYTES ? rare_find_bytes(&scratch->rare, q, p, s) : 0;
}

/* Word `i` of a line of ones, but for those before number `from`. Without a branch. */
__inline __u64 bits_from(__u32 from, __u32 i)
{
	__s64 skip = (__s64)(__u64)from - i * 64;
	__s64 is_behind = skip >> 63, is_before = (63 - skip) >> 63;

	/* Else the compiler makes branches of the signs, and the verifier paths of those. */
	asm volatile("" : "+r"(is_behind));
	asm volatile("" : "+r"(is_before));
	return ((~0ull << (skip & 63)) | (__u64)is_behind) & ~(__u64)is_before;
}

/*
 * Writes line `at` of the first vector of the query, without the entries before q->from, and the AND of it
 * and of the vectors that rare_find has found.
 */
__attribute__((noinline, weak)) int rare_and(const struct query *q, __u32 at)
{
	struct scratch *scratch = scratch_get();
	const struct secg_vector_line *v;
	struct rare *rare;
	__u32 count;

	if (!q || !scratch)
		return -1;
	v = table_line(q->vector[0] + at);
	if (!v)
		return -1;
	rare = &scratch->rare;
#pragma unroll
	for (int k = 0; k < 8; k++)
		rare->match.w[k] = v->w[k] & bits_from(q->from % SECG_VECTOR_LINE_BITS, k);
	count = q->dims & ~QUERY_COMMON ? rare->count : 0;
	for (__u32 i = 0; i < RARE_MAX; i++) {
		if (i >= count)
			break;
		if (!rare->line[i])
			continue;
		v = table_line(rare->line[i] + at);
		if (!v)
			return -1;
#pragma unroll
		for (int k = 0; k < 8; k++)
			rare->match.w[k] &= v->w[k];
	}
	return 0;
}

/* The line of rare_and; NULL where the table is broken. */
__inline const struct secg_vector_line *rare_line(const struct query *q, __u32 at)
{
	struct scratch *scratch = scratch_get();

	return scratch && !rare_and(q, at) ? &scratch->rare.match : 0;
}

#endif
