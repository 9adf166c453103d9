/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree from rule words to slots, by which a recheck finds the rule that opened a session: of the
 * rules of a policy that match what a session does not show. Pure.
 */
#ifndef SECG_COMPILE_OWN_H
#define SECG_COMPILE_OWN_H

#include "compile/policy.h"

struct own_tree {
	struct secg_line *lines; /* NULL: the policy has no such rules */
	size_t line_count;
	size_t leaf_count;  /* they come first */
	uint32_t reference; /* from the first of the lines, like those of the inner lines */
};

/* `words`: rule word by slot. -EFBIG: more rules than a tree can hold; -ENOMEM. */
int own_build(struct own_tree *ret_tree, const struct compiled *compiled, const uint32_t *words);
void own_fini(struct own_tree *tree);

/* Slot + 1 of the rule with the word; 0: none of the tree's has it. */
uint32_t own_find(const struct own_tree *tree, uint32_t word);

/* A copy of the tree's lines will lie from `line` on in table memory: makes its references count from line
 * 0. The tree's own is `line` more then. Once for a copy. */
void own_move(struct secg_line *lines, const struct own_tree *tree, uint32_t line);

#endif
