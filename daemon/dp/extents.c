/* SPDX-License-Identifier: Apache-2.0 */
/* Free space of table memory: a sorted array of free runs. Used by tables.c; knows no maps. */
#include "dp/extents.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct run {
	uint32_t line;
	uint32_t lines;
};

struct extents {
	struct run *runs; /* free, by line, never adjacent */
	size_t count;
	size_t capacity;
	size_t taken; /* runs in the hands of the caller */
	uint32_t free_lines;
};

/* Between n taken runs lie at most n + 1 free ones: with this room, giving back needs no memory. */
static int make_room(struct extents *extents)
{
	size_t capacity = extents->capacity * 2;
	struct run *runs;

	if (extents->taken + 2 < extents->capacity)
		return 0;
	runs = reallocarray(extents->runs, capacity, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	extents->runs = runs;
	extents->capacity = capacity;
	return 0;
}

int extents_new(struct extents **ret_extents, uint32_t first, uint32_t end)
{
	_cleanup_(extents_freep) struct extents *extents = calloc(1, sizeof(*extents));

	if (!extents)
		return -ENOMEM;
	extents->capacity = 16;
	extents->runs = calloc(extents->capacity, sizeof(*extents->runs));
	if (!extents->runs)
		return -ENOMEM;
	if (end > first) {
		extents->runs[0] = (struct run){first, end - first};
		extents->count = 1;
		extents->free_lines = end - first;
	}
	*ret_extents = TAKE_PTR(extents);
	return 0;
}

void extents_free(struct extents *extents)
{
	free(extents->runs);
	free(extents);
}

/* Index of the first free run that starts behind `line`. */
static size_t behind(const struct extents *extents, uint32_t line)
{
	size_t low = 0, high = extents->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (extents->runs[middle].line > line)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void insert(struct extents *extents, size_t at, struct run run)
{
	assert(extents->count < extents->capacity);
	memmove(&extents->runs[at + 1], &extents->runs[at],
		(extents->count - at) * sizeof(*extents->runs));
	extents->runs[at] = run;
	extents->count++;
}

static void erase(struct extents *extents, size_t at)
{
	extents->count--;
	memmove(&extents->runs[at], &extents->runs[at + 1],
		(extents->count - at) * sizeof(*extents->runs));
}

/* Cuts lines out of free run `at`, which holds them all. */
static void cut(struct extents *extents, size_t at, uint32_t line, uint32_t lines)
{
	struct run *run = &extents->runs[at];
	struct run rest = {line + lines, run->line + run->lines - (line + lines)};

	run->lines = line - run->line;
	if (rest.lines && run->lines)
		insert(extents, at + 1, rest);
	else if (rest.lines)
		*run = rest;
	else if (!run->lines)
		erase(extents, at);
	extents->taken++;
	extents->free_lines -= lines;
}

int extents_take(struct extents *extents, uint32_t lines, uint32_t *ret_line)
{
	size_t best = extents->count;
	int r;

	assert(lines);
	r = make_room(extents);
	if (r < 0)
		return r;
	for (size_t i = 0; i < extents->count; i++) {
		const struct run *run = &extents->runs[i];

		if (run->lines < lines)
			continue;
		if (best == extents->count || run->lines < extents->runs[best].lines)
			best = i;
	}
	if (best == extents->count)
		return -ENOSPC;
	*ret_line = extents->runs[best].line;
	cut(extents, best, *ret_line, lines);
	return 0;
}

int extents_reserve(struct extents *extents, uint32_t line, uint32_t lines)
{
	size_t at = behind(extents, line);
	const struct run *run;
	int r;

	assert(lines);
	r = make_room(extents);
	if (r < 0)
		return r;
	if (!at)
		return -EBUSY;
	run = &extents->runs[at - 1];
	if ((uint64_t)line + lines > (uint64_t)run->line + run->lines)
		return -EBUSY;
	cut(extents, at - 1, line, lines);
	return 0;
}

void extents_give(struct extents *extents, uint32_t line, uint32_t lines)
{
	size_t at = behind(extents, line);
	struct run *before = at ? &extents->runs[at - 1] : NULL;
	struct run *after = at < extents->count ? &extents->runs[at] : NULL;
	bool joins_before = before && before->line + before->lines == line;
	bool joins_after = after && line + lines == after->line;

	assert(extents->taken && (!before || before->line + before->lines <= line));
	assert(!after || line + lines <= after->line);
	extents->taken--;
	extents->free_lines += lines;
	if (joins_before) {
		before->lines += lines;
		if (joins_after) {
			before->lines += after->lines;
			erase(extents, at);
		}
	} else if (joins_after) {
		after->line = line;
		after->lines += lines;
	} else {
		insert(extents, at, (struct run){line, lines});
	}
}

uint32_t extents_free_lines(const struct extents *extents)
{
	return extents->free_lines;
}

size_t extents_runs(const struct extents *extents)
{
	return extents->count;
}
