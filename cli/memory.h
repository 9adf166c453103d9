/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership in a program that runs once: cleanup attributes, and allocations that end the program when
 * there is no memory, since a command without memory has nothing better to do.
 */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* Hands a pointer on: yields its value and leaves NULL behind. */
#define TAKE_PTR(p)                       \
	({                                \
		__typeof__(p) _ptr = (p); \
		(p) = NULL;               \
		_ptr;                     \
	})

/* Defines func##p, the cleanup function of a pointer to `type`, NULL allowed. */
#define DEFINE_CLEANUP(type, func)          \
	static inline void func##p(type *p) \
	{                                   \
		if (*p)                     \
			func(*p);           \
	}                                   \
	struct cli_cleanup_needs_semicolon

static inline void freep(void *p)
{
	free(*(void **)p);
}

#define _cleanup_free_ _cleanup_(freep)

/* The pointer, or the end of the program with one line on stderr. */
void *memory_check(void *p);
/* Like printf into a new string; the caller frees it. */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *memory_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
char *memory_copy(const char *text);
/* Makes room for one more item in an array that doubles. */
void *memory_grow(void *items, size_t count, size_t *room, size_t item_size);

#endif
