/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces on the command line: asked for one packet or for each of a file, and shown.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <jansson.h>

#include "cli.h"

/* Asks the daemon; `request` is the body of POST /v1/trace. As client_call. */
int trace_ask(json_t **ret_answer, struct cli *cli, const json_t *request);

/* Each packet of a pcap file: a line each and a summary. `request` has port and direction. */
int trace_pcap(struct cli *cli, const json_t *request, const char *path);

#endif
