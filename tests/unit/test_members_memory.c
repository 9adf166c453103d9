/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running out of memory at every single allocation of changes of members: refused with 500 each time, nothing
 * lost, and the right result once all succeed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/batch.h"
#include "engine/member_delta.h"
#include "memory_lab.h"
#include "model/document.h"

static const char before_text[] =
	"{\"groups\":{\"g\":{\"prefixes\":[\"10.0.0.1\",\"10.0.0.2\",\"10.0.0.3\"]},\"h\":{\"groups\":\"g\"}}}";
static const char members_text[] =
	"{\"add\":[\"::1\",{\"prefix\":\"::2\",\"ttl_s\":5},{\"prefix\":\"10.0.0.4\",\"ttl_s\":9}],"
	"\"remove\":[\"10.0.0.2\",\"10.0.0.1\"]}";
static const char wrong_text[] =
	"{\"add\":[\"::1/0\",{\"prefix\":\"::2\",\"ttl_s\":0}],\"colour\":1}";

/* One change, on what the one before has made of the draft. */
static int judge(struct draft *draft, enum change_kind kind, const char *text,
		 struct errors *reterr)
{
	struct change *change = change_new();
	struct draft next = {0};
	int r = change ? 0 : -ENOMEM;

	if (r == 0) {
		change->kind = kind;
		change->name = strdup("g");
		if (!change->name)
			r = -ENOMEM;
	}
	if (r == 0 && text)
		r = document_read(&change->document, text, strlen(text), reterr);
	if (r == 0) {
		batch_judge(change, draft, &next);
		r = change->result.status == 500   ? -ENOMEM
		    : change->result.status == 200 ? 0
						   : -EINVAL;
		errors_fini(reterr);
		*reterr = change->result.errors;
		change->result.errors = (struct errors){0};
	}
	if (next.is_changed) {
		draft_fini(draft);
		*draft = next;
	} else {
		draft_fini(&next);
	}
	change_free(change);
	return r;
}

static int run(const char *text, struct errors *errors, size_t *ret_count)
{
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(leases_unrefp) struct leases *leases = leases_new();
	_cleanup_(draft_fini) struct draft draft = {0};
	json_auto_t *document = NULL;
	json_auto_t *normal = NULL;
	struct addrset delta = {0};
	int r = leases ? document_read(&document, before_text, strlen(before_text), errors)
		       : -ENOMEM;

	if (r == 0)
		r = config_parse(&config, document, NULL, errors);
	if (r == 0 && !(normal = config_document(config)))
		r = -ENOMEM;
	if (r < 0)
		return r;
	draft_init(&draft, config, normal, leases, 1, 1000);
	r = judge(&draft, CHANGE_MEMBERS, text, errors);
	*ret_count = errors->count;
	if (r < 0)
		return r;
	draft.now_ms = 7000;
	r = judge(&draft, CHANGE_EXPIRE, NULL, errors);
	if (r == 0)
		r = member_delta_find(&delta, config, draft.config);
	*ret_count = addrset_count(&delta);
	addrset_fini(&delta);
	return r;
}

static int pass(struct errors *errors, size_t *ret_count)
{
	return run(members_text, errors, ret_count);
}

static int pass_wrong(struct errors *errors, size_t *ret_count)
{
	return run(wrong_text, errors, ret_count);
}

static void test_memory_runs_out(void **state)
{
	(void)state;
	/* 10.0.0.1 and 10.0.0.2 are one range; ::1 and 10.0.0.4 have come */
	exhaust(pass, 0, 3);
	exhaust(pass_wrong, -EINVAL, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
