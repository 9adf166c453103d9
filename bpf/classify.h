/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Rule lookup: the first matching rule of a compiled list. No loop over rules: each dimension is a
 * search to a bit vector, the AND of the vectors names the entry (secg/policy.h).
 */
#ifndef SECG_BPF_CLASSIFY_H
#define SECG_BPF_CLASSIFY_H

#include "maps.h"
#include "packet.h"
#include "query.h"
#include "rare.h"
#include "trace.h"
#include "tree.h"

static const __u8 debruijn[64] = {
	0,  1,  2,  53, 3,  7,  54, 27, 4,  38, 41, 8,  34, 55, 48, 28, 62, 5,  39, 46, 44, 42,
	22, 9,  24, 35, 59, 56, 49, 18, 29, 11, 63, 52, 6,  26, 37, 40, 33, 47, 61, 45, 43, 21,
	23, 58, 17, 10, 51, 25, 36, 32, 60, 20, 57, 16, 50, 31, 19, 15, 30, 14, 13, 12,
};

/* Number of the lowest bit set; clang 14 has no BPF code for its builtin. */
__inline __u32 lowest_bit(__u64 word)
{
	__u64 at = ((word & -word) * 0x022fdd63cc95386dull) >> 58;

	asm volatile("" : "+r"(at));
	return debruijn[at & 63];
}

/* Fills q->vector; 0, or -1 where the table is broken. */
__inline int vectors_find(struct query *q, const struct packet *p, const struct secg_section *s)
{
	__u32 base = q->policy, dims = q->dims, has_l4 = p->l4 != L4_NONE;
	const struct secg_line *line;

	__builtin_memset(q->vector, 0, sizeof(q->vector));
	if (dims & SECG_DIM_SRC)
		q->vector[0] =
			base + address_find(base, s->src, q->is_reply ? p->dst : p->src, p->family);
	if (dims & SECG_DIM_DST)
		q->vector[1] =
			base + address_find(base, s->dst, q->is_reply ? p->src : p->dst, p->family);
	if (dims & SECG_DIM_PROTO) {
		line = table_line(base + s->proto + p->proto / 16);
		if (!line)
			return -1;
		q->vector[2] = base + line->w[p->proto % 16];
	}
	if (dims & SECG_DIM_L4_HIGH)
		q->vector[3] = base + (has_l4 ? tree_find(base, s->l4[0], q->high) : s->no_l4[0]);
	if (dims & SECG_DIM_L4_LOW)
		q->vector[4] = base + (has_l4 ? tree_find(base, s->l4[1], q->low) : s->no_l4[1]);
	return 0;
}

/*
 * First entry from q->from on among the 512 of vector line `at`; SECG_VECTOR_LINE_BITS: none. `is_rare`:
 * it begins in the middle of the line, or rare_find has found vectors that count too.
 */
__inline __u32 first_match(const struct query *q, __u32 at, __u32 is_rare)
{
	const struct secg_vector_line *a =
		is_rare ? rare_line(q, at) : table_line(q->vector[0] + at);
	const struct secg_vector_line *b = table_line(q->vector[1] + at);
	const struct secg_vector_line *c = table_line(q->vector[2] + at);
	const struct secg_vector_line *d = table_line(q->vector[3] + at);
	const struct secg_vector_line *e = table_line(q->vector[4] + at);

	if (!a || !b || !c || !d || !e)
		return SECG_VECTOR_LINE_BITS;
#pragma unroll
	for (__u32 i = 0; i < 8; i++) {
		__u64 word = a->w[i] & b->w[i] & c->w[i] & d->w[i] & e->w[i];

		if (word)
			return i * 64 + lowest_bit(word);
	}
	return SECG_VECTOR_LINE_BITS;
}

/* Rule word of a rule slot (SECG_RULE_*); 0: none. */
__inline __u32 rule_word(__u32 counters, __u32 slot)
{
	const struct secg_line *line;

	if (!counters)
		return 0;
	line = table_line(counters + slot / SECG_COUNTERS_PER_LINE);
	return line ? line->w[slot % SECG_COUNTERS_PER_LINE] : 0;
}

__inline void rule_count(__u32 word, __u32 packets, __u32 bytes)
{
	__u32 index = word & SECG_RULE_NUMBER_MASK;
	struct secg_counter *counter;

	if (!index || is_traced())
		return;
	counter = bpf_map_lookup_elem(&secg_rule_counters, &index);
	if (counter) {
		counter->packets += packets;
		counter->bytes += bytes;
	}
}

/*
 * The search behind policy_find, which has narrowed q->dims to those of the section and found the vectors
 * of the rare ones. A global function, so that the verifier reads it once; weak, because every hook
 * brings it along.
 */
__attribute__((noinline, weak)) int classify(struct query *q, const struct packet *p)
{
	const struct secg_section *section;
	/* 64 bits: half a slot of the stack would be forgotten, and with it that the loop ends. */
	__u64 i;
	__u32 has_rare;

	if (!q || !p)
		return SECG_ACTION_NONE;
	section = table_line(q->policy + (p->family & 3));
	if (!section || !section->entries)
		return SECG_ACTION_NONE;
	has_rare = q->dims & ~QUERY_COMMON;
	if (vectors_find(q, p, section))
		return SECG_ACTION_NONE;
	for (i = 0; i < SECG_MAX_VECTOR_LINES + SECG_MAX_ACLS; i++) {
		/* Through memory, so that to the verifier every round begins alike. */
		__u32 from = *(volatile __u32 *)&q->from;
		__u32 at = from / SECG_VECTOR_LINE_BITS, number;
		const struct secg_entry *entry;

		if (from >= section->entries)
			return SECG_ACTION_NONE;
		number = first_match(q, at, has_rare | from % SECG_VECTOR_LINE_BITS);
		if (number == SECG_VECTOR_LINE_BITS) {
			q->from = (at + 1) * SECG_VECTOR_LINE_BITS;
			continue;
		}
		number += at * SECG_VECTOR_LINE_BITS;
		entry = table_line(q->policy + section->entry + number / SECG_ENTRIES_PER_LINE);
		if (!entry)
			return SECG_ACTION_NONE;
		entry += number % SECG_ENTRIES_PER_LINE;
		if (entry->action != SECG_ACTION_PASS) {
			q->slot = entry->slot;
			q->timeout_s = entry->timeout_s;
			q->entry = entry->flags;
			return entry->action;
		}
		rule_count(rule_word(q->counters, entry->slot), p->packets, p->bytes);
		q->from = entry->next;
	}
	return SECG_ACTION_NONE;
}

/*
 * enum secg_action of the first rule that decides, its slot, flags and timeout in *q; SECG_ACTION_NONE:
 * no rule does. `p` is the packet of the query, or one of the session's. Pass rules on the way are
 * counted. The rare dimensions are looked up here and not by classify(), because the stack is short.
 */
__inline int policy_find(struct query *q, const struct packet *p)
{
	const struct secg_section *section = table_line(q->policy + (p->family & 3));

	if (!section)
		return SECG_ACTION_NONE;
	q->dims &= section->dims;
	if ((q->dims & ~QUERY_COMMON) && rare_find(q, p))
		return SECG_ACTION_NONE;
	return classify(q, p);
}

#endif
