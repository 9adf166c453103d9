/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted array, so that two can be compared and one found. */
#include "engine/leases.h"

#include <stdlib.h>
#include <string.h>

struct leases {
	unsigned int references;
	struct config_member *members; /* by group and prefix; `group` is owned */
	uint64_t *ends;                /* ms, same index */
	size_t count;
	size_t capacity;
};

struct leases *leases_new(void)
{
	struct leases *leases = calloc(1, sizeof(*leases));

	if (leases)
		leases->references = 1;
	return leases;
}

struct leases *leases_ref(struct leases *leases)
{
	leases->references++;
	return leases;
}

void leases_unref(struct leases *leases)
{
	if (!leases || --leases->references)
		return;
	for (size_t i = 0; i < leases->count; i++)
		free((char *)leases->members[i].group);
	free(leases->members);
	free(leases->ends);
	free(leases);
}

/* ── order ──────────────────────────────────────────────────────────────────────────────────────── */

static int prefix_compare(const struct prefix *a, const struct prefix *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

/* Where the member is, or would be. */
static size_t place_of(const struct leases *leases, const char *group, const struct prefix *prefix,
		       bool *ret_is_there)
{
	size_t first = 0, end = leases->count;

	*ret_is_there = false;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		const struct config_member *member = &leases->members[middle];
		int order = strcmp(group, member->group);

		if (order == 0)
			order = prefix_compare(prefix, &member->prefix);
		if (order == 0) {
			*ret_is_there = true;
			return middle;
		}
		if (order < 0)
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

/* ── changing ───────────────────────────────────────────────────────────────────────────────────── */

static int grow(struct leases *leases)
{
	size_t capacity = leases->capacity ? 2 * leases->capacity : 16;
	struct config_member *members;
	uint64_t *ends;

	if (leases->count < leases->capacity)
		return 0;
	members = reallocarray(leases->members, capacity, sizeof(*members));
	if (!members)
		return -ENOMEM;
	leases->members = members;
	ends = reallocarray(leases->ends, capacity, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	leases->ends = ends;
	leases->capacity = capacity;
	return 0;
}

static int insert(struct leases *leases, size_t at, const char *group, const struct prefix *prefix,
		  uint64_t end_ms)
{
	size_t behind = leases->count - at;
	char *name;
	int r;

	if (leases->count == LEASES_MAX)
		return -ENOSPC;
	r = grow(leases);
	if (r < 0)
		return r;
	name = strdup(group);
	if (!name)
		return -ENOMEM;
	memmove(&leases->members[at + 1], &leases->members[at], behind * sizeof(*leases->members));
	memmove(&leases->ends[at + 1], &leases->ends[at], behind * sizeof(*leases->ends));
	leases->members[at] = (struct config_member){.group = name, .prefix = *prefix};
	leases->ends[at] = end_ms;
	leases->count++;
	return 0;
}

int leases_set(struct leases *leases, const char *group, const struct prefix *prefix,
	       uint64_t end_ms)
{
	bool is_there;
	size_t at = place_of(leases, group, prefix, &is_there);

	if (!is_there)
		return insert(leases, at, group, prefix, end_ms);
	leases->ends[at] = end_ms;
	return 0;
}

bool leases_remove(struct leases *leases, const char *group, const struct prefix *prefix)
{
	bool is_there;
	size_t at = place_of(leases, group, prefix, &is_there);
	size_t behind = leases->count - at - 1;

	if (!is_there)
		return false;
	free((char *)leases->members[at].group);
	memmove(&leases->members[at], &leases->members[at + 1], behind * sizeof(*leases->members));
	memmove(&leases->ends[at], &leases->ends[at + 1], behind * sizeof(*leases->ends));
	leases->count--;
	return true;
}

struct leases *leases_copy(const struct leases *leases)
{
	_cleanup_(leases_unrefp) struct leases *copy = leases_new();

	for (size_t i = 0; copy && i < leases->count; i++)
		if (insert(copy, i, leases->members[i].group, &leases->members[i].prefix,
			   leases->ends[i]) < 0)
			return NULL;
	return TAKE_PTR(copy);
}

/* Keeps those for which `is_kept` holds. */
static void filter(struct leases *leases,
		   bool (*is_kept)(const struct leases *leases, size_t index, const void *data),
		   const void *data)
{
	size_t count = 0;

	for (size_t i = 0; i < leases->count; i++) {
		if (!is_kept(leases, i, data)) {
			free((char *)leases->members[i].group);
			continue;
		}
		leases->members[count] = leases->members[i];
		leases->ends[count++] = leases->ends[i];
	}
	leases->count = count;
}

static bool is_running(const struct leases *leases, size_t index, const void *now_ms)
{
	return leases->ends[index] > *(const uint64_t *)now_ms;
}

void leases_expire(struct leases *leases, uint64_t now_ms)
{
	filter(leases, is_running, &now_ms);
}

static bool has_group(const struct leases *leases, size_t index, const void *groups)
{
	return json_object_get(groups, leases->members[index].group);
}

void leases_drop_strays(struct leases *leases, const json_t *document)
{
	filter(leases, has_group, json_object_get(document, object_kind_names[OBJECT_GROUP]));
}

/* ── reading ────────────────────────────────────────────────────────────────────────────────────── */

bool leases_has_ended(const struct leases *leases, uint64_t now_ms)
{
	for (size_t i = 0; i < leases->count; i++)
		if (!is_running(leases, i, &now_ms))
			return true;
	return false;
}

bool leases_are_same(const struct leases *a, const struct leases *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->members[i].group, b->members[i].group) != 0 ||
		    prefix_compare(&a->members[i].prefix, &b->members[i].prefix) != 0)
			return false;
	return true;
}

const struct config_member *leases_members(const struct leases *leases, size_t *ret_count)
{
	*ret_count = leases->count;
	return leases->members;
}

uint64_t leases_end_ms(const struct leases *leases, size_t index)
{
	return leases->ends[index];
}
