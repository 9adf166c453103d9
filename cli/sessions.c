/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl sessions: flows that the policy let in, listed page by page or cut. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "ports.h"
#include "table.h"
#include "value.h"
#include "yaml_print.h"

#define PAGE_MAX 1000UL /* sessions asked for at once; the daemon refuses pages much larger */

enum {
	OPTION_DELETE = OPTIONS_OWN,
	OPTION_ALL,
	OPTION_LIMIT,
	OPTION_FILTER, /* and one more for each filter */
};

/* Filters, passed on to the daemon as they are. */
static const char *const filters[] = {"port",  "proto", "src", "dst", "sport",
				      "dport", "state", "acl", "rule"};
#define FILTER_COUNT (sizeof(filters) / sizeof(filters[0]))
#define FILTER_ACL   (FILTER_COUNT - 2)
#define FILTER_RULE  (FILTER_COUNT - 1)

static const char *const headers[] = {"PORT",     "OPENED", "PROTO", "SRC",   "DST",
				      "STATE",    "RULE",   ">AGE",  ">IDLE", ">EXPIRES",
				      ">PACKETS", ">BYTES", NULL};

struct sessions {
	const char *values[FILTER_COUNT];
	size_t value_count;
	bool is_delete;
	bool is_all;
	unsigned long limit; /* 0: none */
	size_t seen, pages;
	struct table *table; /* NULL: data */
	struct cli *cli;
	json_t *ports; /* asked for by the first session without a rule */
	enum output output;
};

static int take(int letter, char *value, void *data)
{
	struct sessions *sessions = data;
	char *end;

	if (letter == OPTION_DELETE) {
		sessions->is_delete = true;
	} else if (letter == OPTION_ALL) {
		sessions->is_all = true;
	} else if (letter == OPTION_LIMIT) {
		errno = 0;
		sessions->limit = strtoul(value, &end, 10);
		if (errno || end == value || *end != '\0' || value[0] == '-' || !sessions->limit)
			return options_misuse(&verb_sessions,
					      "--limit takes a number from 1 on, not '%s'", value);
	} else {
		sessions->value_count += !sessions->values[letter - OPTION_FILTER];
		sessions->values[letter - OPTION_FILTER] = value;
	}
	return OPTIONS_GO;
}

static char *filtered_path(const struct sessions *sessions)
{
	char *path = memory_copy("/v1/sessions");

	for (size_t i = 0; i < FILTER_COUNT; i++) {
		if (sessions->values[i])
			path = client_query(path, filters[i], sessions->values[i]);
	}
	return path;
}

/* "192.0.2.1:443", "[2001:db8::1]:443", or the address alone where the protocol has no ports. */
static void add_endpoint(struct table *table, const json_t *session, const char *address_field,
			 const char *port_field)
{
	const char *address = value_member(session, address_field);
	const json_t *port = json_object_get(session, port_field);
	_cleanup_free_ char *port_text = value_text(port);

	if (!port)
		table_add(table, address);
	else if (strchr(address, ':'))
		table_format(table, "[%s]:%s", address, port_text);
	else
		table_format(table, "%s:%s", address, port_text);
}

static void add_protocol(struct table *table, const json_t *session)
{
	_cleanup_free_ char *protocol = value_text(json_object_get(session, "proto"));
	const json_t *id = json_object_get(session, "icmp_id");

	if (id)
		table_format(table, "%s id %" JSON_INTEGER_FORMAT, protocol,
			     json_integer_value(id));
	else
		table_add(table, protocol);
}

/* A session without a rule came in where none decides, or by one that has been removed since. */
static const char *name_absence(struct sessions *sessions, const json_t *session)
{
	const char *name = value_member(session, "port");
	const json_t *port;

	if (!sessions->ports &&
	    client_get(&sessions->ports, sessions->cli, "/v1/ports") != CLI_DONE)
		sessions->ports = memory_check(json_object());
	port = json_object_get(sessions->ports, name);
	return port && !ports_is_open(port, value_member(session, "opened")) ? "(rule is gone)"
									     : "(no rule)";
}

/* Keys of rules hold their ACL already, or it stands beside them. */
static void add_rule(struct sessions *sessions, const json_t *session)
{
	const char *acl = value_member(session, "acl"), *rule = value_member(session, "rule");
	struct table *table = sessions->table;

	if (rule[0] == '\0')
		table_add(table, name_absence(sessions, session));
	else if (acl[0] == '\0' || strpbrk(rule, "/:"))
		table_add(table, rule);
	else
		table_format(table, "%s/%s", acl, rule);
}

