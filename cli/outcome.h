/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a write did, or would do: the answer of the daemon as a readable list.
 */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <jansson.h>
#include <stdbool.h>

#include "positions.h"

/* Changes, ports and a closing line to stdout, warnings to stderr; positions may be NULL. */
void outcome_print(const json_t *answer, bool is_dry_run, struct positions *positions);

#endif
