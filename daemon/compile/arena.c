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

/* A chunk with room for `size`: one that is free, else a new one. */
static struct arena_chunk *find_chunk(struct arena *arena, size_t size)
{
	size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
	struct arena_chunk *chunk = arena->unused;

	if (chunk && chunk->size >= size) {
		arena->unused = chunk->next;
		return chunk;
	}
	chunk = malloc(sizeof(*chunk) + room);
	if (chunk)
		chunk->size = room;
	return chunk;
}

void *arena_take(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunk;
	void *taken;

	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!chunk || chunk->size - arena->used < size) {
		chunk = find_chunk(arena, size);
		if (!chunk)
			return NULL;
		chunk->next = arena->chunk;
		arena->chunk = chunk;
		arena->used = 0;
	}
	taken = chunk->bytes + arena->used;
	arena->used += size;
	return taken;
}

void arena_reset(struct arena *arena)
{
	while (arena->chunk) {
		struct arena_chunk *chunk = arena->chunk;

		arena->chunk = chunk->next;
		chunk->next = arena->unused;
		arena->unused = chunk;
	}
	arena->used = 0;
}

static void free_from(struct arena_chunk *chunk)
{
	while (chunk) {
		struct arena_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void arena_fini(struct arena *arena)
{
	free_from(arena->chunk);
	free_from(arena->unused);
	*arena = (struct arena){0};
}
