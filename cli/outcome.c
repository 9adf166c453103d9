/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   + acls.web: {"rules": [{"action": "allow", "id": "https", …
 *   ~ ports.vm1.hook: "tc" → "xdp"
 *   - groups.old
 */
#include "outcome.h"

#include <stdio.h>
#include <string.h>

#include "problems.h"
#include "value.h"

#define VALUE_MAX_BYTES 100

static void print_change(const json_t *change)
{
	const char *op = value_member(change, "op");
	const json_t *before = json_object_get(change, "before");
	const json_t *after = json_object_get(change, "after");
	_cleanup_free_ char *old = before ? value_brief(before, VALUE_MAX_BYTES) : NULL;
	_cleanup_free_ char *new = after ? value_brief(after, VALUE_MAX_BYTES) : NULL;

	fputs(strcmp(op, "add") == 0 ? "+ " : strcmp(op, "remove") == 0 ? "- " : "~ ", stdout);
	value_print_safe(value_member(change, "path"), stdout);
	if (strcmp(op, "replace") == 0 && old && new)
		printf(": %s → %s", old, new);
	else if (strcmp(op, "remove") != 0 && new)
		printf(": %s", new);
	else if (old && !json_is_object(before)) /* a whole object is known by its name */
		printf(": %s", old);
	putchar('\n');
}

static void print_ports(const json_t *ports)
{
	const json_t *name;
	size_t i;

	json_array_foreach(json_object_get(ports, "waiting"), i, name)
		printf("port %s waits for its interface to appear\n", json_string_value(name));
	json_array_foreach(json_object_get(ports, "failed"), i, name)
		printf("port %s is NOT guarded: 'sgctl get port %s' says why\n",
		       json_string_value(name), json_string_value(name));
}

static void print_warnings(const json_t *warnings, struct positions *positions)
{
	struct problems problems = {0};
	const json_t *warning;
	size_t i;

	json_array_foreach(warnings, i, warning) problems_add_item(&problems, positions, warning);
	problems_print(&problems, "sgctl: warning: ", stderr);
	problems_fini(&problems);
}

static void print_close(const json_t *answer, bool is_dry_run, size_t count)
{
	const json_t *sessions = json_object_get(answer, "sessions");
	json_int_t kept = value_integer(sessions, "kept"), cut = value_integer(sessions, "cut");
	json_int_t generation = value_integer(answer, "generation");
	const char *plural = count == 1 ? "" : "s";

	if (kept > 0 || cut > 0)
		printf("sessions: %" JSON_INTEGER_FORMAT " kept, %" JSON_INTEGER_FORMAT " cut\n",
		       kept, cut);
	if (!json_is_true(json_object_get(answer, "changed")))
		printf("no change: generation %" JSON_INTEGER_FORMAT " stays\n", generation);
	else if (is_dry_run)
		printf("dry run: %zu change%s, nothing was applied\n", count, plural);
	else
		printf("generation %" JSON_INTEGER_FORMAT " is live: %zu change%s\n", generation,
		       count, plural);
}

void outcome_print(const json_t *answer, bool is_dry_run, struct positions *positions)
{
	const json_t *changes = json_object_get(answer, "changes"), *change;
	size_t i;

	json_array_foreach(changes, i, change) print_change(change);
	print_ports(json_object_get(answer, "ports"));
	print_warnings(json_object_get(answer, "warnings"), positions);
	print_close(answer, is_dry_run, json_array_size(changes));
}
