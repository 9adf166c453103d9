/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl doctor: what to know of this host, and what to type. */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "doctor_local.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "table.h"
#include "value.h"

/* A finding is a line, and a second one where there is something to type. */
static void print_table(const json_t *findings)
{
	static const char *const headers[] = {"SEVERITY", "PORT", "CODE", "FINDING", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
	{
		const char *fix = value_member(finding, "fix");

		table_add(table, value_member(finding, "severity"));
		table_add(table, value_member(finding, "port"));
		table_add(table, value_member(finding, "code"));
		table_add(table, value_member(finding, "message"));
		if (fix[0] == '\0')
			continue;
		for (int empty = 0; empty < 3; empty++)
			table_add(table, "");
		table_format(table, "  type: %s", fix);
	}
	table_print(table, stdout);
}

static bool is_all_well(const json_t *findings)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
	{
		if (strcmp(value_member(finding, "severity"), "info") != 0)
			return false;
	}
	return true;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct options none = {.letters = ""};
	json_auto_t *answer = NULL;
	const json_t *findings;
	struct local_facts facts;
	int index, r;

	r = options_after(&index, cli, &verb_doctor, &none, argc, argv);
	if (r == OPTIONS_GO && index < argc)
		r = options_misuse(&verb_doctor, "what is '%s'?", argv[index]);
	if (r != OPTIONS_GO)
		return r;
	r = client_get(&answer, cli, "/v1/doctor");
	if (r == CLI_NO_DAEMON || r == CLI_REFUSED) {
		local_gather(&facts, cli->socket);
		answer = local_judge(&facts);
	}
	if (!answer)
		return r;
	findings = json_object_get(answer, "findings");
	if (!output_data(cli, answer))
		print_table(findings);
	if (r != CLI_DONE)
		return r;
	return is_all_well(findings) ? CLI_DONE : CLI_DIFFERENCE;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "what to know of this host: kernel, interfaces, rights, your SSH session",
	.run = run,
	.help = "sgctl doctor\n"
		"\n"
		"Looks for what is wrong, or may surprise: kernel features, the hook and mode of every\n"
		"port and why, offloads and MTU, programs of others before ours, ways of packets past\n"
		"every hook, pins, rights, tables that are nearly full, and SSH connections that the\n"
		"policy does not admit. Below each finding stands what to type. Without a daemon it says\n"
		"what can be seen without one.\n"
		"\n"
		"Exit code: 0 nothing but info, 1 a warning or an error, 2 refused, 3 no daemon.\n",
};
