/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with the user's input, one line each, all found at once: "file:line:column: field:
 * message". Found in files by the readers, or told by the daemon and put back to its line here.
 *
 *   policy.yaml:7:19: acls.web.rules[0].protocol: must be 0 to 255, any, tcp, …, not "upd"
 *     7 |         protocol: upd
 *       |                   ^
 */
#ifndef CLI_PROBLEMS_H
#define CLI_PROBLEMS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "positions.h"

struct problem_place {
	char *file; /* NULL: none */
	uint32_t line, column;
};

struct problems {
	char **lines;
	struct problem_place *places; /* one per line */
	size_t count, room, place_room;
};

void problems_fini(struct problems *problems);

/* file NULL: without a place; line 0: the file as a whole. printf-like, one sentence, no full stop. */
void problems_add(struct problems *problems, const char *file, uint32_t line, uint32_t column,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Adds one item of the daemon, {"code","field","message"}; positions may be NULL. */
void problems_add_item(struct problems *problems, struct positions *positions, const json_t *item);
/* One line per problem, each after `prefix`; below it the line of the file with a caret under the
 * column, where `positions` (NULL: none) has the file's text. What would steer a terminal is replaced. */
void problems_print(const struct problems *problems, const struct positions *positions,
		    const char *prefix, FILE *stream);

#endif
