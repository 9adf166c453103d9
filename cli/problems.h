/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with the user's input, one line each, all found at once: "file:line:column: field:
 * message". Found in files by the readers, or told by the daemon and put back to its line here.
 */
#ifndef CLI_PROBLEMS_H
#define CLI_PROBLEMS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "positions.h"

struct problems {
	char **lines;
	size_t count, room;
};

void problems_fini(struct problems *problems);

/* file NULL: without a place; line 0: the file as a whole. printf-like, one sentence, no full stop. */
void problems_add(struct problems *problems, const char *file, uint32_t line, uint32_t column,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Adds one item of the daemon, {"code","field","message"}; positions may be NULL. */
void problems_add_item(struct problems *problems, struct positions *positions, const json_t *item);
/* One line per problem, each after `prefix`; bytes that would steer a terminal are replaced. */
void problems_print(const struct problems *problems, const char *prefix, FILE *stream);

#endif
