/* SPDX-License-Identifier: Apache-2.0 */
/* Distances between words, a row of the usual table at a time. */
#include "guess.h"

#include <string.h>

size_t guess_distance(const char *a, const char *b)
{
	size_t row[GUESS_MAX + 1];
	size_t size = strlen(b);

	if (size > GUESS_MAX)
		return GUESS_MAX;
	for (size_t j = 0; j <= size; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= size; j++) {
			size_t cost = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < cost)
				cost = row[j] + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			row[j] = cost;
		}
	}
	return row[size];
}

const char *guess_word(const char *wanted, const char *const *words, size_t count)
{
	size_t best = strlen(wanted) < 4 ? 2 : 3; /* one letter of a short word, two of another */
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t d = guess_distance(wanted, words[i]);

		if (d < best && d < strlen(wanted)) {
			best = d;
			found = words[i];
		}
	}
	return found;
}
