/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of keys of one dimension, as sorted ranges: addresses, protocol numbers, ports. Like those of
 * model/addrset.h, but lent or in an arena, and every operation says what it cost.
 */
#ifndef SECG_COMPILE_KEYS_H
#define SECG_COMPILE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile/arena.h"
#include "model/addrset.h"

struct keys {
	const struct addr_range *ranges; /* ascending, disjoint, not adjacent */
	size_t count;
};

/* Ranges looked at so far, so that whoever asks knows when to give up. */
struct work {
	uint64_t done;
	uint64_t limit;
};

static inline bool work_is_over(const struct work *work)
{
	return work->done >= work->limit;
}

bool keys_meet(const struct keys *a, const struct keys *b, struct work *work);
/* a ⊆ b */
bool keys_within(const struct keys *a, const struct keys *b, struct work *work);
/* a ∩ b and a \ b. The result may lend the ranges of its operands. -ENOMEM. */
int keys_common(struct keys *ret_keys, const struct keys *a, const struct keys *b,
		struct arena *arena, struct work *work);
int keys_without(struct keys *ret_keys, const struct keys *a, const struct keys *b,
		 struct arena *arena, struct work *work);

#endif
