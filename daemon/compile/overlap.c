/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes by their bounds. */
#include "compile/overlap.h"

#include <errno.h>
#include <stdlib.h>

static addr_t first_of(const struct keys *keys)
{
	return keys->ranges[0].first;
}

static addr_t last_of(const struct keys *keys)
{
	return keys->ranges[keys->count - 1].last;
}

static int item_compare(const void *a, const void *b)
{
	const struct overlap_item *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int end_compare(const void *a, const void *b)
{
	addr_t x = *(const addr_t *)a, y = *(const addr_t *)b;

	return (x > y) - (x < y);
}

/* The middle of a run of items stands for the whole run. */
static addr_t set_furthest(struct overlap_item *items, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2;
	addr_t furthest = items[middle].last;

	if (low < middle) {
		addr_t left = set_furthest(items, low, middle);

		furthest = left > furthest ? left : furthest;
	}
	if (middle + 1 < high) {
		addr_t right = set_furthest(items, middle + 1, high);

		furthest = right > furthest ? right : furthest;
	}
	items[middle].furthest = furthest;
	return furthest;
}

static const struct keys *keys_of(const void *boxes, size_t stride, size_t i,
				  enum box_dimension dimension)
{
	const struct box *box = (const void *)((const char *)boxes + i * stride);

	return &box->keys[dimension];
}

static bool is_constrained(const void *boxes, size_t stride, size_t count,
			   enum box_dimension dimension, const struct keys *all)
{
	for (size_t i = 0; i < count; i++) {
		const struct keys *keys = keys_of(boxes, stride, i, dimension);

		if (first_of(keys) != first_of(all) || last_of(keys) != last_of(all))
			return true;
	}
	return false;
}

int overlap_init(struct overlap *overlap, enum box_space space, const void *boxes, size_t stride,
		 size_t count, struct arena *arena)
{
	*overlap = (struct overlap){.count = count};
	for (int d = 0; d < BOX_DIMENSIONS; d++) {
		struct overlap_dimension *dimension = &overlap->dimension[d];

		if (!is_constrained(boxes, stride, count, d, box_all(space, d)))
			continue;
		dimension->items = arena_take(arena, count * sizeof(*dimension->items));
		dimension->ends = arena_take(arena, count * sizeof(*dimension->ends));
		if (!dimension->items || !dimension->ends)
			return -ENOMEM;
		for (size_t i = 0; i < count; i++) {
			const struct keys *keys = keys_of(boxes, stride, i, d);

			dimension->items[i] = (struct overlap_item){
				.first = first_of(keys),
				.last = last_of(keys),
				.number = (uint32_t)i,
			};
			dimension->ends[i] = last_of(keys);
		}
		qsort(dimension->items, count, sizeof(*dimension->items), item_compare);
		qsort(dimension->ends, count, sizeof(*dimension->ends), end_compare);
		set_furthest(dimension->items, 0, count);
	}
	return 0;
}

/* How many bounds overlap: those that begin in time less those that end too early. */
static size_t count_overlaps(const struct overlap_dimension *dimension, size_t count, addr_t first,
			     addr_t last)
{
	size_t begun = 0, ended = 0;

	for (size_t high = count; begun < high;) {
		size_t middle = begun + (high - begun) / 2;

		if (dimension->items[middle].first <= last)
			begun = middle + 1;
		else
			high = middle;
	}
	for (size_t high = count; ended < high;) {
		size_t middle = ended + (high - ended) / 2;

		if (dimension->ends[middle] < first)
			ended = middle + 1;
		else
			high = middle;
	}
	return begun - ended;
}

struct search {
	const struct overlap_item *items;
	addr_t first, last;
	void (*each)(uint32_t number, void *data);
	void *data;
	struct work *work;
};

static void search_run(const struct search *search, size_t low, size_t high)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct overlap_item *item = &search->items[middle];

		search->work->done++;
		if (item->furthest < search->first)
			return;
		search_run(search, low, middle);
		if (item->first > search->last)
			return;
		if (item->last >= search->first)
			search->each(item->number, search->data);
		low = middle + 1;
	}
}

int overlap_find(const struct overlap *overlap, const struct box *box, size_t most,
		 void (*each)(uint32_t number, void *data), void *data, struct work *work)
{
	size_t fewest = overlap->count;
	int best = -1;

	for (int d = 0; d < BOX_DIMENSIONS; d++) {
		const struct keys *keys = &box->keys[d];
		size_t count;

		if (!overlap->dimension[d].items)
			continue;
		count = count_overlaps(&overlap->dimension[d], overlap->count, first_of(keys),
				       last_of(keys));
		if (count < fewest) {
			fewest = count;
			best = d;
		}
	}
	work->done++;
	if (fewest > most || best < 0)
		return -E2BIG;
	search_run(
		&(const struct search){
			.items = overlap->dimension[best].items,
			.first = first_of(&box->keys[best]),
			.last = last_of(&box->keys[best]),
			.each = each,
			.data = data,
			.work = work,
		},
		0, overlap->count);
	return 0;
}
