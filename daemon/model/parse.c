/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a client's JSON: paths, mistakes, objects. */
#include "model/parse.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "model/nearest.h"

#define PATH_MAX_STEPS 16
#define FIELDS_SHORT   64 /* a list of fields that helps where a type is wrong */

/* The text of a path; NULL without memory. */
static char *path_format(const struct path *path)
{
	const struct path *steps[PATH_MAX_STEPS];
	size_t count = 0, size = 0;
	char *text = NULL;
	FILE *stream;

	for (; path && count < PATH_MAX_STEPS; path = path->up)
		steps[count++] = path;
	stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	for (size_t i = count; i-- > 0;) {
		if (steps[i]->key)
			fprintf(stream, "%s%s", i + 1 < count ? "." : "", steps[i]->key);
		else
			fprintf(stream, "[%zu]", steps[i]->index);
	}
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

int parse_error(struct parser *parser, const struct path *path, enum error_code code,
		const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ char *field = NULL;
	va_list args;
	int r;

	/* A full list only counts: no text for mistakes that nobody will read. */
	if (parser->errors->count >= ERRORS_MAX)
		return errors_add(parser->errors, code, "", "%s", "");
	va_start(args, format);
	r = vasprintf(&message, format, args);
	va_end(args);
	if (r < 0) {
		message = NULL;
		return -ENOMEM;
	}
	field = path_format(path);
	if (!field)
		return -ENOMEM;
	return errors_add(parser->errors, code, field, "%s", message);
}

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "a number";
	case JSON_REAL:
		return "a number with a fraction";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	case JSON_NULL:
		return "null";
	}
	return "something else";
}

int parse_bad_type(struct parser *parser, const struct path *path, const json_t *value,
		   const char *expected)
{
	if (json_is_null(value))
		return parse_error(parser, path, ERROR_BAD_TYPE,
				   "must be %s, not null: leave the field out instead", expected);
	return parse_error(parser, path, ERROR_BAD_TYPE, "must be %s, not %s", expected,
			   type_name(value));
}

int parse_not_found(struct parser *parser, const struct path *path, const char *what,
		    const char *name, const void *items, size_t count, size_t size)
{
	struct nearest nearest = nearest_to(name);

	/* A full list only counts, and a guess costs a look at every name. */
	for (size_t i = 0; i < count && parser->errors->count < ERRORS_MAX; i++)
		nearest_offer(&nearest, *(const char *const *)((const char *)items + i * size));
	if (nearest.best)
		return parse_error(parser, path, ERROR_NOT_FOUND,
				   "there is no %s \"%s\": did you mean \"%s\"?", what,
				   excerpt(name).text, nearest.best);
	return parse_error(parser, path, ERROR_NOT_FOUND, "there is no %s \"%s\"", what,
			   excerpt(name).text);
}

struct excerpt excerpt(const char *text)
{
	struct excerpt result = {0};
	size_t size = strnlen(text, sizeof(result.text));

	if (size < sizeof(result.text)) {
		memcpy(result.text, text, size);
		return result;
	}
	size = sizeof(result.text) - sizeof("…");
	while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
		size--;
	memcpy(result.text, text, size);
	memcpy(result.text + size, "…", sizeof("…"));
	return result;
}

const char direction_hint[] =
	"is not used here, because for a VM's tap people mean opposite things by it: write `from` "
	"for packets that enter the host through the port, `to` for those that leave it";

bool is_direction_word(const char *word)
{
	return !strcasecmp(word, "ingress") || !strcasecmp(word, "egress");
}

/* Names of the fields that are built: "from, to". */
static void list_fields(char *text, size_t text_size, const struct schema *schema)
{
	size_t size = 0;

	*text = '\0';
	for (size_t i = 0; i < schema->field_count; i++)
		if (schema->fields[i].parse && size < text_size)
			size += (size_t)snprintf(text + size, text_size - size, "%s%s",
						 size ? ", " : "", schema->fields[i].name);
}

static int unknown_field(struct parser *parser, const struct path *path,
			 const struct schema *schema)
{
	struct nearest nearest = nearest_to(path->key);
	char known[512];

	if (is_direction_word(path->key))
		return parse_error(parser, path, ERROR_UNKNOWN_FIELD, "%s %s", path->key,
				   direction_hint);
	for (size_t i = 0; i < schema->field_count; i++)
		if (schema->fields[i].parse)
			nearest_offer(&nearest, schema->fields[i].name);
	if (nearest.best)
		return parse_error(parser, path, ERROR_UNKNOWN_FIELD,
				   "is not a field of %s: did you mean %s?", schema->what,
				   nearest.best);
	list_fields(known, sizeof(known), schema);
	return parse_error(parser, path, ERROR_UNKNOWN_FIELD, "is not a field of %s, which has %s",
			   schema->what, known);
}

static size_t field_find(const struct schema *schema, const char *name)
{
	size_t i = 0;

	while (i < schema->field_count && strcmp(schema->fields[i].name, name))
		i++;
	return i;
}

int parse_object(struct parser *parser, const struct path *path, const json_t *value,
		 const struct schema *schema, void *object)
{
	const json_t *values[SCHEMA_MAX_FIELDS] = {NULL};
	int result = 0;
	const char *name;
	json_t *item;

	assert(schema->field_count <= SCHEMA_MAX_FIELDS);
	if (!json_is_object(value)) {
		char known[512], expected[640];

		list_fields(known, sizeof(known), schema);
		snprintf(expected, sizeof(expected), "an object (%s)%s%s", schema->what,
			 strlen(known) < FIELDS_SHORT ? " with " : "",
			 strlen(known) < FIELDS_SHORT ? known : "");
		return parse_bad_type(parser, path, value, expected);
	}
	json_object_foreach((json_t *)value, name, item)
	{
		struct path field = path_key(path, name);
		size_t i = field_find(schema, name);

		if (i == schema->field_count)
			result_add(&result, unknown_field(parser, &field, schema));
		else if (!schema->fields[i].parse)
			result_add(&result, parse_error(parser, &field, ERROR_UNSUPPORTED,
							"is not supported by this version"));
		else
			values[i] = item;
	}
	for (size_t i = 0; i < schema->field_count; i++) {
		struct path field = path_key(path, schema->fields[i].name);

		if (values[i])
			result_add(&result,
				   schema->fields[i].parse(parser, &field, values[i], object));
	}
	return result;
}

int parse_not_empty(struct parser *parser, const struct path *path, const json_t *value)
{
	if (list_count(value))
		return 0;
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "must not be an empty list: leave the field out to match anything");
}

int json_put(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) ? -ENOMEM : 0;
}

int json_push(json_t *list, json_t *value)
{
	return json_array_append_new(list, value) ? -ENOMEM : 0;
}
