/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search trees. Built bottom up: all leaves in a row, then each level of inner lines in a row above them, so
 * that the children of a node are neighbours by construction.
 */
#include "compile/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FANOUT (SECG_TREE_SEPARATORS + 1)

/* One key space of 32 bits: `value` from `key` on. */
struct step {
	uint32_t key;
	uint32_t value;
};

/* A stack of steps: a tree pushes its own above those of the trees that lead to it. */
struct builder {
	struct lines *lines;
	struct step *steps;
	size_t count;
	size_t capacity;
};

static int push(struct builder *b, uint32_t key, uint32_t value)
{
	if (b->count == b->capacity) {
		size_t capacity = b->capacity ? b->capacity * 2 : 64;
		struct step *steps = realloc(b->steps, capacity * sizeof(*steps));

		if (!steps)
			return -ENOMEM;
		b->steps = steps;
		b->capacity = capacity;
	}
	b->steps[b->count++] = (struct step){.key = key, .value = value};
	return 0;
}

static void fill_leaf(struct secg_line *line, const struct step *steps, size_t count)
{
	struct secg_tree_leaf leaf;

	for (size_t i = 0; i < SECG_TREE_LEAF_KEYS; i++) {
		leaf.start[i] = i < count ? steps[i].key : UINT32_MAX;
		leaf.value[i] = steps[i < count ? i : count - 1].value;
	}
	memcpy(line, &leaf, sizeof(leaf));
}

static void fill_inner(struct secg_line *line, uint32_t child, const uint32_t *lowest, size_t count)
{
	struct secg_tree_inner inner;

	for (size_t i = 0; i < SECG_TREE_SEPARATORS; i++)
		inner.separator[i] = i + 1 < count ? lowest[i + 1] : UINT32_MAX;
	inner.meta = child | (uint32_t)(count - 1) << SECG_TREE_LEVEL_SHIFT;
	memcpy(line, &inner, sizeof(inner));
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Puts `*count` nodes, whose lowest keys are given and whose lines begin at *line, under inner lines;
 * afterwards all three describe the inner lines. */
static int add_level(struct lines *lines, uint32_t *lowest, size_t *count, uint32_t *line)
{
	size_t parents = (*count + FANOUT - 1) / FANOUT;
	uint32_t first;
	int r;

	r = lines_add(lines, parents, &first);
	if (r < 0)
		return r;
	for (size_t i = 0; i < parents; i++) {
		size_t child = i * FANOUT;

		fill_inner(lines->line + first + i, *line + (uint32_t)child, lowest + child,
			   min_size(FANOUT, *count - child));
		lowest[i] = lowest[child];
	}
	*count = parents;
	*line = first;
	return 0;
}

static int build_lines(struct lines *lines, const struct step *steps, size_t count,
		       uint32_t *ret_reference)
{
	size_t nodes = (count + SECG_TREE_LEAF_KEYS - 1) / SECG_TREE_LEAF_KEYS;
	_cleanup_free_ uint32_t *lowest = NULL;
	uint32_t levels = 0;
	uint32_t line;
	int r;

	if (count > TREE_MAX_INTERVALS)
		return -EFBIG;
	lowest = malloc(nodes * sizeof(*lowest));
	if (!lowest)
		return -ENOMEM;
	r = lines_add(lines, nodes, &line);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nodes; i++) {
		size_t at = i * SECG_TREE_LEAF_KEYS;

		fill_leaf(lines->line + line + i, steps + at,
			  min_size(SECG_TREE_LEAF_KEYS, count - at));
		lowest[i] = steps[at].key;
	}
	for (; nodes > 1; levels++) {
		r = add_level(lines, lowest, &nodes, &line);
		if (r < 0)
			return r;
	}
	*ret_reference = line | levels << SECG_TREE_LEVEL_SHIFT;
	return 0;
}

/* Bits of an address below the word that begins at `shift`. */
static addr_t below(addr_t address, unsigned int shift)
{
	return address & (((addr_t)1 << shift) - 1);
}

static uint32_t word_at(addr_t address, unsigned int shift)
{
	return (uint32_t)(address >> shift);
}

static int build_word(struct builder *b, const struct tree_interval *intervals, size_t count,
		      uint32_t before, unsigned int shift, uint32_t *ret_reference);

/*
 * Steps for one value k of a word, from the intervals that start inside it. One interval that starts
 * at its very beginning covers it; anything else needs the next word. `before` holds up to the first.
 */
static int push_word(struct builder *b, const struct tree_interval *intervals, size_t count,
		     uint32_t before, unsigned int shift)
{
	uint32_t key = word_at(intervals[0].start, shift);
	uint32_t value = intervals[count - 1].value;
	uint32_t reference;
	int r;

	if (count == 1 && !below(intervals[0].start, shift))
		return push(b, key, value);
	r = build_word(b, intervals, count, before, shift - 32, &reference);
	if (r < 0)
		return r;
	r = push(b, key, reference | SECG_TREE_DESCEND);
	if (r < 0 || key == UINT32_MAX)
		return r;
	return push(b, key + 1, value);
}

/*
 * The tree of the 32-bit word at `shift`, for intervals equal in all higher words. `before` holds from
 * the beginning of the word's key space to the first interval.
 */
static int build_word(struct builder *b, const struct tree_interval *intervals, size_t count,
		      uint32_t before, unsigned int shift, uint32_t *ret_reference)
{
	size_t base = b->count;
	int r;

	r = push(b, 0, before);
	if (r < 0)
		return r;
	for (size_t i = 0, end; i < count; i = end) {
		uint32_t key = word_at(intervals[i].start, shift);

		for (end = i + 1; end < count && word_at(intervals[end].start, shift) == key;)
			end++;
		/* What is about to be pushed at the same key replaces what held from it on. */
		if (b->count > base && b->steps[b->count - 1].key == key)
			b->count--;
		r = push_word(b, intervals + i, end - i, before, shift);
		if (r < 0)
			return r;
		before = intervals[end - 1].value;
	}
	r = build_lines(b->lines, b->steps + base, b->count - base, ret_reference);
	b->count = base;
	return r;
}

int tree_build(struct lines *lines, const struct tree_interval *intervals, size_t count,
	       unsigned int words, uint32_t *ret_reference)
{
	struct builder b = {.lines = lines};
	int r;

	r = build_word(&b, intervals, count, intervals[0].value, (words - 1) * 32, ret_reference);
	free(b.steps);
	return r;
}

static uint32_t count_at_most(const uint32_t *keys, uint32_t count, uint32_t key)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += keys[i] <= key;
	return n;
}

uint32_t tree_find(const struct secg_line *lines, uint32_t reference, uint32_t key)
{
	uint32_t levels = reference >> SECG_TREE_LEVEL_SHIFT & SECG_TREE_LEVEL_MASK;
	uint32_t line = reference & SECG_TREE_LINE_MASK;
	struct secg_tree_leaf leaf;

	for (; levels; levels--) {
		struct secg_tree_inner inner;
		uint32_t child, in_use;

		memcpy(&inner, lines + line, sizeof(inner));
		in_use = inner.meta >> SECG_TREE_LEVEL_SHIFT;
		child = count_at_most(inner.separator, SECG_TREE_SEPARATORS, key);
		/* The largest key is not below the unused separators either. */
		if (child > in_use)
			child = in_use;
		line = (inner.meta & SECG_TREE_LINE_MASK) + child;
	}
	memcpy(&leaf, lines + line, sizeof(leaf));
	return leaf.value[count_at_most(leaf.start, SECG_TREE_LEAF_KEYS, key) - 1];
}
