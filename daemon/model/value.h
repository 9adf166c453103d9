/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that many objects share: numbers and ranges, words, names, description and labels. Results are
 * those of parse.h.
 */
#ifndef SECG_MODEL_VALUE_H
#define SECG_MODEL_VALUE_H

#include "model/config.h"
#include "model/parse.h"

/* ── numbers ────────────────────────────────────────────────────────────────────────────────────── */

struct number_kind {
	const char *what; /* "a port" */
	uint32_t first;
	uint32_t last;
};

extern const struct number_kind timeout_kind; /* of sessions */

/* A number, or its decimal text. */
int parse_number(struct parser *parser, const struct path *path, const json_t *value,
		 const struct number_kind *kind, uint32_t *ret_number);
/* A number or text "a", "a-b". Kinds of 16 bits. */
int parse_range(struct parser *parser, const struct path *path, const json_t *value,
		const struct number_kind *kind, struct range *ret_range);
/* True for text that begins like a number, so that other text can be taken for a name. */
bool is_number_text(const json_t *value);
/* 443 or "8000-8100". NULL: no memory. */
json_t *range_json(const struct range *range);

int range_list_add(struct range_list *list, struct range range);
void range_list_normalize(struct range_list *list); /* sorts and merges */
int range_list_copy(struct range_list *ret_list, const struct range_list *list);
void range_list_fini(struct range_list *list);

/* ── true and false ─────────────────────────────────────────────────────────────────────────────── */

int parse_bool(struct parser *parser, const struct path *path, const json_t *value,
	       bool *ret_value);
/* The same for a field that stands in the normalised object `json` too. */
int parse_bool_field(struct parser *parser, const struct path *path, const json_t *value,
		     json_t *json, bool *ret_value);

/* ── words ──────────────────────────────────────────────────────────────────────────────────────── */

/* The first word of a value is its canonical spelling, later ones are aliases. */
struct word {
	const char *text;
	int value; /* WORD_UNSUPPORTED: a word of the API that is not built */
};
#define WORD_UNSUPPORTED (-1)

int parse_word(struct parser *parser, const struct path *path, const json_t *value,
	       const struct word *words, size_t word_count, int *ret_value);
const char *word_text(const struct word *words, size_t word_count, int value);

/* ── names ──────────────────────────────────────────────────────────────────────────────────────── */

/* [a-z0-9._-]{1,63} */
bool is_name(const char *text);
/* What the kernel takes as the name of an interface. */
bool is_interface_name(const char *text);
/* The name of an object as a key: well-formed and not `infra`. */
int parse_object_name(struct parser *parser, const struct path *path, const char *name);
int parse_port_name(struct parser *parser, const struct path *path, const char *name);

/* ── fields of every object ─────────────────────────────────────────────────────────────────────── */

/* The object of these is any struct whose first member is `json_t *json`, the normalised object. */
parse_field_fn parse_description;
parse_field_fn parse_labels;

#endif