static void add_session(struct sessions *sessions, const json_t *session)
{
	static const char *const times[] = {"age_s", "idle_s", "expires_s"};
	static const char *const counts[] = {"packets", "bytes"};
	const json_t *orig = json_object_get(session, "orig");
	const json_t *reply = json_object_get(session, "reply");
	struct table *table = sessions->table;

	table_add(table, value_member(session, "port"));
	table_add(table, value_member(session, "opened"));
	add_protocol(table, session);
	add_endpoint(table, session, "src", "sport");
	add_endpoint(table, session, "dst", "dport");
	table_add(table, value_member(session, "state"));
	add_rule(sessions, session);
	for (size_t i = 0; i < 3; i++)
		table_format(table, "%.0fs", json_number_value(json_object_get(session, times[i])));
	for (size_t i = 0; i < 2; i++)
		table_format(table, "%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT,
			     value_integer(orig, counts[i]), value_integer(reply, counts[i]));
}

/* One more of a list: JSON a line each, YAML in blocks. */
static void print_session(const struct sessions *sessions, const json_t *session)
{
	if (sessions->output == OUTPUT_YAML) {
		json_auto_t *list = memory_check(json_pack("[O]", session));

		if (sessions->seen == 0)
			fputs("sessions:\n", stdout);
		yaml_print(list, YAML_SORTED, stdout);
	} else {
		fputs(sessions->seen > 0 ? ",\n" : "\n", stdout);
		json_dumpf(session, stdout, JSON_SORT_KEYS | VALUE_REALS);
	}
}

static void print_end(const struct sessions *sessions)
{
	if (sessions->output == OUTPUT_JSON)
		fputs(sessions->seen > 0 ? "\n]}\n" : "]}\n", stdout);
	else if (sessions->seen == 0)
		puts("sessions: []");
}

/* Data goes out at once, so that a million sessions need no memory. The first answer opens it, so that a
 * refusal prints nothing on stdout. */
static void take_sessions(struct sessions *sessions, const json_t *array)
{
	const json_t *session;
	size_t i;

	if (sessions->output == OUTPUT_JSON && sessions->pages++ == 0)
		fputs("{\"sessions\": [", stdout);
	json_array_foreach(array, i, session)
	{
		if (sessions->limit && sessions->seen == sessions->limit)
			return;
		if (sessions->table)
			add_session(sessions, session);
		else
			print_session(sessions, session);
		sessions->seen++;
	}
}

/* One page; *cursor, taken and given back, is NULL at the end. */
static int take_page(struct cli *cli, struct sessions *sessions, char **cursor)
{
	_cleanup_free_ char *path = filtered_path(sessions);
	_cleanup_free_ char *last = TAKE_PTR(*cursor);
	_cleanup_free_ char *next = NULL;
	json_auto_t *answer = NULL;
	int r;

	if (sessions->limit) {
		unsigned long left = sessions->limit - sessions->seen;
		_cleanup_free_ char *page = memory_format("%lu", left < PAGE_MAX ? left : PAGE_MAX);

		path = client_query(TAKE_PTR(path), "limit", page);
	}
	if (last)
		path = client_query(TAKE_PTR(path), "cursor", last);
	r = client_get(&answer, cli, path);
	if (r != CLI_DONE)
		return r;
	take_sessions(sessions, json_object_get(answer, "sessions"));
	if (!json_is_null(json_object_get(answer, "cursor")))
		next = value_text(json_object_get(answer, "cursor"));
	if (next && last && strcmp(next, last) == 0) {
		fputs("sgctl: the daemon answers the same page again\n", stderr);
		return CLI_REFUSED;
	}
	if (next && next[0] != '\0' && (!sessions->limit || sessions->seen < sessions->limit))
		*cursor = TAKE_PTR(next);
	return CLI_DONE;
}

static int list(struct cli *cli, struct sessions *sessions)
{
	_cleanup_(table_freep) struct table *table =
		cli->output == OUTPUT_TABLE ? table_new(headers) : NULL;
	_cleanup_free_ char *cursor = NULL;
	int r;

	sessions->table = table;
	sessions->cli = cli;
	sessions->output = cli->output;
	do
		r = take_page(cli, sessions, &cursor);
	while (r == CLI_DONE && cursor);
	if (r == CLI_DONE && table)
		table_print(table, stdout);
	else if (r == CLI_DONE)
		print_end(sessions);
	json_decref(sessions->ports);
	return r;
}

static bool has_rule(const json_t *acl, const char *id)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(acl, "rules"), i, rule)
	{
		if (strcmp(value_member(rule, "id"), id) == 0)
			return true;
	}
	return false;
}

