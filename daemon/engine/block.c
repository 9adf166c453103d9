/* SPDX-License-Identifier: Apache-2.0 */
/* Reference-counted lines. */
#include "engine/block.h"

#include <string.h>

static int digest_policy(struct digest *ret_digest, const struct compiled *compiled)
{
	struct digest_context context;

	digest_init(&context);
	for (size_t i = 0; i < compiled->rule_count; i++)
		digest_add(&context, compiled->rule_keys[i], strlen(compiled->rule_keys[i]) + 1);
	digest_add(&context, compiled->lines, compiled->line_count * sizeof(*compiled->lines));
	return digest_finish(&context, ret_digest);
}

int block_new_policy(struct block **ret_block, struct compiled *compiled)
{
	struct block *block;
	struct digest digest;
	int r = digest_policy(&digest, compiled);

	if (r < 0)
		return r;
	block = calloc(1, sizeof(*block));
	if (!block)
		return -ENOMEM;
	block->references = 1;
	block->digest = digest;
	block->lines = compiled->lines;
	block->line_count = compiled->line_count;
	block->compiled = compiled;
	*ret_block = block;
	return 0;
}

static size_t lines_of(size_t count)
{
	return (count + SECG_COUNTERS_PER_LINE - 1) / SECG_COUNTERS_PER_LINE;
}

int block_new_counters(struct block **ret_block, const uint32_t *words, size_t count)
{
	_cleanup_free_ struct secg_line *lines = calloc(lines_of(count), sizeof(*lines));
	struct block *block;

	if (!lines)
		return -ENOMEM;
	memcpy(lines, words, count * sizeof(*words));
	block = calloc(1, sizeof(*block));
	if (!block)
		return -ENOMEM;
	block->references = 1;
	block->line_count = lines_of(count);
	block->lines = TAKE_PTR(lines);
	*ret_block = block;
	return 0;
}

bool block_has_counters(const struct block *block, const uint32_t *words, size_t count)
{
	const uint32_t *have = (const uint32_t *)block->lines;

	if (block->compiled || block->line_count != lines_of(count))
		return false;
	for (size_t i = count; i < block->line_count * SECG_COUNTERS_PER_LINE; i++)
		if (have[i])
			return false;
	return memcmp(have, words, count * sizeof(*words)) == 0;
}

int block_new_tree(struct block **ret_block, struct own_tree *tree)
{
	struct block *block = calloc(1, sizeof(*block));

	if (!block)
		return -ENOMEM;
	block->references = 1;
	block->lines = tree->lines;
	block->line_count = tree->line_count;
	block->tree = *tree;
	*tree = (struct own_tree){0};
	*ret_block = block;
	return 0;
}

void block_unref(struct block *block)
{
	if (!block || --block->references > 0)
		return;
	if (block->compiled)
		compiled_free(block->compiled);
	else
		free((void *)block->lines);
	free(block);
}
