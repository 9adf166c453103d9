/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the dimensions of a section differ in: which keys they have, and which of them an entry takes.
 */
#ifndef SECG_COMPILE_SHAPE_H
#define SECG_COMPILE_SHAPE_H

#include "compile/dimension.h"
#include "compile/entry.h"

struct shape {
	uint32_t dim;        /* one of SECG_DIM_* */
	enum secg_byte byte; /* of SECG_DIM_BYTES */
	uint32_t families;   /* mask of 1 << enum secg_family */
	addr_t max;          /* largest key; addresses: of their family */
	/* Whether the entry takes every key, and also a packet that has none. */
	bool (*is_any)(const struct shape *shape, const struct section_entry *entry);
	int (*add)(const struct shape *shape, struct dimension *dimension, uint32_t i,
		   const struct section_entry *entry, enum secg_family family);
};

/* All of them, in the order in which a section has them; the bytes come last. */
#define SHAPE_FIRST_BYTE 8 /* the shape of byte b is SHAPE_FIRST_BYTE + b */
#define SHAPE_COUNT      (SHAPE_FIRST_BYTE + SECG_BYTE_COUNT)
extern const struct shape shapes[SHAPE_COUNT];

#define SHAPE_SPANS_MAX 128

/* Values of one byte, a protocol or one of SECG_DIM_BYTES, that the entry takes, which does not take any. */
size_t shape_values(const struct shape *shape, const struct section_entry *entry,
		    struct addr_range ret_spans[SHAPE_SPANS_MAX]);

addr_t shape_max(const struct shape *shape, enum secg_family family);

#endif
