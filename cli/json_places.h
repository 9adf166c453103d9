/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields of a JSON text stand. jansson reads the values and does not tell.
 */
#ifndef CLI_JSON_PLACES_H
#define CLI_JSON_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "positions.h"

/* Adds the place of every field. The text must be JSON: jansson has read it without complaint. */
void json_places(struct positions *positions, uint32_t file, const char *text, size_t size);
/* The same of the value that begins at `offset` or behind white space there: lines count from the text's
 * beginning, paths from that value. */
void json_places_from(struct positions *positions, uint32_t file, const char *text, size_t size,
		      size_t offset);

#endif
