/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Rule lookup: the first matching rule of a compiled list. No loop over rules: each dimension is a
 * search to a bit vector, the AND of the vectors names the entry (secg/policy.h).
 */
#ifndef SECG_BPF_CLASSIFY_H
#define SECG_BPF_CLASSIFY_H

#include <bpf/bpf_endian.h>

#include "maps.h"
#include "packet.h"
#include "trace.h"

/* What is looked up; host byte order. On the caller's stack. */
struct query {
	__u32 src[4];
	__u32 dst[4];
	__u32 policy;   /* line of struct secg_policy; not 0 */
	__u32 counters; /* line of the port's rule words; 0: pass rules are not counted */
	__u32 packets;
	__u32 bytes;
	__u32 slot;      /* answer: slot of the deciding rule */
	__u32 timeout_s; /* answer: of the deciding entry */
	__u32 from;      /* of classify: first entry not yet looked at */
	__u16 high;      /* source port or ICMP type */
	__u16 low;       /* destination port or ICMP code */
	__u8 family;
	__u8 proto;
	__u8 has_l4;
	__u8 entry; /* answer: SECG_ENTRY_* of the deciding entry */
};

__inline void *table_line(__u32 line)
{
	return bpf_map_lookup_elem(&secg_table, &line);
}

/* Adds -1 where key < separator, without a branch: a branch here would make the verifier walk 2^n paths. */
#define BELOW(key, separator)                                               \
	({                                                                  \
		__s64 _d = (__s64)(__u64)(key) - (__s64)(__u64)(separator); \
		asm volatile("" : "+r"(_d));                                \
		_d >> 63;                                                   \
	})

/* The value of the interval that holds the key; 0 where the tree is broken. */
__inline __u32 tree_find(__u32 base, __u32 reference, __u32 key)
{
	__u32 levels = (reference >> SECG_TREE_LEVEL_SHIFT) & SECG_TREE_LEVEL_MASK;
	__u32 line = base + (reference & SECG_TREE_LINE_MASK);
	const struct secg_tree_leaf *leaf;
	__s64 at;
	__u32 i;

	for (i = 0; i < SECG_TREE_MAX_LEVELS; i++) {
		const struct secg_tree_inner *inner;
		__s64 above;

		if (i >= levels)
			break;
		inner = table_line(line);
		if (!inner)
			return 0;
		at = SECG_TREE_SEPARATORS;
#pragma unroll
		for (int k = 0; k < SECG_TREE_SEPARATORS; k++)
			at += BELOW(key, inner->separator[k]);
		/* An unused separator equals the highest key: never beyond those in use. */
		above = (__s64)(inner->meta >> SECG_TREE_LEVEL_SHIFT) - at;
		at += above & (above >> 63);
		line = base + (inner->meta & SECG_TREE_LINE_MASK) + (__u32)at;
	}
	leaf = table_line(line);
	if (!leaf)
		return 0;
	at = SECG_TREE_LEAF_KEYS - 1;
#pragma unroll
	for (int k = 1; k < SECG_TREE_LEAF_KEYS; k++)
		at += BELOW(key, leaf->start[k]);
	asm volatile("" : "+r"(at));
	return leaf->value[at & (SECG_TREE_LEAF_KEYS - 1)];
}

/* Line of an address's vector, relative to the policy. */
__inline __u32 address_find(__u32 base, __u32 reference, const __u32 address[4], __u8 family)
{
	__u32 value = tree_find(base, reference, address[0]);

	if (family == SECG_FAMILY_IPV4)
		return value;
	if (value & SECG_TREE_DESCEND)
		value = tree_find(base, value, address[1]);
	if (value & SECG_TREE_DESCEND)
		value = tree_find(base, value, address[2]);
	if (value & SECG_TREE_DESCEND)
		value = tree_find(base, value, address[3]);
	return value;
}

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

/* First lines of the vectors of a query; 0, the vector of ones, for a dimension left out. */
struct vectors {
	__u32 line[5];
};

