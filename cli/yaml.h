/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML to JSON values: YAML 1.2, core schema. `no`, `on`, 52:54:00:12:34:56 and 1_000 are strings;
 * true, false, null, integers (decimal, 0o, 0x) and floats are what the core schema says.
 *
 * Stricter than YAML where a policy would suffer: duplicate keys, merge keys, several documents, tags
 * outside the core schema, NUL characters, numbers that JSON cannot hold, an alias inside its own anchor
 * and a key without any value (which YAML takes for null, and a patch for "delete") are refused.
 */
#ifndef CLI_YAML_H
#define CLI_YAML_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "positions.h"
#include "problems.h"

#define YAML_MAX_DEPTH       32      /* as the API */
#define YAML_MAX_ALIAS_NODES 1000000 /* values that aliases may add to what is written */

/*
 * Reads one document. The place of every member and element goes to `positions` under the index `file`;
 * below an alias that is the place where the text stands. Returns 0, or -EINVAL with the mistake added
 * to *reterr and nothing in *ret_value.
 */
int yaml_read(json_t **ret_value, const char *bytes, size_t size, struct positions *positions,
	      uint32_t file, struct problems *reterr);

#endif
