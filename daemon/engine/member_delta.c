/* SPDX-License-Identifier: Apache-2.0 */
/* Members of two configurations, compared. */
#include "engine/member_delta.h"

#include <string.h>

#include "engine/same.h"

/* ── policies ───────────────────────────────────────────────────────────────────────────────────── */

#define PREFIX_OF_SECURITY_GROUP "sg:"

/* As it was written: with the names of groups and not their members. */
static const json_t *source_of(const struct config *config, const struct acl *acl)
{
	return acl->json ? acl->json
			 : config_object(config, OBJECT_SECURITY_GROUP,
					 acl->name + strlen(PREFIX_OF_SECURITY_GROUP));
}

static bool acls_say_the_same(const struct generation *next, const struct acl *acl,
			      const struct generation *live, const struct acl *before)
{
	/* Services are resolved in the rules, so the texts alone say too little. */
	return acls_are_same_but_for_addresses(acl, before) &&
	       json_equal(source_of(next->config, acl), source_of(live->config, before));
}

static bool lists_say_the_same(const struct generation *next, const struct port_list *list,
			       const struct generation *live, const struct port_list *before)
{
	if (list->acl_count != before->acl_count)
		return false;
	for (size_t i = 0; i < list->acl_count; i++)
		if (!acls_say_the_same(next, list->acls[i], live, before->acls[i]))
			return false;
	return true;
}

static struct generation_policy *find_list(const struct generation *generation,
					   const struct block *block)
{
	for (size_t i = 0; i < generation->list_count; i++)
		if (generation->lists[i].block == block)
			return &generation->lists[i];
	return NULL;
}

/* Most ports share their lists with others: each pair is compared once. */
static bool is_all_of_direction(struct generation *next, const struct generation_port *entry,
				const struct generation *live, const struct generation_port *before,
				int direction)
{
	const struct block *block = entry->policy[direction];
	const struct block *old = before->policy[direction];
	struct generation_policy *list;

	if (block == old)
		return true;
	list = block && old ? find_list(next, block) : NULL;
	if (!list)
		return false;
	if (list->compared_with != old) {
		list->compared_with = old;
		list->is_same_but_for_members = lists_say_the_same(
			next, &entry->port->list[direction], live, &before->port->list[direction]);
	}
	return list->is_same_but_for_members;
}

bool member_delta_is_all(struct generation *next, const struct generation_port *entry,
			 const struct generation *live, const struct generation_port *before)
{
	return json_equal(entry->port->json, before->port->json) &&
	       is_all_of_direction(next, entry, live, before, SECG_FROM) &&
	       is_all_of_direction(next, entry, live, before, SECG_TO);
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

static bool is_same_range(const struct addr_range *a, const struct addr_range *b)
{
	return a->first == b->first && a->last == b->last;
}

/* Leaves out what both begin and end with, which is nearly all of a large group. Both lend. */
static void trim(struct addr_list *a, struct addr_list *b)
{
	size_t first = 0;

	while (first < a->count && first < b->count &&
	       is_same_range(&a->ranges[first], &b->ranges[first]))
		first++;
	while (a->count > first && b->count > first &&
	       is_same_range(&a->ranges[a->count - 1], &b->ranges[b->count - 1])) {
		a->count--;
		b->count--;
	}
	if (first == 0)
		return;
	a->ranges += first;
	b->ranges += first;
	a->count -= first;
	b->count -= first;
}

/* What the first has and the second has not. */
static int add_difference(struct addrset *set, const struct addrset *first,
			  const struct addrset *second)
{
	struct addrset rest = {0};
	int r = addrset_add_set(&rest, first);

	if (r == 0)
		r = addrset_subtract(&rest, second);
	if (r == 0)
		r = addrset_add_set(set, &rest);
	addrset_fini(&rest);
	return r;
}

/* Of one group. A group that is not there has no members. */
static int add_changed(struct addrset *set, const struct group *before, const struct group *next)
{
	struct addrset a = {0}, b = {0};
	int r;

	if (before)
		addrset_lend(&a, &before->members);
	if (next)
		addrset_lend(&b, &next->members);
	trim(&a.v4, &b.v4);
	trim(&a.v6, &b.v6);
	r = add_difference(set, &a, &b);
	return r < 0 ? r : add_difference(set, &b, &a);
}

/* Groups are sorted by name in both. */
int member_delta_find(struct addrset *ret_addresses, const struct config *before,
		      const struct config *next)
{
	struct addrset set = {0};
	size_t i = 0, j = 0;
	int r = 0;

	while (r == 0 && (i < before->group_count || j < next->group_count)) {
		const struct group *a = i < before->group_count ? &before->groups[i] : NULL;
		const struct group *b = j < next->group_count ? &next->groups[j] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);

		i += order <= 0;
		j += order >= 0;
		r = add_changed(&set, order <= 0 ? a : NULL, order >= 0 ? b : NULL);
	}
	if (r < 0) {
		addrset_fini(&set);
		return r;
	}
	addrset_normalize(&set);
	*ret_addresses = set;
	return 0;
}
