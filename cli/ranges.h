/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of small numbers, such as ports, as ascending ranges that do not touch. Pure.
 */
#ifndef CLI_RANGES_H
#define CLI_RANGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RANGES_MAX 128 /* ranges of one set */

struct range {
	int first, last;
};

struct ranges {
	struct range items[RANGES_MAX];
	size_t count;
};

/* Nothing is added where the set has no room or first > last; false for the former. */
bool ranges_add(struct ranges *set, int first, int last);
/* All numbers of 0 to `max` that the set does not have. */
bool ranges_invert(struct ranges *set, int max);
bool ranges_intersect(struct ranges *set, const struct ranges *other);
bool ranges_is(const struct ranges *set, int first, int last);
bool ranges_has(const struct ranges *set, int number);
/* A list for a policy: 443, "8000-8100". */
json_t *ranges_json(const struct ranges *set);

#endif
