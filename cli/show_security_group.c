/* SPDX-License-Identifier: Apache-2.0 */
/* Security groups and their rules as tables. */
#include "kinds.h"
#include "memory.h"
#include "table.h"
#include "value.h"

void show_security_groups(const json_t *groups, const json_t *status)
{
	static const char *const headers[] = {"NAME", ">RULES", "STATEFUL", "DESCRIPTION", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	(void)status;
	names = value_keys(groups, &count);
	for (size_t i = 0; i < count; i++) {
		const json_t *group = json_object_get(groups, names[i]);

		table_add(table, names[i]);
		table_format(table, "%zu", json_array_size(json_object_get(group, "rules")));
		table_add(table, json_is_false(json_object_get(group, "stateful")) ? "no" : "yes");
		table_add(table, value_member(group, "description"));
	}
	table_print(table, stdout);
}

/* Where the rule says nothing, what that means. */
static void add_field(struct table *table, const json_t *rule, const char *field,
		      const char *otherwise)
{
	const json_t *value = json_object_get(rule, field);

	table_take(table, value ? value_text(value) : memory_copy(otherwise));
}

static void add_rule(struct table *table, const json_t *rule)
{
	static const char *const rest[] = {"dst_ports", "icmp_type", "icmp_code", "description"};
	const json_t *service = json_object_get(rule, "service");

	add_field(table, rule, "id", "");
	add_field(table, rule, "direction", "");
	add_field(table, rule, "family", "both");
	add_field(table, rule, "remote", "any");
	if (service) {
		_cleanup_free_ char *names = value_text(service);

		table_format(table, "service %s", names);
	} else {
		add_field(table, rule, "protocol", "any");
	}
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		add_field(table, rule, rest[i], "");
}

void show_security_group(const char *name, const json_t *group, const json_t *status)
{
	static const char *const headers[] = {"ID",          "DIRECTION", "FAMILY",    "REMOTE",
					      "PROTOCOL",    "DST PORTS", "ICMP TYPE", "ICMP CODE",
					      "DESCRIPTION", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	const json_t *rule;
	size_t i;

	(void)name;
	(void)status;
	json_array_foreach(json_object_get(group, "rules"), i, rule) add_rule(table, rule);
	table_print(table, stdout);
}
