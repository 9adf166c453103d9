/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's state, one fact a line. */
#include <stdio.h>

#include "kinds.h"
#include "memory.h"
#include "table.h"
#include "value.h"

/* Members of members as "sessions.used"; ports have a table of their own. */
static void add(struct table *table, const char *path, const json_t *value)
{
	_cleanup_free_ const char **names = NULL;
	size_t count;

	if (!json_is_object(value)) {
		table_add(table, path);
		table_take(table, value_text(value));
		return;
	}
	names = value_keys(value, &count);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *member =
			memory_format("%s%s%s", path, path[0] != '\0' ? "." : "", names[i]);

		add(table, member, json_object_get(value, names[i]));
	}
}

static void print_ports(const json_t *ports)
{
	static const char *const headers[] = {"PORT",    ">IFINDEX",    "STATE",   "HOOK", "MODE",
					      "MODE TO", ">GENERATION", "MESSAGE", NULL};
	static const char *const fields[] = {"hook", "mode", "mode_to", "generation", "message"};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	names = value_keys(ports, &count);
	for (size_t i = 0; i < count; i++) {
		const json_t *port = json_object_get(ports, names[i]);

		table_add(table, names[i]);
		table_take(table, value_text(json_object_get(port, "ifindex")));
		show_state(table, value_member(port, "state"));
		for (size_t j = 0; j < sizeof(fields) / sizeof(fields[0]); j++)
			table_take(table, value_text(json_object_get(port, fields[j])));
	}
	table_print(table, stdout);
}

void show_status(const json_t *status)
{
	static const char *const headers[] = {"FIELD", "VALUE", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	json_auto_t *rest = memory_check(json_copy((json_t *)status));

	json_object_del(rest, "ports");
	add(table, "", rest);
	table_print(table, stdout);
	if (json_object_size(json_object_get(status, "ports")) > 0) {
		putchar('\n');
		print_ports(json_object_get(status, "ports"));
	}
}
