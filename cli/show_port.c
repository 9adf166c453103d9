/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: what the policy says of them beside what they are at present. */
#include <string.h>

#include "kinds.h"
#include "memory.h"
#include "table.h"
#include "value.h"

/* The ACLs of a direction, and behind them the security groups as "sg:NAME". An absent list passes
 * everything, an empty one nothing; who wears a security group has both. */
static char *list_text(const json_t *port, const char *direction)
{
	const json_t *list = json_object_get(port, direction);
	_cleanup_free_ char *text = value_text(list);
	const json_t *group;
	size_t i;

	json_array_foreach(json_object_get(port, "security_groups"), i, group)
	{
		char *longer = memory_format("%s%ssg:%s", text, text[0] != '\0' ? "," : "",
					     json_string_value(group));

		free(text);
		text = longer;
	}
	if (text[0] == '\0')
		return memory_copy(list ? "(closed)" : "(open)");
	return TAKE_PTR(text);
}

/* How the two directions are attached: "native" or "native/tcx" for mode and mode_to. */
static char *mode_text(const json_t *state)
{
	const char *from = value_member(state, "mode"), *to = value_member(state, "mode_to");

	if (from[0] == '\0' || to[0] == '\0' || strcmp(from, to) == 0)
		return memory_copy(from[0] != '\0' ? from : to);
	return memory_format("%s/%s", from, to);
}

static const json_t *state_of(const json_t *status, const char *name)
{
	return json_object_get(json_object_get(status, "ports"), name);
}

void show_state(struct table *table, const char *state)
{
	table_add(table, state);
	if (strcmp(state, "guarded") == 0)
		table_paint(table, COLOR_GREEN);
	else if (strcmp(state, "failed") == 0 || strcmp(state, "ambiguous") == 0)
		table_paint(table, COLOR_RED);
	else
		table_paint(table, COLOR_YELLOW);
}

/* `port` NULL: it is made of a template and not in the policy. */
static void add_port(struct table *table, const char *name, const json_t *port, const json_t *state)
{
	const char *interface = value_member(state, "interface");

	table_add(table, name);
	table_add(table, interface[0] != '\0' ? interface : value_member(port, "interface"));
	show_state(table, value_member(state, "state"));
	table_add(table, value_member(state, "hook"));
	table_take(table, mode_text(state));
	if (port) {
		table_take(table, list_text(port, "from"));
		table_take(table, list_text(port, "to"));
		table_add(table, value_member(port, "description"));
	} else {
		table_add(table, "");
		table_add(table, "");
		table_format(table, "of template %s", value_member(state, "template"));
	}
	table_add(table, value_member(state, "message"));
}

void show_ports(const json_t *ports, const json_t *status)
{
	static const char *const headers[] = {"NAME", "INTERFACE", "STATE",       "HOOK",    "MODE",
					      "FROM", "TO",        "DESCRIPTION", "MESSAGE", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	json_auto_t *all = memory_check(json_object());
	_cleanup_free_ const char **names = NULL;
	const char *name;
	json_t *state;
	size_t count;

	json_object_update(all, (json_t *)ports);
	json_object_foreach(json_object_get(status, "ports"), name, state)
	{
		if (json_object_get(state, "template"))
			json_object_set(all, name, state);
	}
	names = value_keys(all, &count);
	for (size_t i = 0; i < count; i++)
		add_port(table, names[i], json_object_get(ports, names[i]),
			 state_of(status, names[i]));
	table_print(table, stdout);
}

void show_templates(const json_t *templates, const json_t *status)
{
	static const char *const headers[] = {"NAME", "MATCH", "FROM", "TO", "DESCRIPTION", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	(void)status;
	names = value_keys(templates, &count);
	for (size_t i = 0; i < count; i++) {
		const json_t *template = json_object_get(templates, names[i]);

		table_add(table, names[i]);
		table_take(table, value_text(json_object_get(template, "match")));
		table_take(table, list_text(template, "from"));
		table_take(table, list_text(template, "to"));
		table_add(table, value_member(template, "description"));
	}
	table_print(table, stdout);
}

static void add_all(struct table *table, const json_t *object, const char *prefix)
{
	_cleanup_free_ const char **fields = NULL;
	size_t count;

	fields = value_keys(object, &count);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *text = value_text(json_object_get(object, fields[i]));

		if (text[0] == '\0')
			continue;
		table_format(table, "%s%s", prefix, fields[i]);
		table_take(table, TAKE_PTR(text));
	}
}

void show_port(const char *name, const json_t *port, const json_t *status)
{
	static const char *const headers[] = {"FIELD", "VALUE", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	static const char *const directions[] = {"from", "to"};
	json_auto_t *rest = memory_check(json_copy((json_t *)port));

	table_add(table, "name");
	table_add(table, name);
	for (size_t i = 0; i < 2; i++) {
		table_add(table, directions[i]);
		table_take(table, list_text(port, directions[i]));
		json_object_del(rest, directions[i]);
	}
	add_all(table, rest, "");
	add_all(table, state_of(status, name), "now: ");
	table_print(table, stdout);
}
