/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One dimension of a section: which entries match which keys. Every entry either takes any key or has a
 * set of spans; entries with equal sets share one. The sweep walks the borders of all spans in order
 * and keeps the vector of the entries that match, so its cost is that of the borders, not of intervals
 * times entries.
 */
#ifndef SECG_COMPILE_DIMENSION_H
#define SECG_COMPILE_DIMENSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile/tree.h"
#include "compile/vector.h"
#include "model/addrset.h"

struct span_set {
	uint64_t hash;
	size_t first; /* in `spans` */
	size_t count;
	uint32_t entry; /* head of the entries with this set; dimension.next goes on */
};

struct dimension {
	addr_t max; /* largest key */
	struct addr_range *spans;
	size_t span_count;
	size_t span_capacity;
	struct span_set *sets;
	size_t set_count;
	uint32_t *next;        /* by entry */
	uint32_t *index;       /* hash of a set ─► its number + 1 */
	size_t index_capacity; /* power of two */
	size_t constrained;    /* entries that do not take any key */
	struct vector any;     /* entries that take any key */
};

int dimension_init(struct dimension *dimension, size_t entries, addr_t max);
void dimension_fini(struct dimension *dimension);

/* The entry takes every key. Each entry is added once. */
void dimension_add_any(struct dimension *dimension, uint32_t entry);
/* The entry takes the keys of `spans`: ascending, disjoint. Copied. None at all: it never matches. */
int dimension_add(struct dimension *dimension, uint32_t entry, const struct addr_range *spans,
		  size_t count);

/*
 * Elementary intervals and the vector line of each; the caller frees the array. -EFBIG: more than a
 * tree of one word could hold. -E2BIG, -ENOMEM.
 */
int dimension_sweep(const struct dimension *dimension, struct vector_pool *pool,
		    struct tree_interval **ret_intervals, size_t *ret_count);

#endif
