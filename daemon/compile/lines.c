/* SPDX-License-Identifier: Apache-2.0 */
/* A growing, aligned array of lines. */
#include "compile/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int lines_reserve(struct lines *lines, size_t needed)
{
	size_t capacity = lines->capacity ? lines->capacity : 16;
	struct secg_line *grown;

	if (needed <= lines->capacity)
		return 0;
	while (capacity < needed)
		capacity *= 2;
	/* realloc does not keep the alignment of a cache line. */
	grown = aligned_alloc(sizeof(*grown), capacity * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	if (lines->count)
		memcpy(grown, lines->line, lines->count * sizeof(*grown));
	free(lines->line);
	lines->line = grown;
	lines->capacity = capacity;
	return 0;
}

int lines_add(struct lines *lines, size_t count, uint32_t *ret_first)
{
	int r;

	if (count > COMPILE_MAX_LINES - lines->count)
		return -E2BIG;
	r = lines_reserve(lines, lines->count + count);
	if (r < 0)
		return r;
	memset(lines->line + lines->count, 0, count * sizeof(*lines->line));
	*ret_first = (uint32_t)lines->count;
	lines->count += count;
	return 0;
}

void lines_fini(struct lines *lines)
{
	free(lines->line);
	*lines = (struct lines){0};
}
