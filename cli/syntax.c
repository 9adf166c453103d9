/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of libyaml 0.2 and jansson 2, looked up; one that is not known here is passed on. */
#include "syntax.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static struct syntax at_mark(char *message, struct syntax_mark at)
{
	return (struct syntax){.message = message, .line = at.line, .column = at.column};
}

/* Where the mark is in the text; its end at most. */
static size_t offset_of(struct syntax_mark at, const char *bytes, size_t size)
{
	size_t offset = 0;

	for (size_t i = 0; i < at.index && offset < size; i++) {
		do
			offset++;
		while (offset < size && ((unsigned char)bytes[offset] & 0xc0) == 0x80);
	}
	return offset;
}

/* Only white space follows. */
static bool is_end(const char *bytes, size_t size, size_t index)
{
	while (index < size && isspace((unsigned char)bytes[index]))
		index++;
	return index >= size;
}

/* The last place at which something stands. */
static struct syntax_mark last_mark(const char *bytes, size_t size)
{
	struct syntax_mark at = {.line = 1, .column = 0}, last = {.line = 1, .column = 1};

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n') {
			at.line++;
			at.column = 0;
		} else if (((unsigned char)bytes[i] & 0xc0) != 0x80) {
			at.column++;
		}
		if (!isspace((unsigned char)bytes[i]))
			last = at;
	}
	return last;
}

/* ── YAML ───────────────────────────────────────────────────────────────────────────────────────── */

/* A list or mapping in brackets that does not go on or end as it must. */
static struct syntax yaml_flow(struct syntax_mark at, struct syntax_mark start, const char *bytes,
			       size_t size, char closing)
{
	const char *what = closing == ']' ? "list" : "mapping";
	size_t offset = offset_of(at, bytes, size);

	if (is_end(bytes, size, offset))
		return at_mark(memory_format("the %s that begins here has no '%c' at its end", what,
					     closing),
			       start);
	if (bytes[offset] == ':')
		return at_mark(memory_copy("':' does not belong here: a text with ': ' in it needs "
					   "quotes"),
			       at);
	return at_mark(memory_format("',' or '%c' is missing before this, in the %s that begins at "
				     "%u:%u",
				     closing, what, start.line, start.column),
		       at);
}

/* No value begins with this character. */
static struct syntax yaml_character(struct syntax_mark at, const char *bytes, size_t size)
{
	size_t offset = offset_of(at, bytes, size);
	char c = offset < size ? bytes[offset] : '\0';

	if (c == '\t')
		return at_mark(memory_copy("a tab stands here: YAML is indented with spaces"), at);
	if (c == '@')
		return at_mark(memory_copy("a text that begins with @ needs quotes, as in "
					   "\"@group\""),
			       at);
	return at_mark(memory_format("a text that begins with '%c' needs quotes", c), at);
}

/* Quotes for an address that YAML reads otherwise in brackets: "::/0", "fe80::". */
static struct syntax yaml_address(struct syntax_mark start, const char *bytes, size_t size)
{
	size_t offset = offset_of(start, bytes, size), length = 0;

	while (offset + length < size && (isxdigit((unsigned char)bytes[offset + length]) ||
					  memchr(":./", bytes[offset + length], 3)))
		length++;
	if (!memmem(bytes + offset, length, "::", 2))
		return at_mark(memory_copy("':' does not belong here: a text with ':' in it needs "
					   "quotes"),
			       start);
	return at_mark(memory_format("an IPv6 address needs quotes here: \"%.*s\"", (int)length,
				     bytes + offset),
		       start);
}

/* Where a value of a list or mapping in brackets should stand is something else, or nothing. */
static struct syntax yaml_element(struct syntax_mark at, const char *bytes, size_t size)
{
	size_t offset = offset_of(at, bytes, size);

	if (is_end(bytes, size, offset))
		return at_mark(memory_copy("the file ends here, inside a list or mapping that has "
					   "no ']' or '}' at its end"),
			       last_mark(bytes, size));
	if (bytes[offset] == ':')
		return yaml_address(at, bytes, size);
	return at_mark(memory_copy("a value is missing before this"), at);
}

/* A quote without its other one. */
static struct syntax yaml_quote(struct syntax_mark start, const char *bytes, size_t size)
{
	size_t offset = offset_of(start, bytes, size);

	return at_mark(memory_format("the text that begins here has no %c at its end",
				     offset < size ? bytes[offset] : '"'),
		       start);
}

static struct syntax control(unsigned int value, struct syntax_mark at)
{
	return at_mark(memory_format("the control character U+%04X cannot stand here: take it out, "
				     "and save the file as UTF-8",
				     value),
		       at);
}

