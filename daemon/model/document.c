/* SPDX-License-Identifier: Apache-2.0 */
/* Policy documents: reading bytes, merging. */
#include "model/document.h"

#include <string.h>

#include "model/parse.h"

/* Where the reader stands; columns count bytes from 1. */
struct position {
	int line;
	int column;
};

/* True if brackets nest deeper than allowed; tells where. Bytes that are not JSON are left to the
 * parser: only strings matter here, because brackets in them do not count. */
static bool is_too_deep(const char *bytes, size_t size, struct position *ret_position)
{
	struct position at = {.line = 1, .column = 1};
	bool is_string = false;
	int depth = 0;

	for (size_t i = 0; i < size; i++, at.column++) {
		char c = bytes[i];

		if (c == '\n') {
			at.line++;
			at.column = 0;
		} else if (is_string && c == '\\') {
			i++;
			at.column++;
		} else if (c == '"') {
			is_string = !is_string;
		} else if (!is_string && (c == '[' || c == '{')) {
			if (++depth > DOCUMENT_MAX_DEPTH) {
				*ret_position = at;
				return true;
			}
		} else if (!is_string && (c == ']' || c == '}')) {
			depth--;
		}
	}
	return false;
}

int document_read(json_t **ret_value, const char *bytes, size_t size, struct errors *reterr)
{
	struct parser parser = {.errors = reterr};
	struct position deep;
	json_error_t error;
	json_t *value;

	if (is_too_deep(bytes, size, &deep))
		return parse_error(&parser, NULL, ERROR_BAD_JSON,
				   "line %d column %d: objects and lists nest deeper than %d",
				   deep.line, deep.column, DOCUMENT_MAX_DEPTH);
	value = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!value && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!value)
		return parse_error(&parser, NULL, ERROR_BAD_JSON, "line %d column %d: %s",
				   error.line, error.column, error.text);
	*ret_value = value;
	return 0;
}

/* What stays as it was is shared with `target` and `patch`. */
json_t *document_merge(const json_t *target, const json_t *patch)
{
	json_auto_t *merged = NULL;
	const char *name;
	json_t *item;

	if (!json_is_object(patch))
		return json_incref((json_t *)patch);
	merged = json_is_object(target) ? json_copy((json_t *)target) : json_object();
	if (!merged)
		return NULL;
	json_object_foreach((json_t *)patch, name, item)
	{
		if (json_is_null(item))
			json_object_del(merged, name);
		else if (json_put(merged, name,
				  document_merge(json_object_get(merged, name), item)) < 0)
			return NULL;
	}
	return TAKE_PTR(merged);
}

json_t *document_with(const json_t *document, enum object_kind kind, const char *name,
		      const json_t *value)
{
	json_auto_t *copy = json_copy((json_t *)document);
	json_auto_t *objects = NULL;
	const json_t *old = json_object_get(document, object_kind_names[kind]);

	objects = json_is_object(old) ? json_copy((json_t *)old) : json_object();
	if (!copy || !objects)
		return NULL;
	if (!value)
		json_object_del(objects, name);
	else if (json_put(objects, name, json_incref((json_t *)value)) < 0)
		return NULL;
	if (json_put(copy, object_kind_names[kind], TAKE_PTR(objects)) < 0)
		return NULL;
	return TAKE_PTR(copy);
}
