/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/{acls,groups,services,ports}[/{name}]: one kind of object, and one object of it. */
#include <string.h>

#include "api/exchange.h"
#include "api/write.h"
#include "model/objects.h"

/* Index of the name in /v1/acls/{name}. */
#define NAME_SEGMENT 2

/* Lends; NULL: no such object. Services shipped with the program are no objects. */
static json_t *object_json(const struct config *config, enum object_kind kind, const char *name)
{
	const struct acl *acl;
	const struct group *group;
	const struct service *service;
	const struct port *port;
	const struct security_group *security_group;
	const struct macip *macip;
	const struct port_template *template;

	switch (kind) {
	case OBJECT_ACL:
		acl = config_find_acl(config, name);
		return acl ? acl->json : NULL;
	case OBJECT_GROUP:
		group = config_find_group(config, name);
		return group ? group->json : NULL;
	case OBJECT_SERVICE:
		service = config_find_service(config, name);
		return service ? service->json : NULL;
	case OBJECT_PORT:
		port = config_find_port(config, name);
		return port ? port->json : NULL;
	case OBJECT_SECURITY_GROUP:
		security_group = config_find_security_group(config, name);
		return security_group ? security_group->json : NULL;
	case OBJECT_MACIP:
		macip = config_find_macip(config, name);
		return macip ? macip->json : NULL;
	case OBJECT_PORT_TEMPLATE:
		template = config_find_template(config, name);
		return template ? template->json : NULL;
	case OBJECT_KIND_COUNT:
		break;
	}
	return NULL;
}

static json_t *collection_json(const struct config *config, enum object_kind kind)
{
	json_t *document = config_document(config);
	json_t *collection;

	if (!document)
		return NULL;
	collection = json_object_get(document, object_kind_names[kind]);
	collection = collection ? json_incref(collection) : json_object();
	json_decref(document);
	return collection;
}

bool collection_list(struct exchange *exchange)
{
	const struct config *config = engine_config(exchange->engine);

	reply_json(&exchange->reply, 200, collection_json(config, exchange->kind));
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
	json_t *json = object_json(engine_config(exchange->engine), exchange->kind, name);

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
