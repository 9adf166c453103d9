/* SPDX-License-Identifier: Apache-2.0 */
/* The tree from rule words to slots. */
#include "compile/own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compile/tree.h"
#include "core/cleanup.h"

struct item {
	uint32_t word;
	uint32_t slot;
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->word != y->word)
		return x->word < y->word ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Ascending, the first of those with one word: an ACL that stands in a list twice has it in both places. */
static size_t list_items(struct item *ret_items, const struct compiled *compiled,
			 const uint32_t *words)
{
	size_t count = 0, kept = 0;

	for (uint32_t slot = 0; slot < compiled->rule_count; slot++)
		if (compiled->rule_hidden[slot] && words[slot])
			ret_items[count++] = (struct item){.word = words[slot], .slot = slot};
	qsort(ret_items, count, sizeof(*ret_items), compare_items);
	for (size_t i = 0; i < count; i++)
		if (!i || ret_items[i].word != ret_items[i - 1].word)
			ret_items[kept++] = ret_items[i];
	return kept;
}

/* A word is an interval of one key; 0 holds between them. */
static size_t list_intervals(struct tree_interval *ret_intervals, const struct item *items,
			     size_t item_count)
{
	size_t count = 0;

	ret_intervals[count++] = (struct tree_interval){0};
	for (size_t i = 0; i < item_count; i++) {
		addr_t word = items[i].word;

		if (ret_intervals[count - 1].start == word)
			count--;
		ret_intervals[count++] =
			(struct tree_interval){.start = word, .value = items[i].slot + 1};
		if (word < UINT32_MAX)
			ret_intervals[count++] = (struct tree_interval){.start = word + 1};
	}
	return count;
}

int own_build(struct own_tree *ret_tree, const struct compiled *compiled, const uint32_t *words)
{
	_cleanup_free_ struct item *items = calloc(compiled->rule_count + 1, sizeof(*items));
	_cleanup_free_ struct tree_interval *intervals = NULL;
	_cleanup_(lines_fini) struct lines lines = {0};
	size_t item_count, count;
	uint32_t reference;
	int r;

	if (!items)
		return -ENOMEM;
	item_count = list_items(items, compiled, words);
	if (!item_count) {
		*ret_tree = (struct own_tree){0};
		return 0;
	}
	intervals = calloc(2 * item_count + 1, sizeof(*intervals));
	if (!intervals)
		return -ENOMEM;
	count = list_intervals(intervals, items, item_count);
	r = tree_build(&lines, intervals, count, 1, &reference);
	if (r < 0)
		return r;
	*ret_tree = (struct own_tree){
		.line_count = lines.count,
		.leaf_count = (count + SECG_TREE_LEAF_KEYS - 1) / SECG_TREE_LEAF_KEYS,
		.reference = reference,
	};
	ret_tree->lines = TAKE_PTR(lines.line);
	return 0;
}

void own_fini(struct own_tree *tree)
{
	free(tree->lines);
	*tree = (struct own_tree){0};
}

uint32_t own_find(const struct own_tree *tree, uint32_t word)
{
	return tree->lines ? tree_find(tree->lines, tree->reference, word) : 0;
}

void own_move(struct secg_line *lines, const struct own_tree *tree, uint32_t line)
{
	for (size_t i = tree->leaf_count; i < tree->line_count; i++) {
		struct secg_tree_inner inner;

		memcpy(&inner, &lines[i], sizeof(inner));
		inner.meta += line;
		memcpy(&lines[i], &inner, sizeof(inner));
	}
}
