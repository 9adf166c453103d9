/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values of the files to import: one after the other, as several calls of a tool write them into one
 * file. Each value keeps the places of its fields.
 */
#ifndef CLI_IMPORT_JSON_H
#define CLI_IMPORT_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "import.h"

struct import_value {
	json_t *json;
	uint32_t file; /* of positions: one of its own for each value */
};

struct import_values {
	struct import_value *items;
	size_t count, room;
};

/* All values of all files; what is no JSON is an error of `import`. */
void import_json_read(struct import_values *ret_values, struct import *import);
void import_json_fini(struct import_values *values);

/* Says in `left` that the field at `path` of a value is not in the policy. printf-like. */
void import_json_left(struct import *import, uint32_t file, const char *path, const char *format,
		      ...) __attribute__((format(printf, 4, 5)));
/* Says in `errors` that the value cannot be read. */
void import_json_error(struct import *import, uint32_t file, const char *path, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

#endif
