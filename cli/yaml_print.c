/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   acls:
 *     web:
 *       rules:
 *         - {id: https, action: allow, dst_ports: [443, "8000-8100"]}
 */
#include "yaml_print.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "memory.h"
#include "scalar.h"
#include "value.h"

#define LINE_SIZE   96 /* of flow style, its indentation not counted */
#define BLOCK_DEPTH 2  /* of the document and its sections */

struct printer {
	FILE *stream;
	enum yaml_order order;
};

/* ── scalars ────────────────────────────────────────────────────────────────────────────────────── */

/* Words that YAML 1.1 takes for something else; what 1.2 does is scalar_kind's to say. */
static bool is_old_word(const char *text)
{
	static const char *const words[] = {"y", "n", "yes", "no", "on", "off"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(text, words[i]) == 0)
			return true;
	}
	return false;
}

/* An IPv4 address or prefix: the only text that begins with a digit and is no number, date or time. */
static bool is_ipv4(const char *text)
{
	size_t size = strcspn(text, "/");
	char address[INET_ADDRSTRLEN];
	struct in_addr ignored;

	if (size >= sizeof(address))
		return false;
	memcpy(address, text, size);
	address[size] = '\0';
	return inet_pton(AF_INET, address, &ignored) == 1;
}

static bool is_plain(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_";
	static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_"
				     "0123456789.-";

	if (text[strspn(text, others)] != '\0' || scalar_kind(text) != SCALAR_STRING)
		return false;
	return (strchr(letters, text[0]) && !is_old_word(text)) || is_ipv4(text);
}

/* The character at *text, moved on; JSON's strings are valid UTF-8. */
static unsigned int next_character(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
	unsigned int character = more == 0 ? *p : *p & (0x3fu >> more);

	for (int i = 1; i <= more; i++)
		character = character << 6 | (p[i] & 0x3f);
	*text += more + 1;
	return character;
}

/* Control characters, line ends of YAML 1.1, the byte order mark: not to be had as they are. */
static bool is_escaped(unsigned int character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
	       character == 0x2029 || character == 0xfeff || (character & 0xfffe) == 0xfffe;
}

static void print_quoted(const char *text, FILE *stream)
{
	fputc('"', stream);
	while (*text) {
		const char *start = text;
		unsigned int character = next_character(&text);

		if (character == '"' || character == '\\')
			fprintf(stream, "\\%c", (int)character);
		else if (character == '\n')
			fputs("\\n", stream);
		else if (is_escaped(character))
			fprintf(stream, character > 0xffff ? "\\U%08x" : "\\u%04x", character);
		else
			fwrite(start, 1, (size_t)(text - start), stream);
	}
	fputc('"', stream);
}

static void print_text(const char *text, FILE *stream)
{
	if (is_plain(text))
		fputs(text, stream);
	else
		print_quoted(text, stream);
}

static void print_scalar(const json_t *value, FILE *stream)
{
	if (json_is_string(value))
		print_text(json_string_value(value), stream);
	else
		json_dumpf(value, stream, JSON_ENCODE_ANY | VALUE_REALS);
}

/* ── containers ─────────────────────────────────────────────────────────────────────────────────── */

static const char **keys_of(const struct printer *printer, const json_t *object, size_t *ret_count)
{
	size_t count = 0;
	const char **keys, *key;
	json_t *member;

	if (printer->order == YAML_SORTED)
		return value_keys(object, ret_count);
	keys = memory_check(calloc(json_object_size(object) + 1, sizeof(*keys)));
	json_object_foreach((json_t *)object, key, member) keys[count++] = key;
	*ret_count = count;
	return keys;
}

