/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl explain: what a field means. Asks no daemon. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "explain_path.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "table.h"
#include "value.h"

#define WIDTH 78

/* ── for people ─────────────────────────────────────────────────────────────────────────────────── */

/* Breaks a text between words. */
static void print_text(const char *text, int indent)
{
	int column = 0;

	for (;;) {
		int size = (int)strcspn(text, " ");

		if (column > 0 && column + 1 + size > WIDTH) {
			putchar('\n');
			column = 0;
		}
		column += printf("%*s%.*s", column > 0 ? 1 : indent, "", size, text);
		if (!text[size])
			break;
		text += size + 1;
	}
	putchar('\n');
}

static void print_row(const char *label, const char *text)
{
	if (*text)
		printf("  %-10s%s\n", label, text);
}

static void print_words(const struct explain_word *words)
{
	int width = 0;

	for (const struct explain_word *word = words; word->word; word++)
		if ((int)strlen(word->word) > width)
			width = (int)strlen(word->word);
	puts("\nVALUES");
	for (; words->word; words++)
		printf("  %-*s%s\n", *words->meaning ? width + 2 : 0, words->word, words->meaning);
}

/* Up to the end of the first sentence. */
static int first_sentence(const char *text)
{
	const char *end = strstr(text, ". ");

	return (int)(end ? end + 1 - text : (long)strlen(text));
}

static void print_fields(const struct explain_field *parent)
{
	static const char *const headers[] = {"FIELD", "DEFAULT", "MEANING", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	const struct explain_field *field = explain_next(parent, NULL);

	if (!field)
		return;
	if (parent)
		putchar('\n');
	for (; field; field = explain_next(parent, field)) {
		const char *dot = strrchr(field->path, '.');

		table_add(table, dot ? dot + 1 : field->path);
		table_add(table, field->is_required ? "(required)" : field->default_text);
		table_format(table, "%.*s", first_sentence(field->meaning), field->meaning);
	}
	table_print(table, stdout);
}

static void print_field(const struct explain_field *field)
{
	puts(field->path);
	print_text(field->meaning, 2);
	putchar('\n');
	print_row("type", field->type);
	print_row("default", field->is_required ? "none: it is required" : field->default_text);
	print_row("unit", field->unit);
	print_row("limits", field->limits);
	if (field->words)
		print_words(field->words);
	else
		print_fields(field);
}

/* ── for programs ───────────────────────────────────────────────────────────────────────────────── */

static json_t *words_json(const struct explain_word *words)
{
	json_t *list = json_array();

	for (; words && words->word; words++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "value", words->word, "meaning",
						      words->meaning));
	return list;
}

static json_t *fields_json(const struct explain_field *parent)
{
	const struct explain_field *field = NULL;
	json_t *list = json_array();

	while ((field = explain_next(parent, field)))
		json_array_append_new(list, json_string(field->path));
	return list;
}

static json_t *field_json(const struct explain_field *field)
{
	return memory_check(json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o}", "path", field->path, "type",
		field->type, "default", field->default_text, "unit", field->unit, "limits",
		field->limits, "meaning", field->meaning, "required", field->is_required, "values",
		words_json(field->words), "fields", fields_json(field)));
}

/* ── the verb ───────────────────────────────────────────────────────────────────────────────────── */

static int print_all(const struct cli *cli)
{
	json_auto_t *json = memory_check(json_pack("{s:o}", "fields", fields_json(NULL)));

	if (output_data(cli, json))
		return CLI_DONE;
	print_fields(NULL);
	puts("\nShort words: 'rule' for acls.NAME.rules, 'reasons' (why packets are dropped) for "
	     "stats.reasons");
	return CLI_DONE;
}

/* Reasons are asked for as a trace or a table says them, by themselves. */
static const struct explain_field *find(const char *path)
{
	const struct explain_field *field = explain_find(path);
	_cleanup_free_ char *reason = NULL;

	if (field || !*path || strchr(path, '.'))
		return field;
	reason = memory_format("stats.reasons.%s", path);
	return explain_find(reason);
}

/* Other fields of the same name as the reason that was found by its word alone. */
static void print_namesakes(const struct explain_field *field, const char *word)
{
	const struct explain_field *near[EXPLAIN_NEAR];
	size_t count = 0;

	if (strncmp(field->path, "stats.reasons.", 14) == 0 && !strchr(word, '.'))
		count = explain_near(word, near);
	for (size_t i = 0; i < count; i++) {
		const char *dot = strrchr(near[i]->path, '.');

		if (near[i] != field && dot && strcmp(dot + 1, word) == 0)
			printf("\nThere is also %s\n", near[i]->path);
	}
}

static int refuse(const char *path)
{
	const struct explain_field *near[EXPLAIN_NEAR];
	const char *last = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
	size_t count = explain_near(path, near);

	fputs("sgctl: there is no field '", stderr);
	value_print_safe(path, stderr);
	fputs("'", stderr);
	if (strcasecmp(last, "ingress") == 0 || strcasecmp(last, "egress") == 0) {
		fputs("; the directions of a port are ports.NAME.from and ports.NAME.to\n", stderr);
		return CLI_REFUSED;
	}
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%s%s",
			i == 0          ? "; did you mean "
			: i + 1 < count ? ", "
					: " or ",
			near[i]->path);
	fprintf(stderr, "%s\nsgctl: 'sgctl explain' lists what there is\n", count > 0 ? "?" : "");
	return CLI_REFUSED;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct options own = {.letters = ""};
	const struct explain_field *field;
	json_auto_t *json = NULL;
	int index, r;

	r = options_after(&index, cli, &verb_explain, &own, argc, argv);
	if (r != OPTIONS_GO)
		return r;
	if (argc - index > 1)
		return options_misuse(&verb_explain, "say one PATH");
	if (index == argc)
		return print_all(cli);
	field = find(argv[index]);
	if (!field)
		return refuse(argv[index]);
	json = field_json(field);
	if (output_data(cli, json))
		return CLI_DONE;
	print_field(field);
	print_namesakes(field, argv[index]);
	return CLI_DONE;
}

static void complete_path(struct cli *cli, size_t count, const char *const *words)
{
	(void)cli;
	(void)words;
	for (const struct explain_field *field = explain_all(NULL); count == 2 && field;
	     field = explain_all(field))
		puts(field->path);
}

const struct verb verb_explain = {
	.name = "explain",
	.summary = "what a field of a policy or an answer means",
	.run = run,
	.complete = complete_path,
	.help = "sgctl explain [PATH] [-o table|json|yaml]\n"
		"\n"
		"  explain               what there is to ask for\n"
		"  explain ports         the fields of a port; the same for acls, groups and so on\n"
		"  explain ports.hook    meaning, type, default, unit and values of one field\n"
		"  explain rule.src      'rule' is short for acls.NAME.rules\n"
		"  explain reasons       why packets are dropped; explain rule_drop: one of the reasons\n"
		"\n"
		"PATH may also be the path that an error names: acls.web.rules[2].dst_ports[0].\n"
		"Needs no daemon.\n",
};
