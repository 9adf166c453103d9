/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl lint: what a valid policy says that its author hardly means. The daemon finds it in a dry run. */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "problems.h"
#include "source.h"
#include "value.h"

#define OPTION_REPLACE OPTIONS_OWN

struct lint {
	char **paths;
	size_t count, room;
	bool is_replace;
};

static int take(int letter, char *value, void *data)
{
	struct lint *lint = data;

	if (letter == OPTION_REPLACE) {
		lint->is_replace = true;
		return OPTIONS_GO;
	}
	lint->paths = memory_grow(lint->paths, lint->count, &lint->room, sizeof(*lint->paths));
	lint->paths[lint->count++] = value;
	return OPTIONS_GO;
}

/* A dry run warns of ports that are not guarded too; that is not about the policy. */
static json_t *findings_of(const json_t *answer)
{
	json_t *findings = json_array(), *warning;
	size_t i;

	memory_check(findings);
	json_array_foreach(json_object_get(answer, "warnings"), i, warning)
	{
		const char *code = value_member(warning, "code");

		if (strcmp(code, "failed") != 0 && strcmp(code, "degraded") != 0)
			json_array_append(findings, warning);
	}
	return findings;
}

/* "FILE:LINE:COLUMN: FIELD: MESSAGE [CODE]" */
static void print_findings(const json_t *findings, struct positions *positions)
{
	struct problems problems = {0};
	const json_t *finding;
	size_t i, count = json_array_size(findings);

	json_array_foreach(findings, i, finding)
	{
		_cleanup_free_ char *message = memory_format(
			"%s [%s]", value_member(finding, "message"), value_member(finding, "code"));
		json_auto_t *item = json_pack("{s:s, s:s}", "field", value_member(finding, "field"),
					      "message", message);

		problems_add_item(&problems, positions, item);
	}
	problems_print(&problems, positions, "", stdout);
	problems_fini(&problems);
	if (count == 0)
		puts("nothing found");
	else
		printf("%zu finding%s\n", count, count == 1 ? "" : "s");
}

static int ask(struct cli *cli, const struct lint *lint, const json_t *document,
	       struct positions *positions)
{
	json_auto_t *answer = NULL;
	json_auto_t *findings = NULL;
	json_auto_t *object = NULL;
	int r;

	r = client_call(&answer, cli,
			&(struct request){
				.method = lint->is_replace ? "PUT" : "PATCH",
				.path = "/v1/config?dry_run=1",
				.body = document,
				.positions = positions,
			});
	if (r != CLI_DONE)
		return r;
	findings = findings_of(answer);
	object = json_pack("{s:O}", "findings", findings);
	if (!output_data(cli, object))
		print_findings(findings, positions);
	return json_array_size(findings) > 0 ? CLI_DIFFERENCE : CLI_DONE;
}

/* Without files the change is empty, and what would be is what is. */
static int read_and_ask(struct cli *cli, const struct lint *lint)
{
	_cleanup_(positions_freep) struct positions *positions = positions_new();
	json_auto_t *document = NULL;
	struct problems problems = {0};
	int r = 0;

	if (lint->count > 0)
		r = source_read(&document, lint->paths, lint->count, positions, &problems);
	else
		memory_check(document = json_object());
	problems_print(&problems, positions, "sgctl: ", stderr);
	problems_fini(&problems);
	return r < 0 ? CLI_REFUSED : ask(cli, lint, document, positions);
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option longs[] = {
		{"file", required_argument, NULL, 'f'},
		{"replace", no_argument, NULL, OPTION_REPLACE},
		{0},
	};
	struct lint lint = {0};
	const struct options own = {"f:", longs, take, &lint};
	int index, r;

	r = options_after(&index, cli, &verb_lint, &own, argc, argv);
	if (r == OPTIONS_GO && index < argc)
		r = options_misuse(&verb_lint, "what is '%s'? Files come after -f", argv[index]);
	else if (r == OPTIONS_GO && lint.is_replace && lint.count == 0)
		r = options_misuse(&verb_lint, "--replace with which file? Name it with -f");
	else if (r == OPTIONS_GO)
		r = read_and_ask(cli, &lint);
	free(lint.paths);
	return r;
}

const struct verb verb_lint = {
	.name = "lint",
	.summary = "find what a policy says but hardly means",
	.run = run,
	.help = "sgctl lint [-f FILE…] [--replace]\n"
		"\n"
		"Looks through the policy as it would be after 'sgctl apply' with the same files, or\n"
		"without files through the one that is live. Nothing is changed, but it takes the right to\n"
		"change (root or secg-admin). Exits 0 if nothing is found, 1 if something is, 2 if the files\n"
		"would be refused.\n"
		"\n"
		"  -f, --file FILE    as in apply\n"
		"  --replace          the files are the whole policy\n"
		"\n"
		"What is found, as FILE:LINE:COLUMN: FIELD: what it means [code]:\n"
		"  shadowed             one rule before it, with another action, takes all its packets\n"
		"  redundant            one rule before or behind it takes all its packets and does the same\n"
		"  unreachable          several rules before it take all its packets together\n"
		"  stateless_no_return  allow-stateless, and the other direction admits no answer\n"
		"  empty_group          a rule names a group without addresses\n"
		"  family_never         addresses of a family that the other side of the rule lacks\n"
		"  wide_member          a group member that swallows the others\n"
		"  unused               an ACL, group or service that nothing uses\n"
		"  lint_skipped         the policy is too large to be judged in full\n"
		"  ssh_cut              an SSH connection to this host is open that it does not admit: with\n"
		"                       -f only; of the live policy 'sgctl doctor' says it\n",
};
