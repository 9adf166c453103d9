/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl delete: takes one object out of the policy. */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "complete.h"
#include "kinds.h"
#include "memory.h"
#include "options.h"
#include "outcome.h"
#include "output.h"

static int delete_object(struct cli *cli, const struct kind *kind, const char *name)
{
	_cleanup_free_ char *escaped = client_escape(name);
	_cleanup_free_ char *path = memory_format("/v1/%s/%s", kind->plural, escaped);
	_cleanup_free_ char *object = memory_format("%s %s", kind->singular, name);
	json_auto_t *answer = NULL;
	int r;

	r = client_call(&answer, cli,
			&(struct request){.method = "DELETE", .path = path, .object = object});
	if (r != CLI_DONE)
		return r;
	if (!output_data(cli, answer))
		outcome_print(answer, OUTCOME_DONE, NULL, NULL);
	return CLI_DONE;
}

static int refuse_kind(const char *name)
{
	const char *meant = kinds_guess(name);

	if (!meant)
		return options_misuse(&verb_delete, "there is no kind '%s'", name);
	return options_misuse(&verb_delete, "there is no kind '%s'; did you mean '%s'?", name,
			      meant);
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct options own = {.letters = ""};
	const struct kind *kind;
	int index, r;

	r = options_after(&index, cli, &verb_delete, &own, argc, argv);
	if (r != OPTIONS_GO)
		return r;
	if (argc - index != 2 || argv[index + 1][0] == '\0')
		return options_misuse(&verb_delete, "say KIND and NAME");
	kind = kinds_find(argv[index]);
	if (!kind)
		return refuse_kind(argv[index]);
	return delete_object(cli, kind, argv[index + 1]);
}

const struct verb verb_delete = {
	.name = "delete",
	.summary = "remove a port, acl, group or service",
	.run = run,
	.complete = complete_object,
	.help = "sgctl delete KIND NAME\n"
		"\n"
		"Removes one object; KIND is port, acl, group or service. An object that another one\n"
		"uses is refused: change or delete the other one first. Without its port, an interface\n"
		"is no longer guarded.\n",
};
