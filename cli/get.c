/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl get: what the daemon holds. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "complete.h"
#include "guess.h"
#include "kinds.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "watch.h"

struct get {
	const char *kind;
	const char *name; /* NULL: all of the kind */
	struct watch watch;
};

static int get_status(struct cli *cli)
{
	json_auto_t *status = NULL;
	int r;

	r = client_get(&status, cli, "/v1/status");
	if (r != CLI_DONE)
		return r;
	if (!output_data(cli, status))
		show_status(status);
	return CLI_DONE;
}

/* A section per kind that has objects, under its name in capitals. */
static void show_config(const json_t *config, const json_t *status)
{
	bool is_first = true;

	for (size_t i = 0; i < KINDS_COUNT; i++) {
		const json_t *objects = json_object_get(config, kinds[i].plural);

		if (json_object_size(objects) == 0)
			continue;
		if (!is_first)
			putchar('\n');
		for (const char *p = kinds[i].plural; *p; p++)
			putchar(toupper((unsigned char)*p));
		putchar('\n');
		kinds[i].show_all(objects, status);
		is_first = false;
	}
	if (is_first)
		puts("no policy yet: 'sgctl apply -f FILE' makes one");
}

static int get_config(struct cli *cli)
{
	json_auto_t *config = NULL, *status = NULL;
	int r;

	r = client_get(&config, cli, "/v1/config");
	if (r != CLI_DONE)
		return r;
	if (output_data(cli, config))
		return CLI_DONE;
	r = client_get(&status, cli, "/v1/status");
	if (r == CLI_DONE)
		show_config(config, status);
	return r;
}

/* What a table shows beside the objects themselves; NULL where that is nothing. */
static int get_extra(json_t **ret_extra, struct cli *cli, const struct kind *kind, const char *name,
		     const char *path)
{
	_cleanup_free_ char *members = memory_format("%s/members", path);

	if (strcmp(kind->plural, "ports") == 0)
		return client_get(ret_extra, cli, "/v1/status");
	if (name && strcmp(kind->plural, "groups") == 0)
		return client_get(ret_extra, cli, members);
	return CLI_DONE;
}

static int get_objects(struct cli *cli, const struct kind *kind, const char *name)
{
	_cleanup_free_ char *escaped = client_escape(name ? name : "");
	_cleanup_free_ char *path =
		memory_format("/v1/%s%s%s", kind->plural, name ? "/" : "", escaped);
	_cleanup_free_ char *object = memory_format("%s %s", kind->singular, name ? name : "");
	json_auto_t *answer = NULL, *extra = NULL;
	int r;

	r = client_call(&answer, cli,
			&(struct request){.method = "GET", .path = path, .object = object});
	if (r != CLI_DONE)
		return r;
	if (output_data(cli, answer))
		return CLI_DONE;
	r = get_extra(&extra, cli, kind, name, path);
	if (r != CLI_DONE)
		return r;
	if (name)
		kind->show_one(name, answer, extra);
	else
		kind->show_all(answer, extra);
	return CLI_DONE;
}

static int show(struct cli *cli, void *data)
{
	const struct get *get = data;

	if (strcmp(get->kind, "status") == 0)
		return get_status(cli);
	if (strcmp(get->kind, "config") == 0)
		return get_config(cli);
	return get_objects(cli, kinds_find(get->kind), get->name);
}

static int take(int letter, char *value, void *data)
{
	struct get *get = data;

	return watch_take(&get->watch, &verb_get, letter, value);
}

/* The whole has no name. */
static bool is_whole(const char *kind)
{
	return strcmp(kind, "status") == 0 || strcmp(kind, "config") == 0;
}

static int refuse_kind(const char *kind)
{
	static const char *const wholes[] = {"config", "status"};
	const char *meant = kinds_guess(kind);

	if (!meant)
		meant = guess_word(kind, wholes, sizeof(wholes) / sizeof(wholes[0]));
	if (!meant)
		return options_misuse(&verb_get, "there is nothing called '%s' to get", kind);
	return options_misuse(&verb_get, "there is nothing called '%s' to get; did you mean '%s'?",
			      kind, meant);
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option longs[] = {WATCH_OPTIONS, {0}};
	struct get get = {0};
	const struct options own = {WATCH_LETTERS, longs, take, &get};
	int index, count, r;

	r = options_after(&index, cli, &verb_get, &own, argc, argv);
	if (r != OPTIONS_GO)
		return r;
	count = argc - index;
	if (count < 1 || count > 2)
		return options_misuse(&verb_get, "say KIND, or KIND and NAME");
	get.kind = argv[index];
	get.name = count == 2 ? argv[index + 1] : NULL;
	if (!kinds_find(get.kind) && !is_whole(get.kind))
		return refuse_kind(get.kind);
	if (get.name && is_whole(get.kind))
		return options_misuse(&verb_get, "%s has no names in it", get.kind);
	if (get.name && get.name[0] == '\0')
		return options_misuse(&verb_get, "a name must not be empty");
	return watch_run(&get.watch, cli, show, &get);
}

static void complete_words(struct cli *cli, size_t count, const char *const *words)
{
	if (count == 2)
		puts("config\nstatus");
	complete_object(cli, count, words);
}

const struct verb verb_get = {
	.name = "get",
	.summary = "show ports, acls, groups and other objects, config or status",
	.run = run,
	.complete = complete_words,
	.help = "sgctl get KIND [NAME] [-w [--interval SECONDS]] [-o table|json|yaml]\n"
		"\n"
		"  get ports       every port: its interface, whether it is guarded, how, and its ACLs\n"
		"  get port NAME   one port: all its fields, and its present state after 'now:'\n"
		"  get acls        every ACL\n"
		"  get acl NAME    the rules of one, in the order in which they are tried\n"
		"  get groups      every group; get group NAME: its members, and\n"
		"                        when those leave that are members for a while\n"
		"  get services    every service; get service NAME: one\n"
		"  get security_groups   every security group; get security_group NAME: its rules\n"
		"  get macip       every list of allowed senders; get macip NAME: its entries\n"
		"  get config      the whole policy; 'sgctl export' writes it as a file\n"
		"  get status      version, generation, kernel features, session table, state of ports\n"
		"\n"
		"  -w, --watch           ask again every second and print the answer when it has changed:\n"
		"                        with -o json a line each, with -o yaml a document each\n"
		"  --interval SECONDS    how often to ask (1)\n"
		"\n"
		"With -o json or yaml the objects are printed as they are in the policy. The state of ports\n"
		"is not part of it: 'get status' has it, also with --watch.\n"
		"\n"
		"States of a port: guarded, waiting (its interface is not there yet), degraded, failed\n"
		"(NOT guarded; the message says why). In FROM and TO, sg:NAME is a security group; (open) is\n"
		"a direction without a list, which passes everything; (closed) is an empty list, which\n"
		"passes nothing but replies and infrastructure such as ARP.\n",
};
