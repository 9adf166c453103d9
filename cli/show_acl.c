/* SPDX-License-Identifier: Apache-2.0 */
/* ACLs and their rules as tables. */
#include <string.h>

#include "kinds.h"
#include "memory.h"
#include "table.h"
#include "value.h"

/* Fields with a column of their own; all others share OTHER as field=value. */
static const char *const own_columns[] = {"id",        "action",    "src",
					  "dst",       "protocol",  "service",
					  "src_ports", "dst_ports", "description"};

void show_acls(const json_t *acls, const json_t *status)
{
	static const char *const headers[] = {"NAME", ">RULES", "AUDIT", "DESCRIPTION", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	(void)status;
	names = value_keys(acls, &count);
	for (size_t i = 0; i < count; i++) {
		const json_t *acl = json_object_get(acls, names[i]);

		table_add(table, names[i]);
		table_format(table, "%zu", json_array_size(json_object_get(acl, "rules")));
		table_add(table, json_is_true(json_object_get(acl, "audit")) ? "yes" : "no");
		table_add(table, value_member(acl, "description"));
	}
	table_print(table, stdout);
}

static int has_own_column(const char *field)
{
	for (size_t i = 0; i < sizeof(own_columns) / sizeof(own_columns[0]); i++) {
		if (strcmp(field, own_columns[i]) == 0)
			return 1;
	}
	return 0;
}

static char *other_fields(const json_t *rule)
{
	_cleanup_free_ char *text = memory_copy("");
	_cleanup_free_ const char **fields = NULL;
	size_t count;

	fields = value_keys(rule, &count);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *value = value_text(json_object_get(rule, fields[i]));
		char *longer;

		if (has_own_column(fields[i]))
			continue;
		longer = memory_format("%s%s%s=%s", text, text[0] != '\0' ? " " : "", fields[i],
				       value);
		free(text);
		text = longer;
	}
	return TAKE_PTR(text);
}

static void add_field(struct table *table, const json_t *rule, const char *field,
		      const char *otherwise)
{
	const json_t *value = json_object_get(rule, field);

	if (value)
		table_take(table, value_text(value));
	else
		table_add(table, otherwise);
}

static void add_rule(struct table *table, size_t number, const json_t *rule)
{
	const json_t *service = json_object_get(rule, "service");

	table_format(table, "%zu", number);
	add_field(table, rule, "id", "");
	add_field(table, rule, "action", "");
	add_field(table, rule, "src", "any");
	add_field(table, rule, "dst", "any");
	if (service) {
		_cleanup_free_ char *names = value_text(service);

		table_format(table, "service %s", names);
	} else {
		add_field(table, rule, "protocol", "any");
	}
	add_field(table, rule, "src_ports", "");
	add_field(table, rule, "dst_ports", "");
	table_take(table, other_fields(rule));
	add_field(table, rule, "description", "");
}

void show_acl(const char *name, const json_t *acl, const json_t *status)
{
	static const char *const headers[] = {">#",    "ID",          "ACTION",    "SRC",
					      "DST",   "PROTOCOL",    "SRC PORTS", "DST PORTS",
					      "OTHER", "DESCRIPTION", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	const json_t *rule;
	size_t i;

	(void)name;
	(void)status;
	json_array_foreach(json_object_get(acl, "rules"), i, rule) add_rule(table, i + 1, rule);
	table_print(table, stdout);
}
