/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of one change. */
#include "engine/batch.h"

#include "engine/advice.h"
#include "engine/member_change.h"
#include "engine/usage.h"
#include "model/document.h"

void draft_init(struct draft *draft, const struct config *config, json_t *document,
		struct leases *leases, uint64_t etag, uint64_t now_ms)
{
	*draft = (struct draft){
		.config = config,
		.document = json_incref(document),
		.leases = leases_ref(leases),
		.etag = etag,
		.now_ms = now_ms,
	};
}

void draft_fini(struct draft *draft)
{
	json_decref(draft->document);
	leases_unref(draft->leases);
	config_freep(&draft->owned_config);
	*draft = (struct draft){0};
}

void batch_refuse(struct change *change, int status, enum error_code code, const char *message)
{
	change_result_fini(&change->result);
	change->result.status = status;
	errors_add(&change->result.errors, code, "", "%s", message);
}

static void refuse_memory(struct change *change)
{
	batch_refuse(change, 500, ERROR_INTERNAL, "no memory");
}

static bool are_all(const struct errors *errs, enum error_code code)
{
	for (size_t i = 0; i < errs->count; i++)
		if (errs->items[i].code != code)
			return false;
	return true;
}

int batch_status(const struct errors *errs)
{
	if (are_all(errs, ERROR_LIMIT))
		return 507;
	return are_all(errs, ERROR_CONFLICT) ? 409 : 400;
}

static bool check_if_match(struct change *change, const struct draft *on)
{
	if (!change->has_if_match || change->if_match == on->etag)
		return true;
	change->result.status = 412;
	errors_add(&change->result.errors, ERROR_PRECONDITION_FAILED, "",
		   "the configuration has changed: its ETag is \"%llu\", not \"%llu\"",
		   (unsigned long long)on->etag, (unsigned long long)change->if_match);
	return false;
}

/* Only what is there and not in use can be deleted. */
static bool check_delete(struct change *change, const struct draft *on)
{
	const char *kind = object_kind_names[change->object];
	int r;

	if (!json_object_get(json_object_get(on->document, kind), change->name)) {
		change->result.status = 404;
		errors_add(&change->result.errors, ERROR_NOT_FOUND, "", "there is no %s in %s",
			   change->name, kind);
		return false;
	}
	r = usage_find(on->document, change->object, change->name, &change->result.errors);
	if (r == 0)
		return true;
	change->result.status = 409;
	if (r < 0)
		refuse_memory(change);
	return false;
}

/* What a change wants: a document, and the leases beside it. */
struct wanted {
	json_t *document;
	struct leases *leases;
	struct config *config;
};

static void wanted_fini(struct wanted *wanted)
{
	json_decref(wanted->document);
	leases_unref(wanted->leases);
	config_freep(&wanted->config);
}

static json_t *wanted_document(const struct change *change, const struct draft *on)
{
	switch (change->kind) {
	case CHANGE_REPLACE:
		return json_incref(change->document);
	case CHANGE_MERGE:
		return document_merge(on->document, change->document);
	case CHANGE_SET:
		return document_with(on->document, change->object, change->name, change->document);
	case CHANGE_DELETE:
		return document_with(on->document, change->object, change->name, NULL);
	case CHANGE_MEMBERS:
	case CHANGE_EXPIRE:
		break;
	}
	return json_incref(on->document);
}

/* Leases of groups that go are gone with them. Those that have ended wait for the change that says so. */
static int wanted_init(struct wanted *wanted, struct change *change, const struct draft *on)
{
	uint64_t now_ms = change->kind == CHANGE_EXPIRE ? on->now_ms : 0;

	if (change->kind == CHANGE_MEMBERS)
		return member_change_apply(change, on, &wanted->document, &wanted->leases);
	wanted->document = wanted_document(change, on);
	if (!wanted->document)
		return -ENOMEM;
	return leases_keep(&wanted->leases, on->leases, now_ms, wanted->document);
}

/* Reads and judges what is wanted: 0, or negative errno with the answer in the result. */
static int parse_wanted(struct wanted *wanted, struct change *change, const struct draft *on)
{
	struct config_runtime runtime = {0};
	int r = wanted_init(wanted, change, on);

	if (r == 0) {
		runtime.members = leases_members(wanted->leases, &runtime.member_count);
		r = config_parse(&wanted->config, wanted->document, &runtime,
				 &change->result.errors);
		if (r == -EINVAL)
			change->result.status = batch_status(&change->result.errors);
	}
	/* Mistakes that were found until then are not all. */
	if (r == -ENOMEM)
		refuse_memory(change);
	return r;
}

static void accept_change(struct change *change, const struct draft *on, struct wanted *wanted,
			  struct draft *ret_next)
{
	struct change_result *result = &change->result;
	json_t *document = config_document(wanted->config);

	result->changes = document ? document_diff(on->document, document) : NULL;
	if (!result->changes) {
		json_decref(document);
		refuse_memory(change);
		return;
	}
	result->status = 200;
	result->etag = on->etag;
	result->is_changed =
		!json_equal(on->document, document) || !leases_are_same(on->leases, wanted->leases);
	if (advice_give(change, wanted->config) < 0) {
		json_decref(document);
		refuse_memory(change);
		return;
	}
	if (!result->is_changed) {
		json_decref(document);
		if (!change->is_dry_run)
			ret_next->leases = TAKE_PTR(wanted->leases);
		return;
	}
	/* A dry run makes no state that anyone could name. */
	if (!change->is_dry_run)
		result->etag = on->etag + 1;
	*ret_next = (struct draft){
		.config = wanted->config,
		.document = document,
		.leases = wanted->leases,
		.etag = on->etag + 1,
		.now_ms = on->now_ms,
		.is_changed = true,
		.owned_config = wanted->config,
	};
	wanted->leases = NULL;
	wanted->config = NULL;
}

void batch_judge(struct change *change, const struct draft *on, struct draft *ret_next)
{
	_cleanup_(wanted_fini) struct wanted wanted = {0};

	if (!check_if_match(change, on))
		return;
	if (change->kind == CHANGE_DELETE && !check_delete(change, on))
		return;
	if (parse_wanted(&wanted, change, on) < 0)
		return;
	accept_change(change, on, &wanted, ret_next);
}