/* A mistyped ACL or rule would look like one without sessions. `id` NULL: only the ACL. */
static int check_rule(struct cli *cli, const char *acl, const char *id)
{
	_cleanup_free_ char *escaped = client_escape(acl);
	_cleanup_free_ char *path = memory_format("/v1/acls/%s", escaped);
	_cleanup_free_ char *object = memory_format("acl %s", acl);
	json_auto_t *answer = NULL;
	int r;

	r = client_call(&answer, cli,
			&(struct request){.method = "GET", .path = path, .object = object});
	if (r != CLI_DONE || !id || has_rule(answer, id))
		return r;
	return options_misuse(&verb_sessions, "acl %s has no rule %s", acl, id);
}

static int check_names(struct cli *cli, const struct sessions *sessions)
{
	const char *acl = sessions->values[FILTER_ACL], *rule = sessions->values[FILTER_RULE];
	const char *slash = rule ? strchr(rule, '/') : NULL;
	int r = CLI_DONE;

	if (acl && acl[0])
		r = check_rule(cli, acl, slash ? NULL : rule);
	if (r == CLI_DONE && slash > rule) {
		_cleanup_free_ char *name = memory_format("%.*s", (int)(slash - rule), rule);

		r = check_rule(cli, name, slash + 1);
	}
	return r;
}

static int cut(struct cli *cli, const struct sessions *sessions)
{
	_cleanup_free_ char *path = filtered_path(sessions);
	json_auto_t *answer = NULL;
	json_int_t count;
	int r;

	if (sessions->is_all)
		path = client_query(TAKE_PTR(path), "all", "1");
	r = client_call(&answer, cli, &(struct request){.method = "DELETE", .path = path});
	if (r != CLI_DONE)
		return r;
	count = value_integer(answer, "deleted");
	if (!output_data(cli, answer))
		printf("%" JSON_INTEGER_FORMAT " session%s deleted\n", count,
		       count == 1 ? "" : "s");
	return CLI_DONE;
}

static int check(const struct sessions *sessions)
{
	if (!sessions->is_delete)
		return sessions->is_all ? options_misuse(&verb_sessions, "--all needs --delete")
					: OPTIONS_GO;
	if (sessions->limit)
		return options_misuse(&verb_sessions, "--limit does not go with --delete");
	if (sessions->is_all && sessions->value_count > 0)
		return options_misuse(&verb_sessions, "--all does not go with a filter");
	if (!sessions->is_all && sessions->value_count == 0)
		return options_misuse(&verb_sessions,
				      "--delete needs a filter, or --all to cut every session");
	return OPTIONS_GO;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct option longs[FILTER_COUNT + 4] = {
		{"delete", no_argument, NULL, OPTION_DELETE},
		{"all", no_argument, NULL, OPTION_ALL},
		{"limit", required_argument, NULL, OPTION_LIMIT},
	};
	struct sessions sessions = {0};
	const struct options own = {"", longs, take, &sessions};
	int index, r;

	for (size_t i = 0; i < FILTER_COUNT; i++)
		longs[3 + i] = (struct option){filters[i], required_argument, NULL,
					       OPTION_FILTER + (int)i};
	r = options_after(&index, cli, &verb_sessions, &own, argc, argv);
	if (r == OPTIONS_GO && index < argc)
		r = options_misuse(&verb_sessions, "what is '%s'?", argv[index]);
	if (r == OPTIONS_GO)
		r = check(&sessions);
	if (r != OPTIONS_GO)
		return r;
	r = check_names(cli, &sessions);
	if (r != CLI_DONE)
		return r;
	return sessions.is_delete ? cut(cli, &sessions) : list(cli, &sessions);
}

const struct verb verb_sessions = {
	.name = "sessions",
	.summary = "list or cut the flows that are open",
	.run = run,
	.help = "sgctl sessions [FILTER…] [--limit N]\n"
		"sgctl sessions --delete FILTER… | --delete --all\n"
		"\n"
		"Lists the sessions that 'allow' rules opened; their replies pass without a rule. SRC is\n"
		"who opened it, OPENED the direction of its first packet (from the port into the host, or\n"
		"to the port). RULE is (no rule) where its direction is open, (rule is gone) where it has\n"
		"been removed or changed since. PACKETS and BYTES are those of the opener / of the replies.\n"
		"\n"
		"  --port NAME --proto NAME|NUMBER --src ADDRESS --dst ADDRESS --sport N --dport N\n"
		"  --state half_open|established|closing|one_way|two_way --acl NAME\n"
		"  --rule ACL/ID, or --rule ID beside --acl\n"
		"                 filters; a session must match all of them\n"
		"  --limit N      at most so many\n"
		"  --delete       cut them instead of listing them: their next packet needs a rule again\n"
		"  --all          with --delete, instead of a filter: every session\n",
};
