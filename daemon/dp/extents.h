/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free space of table memory: runs of lines, best fit, neighbours joined. Pure bookkeeping of numbers;
 * one thread. What is taken is remembered by the caller and given back as it was taken.
 */
#ifndef SECG_DP_EXTENTS_H
#define SECG_DP_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"

struct extents;

/* Lines first..end-1 are free. */
int extents_new(struct extents **ret_extents, uint32_t first, uint32_t end);
void extents_free(struct extents *extents);
DEFINE_CLEANUP(struct extents *, extents_free);

/* Takes `lines` (> 0) lines in a row. -ENOSPC, -ENOMEM. */
int extents_take(struct extents *extents, uint32_t lines, uint32_t *ret_line);
/* Takes just these lines. -EBUSY when some of them are not free, -ENOMEM. */
int extents_reserve(struct extents *extents, uint32_t line, uint32_t lines);
/* Gives back one run as it was taken or reserved; cannot fail. */
void extents_give(struct extents *extents, uint32_t line, uint32_t lines);

uint32_t extents_free_lines(const struct extents *extents);
/* Number of separate free runs; tells how scattered the space is. */
size_t extents_runs(const struct extents *extents);

#endif