__inline int vectors_find(struct vectors *v, const struct query *q, const struct secg_section *s)
{
	__u32 base = q->policy, dims = s->dims;
	const struct secg_line *line;

	__builtin_memset(v, 0, sizeof(*v));
	if (dims & SECG_DIM_SRC)
		v->line[0] = base + address_find(base, s->src, q->src, q->family);
	if (dims & SECG_DIM_DST)
		v->line[1] = base + address_find(base, s->dst, q->dst, q->family);
	if (dims & SECG_DIM_PROTO) {
		line = table_line(base + s->proto + q->proto / 16);
		if (!line)
			return -1;
		v->line[2] = base + line->w[q->proto % 16];
	}
	if (dims & SECG_DIM_L4_HIGH)
		v->line[3] = base + (q->has_l4 ? tree_find(base, s->l4[0], q->high) : s->no_l4[0]);
	if (dims & SECG_DIM_L4_LOW)
		v->line[4] = base + (q->has_l4 ? tree_find(base, s->l4[1], q->low) : s->no_l4[1]);
	return 0;
}

/* The bits of word `i` from bit number `from` of the line on, without a branch. */
__inline __u64 bits_from(__u32 from, __u32 i)
{
	__s64 skip = (__s64)(__u64)from - i * 64;
	__s64 none = 63 - skip;

	asm volatile("" : "+r"(skip));
	asm volatile("" : "+r"(none));
	return ((~0ull << (skip & 63)) | (__u64)(skip >> 63)) & ~(__u64)(none >> 63);
}

/* First entry from `from` on among the 512 of vector line `at`; SECG_VECTOR_LINE_BITS: none. */
__inline __u32 first_match(const struct vectors *v, __u32 at, __u32 from)
{
	const struct secg_vector_line *a = table_line(v->line[0] + at);
	const struct secg_vector_line *b = table_line(v->line[1] + at);
	const struct secg_vector_line *c = table_line(v->line[2] + at);
	const struct secg_vector_line *d = table_line(v->line[3] + at);
	const struct secg_vector_line *e = table_line(v->line[4] + at);

	if (!a || !b || !c || !d || !e)
		return SECG_VECTOR_LINE_BITS;
#pragma unroll
	for (__u32 i = 0; i < 8; i++) {
		__u64 word = a->w[i] & b->w[i] & c->w[i] & d->w[i] & e->w[i] & bits_from(from, i);

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
 * enum secg_action of the first rule that decides, its slot in q->slot; SECG_ACTION_NONE: no rule does.
 * Pass rules on the way are counted. A global function, so that the verifier reads it once;
 * weak, because every hook brings it along.
 */
__attribute__((noinline, weak)) int classify(struct query *q)
{
	const struct secg_section *section;
	struct vectors v;
	__u32 i;

	if (!q)
		return SECG_ACTION_NONE;
	section = table_line(q->policy + (q->family & 3));
	if (!section || !section->entries)
		return SECG_ACTION_NONE;
	if (vectors_find(&v, q, section))
		return SECG_ACTION_NONE;
	for (i = 0; i < SECG_MAX_VECTOR_LINES + SECG_MAX_ACLS; i++) {
		/* Through memory, so that to the verifier every round begins alike. */
		__u32 from = *(volatile __u32 *)&q->from;
		__u32 at = from / SECG_VECTOR_LINE_BITS, number;
		const struct secg_entry *entry;

		if (from >= section->entries)
			return SECG_ACTION_NONE;
		number = first_match(&v, at, from % SECG_VECTOR_LINE_BITS);
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
		rule_count(rule_word(q->counters, entry->slot), q->packets, q->bytes);
		q->from = entry->next;
	}
	return SECG_ACTION_NONE;
}

__inline void words_to_host(__u32 to[4], const __be32 from[4])
{
#pragma unroll
	for (int i = 0; i < 4; i++)
		to[i] = bpf_ntohl(from[i]);
}

/* The query of a packet, or of its reply: endpoints swapped. An ICMP reply is judged as the question. */
__inline void query_make(struct query *q, const struct packet *p, __u32 policy, int is_reply)
{
	__builtin_memset(q, 0, sizeof(*q));
	words_to_host(q->src, is_reply ? p->dst : p->src);
	words_to_host(q->dst, is_reply ? p->src : p->dst);
	q->policy = policy;
	q->family = p->family;
	q->proto = p->proto;
	q->packets = p->packets;
	q->bytes = p->bytes;
	q->has_l4 = p->l4 != L4_NONE;
	if (p->l4 == L4_PORTS) {
		q->high = bpf_ntohs(is_reply ? p->dport : p->sport);
		q->low = bpf_ntohs(is_reply ? p->sport : p->dport);
	} else {
		q->high = p->icmp_type;
		q->low = p->icmp_code;
		if (is_reply && p->l4 == L4_ICMP_ANSWER)
			q->high = bpf_ntohs(p->sport) >> 8;
	}
}

#endif
