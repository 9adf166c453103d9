/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/groups/{name}/members: prefixes that come into a group and go out of it without writing it anew. */
#include <string.h>

#include "api/exchange.h"
#include "api/write.h"

/* Index of the name in /v1/groups/{name}/members. */
#define NAME_SEGMENT 2

bool members_resource_post(struct exchange *exchange)
{
	_cleanup_(change_freep) struct change *change = change_new();

	if (change) {
		change->kind = CHANGE_MEMBERS;
		change->name = strdup(exchange->request.segments[NAME_SEGMENT]);
	}
	if (!change || !change->name) {
		reply_failure(&exchange->reply, -ENOMEM);
		return true;
	}
	if (!write_read_body(exchange, change))
		return true;
	return write_submit(exchange, TAKE_PTR(change));
}

/* The members of the answer so far, and which of them are there for good. */
struct listing {
	json_t *members;
	json_t *index; /* text ─► true */
};

/* One that is there for good too will not leave. */
static void add_lease(const struct prefix *prefix, double expires_s, void *data)
{
	struct listing *listing = data;
	char text[PREFIX_STRING_SIZE];

	prefix_format(text, prefix);
	if (json_object_get(listing->index, text))
		return;
	json_array_append_new(listing->members,
			      json_pack("{s:s, s:f}", "prefix", text, "expires_s", expires_s));
}

/* NULL: no memory. */
static json_t *list_members(const struct engine *engine, const char *name, const json_t *group)
{
	json_auto_t *index = json_object();
	struct listing listing = {.members = json_array(), .index = index};
	json_t *prefix;
	size_t i;

	json_array_foreach(json_object_get(group, "prefixes"), i, prefix)
	{
		json_object_set_new(index, json_string_value(prefix), json_true());
		json_array_append_new(listing.members, json_pack("{s:O}", "prefix", prefix));
	}
	engine_each_lease(engine, name, add_lease, &listing);
	return listing.members;
}

/* Those of `prefixes` and those with a time; not what ports and nested groups bring. */
bool members_resource_get(struct exchange *exchange)
{
	const char *name = exchange->request.segments[NAME_SEGMENT];
	const json_t *group = config_object(engine_config(exchange->engine), OBJECT_GROUP, name);

	if (!group) {
		reply_error(&exchange->reply, 404, ERROR_NOT_FOUND, "path", "groups has no %s",
			    name);
		return true;
	}
	reply_json(&exchange->reply, 200,
		   json_pack("{s:o}", "members", list_members(exchange->engine, name, group)));
	reply_set_etag(&exchange->reply, engine_etag(exchange->engine));
	return true;
}
