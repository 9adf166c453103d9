/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --watch: the same answer again and again, printed when it is another one.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <getopt.h>

#include "cli.h"

#define WATCH_OPTION \
	511 /* of --interval: among OPTIONS_OWN, away from where verbs begin to count */
#define WATCH_LETTERS "w"
#define WATCH_OPTIONS                                             \
	{"watch", no_argument, NULL, 'w'},                        \
	{                                                         \
		"interval", required_argument, NULL, WATCH_OPTION \
	}

struct watch {
	bool is_on;
	long interval_s; /* 0: the default */
};

/* Takes -w and --interval: OPTIONS_GO, or the exit code after a complaint. */
int watch_take(struct watch *watch, const struct verb *verb, int letter, const char *value);

/* Calls `show`, which prints to stdout, once or, with -w, until it returns another code than CLI_DONE. */
int watch_run(const struct watch *watch, struct cli *cli, int (*show)(struct cli *cli, void *data),
	      void *data);

#endif
