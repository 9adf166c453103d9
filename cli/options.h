/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options on the command line: those of all verbs, before or after the verb, and those of one.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <getopt.h>

#include "cli.h"

#define OPTIONS_GO (-1)

/* Options of one verb. Values of long options from OPTIONS_OWN; `take` gets each with its value and
 * returns OPTIONS_GO, or the exit code after it printed why. */
#define OPTIONS_OWN 256
struct options {
	const char *letters;        /* short ones, as in getopt; "" for none */
	const struct option *longs; /* ends in zeroes; NULL: none */
	int (*take)(int letter, char *value, void *data);
	void *data;
};

/* Options of all verbs from the environment, or their defaults. */
void options_init(struct cli *cli);
/* Those before the verb: *ret_index is the verb's place in argv, argc where there is none. OPTIONS_GO,
 * or an exit code. --help and --version are answered here. */
int options_before(int *ret_index, struct cli *cli, int argc, char **argv);
/* Those after the verb, argv[0]: *ret_index is the first of the other arguments, which end up last. */
int options_after(int *ret_index, struct cli *cli, const struct verb *verb,
		  const struct options *own, int argc, char **argv);
/* Prints a sentence and where help is; CLI_REFUSED. */
int options_misuse(const struct verb *verb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
