/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which boxes of a list may meet a given one, without looking at all of them. Each box is known by its
 * bounds in every dimension; a dimension has the boxes sorted by where they begin, and over ranges of
 * that order the furthest end. The dimension in which fewest overlap is asked.
 */
#ifndef SECG_COMPILE_OVERLAP_H
#define SECG_COMPILE_OVERLAP_H

#include "compile/box.h"

struct overlap_item {
	addr_t first, last;
	addr_t furthest; /* `last` of the items whose middle this one is */
	uint32_t number;
};

struct overlap_dimension {
	struct overlap_item *items; /* by first; NULL: all boxes take all keys */
	addr_t *ends;               /* by size */
};

struct overlap {
	size_t count;
	struct overlap_dimension dimension[BOX_DIMENSIONS];
};

/* `boxes` lie `stride` bytes apart; their numbers are 0 .. count - 1. Memory from the arena. -ENOMEM. */
int overlap_init(struct overlap *overlap, enum box_space space, const void *boxes, size_t stride,
		 size_t count, struct arena *arena);

/*
 * Calls `each` with the numbers of all boxes that may meet `box`, in no order, and perhaps some that do
 * not. Nothing is called where more than `most` would be: -E2BIG.
 */
int overlap_find(const struct overlap *overlap, const struct box *box, size_t most,
		 void (*each)(uint32_t number, void *data), void *data, struct work *work);

#endif
