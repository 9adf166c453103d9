/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all verbs share: how they are called, the options that hold for each of them, the exit codes.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>

/* Exit codes, part of the contract with scripts. */
enum cli_exit {
	CLI_DONE = 0,       /* done, or no difference */
	CLI_DIFFERENCE = 1, /* --dry-run: applying would change something */
	CLI_REFUSED = 2,    /* usage, file, or the daemon's refusal */
	CLI_NO_DAEMON = 3,  /* nobody answers at the socket */
	CLI_TIMEOUT = 4,    /* the answer did not come in time */
};

struct client;

struct cli {
	const char *socket;
	bool is_json;
	long timeout_s;
	struct client *client; /* opened by the first request; main closes it */
};

/* A verb parses argv[1…] itself (options_parse) and returns an enum cli_exit. */
struct verb {
	const char *name;
	const char *summary;
	const char *help;
	int (*run)(struct cli *cli, int argc, char **argv);
};

extern const struct verb verb_apply;
extern const struct verb verb_get;
extern const struct verb verb_delete;
extern const struct verb verb_sessions;
extern const struct verb verb_stats;

#endif
