/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for many small things that die together.
 */
#ifndef SECG_COMPILE_ARENA_H
#define SECG_COMPILE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunk; /* newest first */
	struct arena_chunk *unused;
	size_t used; /* bytes of the newest */
};

/* Aligned for any type, not zeroed. NULL: no memory. */
void *arena_take(struct arena *arena, size_t size);
/* Everything taken is gone; its memory is kept for what comes. */
void arena_reset(struct arena *arena);
void arena_fini(struct arena *arena);

#endif
