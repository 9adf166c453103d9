/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of memory. */
#include "compile/arena.h"

#include <stdalign.h>
#include <stdlib.h>

#define CHUNK_BYTES 65536

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	alignas(max_align_t) char bytes[];
};

void *arena_take(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunk;
	void *taken;

	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!chunk || chunk->size - arena->used < size) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->next = arena->chunk;
		chunk->size = room;
		arena->chunk = chunk;
		arena->used = 0;
	}
	taken = chunk->bytes + arena->used;
	arena->used += size;
	return taken;
}

static void free_from(struct arena_chunk *chunk)
{
	while (chunk) {
		struct arena_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void arena_reset(struct arena *arena)
{
	if (arena->chunk) {
		free_from(arena->chunk->next);
		arena->chunk->next = NULL;
	}
	arena->used = 0;
}

void arena_fini(struct arena *arena)
{
	free_from(arena->chunk);
	*arena = (struct arena){0};
}
