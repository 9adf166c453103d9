/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   + acls.web:
 *   +   rules:
 *   +     - {id: https, action: allow, protocol: tcp, dst_ports: [443]}
 *   ~ ports.vm1.hook: tc → xdp
 *   ~ acls.db.rules[2].src[1] (rule app): 192.0.2.1 → 192.0.2.7
 *   - groups.old: {prefixes: [192.0.2.0/28]}
 */
#include "outcome.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "color.h"
#include "memory.h"
#include "problems.h"
#include "value.h"
#include "yaml_print.h"

#define VALUE_MAX_BYTES 100

/* The id of the rule in which the path lies, if the document sent has it and the path goes on behind it:
 * "acls.NAME.rules[2].src". Names may hold dots, but no brackets. */
static const char *find_rule_id(const json_t *document, const char *path)
{
	static const char head[] = "acls.", middle[] = ".rules[";
	const char *rules = strstr(path, middle), *end;
	_cleanup_free_ char *name = NULL;
	const json_t *acl, *rule;

	if (strncmp(path, head, strlen(head)) != 0 || !rules)
		return "";
	end = strchr(rules, ']');
	if (!end || end[1] == '\0')
		return "";
	path += strlen(head);
	name = memory_format("%.*s", (int)(rules - path), path);
	acl = json_object_get(json_object_get(document, "acls"), name);
	rule = json_array_get(json_object_get(acl, "rules"),
			      strtoul(rules + strlen(middle), NULL, 10));
	return value_member(rule, "id");
}

/* One line as it is, or more of them, each behind the sign. */
static void print_full(const json_t *value, char sign)
{
	_cleanup_free_ char *text = NULL;
	char *rest = NULL;
	size_t size = 0;
	FILE *stream;

	if (!json_is_object(value) && !json_is_array(value)) {
		putchar(' ');
		yaml_print(value, YAML_AS_IS, stdout);
		return;
	}
	stream = memory_check(open_memstream(&text, &size));
	if (!yaml_print_line(value, YAML_AS_IS, stream))
		yaml_print(value, YAML_AS_IS, stream);
	fclose(stream);
	memory_check(text);
	if (!strchr(text, '\n')) {
		printf(" %s\n", text);
		return;
	}
	putchar('\n');
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		printf("%c   %s\n", sign, line);
}

static void print_replaced(const json_t *before, const json_t *after)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *stream = memory_check(open_memstream(&text, &size));
	bool is_line;

	is_line = yaml_print_line(before, YAML_AS_IS, stream);
	fputs(" → ", stream);
	is_line = yaml_print_line(after, YAML_AS_IS, stream) && is_line;
	fclose(stream);
	if (is_line && size <= VALUE_MAX_BYTES) {
		printf(" %s\n", text);
		return;
	}
	fputs(" was", stdout);
	print_full(before, '-');
	fputs("~ becomes", stdout);
	print_full(after, '+');
}

static void print_values(char sign, const json_t *before, const json_t *after)
{
	if (sign == '~' && before && after)
		print_replaced(before, after);
	else if (sign == '-' ? before : after)
		print_full(sign == '-' ? before : after, sign);
	else
		putchar('\n');
}

static void print_change(const json_t *change, const json_t *document)
{
	const char *op = value_member(change, "op"), *path = value_member(change, "path");
	char sign = strcmp(op, "add") == 0 ? '+' : strcmp(op, "remove") == 0 ? '-' : '~';
	enum color color = sign == '+' ? COLOR_GREEN : sign == '-' ? COLOR_RED : COLOR_YELLOW;
	const char *id = find_rule_id(document, path);

	color_begin(color, stdout);
	printf("%c ", sign);
	value_print_safe(path, stdout);
	if (id[0] != '\0')
		printf(" (rule %s)", id);
	putchar(':');
	print_values(sign, json_object_get(change, "before"), json_object_get(change, "after"));
	color_end(color, stdout);
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
	problems_print(&problems, positions, "sgctl: warning: ", stderr);
	problems_fini(&problems);
}

static void print_close(const json_t *answer, enum outcome outcome, size_t count)
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
	else if (outcome == OUTCOME_DRY_RUN)
		printf("dry run: %zu change%s, nothing was applied\n", count, plural);
	else if (outcome == OUTCOME_DIFF)
		printf("%zu difference%s\n", count, plural);
	else
		printf("generation %" JSON_INTEGER_FORMAT " is live: %zu change%s\n", generation,
		       count, plural);
}

void outcome_print(const json_t *answer, enum outcome outcome, const json_t *document,
		   struct positions *positions)
{
	const json_t *changes = json_object_get(answer, "changes"), *change;
	size_t i;

	json_array_foreach(changes, i, change) print_change(change, document);
	print_ports(json_object_get(answer, "ports"));
	print_warnings(json_object_get(answer, "warnings"), positions);
	print_close(answer, outcome, json_array_size(changes));
}
