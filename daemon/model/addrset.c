/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of addresses as sorted ranges. */
#include "model/addrset.h"

#include <string.h>

static struct addr_list *list_of(struct addrset *set, uint8_t family)
{
	return family == 4 ? &set->v4 : &set->v6;
}

/* Makes room for `extra` more ranges. A lent list becomes the set's own copy. */
static int list_reserve(struct addr_list *list, size_t extra)
{
	struct addr_range *ranges;
	size_t capacity;

	if (list->count + extra <= list->capacity)
		return 0;
	capacity = list->count + extra;
	if (capacity < list->capacity * 2)
		capacity = list->capacity * 2;
	if (capacity < 4)
		capacity = 4;
	ranges = reallocarray(list->capacity ? list->ranges : NULL, capacity, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	if (!list->capacity && list->count)
		memcpy(ranges, list->ranges, list->count * sizeof(*ranges));
	list->ranges = ranges;
	list->capacity = capacity;
	return 0;
}

int addrset_add(struct addrset *set, const struct prefix *prefix)
{
	struct addr_list *list = list_of(set, prefix->family);
	unsigned int free_bits = (prefix->family == 4 ? 32u : 128u) - prefix->length;
	addr_t host_bits = free_bits ? ((addr_t)1 << (free_bits - 1) << 1) - 1 : 0;
	int r = list_reserve(list, 1);

	if (r < 0)
		return r;
	list->ranges[list->count++] = (struct addr_range){
		.first = prefix->address,
		.last = prefix->address | host_bits,
	};
	return 0;
}

static int list_append(struct addr_list *list, const struct addr_list *other)
{
	int r;

	if (!other->count)
		return 0;
	r = list_reserve(list, other->count);
	if (r < 0)
		return r;
	memcpy(list->ranges + list->count, other->ranges, other->count * sizeof(*other->ranges));
	list->count += other->count;
	return 0;
}

int addrset_add_set(struct addrset *set, const struct addrset *other)
{
	int r = list_append(&set->v4, &other->v4);

	return r < 0 ? r : list_append(&set->v6, &other->v6);
}

void addrset_lend(struct addrset *ret_set, const struct addrset *owner)
{
	*ret_set = *owner;
	ret_set->v4.capacity = 0;
	ret_set->v6.capacity = 0;
}

size_t addrset_count(const struct addrset *set)
{
	return set->v4.count + set->v6.count;
}

static int range_compare(const void *a, const void *b)
{
	const struct addr_range *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->last < y->last ? -1 : x->last > y->last;
}

/* True if the next range may stay as it is: it begins behind a gap of at least one address. */
static bool is_apart(const struct addr_range *range, const struct addr_range *next)
{
	return next->first > range->last && next->first - range->last > 1;
}

static void list_normalize(struct addr_list *list)
{
	size_t kept = 0, i = 1;

	while (i < list->count && is_apart(&list->ranges[i - 1], &list->ranges[i]))
		i++;
	if (i >= list->count)
		return;
	qsort(list->ranges, list->count, sizeof(*list->ranges), range_compare);
	for (i = 1; i < list->count; i++) {
		if (is_apart(&list->ranges[kept], &list->ranges[i]))
			list->ranges[++kept] = list->ranges[i];
		else if (list->ranges[i].last > list->ranges[kept].last)
			list->ranges[kept].last = list->ranges[i].last;
	}
	list->count = kept + 1;
}

void addrset_normalize(struct addrset *set)
{
	list_normalize(&set->v4);
	list_normalize(&set->v6);
}

static void list_fini(struct addr_list *list)
{
	if (list->capacity)
		free(list->ranges);
	*list = (struct addr_list){0};
}

/* What is left of `list` goes to `rest`, which has room for all: one range more per hole at most. */
static void list_cut(struct addr_list *rest, const struct addr_list *list,
		     const struct addr_list *holes)
{
	size_t hole = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct addr_range range = list->ranges[i];
		bool is_left = true;

		while (hole < holes->count && holes->ranges[hole].last < range.first)
			hole++;
		while (is_left && hole < holes->count && holes->ranges[hole].first <= range.last) {
			const struct addr_range *h = &holes->ranges[hole];

			if (h->first > range.first)
				rest->ranges[rest->count++] =
					(struct addr_range){range.first, h->first - 1};
			is_left = h->last < range.last;
			if (is_left) {
				range.first = h->last + 1;
				hole++;
			}
		}
		if (is_left)
			rest->ranges[rest->count++] = range;
	}
}

static int list_subtract(struct addr_list *list, const struct addr_list *holes)
{
	struct addr_list rest = {0};
	int r;

	if (!list->count || !holes->count)
		return 0;
	r = list_reserve(&rest, list->count + holes->count);
	if (r < 0)
		return r;
	list_cut(&rest, list, holes);
	list_fini(list);
	*list = rest;
	return 0;
}

int addrset_subtract(struct addrset *set, const struct addrset *other)
{
	int r = list_subtract(&set->v4, &other->v4);

	return r < 0 ? r : list_subtract(&set->v6, &other->v6);
}

bool addrset_has(const struct addrset *set, uint8_t family, addr_t address)
{
	const struct addr_list *list = family == 4 ? &set->v4 : &set->v6;
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->ranges[middle].last < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->ranges[low].first <= address;
}

void addrset_fini(struct addrset *set)
{
	list_fini(&set->v4);
	list_fini(&set->v6);
}
