/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl stats: what was counted. */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "table.h"
#include "value.h"
#include "watch.h"

static void add_counts(struct table *table, const json_t *counts, const char *const *fields)
{
	for (; *fields; fields++)
		table_format(table, "%" JSON_INTEGER_FORMAT, value_integer(counts, *fields));
}

static void print_ports(const json_t *ports)
{
	static const char *const headers[] = {"PORT",   "DIRECTION", ">PACKETS",
					      ">BYTES", ">DROPPED",  NULL};
	static const char *const directions[] = {"from", "to"};
	static const char *const fields[] = {"packets", "bytes", "dropped", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	names = value_keys(ports, &count);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < 2; j++) {
			const json_t *port = json_object_get(ports, names[i]);

			table_add(table, names[i]);
			table_add(table, directions[j]);
			add_counts(table, json_object_get(port, directions[j]), fields);
		}
	}
	table_print(table, stdout);
}

static void print_rules(const json_t *rules)
{
	static const char *const headers[] = {"RULE", ">PACKETS", ">BYTES", NULL};
	static const char *const fields[] = {"packets", "bytes", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	names = value_keys(rules, &count);
	for (size_t i = 0; i < count; i++) {
		/* infrastructure has a table of its own */
		if (strncmp(names[i], "infra/", strlen("infra/")) == 0)
			continue;
		table_add(table, names[i]);
		add_counts(table, json_object_get(rules, names[i]), fields);
	}
	putchar('\n');
	table_print(table, stdout);
}

/* Names with a number each; zeroes, most of a long list, are left out. */
static void print_nonzero(const json_t *numbers, const char *head, const char *none)
{
	const char *const headers[] = {head, ">PACKETS", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count, shown = 0;

	names = value_keys(numbers, &count);
	for (size_t i = 0; i < count; i++) {
		json_int_t number = value_integer(numbers, names[i]);

		if (number == 0)
			continue;
		table_add(table, names[i]);
		table_format(table, "%" JSON_INTEGER_FORMAT, number);
		shown++;
	}
	putchar('\n');
	if (shown > 0)
		table_print(table, stdout);
	else
		puts(none);
}

enum {
	OPTION_PORT = OPTIONS_OWN,
};

struct stats {
	const char *port; /* NULL: all */
	struct watch watch;
};

static int take(int letter, char *value, void *data)
{
	struct stats *stats = data;

	if (letter != OPTION_PORT)
		return watch_take(&stats->watch, &verb_stats, letter, value);
	stats->port = value;
	return OPTIONS_GO;
}

static int show(struct cli *cli, void *data)
{
	const struct stats *stats = data;
	_cleanup_free_ char *path = memory_copy("/v1/stats");
	json_auto_t *answer = NULL;
	int r;

	if (stats->port)
		path = client_query(TAKE_PTR(path), "port", stats->port);
	r = client_get(&answer, cli, path);
	if (r != CLI_DONE)
		return r;
	if (output_data(cli, answer))
		return CLI_DONE;
	print_ports(json_object_get(answer, "ports"));
	print_rules(json_object_get(answer, "rules"));
	print_nonzero(json_object_get(answer, "infrastructure"), "INFRASTRUCTURE",
		      "no infrastructure packets");
	print_nonzero(json_object_get(answer, "reasons"), "DROPPED BECAUSE", "nothing dropped");
	return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option longs[] = {
		{"port", required_argument, NULL, OPTION_PORT},
		WATCH_OPTIONS,
		{0},
	};
	struct stats stats = {0};
	const struct options own = {WATCH_LETTERS, longs, take, &stats};
	int index, r;

	r = options_after(&index, cli, &verb_stats, &own, argc, argv);
	if (r == OPTIONS_GO && index < argc)
		r = options_misuse(&verb_stats, "what is '%s'?", argv[index]);
	return r == OPTIONS_GO ? watch_run(&stats.watch, cli, show, &stats) : r;
}

const struct verb verb_stats = {
	.name = "stats",
	.summary = "count packets per port, rule and reason of a drop",
	.run = run,
	.help = "sgctl stats [--port NAME] [-w [--interval SECONDS]]\n"
		"\n"
		"Packets and bytes of every port and direction, of every rule (those of the sessions that\n"
		"it opened included), of infrastructure that passes without a rule (ARP, neighbour\n"
		"discovery, DHCP…), and drops by their reason. Zero reasons are only in -o json.\n"
		"\n"
		"  --port NAME           only this port, and of rules used by several ports its share\n"
		"  -w, --watch           ask again every second and print all of it anew when it has\n"
		"                        changed: with -o json a line each, with -o yaml a document each\n"
		"  --interval SECONDS    how often to ask (1)\n"
		"\n"
		"Rules are called ACL/RULE. 'default' as a reason: no rule matched.\n",
};
