/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit vectors of the entries of one section. The one under construction is changed bit by bit; a pool
 * stores each distinct content once, so that two intervals which the same entries match share a vector.
 */
#ifndef SECG_COMPILE_VECTOR_H
#define SECG_COMPILE_VECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "compile/lines.h"

struct vector {
	uint64_t *words; /* whole lines; padding bits are zero */
	uint64_t hash;   /* XOR over the set bits, so that a change costs the same at any size */
};

int vector_init(struct vector *vector, size_t entries);
void vector_toggle(struct vector *vector, uint32_t entry);
void vector_fini(struct vector *vector);

struct vector_slot {
	uint64_t hash;
	uint32_t line; /* 0: free */
};

struct vector_pool {
	struct lines *lines; /* borrowed */
	uint32_t vector_lines;
	struct vector_slot *slots; /* open addressing; capacity is a power of two */
	size_t count;
	size_t capacity;
};

void vector_pool_init(struct vector_pool *pool, struct lines *lines, size_t entries);
/* Line of the vector's content, stored now if it is new. -E2BIG, -ENOMEM. */
int vector_pool_add(struct vector_pool *pool, const struct vector *vector, uint32_t *ret_line);
void vector_pool_fini(struct vector_pool *pool);

#endif
