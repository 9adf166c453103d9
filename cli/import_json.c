/* SPDX-License-Identifier: Apache-2.0 */
/* jansson reads one value and tells where it ended; the next one begins there. */
#include "import_json.h"

#include <stdarg.h>
#include <string.h>

#include "json_places.h"
#include "memory.h"
#include "syntax.h"

static size_t skip_space(const struct import_file *file, size_t at)
{
	while (at < file->size && file->bytes[at] && strchr(" \t\r\n", file->bytes[at]))
		at++;
	return at;
}

/* Line and column of the mistake, counted from the file's beginning. */
static void tell_syntax(struct import *import, const struct import_file *file, size_t offset,
			const json_error_t *error)
{
	struct syntax syntax = syntax_json(error->text, error->line, error->column,
					   file->bytes + offset, file->size - offset);
	_cleanup_free_ char *message = syntax.message;
	uint32_t lines = 0;

	for (size_t i = 0; i < offset; i++)
		lines += file->bytes[i] == '\n';
	problems_add(&import->errors, file->name, syntax.line + lines, syntax.column, "%s",
		     message);
}

static void read_file(struct import_values *values, struct import *import,
		      const struct import_file *file)
{
	size_t at = skip_space(file, 0);

	if (at == file->size)
		problems_add(&import->errors, file->name, 0, 0, "is empty");
	while (at < file->size) {
		struct import_value value = {0};
		json_error_t error;

		value.json = json_loadb(file->bytes + at, file->size - at,
					JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
		if (!value.json) {
			tell_syntax(import, file, at, &error);
			return;
		}
		value.file = positions_add_file(import->positions, file->name);
		json_places_from(import->positions, value.file, file->bytes,
				 at + (size_t)error.position, at);
		values->items = memory_grow(values->items, values->count, &values->room,
					    sizeof(*values->items));
		values->items[values->count++] = value;
		at = skip_space(file, at + (size_t)error.position);
	}
}

void import_json_read(struct import_values *ret_values, struct import *import)
{
	*ret_values = (struct import_values){0};
	for (size_t i = 0; i < import->file_count; i++)
		read_file(ret_values, import, &import->files[i]);
}

void import_json_fini(struct import_values *values)
{
	for (size_t i = 0; i < values->count; i++)
		json_decref(values->items[i].json);
	free(values->items);
	*values = (struct import_values){0};
}

/* The place of the field, or of the closest one above it. */
static struct position find_place(struct import *import, uint32_t file, const char *path)
{
	_cleanup_free_ char *above = memory_copy(path);
	size_t size = strlen(above);

	while (size > 0) {
		const struct position *found;

		above[size] = '\0';
		found = positions_find_in(import->positions, above, file);
		if (found)
			return *found;
		do
			size--;
		while (size > 0 && above[size] != '.' && above[size] != '[');
	}
	return (struct position){.file = file};
}

void import_json_left(struct import *import, uint32_t file, const char *path, const char *format,
		      ...)
{
	struct position at = find_place(import, file, path);
	_cleanup_free_ char *message = NULL;
	va_list args;

	va_start(args, format);
	message = memory_vformat(format, args);
	va_end(args);
	import_report_add(&import->left, positions_file_name(import->positions, file), at.line,
			  at.column, "%s", message);
}

void import_json_error(struct import *import, uint32_t file, const char *path, const char *format,
		       ...)
{
	struct position at = find_place(import, file, path);
	_cleanup_free_ char *message = NULL;
	va_list args;

	va_start(args, format);
	message = memory_vformat(format, args);
	va_end(args);
	problems_add(&import->errors, positions_file_name(import->positions, file), at.line,
		     at.column, "%s%s%s", path, path[0] ? ": " : "", message);
}
