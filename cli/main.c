/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl: the command line of secg. Finds the verb; the verbs are files of their own. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "client.h"
#include "color.h"
#include "complete.h"
#include "guess.h"
#include "help.h"
#include "options.h"

static const struct verb *const verbs[] = {
	&verb_apply,  &verb_diff,     &verb_get,    &verb_delete,  &verb_export,
	&verb_lint,   &verb_sessions, &verb_stats,  &verb_wait,    &verb_trace,
	&verb_doctor, &verb_explain,  &verb_import, &verb_monitor,
};
#define VERB_COUNT (sizeof(verbs) / sizeof(verbs[0]))

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < VERB_COUNT; i++) {
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	}
	return NULL;
}

/* Words of other tools, and what says the same here. */
static const struct {
	const char *word;
	const char *here;
} foreign[] = {
	{"add", "apply"},
	{"create", "apply"},
	{"load", "apply"},
	{"set", "apply"},
	{"check", "lint"},
	{"list", "get"},
	{"ls", "get"},
	{"show", "get"},
	{"status", "get status"},
	{"ports", "get ports"},
	{"remove", "delete"},
	{"rm", "delete"},
	{"conntrack", "sessions"},
	{"events", "monitor"},
	{"logs", "monitor"},
	{"tail", "monitor"},
	{"counters", "stats"},
	{"watch", "get ports -w' or 'sgctl stats -w"},
};

static const char *guess_verb(const char *name)
{
	const char *names[VERB_COUNT];

	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		if (strcmp(foreign[i].word, name) == 0)
			return foreign[i].here;
	}
	for (size_t i = 0; i < VERB_COUNT; i++)
		names[i] = verbs[i]->name;
	return guess_word(name, names, VERB_COUNT);
}

static int refuse_verb(const char *name)
{
	const char *meant = guess_verb(name);

	if (!meant)
		return options_misuse(NULL, "there is no verb '%s'", name);
	return options_misuse(NULL, "there is no verb '%s'; did you mean 'sgctl %s'?", name, meant);
}

static int run_help(int argc, char **argv)
{
	const struct verb *verb;

	if (argc < 2 || strcmp(argv[1], "help") == 0) {
		fputs(help_overview, stdout);
		return CLI_DONE;
	}
	if (strcmp(argv[1], "policy") == 0) {
		fputs(help_policy, stdout);
		return CLI_DONE;
	}
	if (strcmp(argv[1], "services") == 0) {
		fputs(help_services, stdout);
		return CLI_DONE;
	}
	verb = find_verb(argv[1]);
	if (!verb)
		return refuse_verb(argv[1]);
	fputs(verb->help, stdout);
	return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	const struct verb *verb;
	int index, r;

	r = options_before(&index, cli, argc, argv);
	if (r != OPTIONS_GO)
		return r;
	if (index == argc) {
		fputs(help_overview, stderr);
		return CLI_REFUSED;
	}
	if (strcmp(argv[index], "help") == 0)
		return run_help(argc - index, argv + index);
	if (strcmp(argv[index], COMPLETE_VERB) == 0)
		return complete(cli, verbs, VERB_COUNT, argc - index, argv + index);
	verb = find_verb(argv[index]);
	if (!verb)
		return refuse_verb(argv[index]);
	return verb->run(cli, argc - index, argv + index);
}

int main(int argc, char **argv)
{
	struct cli cli = {0};
	int r;

	color_init();
	options_init(&cli);
	r = run(&cli, argc, argv);
	if (cli.client)
		client_free(cli.client);
	/* a full disk must not look like success */
	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("sgctl: stdout");
		return CLI_REFUSED;
	}
	return r;
}