struct syntax syntax_reader(int value, size_t offset, bool is_control, const char *bytes,
			    size_t size)
{
	struct syntax_mark at = {.line = 1, .column = 1};

	for (size_t i = 0; i < offset && i < size; i++) {
		if (bytes[i] == '\n') {
			at.line++;
			at.column = 1;
		} else if (((unsigned char)bytes[i] & 0xc0) != 0x80) {
			at.column++;
		}
	}
	if (is_control)
		return control((unsigned int)value, at);
	return at_mark(memory_copy("this is not UTF-8: save the file as UTF-8"), at);
}

struct syntax syntax_yaml(const char *problem, struct syntax_mark at, const char *context,
			  struct syntax_mark start, const char *bytes, size_t size)
{
	if (strcmp(problem, "did not find expected ',' or ']'") == 0)
		return yaml_flow(at, start, bytes, size, ']');
	if (strcmp(problem, "did not find expected ',' or '}'") == 0)
		return yaml_flow(at, start, bytes, size, '}');
	if (strcmp(problem, "did not find expected node content") == 0)
		return yaml_element(at, bytes, size);
	if (strcmp(problem, "found unexpected ':'") == 0)
		return yaml_address(start, bytes, size);
	if (context && strcmp(context, "while scanning a quoted scalar") == 0)
		return yaml_quote(start, bytes, size);
	if (strcmp(problem, "found character that cannot start any token") == 0)
		return yaml_character(at, bytes, size);
	if (strcmp(problem, "did not find expected key") == 0)
		return at_mark(
			memory_format("this is no field of the mapping that begins at %u:%u: "
				      "is it indented as the others are?",
				      start.line, start.column),
			at);
	if (strcmp(problem, "mapping values are not allowed in this context") == 0)
		return at_mark(memory_copy("':' does not belong here: a text with ': ' in it needs "
					   "quotes, and a field a line of its own"),
			       at);
	if (strcmp(problem, "could not find expected ':'") == 0)
		return at_mark(memory_copy("':' is missing behind this name"), start);
	if (strcmp(problem, "did not find expected '-' indicator") == 0)
		return at_mark(memory_format("this is no element of the list that begins at %u:%u: "
					     "'-' is missing, or it is indented otherwise",
					     start.line, start.column),
			       at);
	return at_mark(memory_format("%s%s%s", problem, context ? " " : "", context ? context : ""),
		       at);
}

/* ── JSON ───────────────────────────────────────────────────────────────────────────────────────── */

static size_t characters(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/* jansson tells the end of a token; `near` is its text in the message. */
static uint32_t token_column(int column, const char *near, size_t near_size)
{
	size_t length = characters(near, near_size);

	return column > (int)length ? (uint32_t)((size_t)column - length + 1) : 1;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A byte that no text holds; jansson names it at the end of its sentence or before " near". */
static struct syntax json_byte(const char *problem, struct syntax_mark at)
{
	const char *value = strstr(problem, "0x");

	if (has_prefix(problem, "control character") && value)
		return control((unsigned int)strtoul(value, NULL, 16), at);
	return at_mark(memory_copy("this is not UTF-8: save the file as UTF-8"), at);
}

struct syntax syntax_json(const char *problem, int line, int column, const char *bytes, size_t size)
{
	static const char end[] = " near end of file", near_word[] = " near '";
	const char *at_end = strstr(problem, end), *near = strstr(problem, near_word);
	size_t head, near_size;
	struct syntax_mark at;

	if (at_end)
		return at_mark(memory_format("the file ends too early: %.*s",
					     (int)(at_end - problem), problem),
			       last_mark(bytes, size));
	at = (struct syntax_mark){.line = (uint32_t)line,
				  .column = column > 0 ? (uint32_t)column : 1};
	if (has_prefix(problem, "unable to decode byte") ||
	    has_prefix(problem, "control character")) {
		at.column = column > 0 ? (uint32_t)column + 1
				       : 1; /* behind the token's last good character */
		return json_byte(problem, at);
	}
	if (!near)
		return at_mark(memory_copy(problem), at);
	head = (size_t)(near - problem);
	near += strlen(near_word);
	near_size = strlen(near) - 1; /* its closing quote */
	at.column = token_column(column, near, near_size);
	if (near[0] == '"' &&
	    (has_prefix(problem, "unexpected newline") || has_prefix(problem, "premature end")))
		return at_mark(memory_copy("the text that begins here has no \" at its end"), at);
	if (near[0] == '\'')
		return at_mark(memory_copy("JSON has only double quotes: write \"…\""), at);
	if (near_size == 1 && (near[0] == '}' || near[0] == ']'))
		return at_mark(memory_format("a ',' too many before this '%c', or something is "
					     "missing: %.*s",
					     near[0], (int)head, problem),
			       at);
	if (strncmp(problem, "duplicate object key", head) == 0)
		return at_mark(memory_format("duplicate key %.*s", (int)near_size, near), at);
	return at_mark(memory_copy(problem), at);
}
