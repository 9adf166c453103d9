/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds. */
#include "kinds.h"

#include <string.h>

#include "guess.h"

const struct kind kinds[KINDS_COUNT] = {
	{"ports", "port", show_ports, show_port},
	{"acls", "acl", show_acls, show_acl},
	{"groups", "group", show_groups, show_group},
	{"services", "service", show_services, show_service},
};

const struct kind *kinds_find(const char *name)
{
	for (size_t i = 0; i < KINDS_COUNT; i++) {
		if (strcmp(name, kinds[i].plural) == 0 || strcmp(name, kinds[i].singular) == 0)
			return &kinds[i];
	}
	return NULL;
}

const char *kinds_guess(const char *name)
{
	const char *words[2 * KINDS_COUNT];

	for (size_t i = 0; i < KINDS_COUNT; i++) {
		words[2 * i] = kinds[i].plural;
		words[2 * i + 1] = kinds[i].singular;
	}
	return guess_word(name, words, 2 * KINDS_COUNT);
}
