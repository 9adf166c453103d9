/* SPDX-License-Identifier: Apache-2.0 */
/* Lines about mistakes. */
#include "problems.h"

#include <stdarg.h>
#include <string.h>

#include "value.h"

void problems_fini(struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->lines[i]);
	free(problems->lines);
	*problems = (struct problems){0};
}

static void append(struct problems *problems, char *line)
{
	problems->lines = memory_grow(problems->lines, problems->count, &problems->room,
				      sizeof(*problems->lines));
	problems->lines[problems->count++] = line;
}

void problems_add(struct problems *problems, const char *file, uint32_t line, uint32_t column,
		  const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&message, format, args);
	va_end(args);
	if (r < 0)
		message = NULL;
	memory_check(message);
	if (!file)
		append(problems, TAKE_PTR(message));
	else if (line == 0)
		append(problems, memory_format("%s: %s", file, message));
	else
		append(problems, memory_format("%s:%u:%u: %s", file, line, column, message));
}

void problems_add_item(struct problems *problems, struct positions *positions, const json_t *item)
{
	const char *field = value_member(item, "field");
	const char *message = value_member(item, "message");
	const struct position *at = NULL;

	if (positions)
		at = positions_nearest(positions, field);
	if (message[0] == '\0')
		message = value_member(item, "code");
	problems_add(problems, at ? positions_file_name(positions, at->file) : NULL,
		     at ? at->line : 0, at ? at->column : 0, "%s%s%s", field,
		     field[0] != '\0' ? ": " : "", message);
}

void problems_print(const struct problems *problems, const char *prefix, FILE *stream)
{
	for (size_t i = 0; i < problems->count; i++) {
		fputs(prefix, stream);
		value_print_safe(problems->lines[i], stream);
		fputc('\n', stream);
	}
}
