/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration of ports tells about a packet or a name.
 */
#ifndef CLI_PORTS_H
#define CLI_PORTS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli.h"

/* The direction of the port passes what no rule matches: it has no list, or its default is allow. */
bool ports_is_open(const json_t *port, const char *direction);
/* Why a packet in that direction ("from", "to") passes or drops without a rule, a sentence; the caller
 * frees it. */
char *ports_explain(const json_t *port, const char *direction);
/* Says on stderr which port guards the interface, where `name` is no port but an interface of one. */
void ports_suggest(struct cli *cli, const char *name);

#endif
