/* SPDX-License-Identifier: Apache-2.0 */
/* Bit vectors and the pool that stores each distinct one once. */
#include "compile/vector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t lines_for(size_t entries)
{
	return (uint32_t)((entries + SECG_VECTOR_LINE_BITS - 1) / SECG_VECTOR_LINE_BITS);
}

/* splitmix64: a number per entry without visible relation between neighbours. */
static uint64_t entry_hash(uint32_t entry)
{
	uint64_t x = (entry + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

int vector_init(struct vector *vector, size_t entries)
{
	uint64_t *words = calloc(lines_for(entries), sizeof(struct secg_vector_line));

	if (!words)
		return -ENOMEM;
	*vector = (struct vector){.words = words};
	return 0;
}

void vector_toggle(struct vector *vector, uint32_t entry)
{
	vector->words[entry / 64] ^= (uint64_t)1 << entry % 64;
	vector->hash ^= entry_hash(entry);
}

void vector_fini(struct vector *vector)
{
	free(vector->words);
	*vector = (struct vector){0};
}

void vector_pool_init(struct vector_pool *pool, struct lines *lines, size_t entries)
{
	*pool = (struct vector_pool){.lines = lines, .vector_lines = lines_for(entries)};
}

static size_t first_slot(const struct vector_pool *pool, uint64_t hash)
{
	return hash & (pool->capacity - 1);
}

static int pool_grow(struct vector_pool *pool)
{
	struct vector_pool grown = *pool;

	grown.capacity = pool->capacity ? pool->capacity * 2 : 16;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < pool->capacity; i++) {
		size_t to;

		if (!pool->slots[i].line)
			continue;
		to = first_slot(&grown, pool->slots[i].hash);
		while (grown.slots[to].line)
			to = (to + 1) & (grown.capacity - 1);
		grown.slots[to] = pool->slots[i];
	}
	free(pool->slots);
	*pool = grown;
	return 0;
}

int vector_pool_add(struct vector_pool *pool, const struct vector *vector, uint32_t *ret_line)
{
	size_t size = pool->vector_lines * sizeof(struct secg_line);
	uint32_t line;
	size_t at;
	int r;

	if (pool->count >= pool->capacity / 2) {
		r = pool_grow(pool);
		if (r < 0)
			return r;
	}
	at = first_slot(pool, vector->hash);
	for (; pool->slots[at].line; at = (at + 1) & (pool->capacity - 1)) {
		line = pool->slots[at].line;
		if (pool->slots[at].hash == vector->hash &&
		    !memcmp(pool->lines->line + line, vector->words, size)) {
			*ret_line = line;
			return 0;
		}
	}
	r = lines_add(pool->lines, pool->vector_lines, &line);
	if (r < 0)
		return r;
	memcpy(pool->lines->line + line, vector->words, size);
	pool->slots[at] = (struct vector_slot){.hash = vector->hash, .line = line};
	pool->count++;
	*ret_line = line;
	return 0;
}

void vector_pool_fini(struct vector_pool *pool)
{
	free(pool->slots);
	*pool = (struct vector_pool){0};
}
