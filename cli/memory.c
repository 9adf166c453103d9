/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that do not fail. */
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

void *memory_check(void *p)
{
	if (p)
		return p;
	fputs("sgctl: out of memory\n", stderr);
	exit(CLI_REFUSED);
}

char *memory_vformat(const char *format, va_list args)
{
	char *text;

	return memory_check(vasprintf(&text, format, args) < 0 ? NULL : text);
}

char *memory_format(const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	text = memory_vformat(format, args);
	va_end(args);
	return text;
}

char *memory_copy(const char *text)
{
	return memory_check(strdup(text));
}

void *memory_grow(void *items, size_t count, size_t *room, size_t item_size)
{
	if (count < *room)
		return items;
	*room = *room ? *room * 2 : 16;
	return memory_check(reallocarray(items, *room, item_size));
}
