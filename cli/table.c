/* SPDX-License-Identifier: Apache-2.0 */
/* Cells in one array, row after row. */
#include "table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "value.h"

struct cell {
	char *text;
	enum color color;
};

struct table {
	const char *const *headers;
	size_t columns;
	struct cell *cells;
	size_t count, room;
};

struct table *table_new(const char *const *headers)
{
	struct table *table = memory_check(calloc(1, sizeof(*table)));

	table->headers = headers;
	while (headers[table->columns])
		table->columns++;
	return table;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table);
}

void table_take(struct table *table, char *text)
{
	table->cells = memory_grow(table->cells, table->count, &table->room, sizeof(*table->cells));
	table->cells[table->count++] = (struct cell){.text = text};
}

void table_add(struct table *table, const char *text)
{
	table_take(table, memory_copy(text));
}

void table_format(struct table *table, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = memory_vformat(format, args);
	va_end(args);
	table_take(table, text);
}

void table_paint(struct table *table, enum color color)
{
	table->cells[table->count - 1].color = color;
}

/* Characters, not bytes, of UTF-8. */
static size_t width(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static bool is_right(const struct table *table, size_t column)
{
	return table->headers[column][0] == '>';
}

static const char *header(const struct table *table, size_t column)
{
	return table->headers[column] + is_right(table, column);
}

/* 0 for a column without any text below its header, if there are rows. */
static size_t *measure(const struct table *table)
{
	size_t *widths = memory_check(calloc(table->columns, sizeof(*widths)));

	for (size_t i = 0; i < table->count; i++) {
		size_t cell = width(table->cells[i].text);

		if (cell > widths[i % table->columns])
			widths[i % table->columns] = cell;
	}
	for (size_t i = 0; i < table->columns; i++) {
		size_t head = width(header(table, i));

		if ((widths[i] > 0 || table->count == 0) && widths[i] < head)
			widths[i] = head;
	}
	return widths;
}

static void print_row(const struct table *table, const size_t *widths, const struct cell *cells,
		      FILE *stream)
{
	size_t owed = 0; /* spaces, printed only when more text follows */

	for (size_t i = 0; i < table->columns; i++) {
		const char *text = cells ? cells[i].text : header(table, i);
		enum color color = cells ? cells[i].color : COLOR_NONE;
		size_t gap = widths[i] - (widths[i] > 0 ? width(text) : 0);

		if (widths[i] == 0)
			continue;
		if (is_right(table, i)) {
			owed += gap;
			gap = 0;
		}
		if (text[0] != '\0') {
			fprintf(stream, "%*s", (int)owed, "");
			color_begin(color, stream);
			value_print_safe(text, stream);
			color_end(color, stream);
			owed = 0;
		}
		owed += gap + 2;
	}
	fputc('\n', stream);
}

void table_print(const struct table *table, FILE *stream)
{
	_cleanup_free_ size_t *widths = measure(table);

	assert(table->count % table->columns == 0);
	print_row(table, widths, NULL, stream);
	for (size_t i = 0; i < table->count; i += table->columns)
		print_row(table, widths, table->cells + i, stream);
}
