/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and their members as tables. */
#include "kinds.h"
#include "memory.h"
#include "table.h"
#include "value.h"

/* "tier=web,zone=1" */
static char *labels_text(const json_t *labels)
{
	_cleanup_free_ char *text = memory_copy("");
	_cleanup_free_ const char **names = NULL;
	size_t count;

	names = value_keys(labels, &count);
	for (size_t i = 0; i < count; i++) {
		char *longer = memory_format("%s%s%s=%s", text, i > 0 ? "," : "", names[i],
					     value_member(labels, names[i]));

		free(text);
		text = longer;
	}
	return TAKE_PTR(text);
}

void show_groups(const json_t *groups, const json_t *status)
{
	static const char *const headers[] = {"NAME",  ">PREFIXES", ">EXCEPT",     "GROUPS",
					      "PORTS", "SELECT",    "DESCRIPTION", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	(void)status;
	names = value_keys(groups, &count);
	for (size_t i = 0; i < count; i++) {
		const json_t *group = json_object_get(groups, names[i]);

		table_add(table, names[i]);
		table_format(table, "%zu", json_array_size(json_object_get(group, "prefixes")));
		table_format(table, "%zu", json_array_size(json_object_get(group, "except")));
		table_take(table, value_text(json_object_get(group, "groups")));
		table_take(table, value_text(json_object_get(group, "ports")));
		table_take(table, labels_text(json_object_get(group, "select")));
		table_add(table, value_member(group, "description"));
	}
	table_print(table, stdout);
}

/* Own prefixes, and when those leave that are members for a while. */
static void add_prefixes(struct table *table, const json_t *members)
{
	const json_t *member;
	size_t i;

	json_array_foreach(json_object_get(members, "members"), i, member)
	{
		const json_t *left = json_object_get(member, "expires_s");

		table_add(table, "prefix");
		table_add(table, value_member(member, "prefix"));
		if (left)
			table_format(table, "%.0f s", json_number_value(left));
		else
			table_add(table, "");
	}
}

static void add_members(struct table *table, const json_t *group, const char *field,
			const char *word)
{
	const json_t *member;
	size_t i;

	json_array_foreach(json_object_get(group, field), i, member)
	{
		table_add(table, word);
		table_take(table, value_text(member));
		table_add(table, "");
	}
}

void show_group(const char *name, const json_t *group, const json_t *members)
{
	static const char *const headers[] = {"KIND", "MEMBER", ">LEAVES IN", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);

	(void)name;
	add_prefixes(table, members);
	add_members(table, group, "groups", "group");
	add_members(table, group, "ports", "port");
	if (json_object_get(group, "select")) {
		table_add(table, "ports with");
		table_take(table, labels_text(json_object_get(group, "select")));
		table_add(table, "");
	}
	add_members(table, group, "except", "except");
	table_print(table, stdout);
}
