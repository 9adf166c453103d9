/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of members. */
#include "engine/member_change.h"

#include <string.h>

#include "model/document.h"
#include "model/member_request.h"

/* The prefixes of a group when all is done, and who of those that were asked for is among them. */
struct prefix_list {
	json_t *list;
	json_t *asked; /* text ─► whether it is a member for good; of the request only: groups may be large */
};

static void prefix_list_fini(struct prefix_list *prefixes)
{
	json_decref(prefixes->list);
	json_decref(prefixes->asked);
}

static int note(json_t *object, const struct prefix *prefix, json_t *value)
{
	char text[PREFIX_STRING_SIZE];

	prefix_format(text, prefix);
	return json_object_set_new(object, text, value) < 0 ? -ENOMEM : 0;
}

static int prefix_list_add(struct prefix_list *prefixes, const char *text)
{
	return json_array_append_new(prefixes->list, json_string(text)) < 0 ? -ENOMEM : 0;
}

/* What stays of the normalised list of a group. */
static int prefix_list_keep(struct prefix_list *prefixes, const json_t *old, const json_t *gone)
{
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)old, i, item)
	{
		const char *text = json_string_value(item);

		if (json_object_get(gone, text))
			continue;
		if (json_array_append(prefixes->list, item) < 0)
			return -ENOMEM;
		if (json_object_get(prefixes->asked, text) &&
		    json_object_set_new(prefixes->asked, text, json_true()) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int prefix_list_come(struct prefix_list *prefixes, const struct member_request *request)
{
	char text[PREFIX_STRING_SIZE];
	int r = 0;

	for (size_t i = 0; i < request->add_count && r == 0; i++) {
		prefix_format(text, &request->add[i].prefix);
		if (request->add[i].ttl_s || json_is_true(json_object_get(prefixes->asked, text)))
			continue;
		r = prefix_list_add(prefixes, text);
		if (r == 0)
			r = note(prefixes->asked, &request->add[i].prefix, json_true());
	}
	return r;
}

static int prefix_list_change(struct prefix_list *prefixes, const json_t *old,
			      const struct member_request *request)
{
	json_auto_t *gone = json_object();
	int r = 0;

	prefixes->list = json_array();
	prefixes->asked = json_object();
	if (!gone || !prefixes->list || !prefixes->asked)
		return -ENOMEM;
	for (size_t i = 0; i < request->remove_count && r == 0; i++)
		r = note(gone, &request->remove[i].prefix, json_true());
	for (size_t i = 0; i < request->add_count && r == 0; i++)
		r = note(prefixes->asked, &request->add[i].prefix, json_false());
	if (r == 0)
		r = prefix_list_keep(prefixes, old, gone);
	return r < 0 ? r : prefix_list_come(prefixes, request);
}

static int change_document(json_t **ret_document, const struct draft *on, const char *name,
			   const json_t *group, const struct prefix_list *prefixes)
{
	json_auto_t *changed = json_copy((json_t *)group);

	if (!changed)
		return -ENOMEM;
	/* A group that had no `prefixes` gets none for members that pass. */
	if ((json_array_size(prefixes->list) || json_object_get(group, "prefixes")) &&
	    json_object_set(changed, "prefixes", prefixes->list) < 0)
		return -ENOMEM;
	*ret_document = document_with(on->document, OBJECT_GROUP, name, changed);
	return *ret_document ? 0 : -ENOMEM;
}

/* What is a member for good when all is done needs no lease. */
static int change_leases(struct leases **ret_leases, const struct draft *on, const char *name,
			 const struct member_request *request, const struct prefix_list *prefixes)
{
	size_t count = 0;
	char text[PREFIX_STRING_SIZE];
	_cleanup_free_ struct lease_edit *edits =
		calloc(request->remove_count + request->add_count + 1, sizeof(*edits));

	if (!edits)
		return -ENOMEM;
	for (size_t i = 0; i < request->remove_count; i++)
		edits[count++].prefix = request->remove[i].prefix;
	for (size_t i = 0; i < request->add_count; i++) {
		const struct member_item *item = &request->add[i];

		prefix_format(text, &item->prefix);
		edits[count].prefix = item->prefix;
		if (!json_is_true(json_object_get(prefixes->asked, text)))
			edits[count].end_ms = on->now_ms + UINT64_C(1000) * item->ttl_s;
		count++;
	}
	return leases_edit(ret_leases, on->leases, name, edits, count);
}

static int refuse_group(struct change *change)
{
	change->result.status = 404;
	errors_add(&change->result.errors, ERROR_NOT_FOUND, "path", "groups has no %s",
		   change->name);
	return -EINVAL;
}

static int refuse_lease(struct change *change)
{
	change->result.status = 507;
	errors_add(&change->result.errors, ERROR_LIMIT, "add",
		   "with these, groups have more than %d members with a time", LEASES_MAX);
	return -EINVAL;
}

static int apply(struct change *change, const struct draft *on,
		 const struct member_request *request, json_t **ret_document,
		 struct leases **ret_leases)
{
	const json_t *groups = json_object_get(on->document, object_kind_names[OBJECT_GROUP]);
	const json_t *group = json_object_get(groups, change->name);
	_cleanup_(prefix_list_fini) struct prefix_list prefixes = {0};
	_cleanup_(leases_unrefp) struct leases *leases = NULL;
	int r;

	if (!group)
		return refuse_group(change);
	r = prefix_list_change(&prefixes, json_object_get(group, "prefixes"), request);
	if (r == 0)
		r = change_leases(&leases, on, change->name, request, &prefixes);
	if (r == -ENOSPC)
		return refuse_lease(change);
	if (r == 0)
		r = change_document(ret_document, on, change->name, group, &prefixes);
	if (r == 0)
		*ret_leases = TAKE_PTR(leases);
	return r;
}

int member_change_apply(struct change *change, const struct draft *on, json_t **ret_document,
			struct leases **ret_leases)
{
	_cleanup_(member_request_fini) struct member_request request = {0};
	int r = member_request_parse(&request, change->document, &change->result.errors);

	if (r == -EINVAL)
		change->result.status = batch_status(&change->result.errors);
	return r < 0 ? r : apply(change, on, &request, ret_document, ret_leases);
}
