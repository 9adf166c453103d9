/* SPDX-License-Identifier: Apache-2.0 */
/* A list that is sorted when it is printed. */
#include "import_report.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "memory.h"
#include "value.h"

static bool is_same(const struct import_item *a, const struct import_item *b)
{
	return a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0 &&
	       strcmp(a->message, b->message) == 0;
}

void import_report_add(struct import_report *report, const char *file, uint32_t line,
		       uint32_t column, const char *format, ...)
{
	struct import_item item = {
		.file = file, .line = line, .column = column, .order = report->count};
	va_list args;

	va_start(args, format);
	item.message = memory_vformat(format, args);
	va_end(args);
	for (size_t i = 0; i < report->count; i++) {
		if (is_same(&report->items[i], &item)) {
			free(item.message);
			return;
		}
	}
	report->items =
		memory_grow(report->items, report->count, &report->room, sizeof(*report->items));
	report->items[report->count++] = item;
}

/* Files stay in the order in which they were first named. */
static int compare(const void *a, const void *b)
{
	const struct import_item *x = a, *y = b;

	if (strcmp(x->file, y->file) == 0 && x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (strcmp(x->file, y->file) == 0 && x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void import_report_print(struct import_report *report, FILE *stream)
{
	if (report->count == 0)
		return;
	qsort(report->items, report->count, sizeof(*report->items), compare);
	for (size_t i = 0; i < report->count; i++) {
		const struct import_item *item = &report->items[i];

		value_print_safe(item->file, stream);
		if (item->line > 0)
			fprintf(stream, ":%u:%u", item->line, item->column);
		fputs(": ", stream);
		value_print_safe(item->message, stream);
		fputc('\n', stream);
	}
	fprintf(stream, "%zu thing%s of the source %s not in the policy\n", report->count,
		report->count == 1 ? "" : "s", report->count == 1 ? "is" : "are");
}

void import_report_fini(struct import_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		free(report->items[i].message);
	free(report->items);
	*report = (struct import_report){0};
}
