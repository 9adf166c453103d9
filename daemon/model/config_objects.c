/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a configuration: one by its name, a kind, the whole document. */
#include "model/config.h"

#include <string.h>

#include "model/parse.h"

/* How every kind of object begins. `json` NULL: not an object of the document. */
struct object {
	char *name;
	json_t *json;
};
#define BEGINS_LIKE_OBJECT(type)                                                             \
	_Static_assert(!offsetof(struct type, name) &&                                       \
			       offsetof(struct type, json) == offsetof(struct object, json), \
		       "objects are found by their first members")
BEGINS_LIKE_OBJECT(acl);
BEGINS_LIKE_OBJECT(group);
BEGINS_LIKE_OBJECT(service);
BEGINS_LIKE_OBJECT(port);
BEGINS_LIKE_OBJECT(security_group);
BEGINS_LIKE_OBJECT(macip);
BEGINS_LIKE_OBJECT(port_template);

struct collection {
	const void *items; /* each begins as struct object does */
	size_t count, size;
};

static struct collection collection_of(const struct config *config, enum object_kind kind)
{
#define COLLECTION(member, number)                                      \
	{                                                               \
		config->member, config->number, sizeof(*config->member) \
	}
	const struct collection collections[OBJECT_KIND_COUNT] = {
		[OBJECT_ACL] = COLLECTION(acls, acl_count),
		[OBJECT_GROUP] = COLLECTION(groups, group_count),
		[OBJECT_SERVICE] = COLLECTION(services, service_count),
		[OBJECT_PORT] = COLLECTION(ports, port_count),
		[OBJECT_SECURITY_GROUP] = COLLECTION(security_groups, security_group_count),
		[OBJECT_MACIP] = COLLECTION(macips, macip_count),
		[OBJECT_PORT_TEMPLATE] = COLLECTION(templates, template_count),
	};
#undef COLLECTION

	return collections[kind];
}

static int name_compare(const void *name, const void *item)
{
	const struct object *object = item;

	return strcmp(name, object->name);
}

static const void *find(const struct config *config, enum object_kind kind, const char *name)
{
	struct collection objects = collection_of(config, kind);

	if (!objects.count)
		return NULL;
	return bsearch(name, objects.items, objects.count, objects.size, name_compare);
}

const struct acl *config_find_acl(const struct config *config, const char *name)
{
	return find(config, OBJECT_ACL, name);
}

const struct group *config_find_group(const struct config *config, const char *name)
{
	return find(config, OBJECT_GROUP, name);
}

const struct service *config_find_service(const struct config *config, const char *name)
{
	return find(config, OBJECT_SERVICE, name);
}

const struct port *config_find_port(const struct config *config, const char *name)
{
	return find(config, OBJECT_PORT, name);
}

const struct security_group *config_find_security_group(const struct config *config,
							const char *name)
{
	return find(config, OBJECT_SECURITY_GROUP, name);
}

const struct macip *config_find_macip(const struct config *config, const char *name)
{
	return find(config, OBJECT_MACIP, name);
}

const struct port_template *config_find_template(const struct config *config, const char *name)
{
	return find(config, OBJECT_PORT_TEMPLATE, name);
}

json_t *config_object(const struct config *config, enum object_kind kind, const char *name)
{
	const struct object *object = find(config, kind, name);

	return object ? object->json : NULL;
}

json_t *config_collection(const struct config *config, enum object_kind kind)
{
	struct collection objects = collection_of(config, kind);
	json_auto_t *json = json_object();
	int result = json ? 0 : -ENOMEM;

	for (size_t i = 0; i < objects.count && !result; i++) {
		const struct object *object =
			(const void *)((const char *)objects.items + i * objects.size);

		if (object->json)
			result = json_put(json, object->name, json_incref(object->json));
	}
	return result < 0 ? NULL : TAKE_PTR(json);
}

json_t *config_document(const struct config *config)
{
	json_auto_t *document = json_object();

	if (!document)
		return NULL;
	for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
		json_auto_t *objects = config_collection(config, kind);

		if (!objects)
			return NULL;
		if (json_object_size(objects) &&
		    json_put(document, object_kind_names[kind], TAKE_PTR(objects)) < 0)
			return NULL;
	}
	return TAKE_PTR(document);
}
