/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of policy documents, right and wrong. Documents are JSON with ' in the place of ". To be
 * included behind cmocka.h.
 */
#ifndef SECG_TESTS_CONFIG_ROWS_H
#define SECG_TESTS_CONFIG_ROWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/document.h"

static inline json_t *read_json(const char *document)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	_cleanup_free_ char *text = strdup(document);
	json_t *value = NULL;

	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	if (document_read(&value, text, strlen(text), &errors) < 0)
		fail_msg("%s: %s", document, errors.items[0].message);
	return value;
}

static inline struct config *parse_json(const json_t *document,
					const struct config_runtime *runtime)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	struct config *config = NULL;

	if (config_parse(&config, document, runtime, &errors) < 0)
		fail_msg("%s: %s", errors.items[0].field, errors.items[0].message);
	return config;
}

static inline struct config *parse(const char *text)
{
	json_auto_t *document = read_json(text);

	return parse_json(document, NULL);
}

/* A document that is right, and what it becomes. */
struct normal_row {
	const char *document;
	const char *normal;
};

/* The normal form, which is its own normal form. */
static inline void check_normal_row(const struct normal_row *row)
{
	_cleanup_(config_freep) struct config *config = parse(row->document);
	_cleanup_(config_freep) struct config *again = NULL;
	json_auto_t *normal = config_document(config);
	json_auto_t *same = NULL;
	json_auto_t *wanted = read_json(row->normal);

	if (!json_equal(normal, wanted)) {
		_cleanup_free_ char *text = json_dumps(normal, 0);

		fail_msg("%s\ngot %s", row->document, text);
	}
	again = parse_json(normal, NULL);
	same = config_document(again);
	assert_true(json_equal(same, normal));
}

/* A document that is wrong, and all the errors that it gets. */
struct row {
	const char *document;
	const char *errors; /* "code field\n" each, in order */
	const char *says;   /* in the first message; NULL: not looked at */
};

static inline void check_row(const struct row *row)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	json_auto_t *document = read_json(row->document);
	json_auto_t *copy = json_deep_copy(document);
	struct config *config = NULL;
	char found[2048] = "";
	size_t size = 0;

	if (config_parse(&config, document, NULL, &errors) != -EINVAL)
		fail_msg("%s\nis taken", row->document);
	assert_null(config);
	assert_true(json_equal(document, copy));
	for (size_t i = 0; i < errors.count; i++)
		size += (size_t)snprintf(found + size, sizeof(found) - size, "%s %s\n",
					 error_code_name(errors.items[i].code),
					 errors.items[i].field);
	if (strcmp(found, row->errors))
		fail_msg("%s\ngot:\n%swant:\n%s(%s)", row->document, found, row->errors,
			 errors.items[0].message);
	if (row->says && !strstr(errors.items[0].message, row->says))
		fail_msg("%s\n\"%s\" does not say \"%s\"", row->document, errors.items[0].message,
			 row->says);
}

#define CHECK_TABLE(check, rows)                              \
	do {                                                  \
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) \
			check(&(rows)[i]);                    \
	} while (0)

#endif
