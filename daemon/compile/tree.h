/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementary intervals become search trees in lines: one tree for keys of 32 bits, a chain of up to
 * four, word by word, for IPv6 addresses. Layout: include/secg/policy.h.
 */
#ifndef SECG_COMPILE_TREE_H
#define SECG_COMPILE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "compile/lines.h"
#include "model/addrset.h"

#define TREE_MAX_INTERVALS (SECG_TREE_LEAF_KEYS << 4 * SECG_TREE_MAX_LEVELS)
_Static_assert(SECG_TREE_SEPARATORS + 1 == 16, "four bits a level");

/* Holds from `start` to the start of the next one, the last to the end of the key space. */
struct tree_interval {
	addr_t start;
	uint32_t value;
};

/*
 * Ascending starts, the first 0; neighbours should differ in value, or space is wasted. `words` is 1
 * or 4, the size of a key in 32-bit words. *ret_reference is the tree of the most significant word.
 * -EFBIG: more than TREE_MAX_INTERVALS in one tree. -E2BIG, -ENOMEM.
 */
int tree_build(struct lines *lines, const struct tree_interval *intervals, size_t count,
	       unsigned int words, uint32_t *ret_reference);

/* The value that holds for a key of one word, found as the data path does (bpf/classify.h). */
uint32_t tree_find(const struct secg_line *lines, uint32_t reference, uint32_t key);

#endif