static void print_flow(const struct printer *printer, const json_t *value)
{
	const json_t *element;
	size_t i, count;

	if (json_is_object(value)) {
		_cleanup_free_ const char **keys = keys_of(printer, value, &count);

		fputc('{', printer->stream);
		for (i = 0; i < count; i++) {
			fputs(i > 0 ? ", " : "", printer->stream);
			print_text(keys[i], printer->stream);
			fputs(": ", printer->stream);
			print_flow(printer, json_object_get(value, keys[i]));
		}
		fputc('}', printer->stream);
	} else if (json_is_array(value)) {
		fputc('[', printer->stream);
		json_array_foreach(value, i, element)
		{
			fputs(i > 0 ? ", " : "", printer->stream);
			print_flow(printer, element);
		}
		fputc(']', printer->stream);
	} else {
		print_scalar(value, printer->stream);
	}
}

/* Takes the size that the value has at least in one line from *room; false where it does not fit. Looks
 * no further than that, so that a large document is not measured once a level. */
static bool fits(const json_t *value, size_t *room)
{
	size_t size = json_is_string(value) ? json_string_length(value) : 2;
	const json_t *element;
	const char *key;
	size_t i;

	if (size > *room)
		return false;
	*room -= size;
	json_array_foreach(value, i, element)
	{
		if (*room < 2 || (*room -= 2, !fits(element, room)))
			return false;
	}
	json_object_foreach((json_t *)value, key, element)
	{
		size = strlen(key) + 4;
		if (*room < size || (*room -= size, !fits(element, room)))
			return false;
	}
	return true;
}

static bool holds_containers(const json_t *array)
{
	const json_t *element;
	size_t i;

	json_array_foreach(array, i, element)
	{
		if (json_is_object(element) || json_is_array(element))
			return true;
	}
	return false;
}

/* Sections of a document and lists of objects are in blocks, even if they are short. */
static bool is_flow(const json_t *value, size_t depth)
{
	size_t room = LINE_SIZE;

	if (json_object_size(value) == 0 && json_array_size(value) == 0)
		return true;
	if (depth + 1 == BLOCK_DEPTH && (json_is_object(value) || holds_containers(value)))
		return false;
	return depth + 1 >= BLOCK_DEPTH && fits(value, &room);
}

static void indent(const struct printer *printer, size_t depth)
{
	fprintf(printer->stream, "%*s", (int)(2 * depth), "");
}

static void print_block(const struct printer *printer, const json_t *value, size_t depth,
			bool is_indented);

/* What stands behind "key:" or "-", to the end of its last line. */
static void print_value(const struct printer *printer, const json_t *value, size_t depth,
			bool is_item)
{
	if (is_flow(value, depth)) {
		fputc(' ', printer->stream);
		print_flow(printer, value);
		fputc('\n', printer->stream);
	} else {
		fputc(is_item ? ' ' : '\n', printer->stream);
		print_block(printer, value, depth, is_item);
	}
}

/* `is_indented`: the first line is begun already, behind "- ". */
static void print_block(const struct printer *printer, const json_t *value, size_t depth,
			bool is_indented)
{
	const json_t *element;
	size_t i, count;

	if (json_is_object(value)) {
		_cleanup_free_ const char **keys = keys_of(printer, value, &count);

		for (i = 0; i < count; i++) {
			indent(printer, i == 0 && is_indented ? 0 : depth);
			print_text(keys[i], printer->stream);
			fputc(':', printer->stream);
			print_value(printer, json_object_get(value, keys[i]), depth + 1, false);
		}
		return;
	}
	json_array_foreach(value, i, element)
	{
		indent(printer, i == 0 && is_indented ? 0 : depth);
		fputc('-', printer->stream);
		print_value(printer, element, depth + 1, true);
	}
}

void yaml_print(const json_t *value, enum yaml_order order, FILE *stream)
{
	const struct printer printer = {.stream = stream, .order = order};

	if (is_flow(value, 0)) {
		print_flow(&printer, value);
		fputc('\n', stream);
	} else {
		print_block(&printer, value, 0, false);
	}
}

bool yaml_print_line(const json_t *value, enum yaml_order order, FILE *stream)
{
	const struct printer printer = {.stream = stream, .order = order};

	if (!is_flow(value, BLOCK_DEPTH))
		return false;
	print_flow(&printer, value);
	return true;
}
