/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every field of the API by its path, as docs/openapi.yaml describes it; the build makes the table. Pure.
 */
#ifndef CLI_EXPLAIN_PATH_H
#define CLI_EXPLAIN_PATH_H

#include <stdbool.h>
#include <stddef.h>

struct explain_word {
	const char *word; /* NULL ends an array */
	const char *meaning;
};

struct explain_field {
	const char *path; /* "ports.NAME.hook"; NAME stands for any name */
	const char *type;
	const char *default_text; /* "" in this and the next two: none */
	const char *unit;
	const char *limits;
	const char *meaning;
	const struct explain_word *words; /* NULL: none */
	bool is_required;
};

/*
 * The field that a person means: "ports.hook", "rule.dst_ports", "acls.web.rules[2].dst_ports[0]" as an
 * error names it. NULL: none.
 */
const struct explain_field *explain_find(const char *path);

#define EXPLAIN_NEAR 4
/* Fields with paths like it, the nearest first; how many there are. */
size_t explain_near(const char *path, const struct explain_field *ret_near[EXPLAIN_NEAR]);

/* The next field below `parent` after `last` (NULL: the first); below an object by name, those of such
 * an object. `parent` NULL: the fields with which paths begin. NULL: no more. */
const struct explain_field *explain_next(const struct explain_field *parent,
					 const struct explain_field *last);
/* All fields in turn: the one after `last`. NULL: no more. */
const struct explain_field *explain_all(const struct explain_field *last);

#endif
