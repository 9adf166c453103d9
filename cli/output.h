/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers as data: what -o json and -o yaml print.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>

#include "cli.h"

/* Prints the value as the user asked, keys sorted; false, having printed nothing, with -o table. A
 * watched value is one of many: a line of JSON, or a YAML document behind "---". */
bool output_data(const struct cli *cli, const json_t *value);

#endif
