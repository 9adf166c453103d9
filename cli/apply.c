/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl apply: policy files become the daemon's desired state; sgctl diff: what that would change. */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "memory.h"
#include "options.h"
#include "outcome.h"
#include "output.h"
#include "problems.h"
#include "source.h"

enum {
	OPTION_REPLACE = OPTIONS_OWN,
	OPTION_DRY_RUN,
	OPTION_IF_MATCH,
};

struct apply {
	const struct verb *verb;
	char **paths;
	size_t count, room;
	bool is_replace;
	bool is_dry_run;
	const char *if_match;
};

static int take(int letter, char *value, void *data)
{
	struct apply *apply = data;

	switch (letter) {
	case 'f':
		apply->paths = memory_grow(apply->paths, apply->count, &apply->room,
					   sizeof(*apply->paths));
		apply->paths[apply->count++] = value;
		break;
	case OPTION_REPLACE:
		apply->is_replace = true;
		break;
	case OPTION_DRY_RUN:
		apply->is_dry_run = true;
		break;
	case OPTION_IF_MATCH:
		if (value[0] == '\0' || value[strspn(value, "0123456789")] != '\0')
			return options_misuse(apply->verb, "--if-match takes a number, not '%s'",
					      value);
		apply->if_match = value;
		break;
	}
	return OPTIONS_GO;
}

static enum outcome outcome_of(const struct apply *apply)
{
	if (apply->verb == &verb_diff)
		return OUTCOME_DIFF;
	return apply->is_dry_run ? OUTCOME_DRY_RUN : OUTCOME_DONE;
}

static int send_document(struct cli *cli, const struct apply *apply, const json_t *document,
			 struct positions *positions)
{
	json_auto_t *answer = NULL;
	bool is_changed;
	int r;

	r = client_call(&answer, cli,
			&(struct request){
				.method = apply->is_replace ? "PUT" : "PATCH",
				.path = apply->is_dry_run ? "/v1/config?dry_run=1" : "/v1/config",
				.body = document,
				.if_match = apply->if_match,
				.positions = positions,
			});
	if (r != CLI_DONE)
		return r;
	if (!output_data(cli, answer))
		outcome_print(answer, outcome_of(apply), document, positions);
	is_changed = json_is_true(json_object_get(answer, "changed"));
	return apply->is_dry_run && is_changed ? CLI_DIFFERENCE : CLI_DONE;
}

static int read_and_send(struct cli *cli, const struct apply *apply)
{
	_cleanup_(positions_freep) struct positions *positions = positions_new();
	json_auto_t *document = NULL;
	struct problems problems = {0};
	int r;

	r = source_read(&document, apply->paths, apply->count, positions, &problems);
	problems_print(&problems, positions, "sgctl: ", stderr);
	problems_fini(&problems);
	if (r < 0)
		return CLI_REFUSED;
	return send_document(cli, apply, document, positions);
}

static int run(struct cli *cli, struct apply *apply, const struct option *longs, int argc,
	       char **argv)
{
	const struct options own = {"f:", longs, take, apply};
	int index, r;

	r = options_after(&index, cli, apply->verb, &own, argc, argv);
	if (r == OPTIONS_GO && index < argc)
		r = options_misuse(apply->verb, "what is '%s'? Files come after -f", argv[index]);
	else if (r == OPTIONS_GO && apply->count == 0)
		r = options_misuse(apply->verb, "which file? Name it with -f");
	else if (r == OPTIONS_GO)
		r = read_and_send(cli, apply);
	free(apply->paths);
	return r;
}

static int run_apply(struct cli *cli, int argc, char **argv)
{
	static const struct option longs[] = {
		{"file", required_argument, NULL, 'f'},
		{"replace", no_argument, NULL, OPTION_REPLACE},
		{"dry-run", no_argument, NULL, OPTION_DRY_RUN},
		{"if-match", required_argument, NULL, OPTION_IF_MATCH},
		{0},
	};

	return run(cli, &(struct apply){.verb = &verb_apply}, longs, argc, argv);
}

static int run_diff(struct cli *cli, int argc, char **argv)
{
	static const struct option longs[] = {
		{"file", required_argument, NULL, 'f'},
		{"replace", no_argument, NULL, OPTION_REPLACE},
		{0},
	};

	return run(cli, &(struct apply){.verb = &verb_diff, .is_dry_run = true}, longs, argc, argv);
}

const struct verb verb_apply = {
	.name = "apply",
	.summary = "make policy files the policy of this host",
	.run = run_apply,
	.help = "sgctl apply -f FILE [-f FILE…] [--dry-run] [--replace] [--if-match ETAG]\n"
		"\n"
		"Sends policy files to the daemon, which checks them as a whole and makes them live in\n"
		"one step, or refuses them and changes nothing. 'sgctl help policy' describes the files.\n"
		"\n"
		"  -f, --file FILE    a YAML or JSON file, a directory (its *.yaml, *.yml, *.json) or - for\n"
		"                     stdin. Objects of several files are put together; the same object in\n"
		"                     two files is an error.\n"
		"  --dry-run          check and show what would change; exit 1 if something would\n"
		"  --replace          the files are the whole policy: what they do not name is removed.\n"
		"                     Without it named objects are added or changed field by field (lists as\n"
		"                     a whole), the rest stays, and null as a value deletes.\n"
		"  --if-match ETAG    only if the policy is still the one with this etag\n"
		"\n"
		"Changes are printed as + added, ~ changed, - removed. Mistakes are printed as\n"
		"FILE:LINE:COLUMN: FIELD: what is wrong, with the line below. Warnings are about what is\n"
		"changed; --dry-run, 'sgctl diff' and 'sgctl lint' look through the whole policy.\n",
};

const struct verb verb_diff = {
	.name = "diff",
	.summary = "show what applying policy files would change",
	.run = run_diff,
	.help = "sgctl diff -f FILE [-f FILE…] [--replace]\n"
		"\n"
		"Shows in full what 'sgctl apply' with the same files would change: + added, ~ changed,\n"
		"- removed. Nothing is changed. Exits 0 if there is no difference, 1 if there is one, 2 if\n"
		"the files would be refused.\n"
		"\n"
		"  -f, --file FILE    as in apply\n"
		"  --replace          compare with the files as the whole policy: what they do not name is\n"
		"                     a difference too\n",
};
