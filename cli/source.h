/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy files of the command line, read and put together to one document: objects of several files lie
 * side by side; an object that two files give is a mistake.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <jansson.h>
#include <stddef.h>

#include "positions.h"
#include "problems.h"

/*
 * Reads files, directories (their *.yaml, *.yml and *.json, by name) and "-" (stdin). YAML, or JSON
 * where the first character is '{' and the name does not say YAML. Returns 0, or -EINVAL with all
 * mistakes in *reterr. Places of fields go to `positions` in either case.
 */
int source_read(json_t **ret_document, char *const *paths, size_t count,
		struct positions *positions, struct problems *reterr);

#endif
