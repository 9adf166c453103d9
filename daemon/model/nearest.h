/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word that was probably meant by one that is unknown. Pure.
 */
#ifndef SECG_MODEL_NEAREST_H
#define SECG_MODEL_NEAREST_H

#include <stddef.h>

/* Offers words one by one; the nearest one stays. */
struct nearest {
	const char *wanted;
	const char *best; /* lent by its offer; NULL: none is near enough to be worth a guess */
	size_t distance;  /* of best */
};

struct nearest nearest_to(const char *wanted);
void nearest_offer(struct nearest *nearest, const char *word);

#endif
