/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds. */
#include "kinds.h"

#include <stdbool.h>

#include "guess.h"

const struct kind kinds[KINDS_COUNT] = {
	{"ports", "port", show_ports, show_port},
	{"port_templates", "port_template", show_templates, show_port},
	{"acls", "acl", show_acls, show_acl},
	{"groups", "group", show_groups, show_group},
	{"services", "service", show_services, show_service},
	{"security_groups", "security_group", show_security_groups, show_security_group},
	{"macip", "macip", show_macips, show_macip},
};

static bool is_same(const char *word, const char *name)
{
	while (*word && (*word == *name || (*word == '_' && *name == '-'))) {
		word++;
		name++;
	}
	return *word == *name;
}

const struct kind *kinds_find(const char *name)
{
	for (size_t i = 0; i < KINDS_COUNT; i++) {
		if (is_same(kinds[i].plural, name) || is_same(kinds[i].singular, name))
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
