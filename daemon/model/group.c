/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups: named sets of addresses. Members are own prefixes, what ports bring, members for a while, and
 * the members of nested groups, without `except`. Nesting is walked with a stack of our own: its depth is
 * the client's choice. Every security group is a group too, of the ports that wear it.
 */
#include <string.h>

#include "model/group_draft.h"
#include "model/members.h"
#include "model/objects.h"
#include "model/value.h"

struct group_drafts {
	struct group_draft *items; /* sorted by name once all are read */
	size_t count;
};

static void group_drafts_fini(struct group_drafts *drafts)
{
	for (size_t i = 0; i < drafts->count; i++) {
		group_fini(&drafts->items[i].group);
		addrset_fini(&drafts->items[i].except);
	}
	free(drafts->items);
}

void group_fini(struct group *group)
{
	free(group->name);
	json_decref(group->json);
	addrset_fini(&group->members);
	*group = (struct group){0};
}

/* ── nesting ────────────────────────────────────────────────────────────────────────────────────── */

static int draft_compare(const void *a, const void *b)
{
	const struct group_draft *x = a, *y = b;

	return strcmp(x->group.name, y->group.name);
}

static int name_compare(const void *name, const void *item)
{
	const struct group_draft *draft = item;

	return strcmp(name, draft->group.name);
}

static struct group_draft *draft_find(const struct group_drafts *drafts, const char *name)
{
	return bsearch(name, drafts->items, drafts->count, sizeof(*drafts->items), name_compare);
}

static int cycle_error(struct parser *parser, const struct path *path,
		       const struct group_drafts *drafts, const struct group_draft *from,
		       const struct group_draft *to)
{
	char names[512];
	size_t at = sizeof(names) - 1;
	const struct group_draft *step = from;

	/* The walk is known backwards only, so the text is built from its end. */
	names[at] = '\0';
	for (;;) {
		size_t size = strlen(step->group.name) + strlen(" -> ");

		if (at < size + strlen("… -> ")) {
			at -= strlen("… -> ");
			memcpy(names + at, "… -> ", strlen("… -> "));
			break;
		}
		at -= size;
		memcpy(names + at, step->group.name, strlen(step->group.name));
		memcpy(names + at + strlen(step->group.name), " -> ", strlen(" -> "));
		if (step == to)
			break;
		step = &drafts->items[step->parent];
	}
	return parse_error(parser, path, ERROR_BAD_VALUE, "groups contain each other: %s%s",
			   names + at, to->group.name);
}

/* All nested groups are done: their members come in, `except` goes out. */
static int draft_close(struct parser *parser, const struct path *path,
		       const struct group_drafts *drafts, struct group_draft *draft)
{
	size_t count = draft->nested ? list_count(draft->nested) : 0;
	int r;

	draft->colour = GROUP_DONE;
	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(list_item(draft->nested, i));
		const struct group_draft *nested = draft_find(drafts, name);

		if (!nested)
			continue;
		r = ranges_charge(parser, path, addrset_count(&nested->group.members));
		if (!r)
			r = addrset_add_set(&draft->group.members, &nested->group.members);
		if (r < 0)
			return r;
	}
	addrset_normalize(&draft->group.members);
	return addrset_subtract(&draft->group.members, &draft->except);
}

/* Looks at the next nested group of `at`; returns the draft to go on with. */
static size_t visit_edge(struct parser *parser, const struct path *kind,
			 struct group_drafts *drafts, size_t at, int *result)
{
	struct group_draft *draft = &drafts->items[at];
	struct path path = path_key(kind, draft->group.name);
	struct path list = path_key(&path, "groups");
	struct path item = list_path(&list, draft->nested, draft->edge);
	const char *name = json_string_value(list_item(draft->nested, draft->edge++));
	struct group_draft *nested = draft_find(drafts, name);

	if (!nested) {
		result_add(result,
			   parse_not_found(parser, &item, "group", name, &drafts->items->group,
					   drafts->count, sizeof(*drafts->items)));
	} else if (nested->colour == GROUP_OPEN) {
		result_add(result, cycle_error(parser, &item, drafts, draft, nested));
	} else if (nested->colour == GROUP_NEW) {
		nested->colour = GROUP_OPEN;
		nested->parent = at;
		return (size_t)(nested - drafts->items);
	}
	return at;
}

