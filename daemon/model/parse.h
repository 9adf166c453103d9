/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a client's JSON is read: where a value stands, what is said about a wrong one, which fields an
 * object has. Every mistake is added to the parser's errors and reading goes on, so that all are found
 * at once. Functions return 0, -EINVAL (a mistake, already noted) or -ENOMEM.
 */
#ifndef SECG_MODEL_PARSE_H
#define SECG_MODEL_PARSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

struct config;
struct config_runtime;
struct members;

struct parser {
	struct errors *errors;
	struct config
		*config; /* being built; kinds that others refer to are complete before those */
	const struct config_runtime *runtime; /* NULL: nothing beside the document */
	struct members *members;              /* what ports bring into groups */
	size_t ranges; /* address ranges held so far, against MODEL_MAX_RANGES */
};

/* Address ranges of all groups and rules together: 32 bytes each. */
#define MODEL_MAX_RANGES (8u << 20)

/* Where a value stands: a chain from the value up to the document, on the callers' stacks, so that no
 * text is made for values that are right. */
struct path {
	const struct path *up; /* NULL: a field of the document */
	const char *key;       /* NULL: an element of a list */
	size_t index;
};

static inline struct path path_key(const struct path *up, const char *key)
{
	return (struct path){.up = up, .key = key};
}

static inline struct path path_index(const struct path *up, size_t index)
{
	return (struct path){.up = up, .index = index};
}

/* Keeps the worse of two results: -ENOMEM over -EINVAL over 0. */
static inline void result_add(int *result, int r)
{
	if (r < 0 && *result != -ENOMEM && (!*result || r == -ENOMEM))
		*result = r;
}

/* Notes a mistake; `path` NULL is the document. -EINVAL, or -ENOMEM. */
int parse_error(struct parser *parser, const struct path *path, enum error_code code,
		const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "must be <expected>, not <type>". */
int parse_bad_type(struct parser *parser, const struct path *path, const json_t *value,
		   const char *expected);

/* "there is no <what> "<name>"", with the nearest of the names that there are: each of the `count` items
 * of `size` bytes begins with a pointer to its name. */
int parse_not_found(struct parser *parser, const struct path *path, const char *what,
		    const char *name, const void *items, size_t count, size_t size);

/* The beginning of a client's text, for messages: never cut inside a character. */
struct excerpt {
	char text[72];
};
struct excerpt excerpt(const char *text);

/* The words of other tools for a direction, and the sentence that explains what to write. */
bool is_direction_word(const char *word);
extern const char direction_hint[];

/* ── objects ────────────────────────────────────────────────────────────────────────────────────── */

typedef int parse_field_fn(struct parser *parser, const struct path *path, const json_t *value,
			   void *object);

struct field {
	const char *name;
	parse_field_fn
		*parse; /* NULL: a field of the API that is not built, refused as unsupported */
};
#define SCHEMA_MAX_FIELDS 32

struct schema {
	const char *what; /* "a rule" */
	const struct field *fields;
	size_t field_count;
};

/* Reads an object: unknown and unsupported fields are noted, the others parsed in the schema's order. */
int parse_object(struct parser *parser, const struct path *path, const json_t *value,
		 const struct schema *schema, void *object);

/* ── scalar or list ─────────────────────────────────────────────────────────────────────────────── */

/* A scalar is a list of one whose element has no index in its path. */
static inline size_t list_count(const json_t *value)
{
	return json_is_array(value) ? json_array_size(value) : 1;
}

static inline const json_t *list_item(const json_t *value, size_t index)
{
	return json_is_array(value) ? json_array_get(value, index) : value;
}

static inline struct path list_path(const struct path *path, const json_t *value, size_t index)
{
	return json_is_array(value) ? path_index(path, index) : *path;
}

/* [] where a match is meant would match nothing or everything, depending on the reader: refused. */
int parse_not_empty(struct parser *parser, const struct path *path, const json_t *value);

/* ── the normalised document ────────────────────────────────────────────────────────────────────── */

/* Both take `value`, NULL included: that is -ENOMEM, as is failure. */
int json_put(json_t *object, const char *name, json_t *value);
int json_push(json_t *list, json_t *value);

#endif
