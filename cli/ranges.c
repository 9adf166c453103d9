/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of ranges. */
#include "ranges.h"

#include <string.h>

#include "memory.h"

bool ranges_add(struct ranges *set, int first, int last)
{
	size_t from = 0, to;

	if (first > last)
		return true;
	while (from < set->count && set->items[from].last < first - 1)
		from++;
	for (to = from; to < set->count && set->items[to].first <= last + 1; to++) {
		first = set->items[to].first < first ? set->items[to].first : first;
		last = set->items[to].last > last ? set->items[to].last : last;
	}
	if (from == to && set->count == RANGES_MAX)
		return false;
	memmove(&set->items[from + 1], &set->items[to], (set->count - to) * sizeof(set->items[0]));
	set->count = set->count - (to - from) + 1;
	set->items[from] = (struct range){first, last};
	return true;
}

bool ranges_invert(struct ranges *set, int max)
{
	struct ranges inverse = {.count = 0};
	int next = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (!ranges_add(&inverse, next, set->items[i].first - 1))
			return false;
		next = set->items[i].last + 1;
	}
	if (!ranges_add(&inverse, next, max))
		return false;
	*set = inverse;
	return true;
}

bool ranges_intersect(struct ranges *set, const struct ranges *other)
{
	struct ranges both = {.count = 0};

	for (size_t i = 0; i < set->count; i++) {
		for (size_t j = 0; j < other->count; j++) {
			const struct range *a = &set->items[i], *b = &other->items[j];

			if (!ranges_add(&both, a->first > b->first ? a->first : b->first,
					a->last < b->last ? a->last : b->last))
				return false;
		}
	}
	*set = both;
	return true;
}

bool ranges_is(const struct ranges *set, int first, int last)
{
	return set->count == 1 && set->items[0].first == first && set->items[0].last == last;
}

bool ranges_has(const struct ranges *set, int number)
{
	for (size_t i = 0; i < set->count; i++) {
		if (number >= set->items[i].first && number <= set->items[i].last)
			return true;
	}
	return false;
}

json_t *ranges_json(const struct ranges *set)
{
	json_t *list = memory_check(json_array());

	for (size_t i = 0; i < set->count; i++) {
		const struct range *item = &set->items[i];
		_cleanup_free_ char *text = memory_format("%d-%d", item->first, item->last);

		json_array_append_new(list, memory_check(item->first == item->last
								 ? json_integer(item->first)
								 : json_string(text)));
	}
	return list;
}