static int resolve(struct parser *parser, const struct path *kind, struct group_drafts *drafts,
		   size_t root)
{
	int result = 0;
	size_t at = root;

	drafts->items[root].colour = GROUP_OPEN;
	for (;;) {
		struct group_draft *draft = &drafts->items[at];
		struct path path = path_key(kind, draft->group.name);

		if (draft->nested && draft->edge < list_count(draft->nested)) {
			at = visit_edge(parser, kind, drafts, at, &result);
			continue;
		}
		result_add(&result, draft_close(parser, &path, drafts, draft));
		if (at == root)
			return result;
		at = draft->parent;
	}
}

/* ── all groups ─────────────────────────────────────────────────────────────────────────────────── */

static int read_drafts(struct parser *parser, const struct path *kind, const json_t *value,
		       struct group_drafts *drafts)
{
	int result = 0;
	const char *name;
	json_t *item;

	json_object_foreach((json_t *)value, name, item)
	{
		struct group_draft *draft = &drafts->items[drafts->count];
		struct path path = path_key(kind, name);

		draft->group.name = strdup(name);
		draft->json = draft->group.json = json_object();
		if (!draft->group.name || !draft->json) {
			group_fini(&draft->group);
			return -ENOMEM;
		}
		drafts->count++;
		result_add(&result, parse_object_name(parser, &path, name));
		result_add(&result, group_parse_fields(parser, &path, item, draft));
		addrset_normalize(&draft->except);
	}
	return result;
}

/* One without an object of its own for every security group. A name that a group has too is left to
 * that one: a conflict, which is said when the security groups are read. */
static int add_security_groups(const json_t *groups, const json_t *security_groups,
			       struct group_drafts *drafts)
{
	const char *name;
	json_t *item;

	json_object_foreach((json_t *)security_groups, name, item)
	{
		if (json_object_get(groups, name))
			continue;
		drafts->items[drafts->count].group.name = strdup(name);
		if (!drafts->items[drafts->count++].group.name)
			return -ENOMEM;
	}
	return 0;
}

/* Members that are not in the document; those of groups that it does not have are left out. */
static int add_runtime(struct parser *parser, const struct path *kind, struct group_drafts *drafts)
{
	const struct config_runtime *runtime = parser->runtime;

	for (size_t i = 0; runtime && i < runtime->member_count; i++) {
		const struct config_member *member = &runtime->members[i];
		struct path path = path_key(kind, member->group);
		struct group_draft *draft = draft_find(drafts, member->group);
		int r = draft ? ranges_charge(parser, &path, 1) : 0;

		if (draft && !r)
			r = addrset_add(&draft->group.members, &member->prefix);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Members that ports bring by naming the group. */
static int add_named(struct parser *parser, const struct path *kind, struct group_drafts *drafts)
{
	int result = 0;

	for (size_t i = 0; i < drafts->count; i++) {
		struct group *group = &drafts->items[i].group;
		struct path path = path_key(kind, group->name);

		result_add(&result, members_add_named(parser, &path, group->name, &group->members));
	}
	return result;
}

int groups_parse(struct parser *parser, const struct path *path, const json_t *value,
		 const json_t *security_groups)
{
	_cleanup_(group_drafts_fini) struct group_drafts drafts = {0};
	size_t count = json_object_size(value) + json_object_size(security_groups);
	struct config *config = parser->config;
	int result;

	if (!count)
		return 0;
	drafts.items = calloc(count, sizeof(*drafts.items));
	config->groups = calloc(count, sizeof(*config->groups));
	if (!drafts.items || !config->groups)
		return -ENOMEM;
	result = read_drafts(parser, path, value, &drafts);
	result_add(&result, add_security_groups(value, security_groups, &drafts));
	if (result == -ENOMEM)
		return result;
	qsort(drafts.items, drafts.count, sizeof(*drafts.items), draft_compare);
	result_add(&result, add_runtime(parser, path, &drafts));
	result_add(&result, add_named(parser, path, &drafts));
	for (size_t i = 0; i < drafts.count; i++)
		if (drafts.items[i].colour == GROUP_NEW)
			result_add(&result, resolve(parser, path, &drafts, i));
	for (size_t i = 0; i < drafts.count; i++) {
		config->groups[config->group_count++] = drafts.items[i].group;
		drafts.items[i].group = (struct group){0};
	}
	return result;
}
