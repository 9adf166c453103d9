/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/{acls,groups,services,macip,security_groups,ports}[/{name}]: one kind of object, and one object of it. */
#include <string.h>

#include "api/exchange.h"
#include "api/write.h"
#include "model/objects.h"

/* Index of the name in /v1/acls/{name}. */
#define NAME_SEGMENT 2

bool collection_list(struct exchange *exchange)
{
	const struct config *config = engine_config(exchange->engine);

	reply_json(&exchange->reply, 200, config_collection(config, exchange->kind));
	reply_set_etag(&exchange->reply, engine_etag(exchange->engine));
	return true;
}

static void reply_not_found(struct exchange *exchange, const char *name)
{
	const struct shipped_service *shipped =
		exchange->kind == OBJECT_SERVICE ? shipped_service_find(name) : NULL;

	if (shipped)
		reply_error(&exchange->reply, 404, ERROR_NOT_FOUND, "path",
			    "services has no %s, but it comes with secgd and means %s", name,
			    shipped_service_describe(shipped).text);
	else
		reply_error(&exchange->reply, 404, ERROR_NOT_FOUND, "path", "%s has no %s",
			    object_kind_names[exchange->kind], name);
}

bool collection_get(struct exchange *exchange)
{
	const char *name = exchange->request.segments[NAME_SEGMENT];
	json_t *json = config_object(engine_config(exchange->engine), exchange->kind, name);

	if (!json) {
		reply_not_found(exchange, name);
		return true;
	}
	reply_json(&exchange->reply, 200, json_incref(json));
	reply_set_etag(&exchange->reply, engine_etag(exchange->engine));
	return true;
}

static bool submit_object(struct exchange *exchange, enum change_kind kind)
{
	_cleanup_(change_freep) struct change *change = change_new();

	if (change) {
		change->kind = kind;
		change->object = exchange->kind;
		change->name = strdup(exchange->request.segments[NAME_SEGMENT]);
	}
	if (!change || !change->name) {
		reply_failure(&exchange->reply, -ENOMEM);
		return true;
	}
	if (kind == CHANGE_SET && !write_read_body(exchange, change))
		return true;
	return write_submit(exchange, TAKE_PTR(change));
}

bool collection_put(struct exchange *exchange)
{
	return submit_object(exchange, CHANGE_SET);
}

bool collection_delete(struct exchange *exchange)
{
	return submit_object(exchange, CHANGE_DELETE);
}
