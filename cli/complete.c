/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options are read out of the help of their verb, so that none can be forgotten. The shell drops the
 * candidates that do not begin as the word does.
 */
#include "complete.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "help.h"
#include "kinds.h"
#include "memory.h"

#define TIMEOUT_S 2 /* nobody waits longer for a completion */
#define PROTOCOLS "tcp\nudp\nudplite\nsctp\ndccp\nicmp\nicmpv6\ngre\nesp\nah\nigmp\nvrrp"

/* Options whose value is known, or named by the daemon. */
static const struct value {
	const char *option;
	const char *kind;  /* of objects; NULL: none */
	const char *words; /* one a line; NULL: none */
} values[] = {
	{"-f", NULL, ":files"},
	{"--file", NULL, ":files"},
	{"--socket", NULL, ":files"},
	{"-o", NULL, "table\njson\nyaml"},
	{"--output", NULL, "table\njson\nyaml"},
	{"--port", "ports", NULL},
	{"--acl", "acls", NULL},
	{"--pcap", NULL, ":files"},
	{"--for", NULL, "guarded\nwaiting\ndegraded\nfailed\nquarantined\nambiguous"},
	{"--state", NULL, "half_open\nestablished\nclosing\none_way\ntwo_way"},
	{"--proto", NULL, PROTOCOLS},
	{"--tcp-flags", NULL, "syn\nack\nfin\nrst\npsh\nurg\nece\ncwr"},
	/* any text */
	{"--timeout", NULL, NULL},
	{"--if-match", NULL, NULL},
	{"--interval", NULL, NULL},
	{"--limit", NULL, NULL},
	{"--src", NULL, NULL},
	{"--dst", NULL, NULL},
	{"--sport", NULL, NULL},
	{"--dport", NULL, NULL},
	{"--rule", NULL, NULL},
	{"--packet", NULL, NULL},
	{"--icmp-type", NULL, NULL},
	{"--icmp-code", NULL, NULL},
	{"--icmp-id", NULL, NULL},
	{"--src-mac", NULL, NULL},
	{"--dst-mac", NULL, NULL},
	{"--vlan", NULL, NULL},
	{"--map", NULL, NULL},
	{"--host", NULL, NULL},
};

static const struct value *find_value(const char *option)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (strcmp(values[i].option, option) == 0)
			return &values[i];
	}
	return NULL;
}

void complete_protocols(void)
{
	puts(PROTOCOLS);
}

void complete_names(struct cli *cli, const char *plural)
{
	_cleanup_free_ char *path = memory_format("/v1/%s", plural);
	json_auto_t *objects = NULL;
	const char *name;
	json_t *object;

	cli->timeout_s = TIMEOUT_S;
	if (client_get(&objects, cli, path) != CLI_DONE)
		return;
	json_object_foreach(objects, name, object) puts(name);
}

void complete_object(struct cli *cli, size_t count, const char *const *words)
{
	const struct kind *kind = count > 2 ? kinds_find(words[1]) : NULL;

	for (size_t i = 0; count == 2 && i < KINDS_COUNT; i++) {
		puts(kinds[i].plural);
		if (strcmp(kinds[i].singular, kinds[i].plural) != 0)
			puts(kinds[i].singular);
	}
	if (count == 3 && kind)
		complete_names(cli, kind->plural);
}

static void print_once(const char *text, size_t size, json_t *seen)
{
	_cleanup_free_ char *option = memory_format("%.*s", (int)size, text);

	if (!json_object_get(seen, option))
		puts(option);
	json_object_set_new(seen, option, memory_check(json_true()));
}

static void print_line(const char *line, size_t line_size, json_t *seen)
{
	for (size_t i = 0; i < line_size; i++) {
		size_t end = i;

		if (line[i] != '-' ||
		    (i > 0 && (isalnum((unsigned char)line[i - 1]) || line[i - 1] == '-')))
			continue;
		while (end < line_size && (isalpha((unsigned char)line[end]) || line[end] == '-'))
			end++;
		if (isalpha((unsigned char)line[end - 1]))
			print_once(line + i, end - i, seen);
	}
}

/* Every option of a help text, "-f" or "--dry-run", once: from the lines that show how the verb is called
 * and those that begin with an option, not from the prose between them. */
static void print_options(const char *help, json_t *seen)
{
	while (*help) {
		size_t size = strcspn(help, "\n");

		if (strncmp(help, "sgctl ", 6) == 0 || strncmp(help, "  -", 3) == 0)
			print_line(help, size, seen);
		help += size + (help[size] == '\n');
	}
}

/* Words without options and their values: the verb and its arguments, the word being typed last. */
static size_t keep_arguments(const char **words, size_t count, char *const *all, size_t all_count)
{
	for (size_t i = 0; i < all_count; i++) {
		bool is_last = i + 1 == all_count;

		if (all[i][0] == '-' && !is_last)
			i += !strchr(all[i], '=') && find_value(all[i]) && i + 2 < all_count;
		else
			words[count++] = all[i];
	}
	return count;
}

static void print_verbs(const struct verb *const *verbs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		puts(verbs[i]->name);
}

static const struct verb *find_verb(const struct verb *const *verbs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	}
	return NULL;
}

static void complete_value(struct cli *cli, const struct value *value)
{
	if (value->kind)
		complete_names(cli, value->kind);
	else if (value->words)
		puts(value->words);
}

int complete(struct cli *cli, const struct verb *const *verbs, size_t verb_count, int argc,
	     char **argv)
{
	_cleanup_free_ const char **words = memory_check(calloc((size_t)argc + 1, sizeof(*words)));
	size_t count = keep_arguments(words, 0, argv + 1, (size_t)argc - 1);
	const char *last = argc > 1 ? argv[argc - 1] : "";
	const struct value *value = argc > 2 ? find_value(argv[argc - 2]) : NULL;
	const struct verb *verb = count > 1 ? find_verb(verbs, verb_count, words[0]) : NULL;

	if (value) {
		complete_value(cli, value);
	} else if (last[0] == '-') {
		json_auto_t *seen = memory_check(json_object());

		print_options(verb ? verb->help : "", seen);
		print_options(help_overview, seen);
	} else if (count <= 1) {
		print_verbs(verbs, verb_count);
		puts("help");
	} else if (strcmp(words[0], "help") == 0 && count == 2) {
		print_verbs(verbs, verb_count);
		puts("policy\nservices");
	} else if (verb && verb->complete) {
		verb->complete(cli, count, words);
	}
	return CLI_DONE;
}
