/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of table memory as the control plane holds them: a compiled policy, a port's table of rule words or
 * the tree that finds a word in it. Placed once, shared by the ports and generations that use it. One control thread.
 */
#ifndef SECG_ENGINE_BLOCK_H
#define SECG_ENGINE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile/own.h"
#include "compile/policy.h"
#include "core/cleanup.h"
#include "engine/digest.h"

struct block {
	unsigned int references;
	uint32_t line; /* where the data path has it; 0: not placed */
	const struct secg_line *lines;
	size_t line_count;
	struct compiled *compiled; /* of a policy; else NULL */
	struct own_tree tree; /* of a tree; its lines are the block's, moved when they are placed */
	struct digest digest; /* of a policy: lines and rule keys */
	bool is_used;         /* scratch of the commit: the next generation has it too */
};

/* Takes `compiled` on success. */
int block_new_policy(struct block **ret_block, struct compiled *compiled);
/* Table of `count` rule words, by rule slot; copies them. */
int block_new_counters(struct block **ret_block, const uint32_t *words, size_t count);
bool block_has_counters(const struct block *block, const uint32_t *words, size_t count);
/* Takes the lines of `tree` on success; it has some. */
int block_new_tree(struct block **ret_block, struct own_tree *tree);

static inline struct block *block_ref(struct block *block)
{
	block->references++;
	return block;
}
/* NULL allowed. */
void block_unref(struct block *block);
DEFINE_CLEANUP(struct block *, block_unref);

#endif
