/* SPDX-License-Identifier: Apache-2.0 */
/* Lines about mistakes. */
#include "problems.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "color.h"
#include "value.h"

void problems_fini(struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->lines[i]);
	for (size_t i = 0; i < problems->count; i++)
		free(problems->places[i].file);
	free(problems->lines);
	free(problems->places);
	*problems = (struct problems){0};
}

static void append(struct problems *problems, char *line, struct problem_place place)
{
	problems->lines = memory_grow(problems->lines, problems->count, &problems->room,
				      sizeof(*problems->lines));
	problems->places = memory_grow(problems->places, problems->count, &problems->place_room,
				       sizeof(*problems->places));
	problems->places[problems->count] = place;
	problems->lines[problems->count++] = line;
}

void problems_add(struct problems *problems, const char *file, uint32_t line, uint32_t column,
		  const char *format, ...)
{
	const struct problem_place place = {
		.file = file ? memory_copy(file) : NULL,
		.line = line,
		.column = column,
	};
	_cleanup_free_ char *message = NULL;
	va_list args;

	va_start(args, format);
	message = memory_vformat(format, args);
	va_end(args);
	if (!file)
		append(problems, TAKE_PTR(message), place);
	else if (line == 0)
		append(problems, memory_format("%s: %s", file, message), place);
	else
		append(problems, memory_format("%s:%u:%u: %s", file, line, column, message), place);
}

void problems_add_item(struct problems *problems, struct positions *positions, const json_t *item)
{
	const char *field = value_member(item, "field");
	const char *message = value_member(item, "message");
	const struct position *at = NULL;

	/* a wrong name is the key's fault, everything else the value's */
	if (positions && strcmp(value_member(item, "code"), "unknown_field") != 0)
		at = positions_find_value(positions, field);
	if (positions && !at)
		at = positions_nearest(positions, field);
	if (message[0] == '\0')
		message = value_member(item, "code");
	problems_add(problems, at ? positions_file_name(positions, at->file) : NULL,
		     at ? at->line : 0, at ? at->column : 0, "%s%s%s", field,
		     field[0] != '\0' ? ": " : "", message);
}

/* ── the line below ─────────────────────────────────────────────────────────────────────────────── */

#define EXCERPT_WIDTH 100 /* characters of a line that are shown */
#define EXCERPT_LEAD  60  /* of them before the column, in a longer line */

/* Where the line begins, and its size without its end. NULL: the text has no such line. */
static const char *find_line(const char *text, size_t size, uint32_t line, size_t *ret_size)
{
	const char *end = text + size, *line_end;

	for (; line > 1; line--) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));

		if (!feed)
			return NULL;
		text = feed + 1;
	}
	line_end = memchr(text, '\n', (size_t)(end - text));
	*ret_size = (size_t)((line_end ? line_end : end) - text);
	if (*ret_size > 0 && text[*ret_size - 1] == '\r')
		(*ret_size)--;
	return text;
}

static bool is_character_start(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* Moves over `count` characters of UTF-8, at most to the end. */
static const char *skip(const char *text, const char *end, size_t count)
{
	for (; count > 0 && text < end; count--) {
		do
			text++;
		while (text < end && !is_character_start(*text));
	}
	return text;
}

/* Bytes of the character of UTF-8 that begins here; 0 where none does. */
static size_t character_size(const char *text, const char *end)
{
	unsigned char lead = (unsigned char)*text;
	size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

	if (lead > 0xf4 || size > (size_t)(end - text))
		return 0;
	for (size_t i = 1; i < size; i++) {
		if (is_character_start(text[i]))
			return 0;
	}
	return size;
}

/* A tab counts as the one character that it is, so that the caret stands right; what is not UTF-8 is shown
 * as '?'. */
static void print_part(const char *text, const char *end, FILE *stream)
{
	while (text < end) {
		size_t control = value_control_size(text), size = character_size(text, end);

		if (control > 0 || size == 0)
			fputc(control > 0 ? ' ' : '?', stream);
		else
			fwrite(text, 1, size, stream);
		text += control > 0 ? control : size > 0 ? size : 1;
	}
}

static void print_excerpt(const char *line, size_t size, const struct problem_place *place,
			  FILE *stream)
{
	const char *end = line + size, *start = line, *stop;
	size_t column = place->column > 0 ? place->column - 1 : 0;

	if (column > EXCERPT_LEAD && skip(line, end, EXCERPT_WIDTH) < end) {
		start = skip(line, end, column - EXCERPT_LEAD);
		column = EXCERPT_LEAD;
	}
	stop = skip(start, end, EXCERPT_WIDTH);
	fprintf(stream, "%5u | %s", place->line, start > line ? "…" : "");
	print_part(start, stop, stream);
	fprintf(stream, "%s\n      | %*s", stop < end ? "…" : "",
		(int)(column + (start > line ? 1 : 0)), "");
	color_begin(COLOR_GREEN, stream);
	fputc('^', stream);
	color_end(COLOR_GREEN, stream);
	fputc('\n', stream);
}

void problems_print(const struct problems *problems, const struct positions *positions,
		    const char *prefix, FILE *stream)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem_place *place = &problems->places[i];
		const char *text = NULL, *line = NULL;
		size_t size = 0;

		color_begin(COLOR_RED, stream);
		fputs(prefix, stream);
		color_end(COLOR_RED, stream);
		value_print_safe(problems->lines[i], stream);
		fputc('\n', stream);
		if (positions && place->file && place->line > 0)
			text = positions_file_text(positions, place->file, &size);
		if (text)
			line = find_line(text, size, place->line, &size);
		if (line)
			print_excerpt(line, size, place, stream);
	}
}
