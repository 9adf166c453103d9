/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl export: the whole policy as a file that another host takes. */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "yaml_print.h"

/* The schema first, then the sections in the daemon's order. */
static json_t *with_schema(const json_t *config)
{
	json_t *document = memory_check(json_object());

	json_object_set_new(document, "schema", memory_check(json_string("secg/1")));
	json_object_update(document, (json_t *)config);
	return document;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct options own = {.letters = ""};
	json_auto_t *config = NULL, *document = NULL;
	int index, r;

	r = options_after(&index, cli, &verb_export, &own, argc, argv);
	if (r == OPTIONS_GO && index < argc)
		r = options_misuse(&verb_export, "what is '%s'?", argv[index]);
	if (r == OPTIONS_GO)
		r = client_get(&config, cli, "/v1/config");
	if (r != CLI_DONE)
		return r;
	document = with_schema(config);
	if (cli->output == OUTPUT_JSON)
		output_data(cli, document);
	else
		yaml_print(document, YAML_AS_IS, stdout);
	return CLI_DONE;
}

const struct verb verb_export = {
	.name = "export",
	.summary = "write the whole policy as a file",
	.run = run,
	.help = "sgctl export [-o yaml|json]\n"
		"\n"
		"Writes the policy of this host to stdout as a policy file, YAML unless -o json is given.\n"
		"'sgctl apply --replace -f FILE' makes it the policy of another host, or of this one again.\n"
		"Sessions and counters are no part of it, nor are members of groups that end by themselves.\n",
};
