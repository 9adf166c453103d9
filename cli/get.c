/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl get: what the daemon holds. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "kinds.h"
#include "memory.h"
#include "options.h"
#include "value.h"

/* One path as JSON on stdout; with -o table through `show`. */
static int get_status(struct cli *cli)
{
	json_auto_t *status = NULL;
	int r;

	r = client_get(&status, cli, "/v1/status");
	if (r != CLI_DONE)
		return r;
	if (cli->is_json)
		value_print_json(status, stdout);
	else
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
	if (cli->is_json) {
		value_print_json(config, stdout);
		return CLI_DONE;
	}
	r = client_get(&status, cli, "/v1/status");
	if (r == CLI_DONE)
		show_config(config, status);
	return r;
}

static int get_objects(struct cli *cli, const struct kind *kind, const char *name)
{
	_cleanup_free_ char *escaped = client_escape(name ? name : "");
	_cleanup_free_ char *path =
		memory_format("/v1/%s%s%s", kind->plural, name ? "/" : "", escaped);
	json_auto_t *answer = NULL, *status = NULL;
	int r;

	r = client_get(&answer, cli, path);
	if (r != CLI_DONE)
		return r;
	if (cli->is_json) {
		value_print_json(answer, stdout);
		return CLI_DONE;
	}
	if (strcmp(kind->plural, "ports") == 0)
		r = client_get(&status, cli, "/v1/status");
	if (r != CLI_DONE)
		return r;
	if (name)
		kind->show_one(name, answer, status);
	else
		kind->show_all(answer, status);
	return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct options own = {.letters = ""};
	const struct kind *kind;
	int index, count, r;

	r = options_after(&index, cli, &verb_get, &own, argc, argv);
	if (r != OPTIONS_GO)
		return r;
	count = argc - index;
	if (count < 1 || count > 2)
		return options_misuse(&verb_get, "say KIND, or KIND and NAME");
	if (count == 1 && strcmp(argv[index], "status") == 0)
		return get_status(cli);
	if (count == 1 && strcmp(argv[index], "config") == 0)
		return get_config(cli);
	kind = kinds_find(argv[index]);
	if (!kind)
		return options_misuse(&verb_get, "there is nothing called '%s' to get",
				      argv[index]);
	if (count == 2 && argv[index + 1][0] == '\0')
		return options_misuse(&verb_get, "a name must not be empty");
	return get_objects(cli, kind, count == 2 ? argv[index + 1] : NULL);
}

const struct verb verb_get = {
	.name = "get",
	.summary = "show ports, acls, groups, services, config or status",
	.run = run,
	.help = "sgctl get KIND [NAME] [-o table|json]\n"
		"\n"
		"  get ports       every port: its interface, whether it is guarded, how, and its ACLs\n"
		"  get port NAME   one port: all its fields, and its present state after 'now:'\n"
		"  get acls        every ACL\n"
		"  get acl NAME    the rules of one, in the order in which they are tried\n"
		"  get groups      every group; get group NAME: its members\n"
		"  get services    every service; get service NAME: one\n"
		"  get config      the whole policy; with -o json a file that 'apply --replace' takes\n"
		"  get status      version, generation, kernel features, session table, state of ports\n"
		"\n"
		"States of a port: guarded, waiting (its interface is not there yet), degraded, failed\n"
		"(NOT guarded; the message says why). In FROM and TO, (open) is a direction without a\n"
		"list, which passes everything; (closed) is an empty list, which passes nothing but\n"
		"replies and infrastructure such as ARP.\n",
};
