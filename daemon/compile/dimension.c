/* SPDX-License-Identifier: Apache-2.0 */
/* One dimension of a section and the sweep over its borders. */
#include "compile/dimension.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"

#define NO_ENTRY UINT32_MAX

/* A place where the entries of a set begin or cease to match. */
struct border {
	addr_t at;
	uint32_t set;
};

int dimension_init(struct dimension *dimension, size_t entries, addr_t max)
{
	size_t capacity = 16;
	int r;

	while (capacity < entries * 2)
		capacity *= 2;
	*dimension = (struct dimension){.max = max, .index_capacity = capacity};
	dimension->next = malloc(entries * sizeof(*dimension->next));
	dimension->sets = malloc(entries * sizeof(*dimension->sets));
	dimension->index = calloc(capacity, sizeof(*dimension->index));
	r = vector_init(&dimension->any, entries);
	if (r < 0 || !dimension->next || !dimension->sets || !dimension->index) {
		dimension_fini(dimension);
		return -ENOMEM;
	}
	return 0;
}

void dimension_fini(struct dimension *dimension)
{
	free(dimension->spans);
	free(dimension->sets);
	free(dimension->next);
	free(dimension->index);
	vector_fini(&dimension->any);
	*dimension = (struct dimension){0};
}

void dimension_add_any(struct dimension *dimension, uint32_t entry)
{
	vector_toggle(&dimension->any, entry);
}

static uint64_t mix(uint64_t hash, addr_t value)
{
	hash = (hash ^ (uint64_t)value) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ (hash >> 29) ^ (uint64_t)(value >> 64)) * 0xbf58476d1ce4e5b9u;
	return hash ^ (hash >> 32);
}

static uint64_t hash_spans(const struct addr_range *spans, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++) {
		assert(spans[i].first <= spans[i].last);
		assert(i == 0 || spans[i - 1].last < spans[i].first);
		hash = mix(mix(hash, spans[i].first), spans[i].last);
	}
	return hash;
}

static int keep_spans(struct dimension *dimension, const struct addr_range *spans, size_t count)
{
	size_t needed = dimension->span_count + count;

	if (needed > dimension->span_capacity) {
		size_t capacity = needed + needed / 2 + 16;
		struct addr_range *grown = realloc(dimension->spans, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		dimension->spans = grown;
		dimension->span_capacity = capacity;
	}
	if (count)
		memcpy(dimension->spans + dimension->span_count, spans, count * sizeof(*spans));
	dimension->span_count = needed;
	return 0;
}

static bool is_equal(const struct dimension *dimension, const struct span_set *set, uint64_t hash,
		     const struct addr_range *spans, size_t count)
{
	return set->hash == hash && set->count == count &&
	       (!count || !memcmp(dimension->spans + set->first, spans, count * sizeof(*spans)));
}

int dimension_add(struct dimension *dimension, uint32_t entry, const struct addr_range *spans,
		  size_t count)
{
	uint64_t hash = hash_spans(spans, count);
	size_t at = hash & (dimension->index_capacity - 1);
	struct span_set *set;
	int r;

	for (; dimension->index[at]; at = (at + 1) & (dimension->index_capacity - 1)) {
		set = &dimension->sets[dimension->index[at] - 1];
		if (is_equal(dimension, set, hash, spans, count))
			break;
	}
	if (!dimension->index[at]) {
		set = &dimension->sets[dimension->set_count];
		*set = (struct span_set){
			.hash = hash,
			.first = dimension->span_count,
			.count = count,
			.entry = NO_ENTRY,
		};
		r = keep_spans(dimension, spans, count);
		if (r < 0)
			return r;
		dimension->index[at] = (uint32_t)++dimension->set_count;
	}
	set = &dimension->sets[dimension->index[at] - 1];
	dimension->next[entry] = set->entry;
	set->entry = entry;
	dimension->constrained++;
	return 0;
}

static int compare_borders(const void *a, const void *b)
{
	const struct border *x = a;
	const struct border *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int list_borders(const struct dimension *dimension, struct border **ret_borders,
			size_t *ret_count)
{
	struct border *borders = malloc((2 * dimension->span_count + 1) * sizeof(*borders));
	size_t count = 0;

	if (!borders)
		return -ENOMEM;
	for (uint32_t set = 0; set < dimension->set_count; set++) {
		const struct addr_range *span = dimension->spans + dimension->sets[set].first;

		for (size_t i = 0; i < dimension->sets[set].count; i++, span++) {
			borders[count++] = (struct border){.at = span->first, .set = set};
			/* Behind the last key there is nothing to switch off. */
			if (span->last < dimension->max)
				borders[count++] =
					(struct border){.at = span->last + 1, .set = set};
		}
	}
	qsort(borders, count, sizeof(*borders), compare_borders);
	*ret_borders = borders;
	*ret_count = count;
	return 0;
}

static size_t count_intervals(const struct border *borders, size_t count)
{
	size_t intervals = 1;

	for (size_t i = 0; i < count; i++)
		intervals += borders[i].at != (i ? borders[i - 1].at : 0);
	return intervals;
}

/* Entries with the set change from matching to not matching, or back. */
static void cross(const struct dimension *dimension, uint32_t set, struct vector *vector)
{
	uint32_t entry = dimension->sets[set].entry;

	for (; entry != NO_ENTRY; entry = dimension->next[entry])
		vector_toggle(vector, entry);
}

/* Starts from the vector of the entries that take any key, which `vector` is a copy of. */
static int sweep(const struct dimension *dimension, struct vector_pool *pool,
		 const struct border *borders, size_t border_count, struct vector *vector,
		 struct tree_interval *intervals)
{
	size_t count = 0;
	addr_t at = 0;
	int r;

	for (size_t i = 0;; at = borders[i].at) {
		for (; i < border_count && borders[i].at == at; i++)
			cross(dimension, borders[i].set, vector);
		intervals[count].start = at;
		r = vector_pool_add(pool, vector, &intervals[count].value);
		if (r < 0)
			return r;
		count++;
		if (i == border_count)
			return 0;
	}
}

int dimension_sweep(const struct dimension *dimension, struct vector_pool *pool,
		    struct tree_interval **ret_intervals, size_t *ret_count)
{
	_cleanup_free_ struct tree_interval *intervals = NULL;
	_cleanup_free_ struct border *borders = NULL;
	_cleanup_(vector_fini) struct vector vector = {0};
	size_t border_count, count;
	int r;

	r = list_borders(dimension, &borders, &border_count);
	if (r < 0)
		return r;
	count = count_intervals(borders, border_count);
	/* Before any vector is stored: a tree of one word has no way to hold more. */
	if (dimension->max <= UINT32_MAX && count > TREE_MAX_INTERVALS)
		return -EFBIG;
	intervals = malloc(count * sizeof(*intervals));
	if (!intervals)
		return -ENOMEM;
	r = vector_init(&vector, (size_t)pool->vector_lines * SECG_VECTOR_LINE_BITS);
	if (r < 0)
		return r;
	memcpy(vector.words, dimension->any.words, pool->vector_lines * sizeof(struct secg_line));
	vector.hash = dimension->any.hash;
	r = sweep(dimension, pool, borders, border_count, &vector, intervals);
	if (r < 0)
		return r;
	*ret_intervals = TAKE_PTR(intervals);
	*ret_count = count;
	return 0;
}
