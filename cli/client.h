/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the daemon: HTTP over its unix socket.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "cli.h"
#include "positions.h"

struct client;
void client_free(struct client *client);

struct request {
	const char *method;
	const char *path;            /* escaped, with its query */
	const json_t *body;          /* NULL: none */
	const char *if_match;        /* NULL: none */
	struct positions *positions; /* of the body's fields, for errors; NULL: none */
	const char *object; /* kind and name of what `path` names, for errors; NULL: none */
	bool is_try;        /* that there is no daemon yet is CLI_NO_DAEMON without a word */
};

/*
 * Sends one request and waits. Returns CLI_DONE and the answer (a new reference) where the daemon said
 * 2xx; otherwise another exit code, everything wrong having been printed on stderr.
 */
int client_call(json_t **ret_answer, struct cli *cli, const struct request *request);
int client_get(json_t **ret_answer, struct cli *cli, const char *path);

/*
 * Reads an answer without an end and hands on each of its lines, until `take` returns false, `limit_ms`
 * (0: none) are over, or the daemon ends it: CLI_DONE. CLI_NO_DAEMON, without a word, where it is cut off;
 * CLI_REFUSED after a complaint.
 */
int client_stream(struct cli *cli, const char *path, long limit_ms,
		  bool (*take)(const char *line, size_t size, void *data), void *data);

/* Text made fit for a path or a query. The caller frees it. */
char *client_escape(const char *text);
/* The path with "?name=value" or "&name=value" behind it; takes the path, returns the longer one. */
char *client_query(char *path, const char *name, const char *value);

#endif
