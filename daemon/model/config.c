/* SPDX-License-Identifier: Apache-2.0 */
/* The whole desired state. */
#include "model/config.h"

#include <string.h>

#include "model/objects.h"
#include "model/value.h"

const char *const object_kind_names[OBJECT_KIND_COUNT] = {
	[OBJECT_ACL] = "acls",
	[OBJECT_GROUP] = "groups",
	[OBJECT_SERVICE] = "services",
	[OBJECT_PORT] = "ports",
	[OBJECT_SECURITY_GROUP] = "security_groups",
	[OBJECT_MACIP] = "macip",
	[OBJECT_PORT_TEMPLATE] = "port_templates",
};

static int document_schema(struct parser *parser, const struct path *path, const json_t *value,
			   void *object)
{
	static const struct word words[] = {{"secg/1", 1}};
	int version;

	(void)object;
	return parse_word(parser, path, value, words, ARRAY_SIZE(words), &version);
}

/* A kind that is not an object counts as empty, so that the other kinds are judged too. */
static int kind_value(struct parser *parser, const struct path *path, const json_t *value)
{
	return json_is_object(value)
		       ? 0
		       : parse_bad_type(parser, path, value, "an object of NAME: {…}");
}

static int document_services(struct parser *parser, const struct path *path, const json_t *value,
			     void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : services_parse(parser, path, value);
}

static int document_macip(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : macips_parse(parser, path, value);
}

static int document_groups(struct parser *parser, const struct path *path, const json_t *value,
			   void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : groups_parse(parser, path, value);
}

static int document_acls(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : acls_parse(parser, path, value);
}

static int document_ports(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : ports_parse(parser, path, value);
}

/* In the order in which they refer to each other. */
static const struct field document_fields[] = {
	{"schema", document_schema}, {"services", document_services}, {"macip", document_macip},
	{"groups", document_groups}, {"acls", document_acls},         {"ports", document_ports},
	{"security_groups", NULL},   {"port_templates", NULL},        {"tunnels", NULL},
};
static const struct schema document_object = {"a policy document", document_fields,
					      ARRAY_SIZE(document_fields)};

int config_parse(struct config **ret_config, const json_t *document,
		 const struct config_runtime *runtime, struct errors *reterr)
{
	_cleanup_(config_freep) struct config *config = calloc(1, sizeof(*config));
	struct parser parser = {.errors = reterr, .config = config, .runtime = runtime};
	int result = 0;

	if (!config)
		return -ENOMEM;
	/* The shipped ones are there also where the document has none. */
	if (!json_is_object(json_object_get(document, object_kind_names[OBJECT_SERVICE])))
		result_add(&result, services_parse(&parser, NULL, NULL));
	result_add(&result, parse_object(&parser, NULL, document, &document_object, NULL));
	if (result < 0)
		return result;
	*ret_config = TAKE_PTR(config);
	return 0;
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < config->port_count; i++)
		port_fini(&config->ports[i]);
	for (size_t i = 0; i < config->acl_count; i++)
		acl_fini(&config->acls[i]);
	for (size_t i = 0; i < config->service_count; i++)
		service_fini(&config->services[i]);
	for (size_t i = 0; i < config->group_count; i++)
		group_fini(&config->groups[i]);
	for (size_t i = 0; i < config->macip_count; i++)
		macip_fini(&config->macips[i]);
	free(config->ports);
	free(config->acls);
	free(config->services);
	free(config->groups);
	free(config->macips);
	free(config);
}

/* Every kind of object begins with its name. */
static int name_compare(const void *name, const void *item)
{
	return strcmp(name, *(const char *const *)item);
}
_Static_assert(!offsetof(struct acl, name) && !offsetof(struct group, name) &&
		       !offsetof(struct service, name) && !offsetof(struct port, name) &&
		       !offsetof(struct macip, name) && !offsetof(struct security_group, name),
	       "objects are found by their first member");

static const void *find(const char *name, const void *items, size_t count, size_t size)
{
	return count ? bsearch(name, items, count, size, name_compare) : NULL;
}

const struct acl *config_find_acl(const struct config *config, const char *name)
{
	return find(name, config->acls, config->acl_count, sizeof(*config->acls));
}

const struct group *config_find_group(const struct config *config, const char *name)
{
	return find(name, config->groups, config->group_count, sizeof(*config->groups));
}

const struct service *config_find_service(const struct config *config, const char *name)
{
	return find(name, config->services, config->service_count, sizeof(*config->services));
}

const struct port *config_find_port(const struct config *config, const char *name)
{
	return find(name, config->ports, config->port_count, sizeof(*config->ports));
}

const struct security_group *config_find_security_group(const struct config *config,
							const char *name)
{
	return find(name, config->security_groups, config->security_group_count,
		    sizeof(*config->security_groups));
}

const struct macip *config_find_macip(const struct config *config, const char *name)
{
	return find(name, config->macips, config->macip_count, sizeof(*config->macips));
}

const struct port_template *config_find_template(const struct config *config, const char *name)
{
	return find(name, config->templates, config->template_count, sizeof(*config->templates));
}

/* Adds one object to a kind; shipped ones have no JSON and are left out. */
static int document_add(json_t *kind, const char *name, json_t *json)
{
	return json ? json_put(kind, name, json_incref(json)) : 0;
}

json_t *config_document(const struct config *config)
{
	json_auto_t *document = json_object();
	int result = 0;

	for (int i = 0; i < OBJECT_KIND_COUNT; i++)
		result_add(&result, json_put(document, object_kind_names[i], json_object()));
	if (result < 0)
		return NULL;
	for (size_t i = 0; i < config->acl_count; i++)
		result_add(&result, document_add(json_object_get(document, "acls"),
						 config->acls[i].name, config->acls[i].json));
	for (size_t i = 0; i < config->group_count; i++)
		result_add(&result, document_add(json_object_get(document, "groups"),
						 config->groups[i].name, config->groups[i].json));
	for (size_t i = 0; i < config->service_count; i++)
		result_add(&result,
			   document_add(json_object_get(document, "services"),
					config->services[i].name, config->services[i].json));
	for (size_t i = 0; i < config->macip_count; i++)
		result_add(&result, document_add(json_object_get(document, "macip"),
						 config->macips[i].name, config->macips[i].json));
	for (size_t i = 0; i < config->port_count; i++)
		result_add(&result, document_add(json_object_get(document, "ports"),
						 config->ports[i].name, config->ports[i].json));
	for (int i = 0; i < OBJECT_KIND_COUNT; i++)
		if (!json_object_size(json_object_get(document, object_kind_names[i])))
			json_object_del(document, object_kind_names[i]);
	return result < 0 ? NULL : TAKE_PTR(document);
}
