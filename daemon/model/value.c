/* SPDX-License-Identifier: Apache-2.0 */
/* True and false, words, names, description and labels. */
#include "model/value.h"

#include <ctype.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "model/nearest.h"

int parse_bool(struct parser *parser, const struct path *path, const json_t *value, bool *ret_value)
{
	if (!json_is_boolean(value))
		return parse_bad_type(parser, path, value, "true or false");
	*ret_value = json_is_true(value);
	return 0;
}

int parse_bool_field(struct parser *parser, const struct path *path, const json_t *value,
		     json_t *json, bool *ret_value)
{
	int r = parse_bool(parser, path, value, ret_value);

	return r < 0 ? r : json_put(json, path->key, json_incref((json_t *)value));
}

/* True for the spelling that is listed and offered: that of a word that is built, but no alias. */
static bool is_canonical(const struct word *words, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (words[i].value == words[index].value)
			return false;
	return words[index].value != WORD_UNSUPPORTED;
}

/* The word that was probably meant; NULL: no idea. */
static const char *nearest_word(const char *text, const struct word *words, size_t word_count)
{
	struct nearest nearest = nearest_to(text);

	for (size_t i = 0; i < word_count; i++)
		if (is_canonical(words, i))
			nearest_offer(&nearest, words[i].text);
	return nearest.best;
}

static int unknown_word(struct parser *parser, const struct path *path, const char *text,
			const struct word *words, size_t word_count)
{
	const char *meant = word_count > 1 ? nearest_word(text, words, word_count) : NULL;
	char known[256] = "";
	size_t size = 0;

	if (is_direction_word(text))
		return parse_error(parser, path, ERROR_BAD_VALUE, "%s %s", text, direction_hint);
	for (size_t i = 0; i < word_count && size < sizeof(known); i++)
		if (is_canonical(words, i))
			size += (size_t)snprintf(known + size, sizeof(known) - size, "%s%s",
						 size ? ", " : "", words[i].text);
	return parse_error(parser, path, ERROR_BAD_VALUE, "must be %s%s, not \"%s\"%s%s%s",
			   word_count > 1 ? "one of " : "", known, excerpt(text).text,
			   meant ? ": did you mean " : "", meant ? meant : "", meant ? "?" : "");
}

int parse_word(struct parser *parser, const struct path *path, const json_t *value,
	       const struct word *words, size_t word_count, int *ret_value)
{
	const char *text = json_string_value(value);
	const char *instead;

	if (!text)
		return parse_bad_type(parser, path, value, "a word");
	for (size_t i = 0; i < word_count; i++) {
		if (strcmp(words[i].text, text))
			continue;
		if (words[i].value != WORD_UNSUPPORTED) {
			*ret_value = words[i].value;
			return 0;
		}
		instead = nearest_word(text, words, word_count);
		return parse_error(parser, path, ERROR_UNSUPPORTED,
				   "%s is not supported by this version%s%s", text,
				   instead ? ": write " : "", instead ? instead : "");
	}
	return unknown_word(parser, path, text, words, word_count);
}

const char *word_text(const struct word *words, size_t word_count, int value)
{
	for (size_t i = 0; i < word_count; i++)
		if (words[i].value == value)
			return words[i].text;
	return "";
}

bool is_name(const char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789._-");

	return size >= 1 && size <= NAME_MAX_LENGTH && !text[size];
}

/* Without the ban on ':', which the kernel has and names of ports need not have. */
static bool is_interface_like(const char *text)
{
	size_t size = strnlen(text, IFNAMSIZ);

	if (!size || size >= IFNAMSIZ || !strcmp(text, ".") || !strcmp(text, ".."))
		return false;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		/* 0xa0 is white space to the kernel, which reads Latin-1. */
		if (c <= ' ' || c == 0x7f || c == 0xa0 || c == '/')
			return false;
	}
	return true;
}

bool is_interface_name(const char *text)
{
	return is_interface_like(text) && !strchr(text, ':');
}

static int check_reserved(struct parser *parser, const struct path *path, const char *name)
{
	if (strcmp(name, "infra"))
		return 0;
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "infra is reserved for the infrastructure rules: take another name");
}

/* A name that only capitals keep from being one, in small letters. */
static bool lower_name(char ret_name[NAME_MAX_LENGTH + 1], const char *text)
{
	size_t size = strnlen(text, NAME_MAX_LENGTH + 1);

	if (size > NAME_MAX_LENGTH)
		return false;
	for (size_t i = 0; i <= size; i++)
		ret_name[i] = (char)tolower((unsigned char)text[i]);
	return is_name(ret_name);
}

int parse_object_name(struct parser *parser, const struct path *path, const char *name)
{
	char lower[NAME_MAX_LENGTH + 1];
	bool is_known;

	if (is_name(name))
		return check_reserved(parser, path, name);
	is_known = lower_name(lower, name);
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "a name has 1 to %d characters out of a-z, 0-9, '.', '_', '-'%s%s",
			   NAME_MAX_LENGTH, is_known ? ": write " : "", is_known ? lower : "");
}

int parse_port_name(struct parser *parser, const struct path *path, const char *name)
{
	if (!is_name(name) && !is_interface_like(name))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "a port's name has 1 to %d characters out of a-z, 0-9, '.', "
				   "'_', '-', or is what an interface could be called",
				   NAME_MAX_LENGTH);
	return check_reserved(parser, path, name);
}

struct json_object_head {
	json_t *json;
};

int parse_description(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct json_object_head *head = object;

	if (!json_is_string(value))
		return parse_bad_type(parser, path, value, "a string");
	return json_put(head->json, "description", json_incref((json_t *)value));
}

int parse_labels(struct parser *parser, const struct path *path, const json_t *value, void *object)
{
	struct json_object_head *head = object;
	int result = 0;
	const char *name;
	json_t *item;

	if (!json_is_object(value))
		return parse_bad_type(parser, path, value, "an object of strings");
	json_object_foreach((json_t *)value, name, item)
	{
		struct path label = path_key(path, name);

		if (!json_is_string(item))
			result_add(&result, parse_bad_type(parser, &label, item, "a string"));
	}
	result_add(&result, json_put(head->json, "labels", json_incref((json_t *)value)));
	return result;
}
