/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was meant by a word that is unknown. Pure.
 */
#ifndef CLI_GUESS_H
#define CLI_GUESS_H

#include <stddef.h>

#define GUESS_MAX 128 /* longer words have no neighbours */

/* Letters to insert, remove or replace; GUESS_MAX where `b` is longer than that. */
size_t guess_distance(const char *a, const char *b);
/* The nearest of `count` words, lent; NULL: none is near enough to be worth a guess. */
const char *guess_word(const char *wanted, const char *const *words, size_t count);

#endif
