/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted arrays, so that two are compared, and one edited, in one pass. */
#include "engine/leases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leases {
	unsigned int references;
	struct config_member
		*members; /* by group and prefix; members of one group share its name */
	uint64_t *ends;   /* ms, same index */
	size_t count;
};

static struct leases *new_with_room(size_t capacity)
{
	_cleanup_(leases_unrefp) struct leases *leases = calloc(1, sizeof(*leases));

	if (!leases)
		return NULL;
	leases->references = 1;
	leases->members = calloc(capacity + 1, sizeof(*leases->members));
	leases->ends = calloc(capacity + 1, sizeof(*leases->ends));
	return leases->members && leases->ends ? TAKE_PTR(leases) : NULL;
}

struct leases *leases_new(void)
{
	return new_with_room(0);
}

struct leases *leases_ref(struct leases *leases)
{
	leases->references++;
	return leases;
}

static bool has_name_of_last(const struct leases *leases, size_t index)
{
	return index > 0 && leases->members[index].group == leases->members[index - 1].group;
}

void leases_unref(struct leases *leases)
{
	if (!leases || --leases->references)
		return;
	for (size_t i = leases->count; i-- > 0;)
		if (!has_name_of_last(leases, i))
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

static int edit_compare(const void *a, const void *b)
{
	const struct lease_edit *x = a, *y = b;
	int order = prefix_compare(&x->prefix, &y->prefix);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sorts them and leaves the last of each prefix. Returns how many these are. */
static size_t settle(struct lease_edit *edits, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		edits[i].rank = i;
	qsort(edits, count, sizeof(*edits), edit_compare);
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || prefix_compare(&edits[i].prefix, &edits[i + 1].prefix) != 0)
			edits[kept++] = edits[i];
	return kept;
}

/* ── making ─────────────────────────────────────────────────────────────────────────────────────── */

/* There is room; they come in order. */
static int append(struct leases *leases, const char *group, const struct prefix *prefix,
		  uint64_t end_ms)
{
	struct config_member *member = &leases->members[leases->count];
	const char *name = leases->count ? member[-1].group : NULL;

	if (leases->count == LEASES_MAX)
		return -ENOSPC;
	if (!name || strcmp(name, group) != 0)
		name = strdup(group);
	if (!name)
		return -ENOMEM;
	*member = (struct config_member){.group = name, .prefix = *prefix};
	leases->ends[leases->count++] = end_ms;
	return 0;
}

static int append_old(struct leases *leases, const struct leases *old, size_t index)
{
	return append(leases, old->members[index].group, &old->members[index].prefix,
		      old->ends[index]);
}

/* Below, at or above the edit, in the order of leases. */
static int compare_with(const struct config_member *member, const char *group,
			const struct lease_edit *edit)
{
	int order = strcmp(member->group, group);

	return order ? order : prefix_compare(&member->prefix, &edit->prefix);
}

int leases_edit(struct leases **ret_leases, const struct leases *leases, const char *group,
		struct lease_edit *edits, size_t count)
{
	_cleanup_(leases_unrefp) struct leases *next = new_with_room(leases->count + count);
	size_t left = settle(edits, count);
	size_t at = 0;
	int r = next ? 0 : -ENOMEM;

	for (size_t i = 0; i < left && r == 0; i++) {
		while (at < leases->count && r == 0 &&
		       compare_with(&leases->members[at], group, &edits[i]) < 0)
			r = append_old(next, leases, at++);
		if (at < leases->count && compare_with(&leases->members[at], group, &edits[i]) == 0)
			at++;
		if (r == 0 && edits[i].end_ms)
			r = append(next, group, &edits[i].prefix, edits[i].end_ms);
	}
	while (at < leases->count && r == 0)
		r = append_old(next, leases, at++);
	if (r == 0)
		*ret_leases = TAKE_PTR(next);
	return r;
}

static bool is_kept(const struct leases *leases, size_t index, uint64_t now_ms,
		    const json_t *groups)
{
	return leases->ends[index] > now_ms &&
	       json_object_get(groups, leases->members[index].group);
}

int leases_keep(struct leases **ret_leases, struct leases *leases, uint64_t now_ms,
		const json_t *document)
{
	const json_t *groups = json_object_get(document, object_kind_names[OBJECT_GROUP]);
	_cleanup_(leases_unrefp) struct leases *next = NULL;
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < leases->count; i++)
		kept += is_kept(leases, i, now_ms, groups);
	if (kept == leases->count) {
		*ret_leases = leases_ref(leases);
		return 0;
	}
	next = new_with_room(kept);
	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < leases->count && r == 0; i++)
		if (is_kept(leases, i, now_ms, groups))
			r = append_old(next, leases, i);
	if (r == 0)
		*ret_leases = TAKE_PTR(next);
	return r;
}

/* ── reading ────────────────────────────────────────────────────────────────────────────────────── */

bool leases_has_ended(const struct leases *leases, uint64_t now_ms)
{
	for (size_t i = 0; i < leases->count; i++)
		if (leases->ends[i] <= now_ms)
			return true;
	return false;
}

bool leases_are_same(const struct leases *a, const struct leases *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; a != b && i < a->count; i++)
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
