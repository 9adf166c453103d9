/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch without a data path: a configuration, and changes judged on what those before them made of it.
 * For one test program; included after cmocka.h.
 */
#ifndef SECG_TESTS_BATCH_LAB_H
#define SECG_TESTS_BATCH_LAB_H

#include <string.h>

#include "engine/batch.h"

#define START                                                                                 \
	"{\"services\":{\"pg\":[{\"protocol\":\"tcp\",\"dst_ports\":[5432]}]},"               \
	"\"groups\":{\"g\":{\"prefixes\":[\"10.0.0.1\"]},\"outer\":{\"groups\":[\"g\"]},"     \
	"\"idle\":{\"prefixes\":[\"10.0.0.2\"]}},"                                            \
	"\"acls\":{\"web\":{\"rules\":[{\"id\":\"a\",\"action\":\"allow\",\"src\":[\"@g\"]}," \
	"{\"id\":\"b\",\"action\":\"allow\",\"service\":\"pg\"}]}},"                          \
	"\"ports\":{\"vm\":{\"interface\":\"tap0\",\"to\":[\"web\"]}}}"

struct fixture {
	struct config *config;
	json_t *document;
	struct leases *leases;
	struct draft draft;
};

#define NOW_MS 50000

static inline int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct errors errs = {0};
	json_t *document = json_loads(START, 0, NULL);

	if (config_parse(&fixture->config, document, NULL, &errs) < 0)
		return -1;
	json_decref(document);
	fixture->document = config_document(fixture->config);
	fixture->leases = leases_new();
	if (!fixture->leases)
		return -1;
	draft_init(&fixture->draft, fixture->config, fixture->document, fixture->leases, 5, NOW_MS);
	*state = fixture;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	draft_fini(&fixture->draft);
	config_free(fixture->config);
	json_decref(fixture->document);
	leases_unref(fixture->leases);
	free(fixture);
	return 0;
}

static inline struct change *new_change(enum change_kind kind, enum object_kind object,
					const char *name, const char *text)
{
	struct change *change = change_new();

	assert_non_null(change);
	change->kind = kind;
	change->object = object;
	change->name = name ? strdup(name) : NULL;
	change->document = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
	assert_true(!text || change->document);
	return change;
}

/* Judges and goes on with what the change has made. */
static inline void judge(struct fixture *fixture, struct change *change)
{
	struct draft next = {0};

	batch_judge(change, &fixture->draft, &next);
	if (!next.is_changed && !next.leases)
		return;
	if (!next.is_changed) { /* as the engine does it: members only stay longer */
		assert_false(change->is_dry_run);
		leases_unref(fixture->draft.leases);
		fixture->draft.leases = TAKE_PTR(next.leases);
		return;
	}
	if (change->is_dry_run) {
		draft_fini(&next);
		return;
	}
	draft_fini(&fixture->draft);
	fixture->draft = next;
}

static inline void check_refused(const struct change *change, int status, enum error_code code,
				 const char *field)
{
	assert_int_equal(change->result.status, status);
	assert_true(change->result.errors.count > 0);
	assert_int_equal(change->result.errors.items[0].code, code);
	if (field)
		assert_string_equal(change->result.errors.items[0].field, field);
}

#endif
