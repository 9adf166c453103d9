/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files in memory, within what the daemon would take.
 */
#ifndef CLI_SLURP_H
#define CLI_SLURP_H

#include <stddef.h>
#include <stdio.h>

#include "problems.h"

#define SLURP_MAX_BYTES (64u << 20) /* of one file; the daemon takes no larger body */

/* Content of a stream, which the caller frees; NULL with a problem added. `name` is for the problem. */
char *slurp(FILE *stream, const char *name, struct problems *reterr, size_t *ret_size);

#endif
