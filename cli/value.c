/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to text. */
#include "value.h"

#include <string.h>

#include "memory.h"

static char *join(const json_t *array)
{
	_cleanup_free_ char *text = memory_copy("");
	const json_t *element;
	size_t i;

	json_array_foreach(array, i, element)
	{
		_cleanup_free_ char *part = value_text(element);
		char *longer = memory_format("%s%s%s", text, i > 0 ? "," : "", part);

		free(text);
		text = longer;
	}
	return TAKE_PTR(text);
}

char *value_text(const json_t *value)
{
	if (!value)
		return memory_copy("");
	if (json_is_string(value))
		return memory_copy(json_string_value(value));
	if (json_is_array(value))
		return join(value);
	return memory_check(
		json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS | VALUE_REALS));
}

const char *value_member(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

json_int_t value_integer(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **value_keys(const json_t *object, size_t *ret_count)
{
	size_t count = json_object_size(object), i = 0;
	const char **keys = memory_check(calloc(count + 1, sizeof(*keys)));
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)object, key, member) keys[i++] = key;
	qsort(keys, i, sizeof(*keys), compare);
	*ret_count = i;
	return keys;
}

void value_print_json(const json_t *value, FILE *stream)
{
	json_dumpf(value, stream, JSON_ENCODE_ANY | JSON_INDENT(2) | JSON_SORT_KEYS | VALUE_REALS);
	fputc('\n', stream);
}

/* C1 too: terminals obey U+009B as they do ESC [. */
size_t value_control_size(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (p[0] < 0x20 || p[0] == 0x7f)
		return 1;
	return p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

void value_print_safe(const char *text, FILE *stream)
{
	while (*text) {
		size_t size = value_control_size(text);

		fputc(size > 0 ? '?' : *text, stream);
		text += size > 0 ? size : 1;
	}
}
