/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all verbs share: how they are called, the options that hold for each of them, the exit codes.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes, part of the contract with scripts. */
enum cli_exit {
	CLI_DONE = 0,       /* done, or no difference */
	CLI_DIFFERENCE = 1, /* applying would change something; lint, doctor: something to mend;
			     * import: something left out */
	CLI_REFUSED = 2,    /* usage, file, or the daemon's refusal */
	CLI_NO_DAEMON = 3,  /* nobody answers at the socket */
	CLI_TIMEOUT = 4,    /* the answer, or what was waited for, did not come in time */
};

enum output {
	OUTPUT_TABLE, /* for people */
	OUTPUT_JSON,
	OUTPUT_YAML,
};

struct client;

struct cli {
	const char *socket;
	enum output output;
	bool is_watching; /* what is printed is one of many (watch.h) */
	long timeout_s;
	struct client *client; /* opened by the first request; main closes it */
};

/* A verb parses argv[1…] itself (options_after) and returns an enum cli_exit. */
struct verb {
	const char *name;
	const char *summary;
	const char *help; /* names every option: completion reads them here */
	int (*run)(struct cli *cli, int argc, char **argv);
	/* Prints what could stand in the place of words[count - 1], one candidate a line; words[0] is the
	 * verb, options are left out. NULL: nothing. */
	void (*complete)(struct cli *cli, size_t count, const char *const *words);
};

extern const struct verb verb_apply;
extern const struct verb verb_diff;
extern const struct verb verb_get;
extern const struct verb verb_delete;
extern const struct verb verb_export;
extern const struct verb verb_lint;
extern const struct verb verb_sessions;
extern const struct verb verb_stats;
extern const struct verb verb_monitor;
extern const struct verb verb_wait;
extern const struct verb verb_trace;
extern const struct verb verb_doctor;
extern const struct verb verb_explain;
extern const struct verb verb_import;

#endif
