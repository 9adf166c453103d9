/* SPDX-License-Identifier: Apache-2.0 */
/* The algebra of sorted ranges. */
#include "compile/keys.h"

#include <errno.h>

static bool is_same(const struct keys *a, const struct keys *b)
{
	return a->ranges == b->ranges && a->count == b->count;
}

/* The first range that ends at `key` or behind; count: none. */
static size_t find(const struct keys *keys, addr_t key)
{
	size_t low = 0, high = keys->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (keys->ranges[middle].last < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool keys_meet(const struct keys *a, const struct keys *b, struct work *work)
{
	const struct keys *few = a->count <= b->count ? a : b;
	const struct keys *many = few == a ? b : a;

	if (is_same(a, b))
		return a->count > 0;
	for (size_t i = 0; i < few->count; i++) {
		size_t at = find(many, few->ranges[i].first);

		work->done++;
		if (at < many->count && many->ranges[at].first <= few->ranges[i].last)
			return true;
	}
	return false;
}

bool keys_within(const struct keys *a, const struct keys *b, struct work *work)
{
	if (is_same(a, b))
		return true;
	for (size_t i = 0; i < a->count; i++) {
		size_t at = find(b, a->ranges[i].first);

		work->done++;
		if (at == b->count || b->ranges[at].first > a->ranges[i].first ||
		    b->ranges[at].last < a->ranges[i].last)
			return false;
	}
	return true;
}

int keys_common(struct keys *ret_keys, const struct keys *a, const struct keys *b,
		struct arena *arena, struct work *work)
{
	struct addr_range *ranges;
	size_t count = 0;

	if (keys_within(a, b, work)) {
		*ret_keys = *a;
		return 0;
	}
	ranges = arena_take(arena, (a->count + b->count) * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	work->done += a->count + b->count;
	for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
		const struct addr_range *x = &a->ranges[i], *y = &b->ranges[j];
		addr_t first = x->first > y->first ? x->first : y->first;
		addr_t last = x->last < y->last ? x->last : y->last;

		if (first <= last)
			ranges[count++] = (struct addr_range){.first = first, .last = last};
		if (x->last < y->last)
			i++;
		else
			j++;
	}
	*ret_keys = (struct keys){.ranges = ranges, .count = count};
	return 0;
}

/* What `holes` leave of one range; *hole moves on to the last that may matter for the next range. */
static size_t cut(struct addr_range *ret_ranges, struct addr_range range, const struct keys *holes,
		  size_t *hole)
{
	size_t count = 0;

	while (*hole < holes->count && holes->ranges[*hole].last < range.first)
		++*hole;
	for (; *hole < holes->count && holes->ranges[*hole].first <= range.last; ++*hole) {
		const struct addr_range *h = &holes->ranges[*hole];

		if (h->first > range.first)
			ret_ranges[count++] =
				(struct addr_range){.first = range.first, .last = h->first - 1};
		if (h->last >= range.last)
			return count;
		range.first = h->last + 1;
	}
	ret_ranges[count++] = range;
	return count;
}

int keys_without(struct keys *ret_keys, const struct keys *a, const struct keys *b,
		 struct arena *arena, struct work *work)
{
	struct addr_range *ranges;
	size_t count = 0, hole = 0;

	if (keys_within(a, b, work)) {
		*ret_keys = (struct keys){0};
		return 0;
	}
	ranges = arena_take(arena, (a->count + b->count) * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	work->done += a->count + b->count;
	for (size_t i = 0; i < a->count; i++)
		count += cut(ranges + count, a->ranges[i], b, &hole);
	*ret_keys = (struct keys){.ranges = ranges, .count = count};
	return 0;
}
