/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shells' completion asks for: `sgctl __complete WORD…`, the words behind "sgctl" up to the one
 * that is being typed, prints what could stand in its place, one candidate a line. The line ":files"
 * alone asks the shell for names of files.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli.h"

#define COMPLETE_VERB "__complete"

int complete(struct cli *cli, const struct verb *const *verbs, size_t verb_count, int argc,
	     char **argv);

/* For verbs: names of the objects of a kind, from the daemon; nothing where there is none. */
void complete_names(struct cli *cli, const char *plural);
/* For verbs: names of protocols. */
void complete_protocols(void);
/* For verbs that take KIND and NAME; as in struct verb. */
void complete_object(struct cli *cli, size_t count, const char *const *words);

#endif
