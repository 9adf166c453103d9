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

char *memory_format(const char *format, ...)
{
	char *text;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	return memory_check(r < 0 ? NULL : text);
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
