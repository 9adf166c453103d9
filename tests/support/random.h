/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that a seed repeats on every machine: xorshift64*. */
#ifndef SECG_TESTS_RANDOM_H
#define SECG_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state; /* never 0 */
};

static inline uint32_t rng_next(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return (uint32_t)((rng->state * 0x2545f4914f6cdd1dull) >> 32);
}

/* Seeds that differ in one bit give unlike numbers from the first on. */
static inline void rng_seed(struct rng *rng, uint64_t seed)
{
	seed = (seed + 1) * 0x9e3779b97f4a7c15ull;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	rng->state = (seed ^ seed >> 31) | 1;
}

/* 0 .. limit - 1 */
static inline uint32_t rng_below(struct rng *rng, uint32_t limit)
{
	return rng_next(rng) % limit;
}

static inline bool rng_chance(struct rng *rng, uint32_t percent)
{
	return rng_below(rng, 100) < percent;
}

#endif
