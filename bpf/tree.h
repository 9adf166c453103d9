/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Lines of table memory, and the search trees in them (secg/policy.h). */
#ifndef SECG_BPF_TREE_H
#define SECG_BPF_TREE_H

#include <bpf/bpf_endian.h>

#include "maps.h"
#include "packet.h"

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
__inline __u32 address_find(__u32 base, __u32 reference, const __be32 address[4], __u8 family)
{
	__u32 value = tree_find(base, reference, bpf_ntohl(address[0]));

	if (family == SECG_FAMILY_IPV4)
		return value;
	if (value & SECG_TREE_DESCEND)
		value = tree_find(base, value, bpf_ntohl(address[1]));
	if (value & SECG_TREE_DESCEND)
		value = tree_find(base, value, bpf_ntohl(address[2]));
	if (value & SECG_TREE_DESCEND)
		value = tree_find(base, value, bpf_ntohl(address[3]));
	return value;
}

#endif
