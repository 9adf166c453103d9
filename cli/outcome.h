/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a write did, or would do: the answer of the daemon as a readable list.
 */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <jansson.h>

#include "positions.h"

enum outcome {
	OUTCOME_DONE,
	OUTCOME_DRY_RUN,
	OUTCOME_DIFF,
};

/* Changes in full, ports and a closing line to stdout, warnings to stderr. `document` is what was sent and tells
 * the ids of rules, `positions` where its fields stand; each may be NULL. */
void outcome_print(const json_t *answer, enum outcome outcome, const json_t *document,
		   struct positions *positions);

#endif
