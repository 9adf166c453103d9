/* SPDX-License-Identifier: Apache-2.0 */
/* The whole desired state. */
#include "model/config.h"

#include <string.h>

#include "model/members.h"
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

	return r < 0 ? r : groups_parse(parser, path, value, object);
}

static int document_acls(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : acls_parse(parser, path, value);
}

static int document_security_groups(struct parser *parser, const struct path *path,
				    const json_t *value, void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : security_groups_parse(parser, path, value);
}

static int document_ports(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : ports_parse(parser, path, value);
}

static int document_templates(struct parser *parser, const struct path *path, const json_t *value,
			      void *object)
{
	int r = kind_value(parser, path, value);

	(void)object;
	return r < 0 ? r : templates_parse(parser, path, value);
}

/* In the order in which they refer to each other. Object: the security groups, which are groups too. */
static const struct field document_fields[] = {
	{"schema", document_schema}, {"services", document_services},
	{"macip", document_macip},   {"groups", document_groups},
	{"acls", document_acls},     {"security_groups", document_security_groups},
	{"ports", document_ports},   {"port_templates", document_templates},
	{"tunnels", NULL},
};
static const struct schema document_object = {"a policy document", document_fields,
					      ARRAY_SIZE(document_fields)};

/* What is there also where the document has no such object: shipped services, and the groups that
 * security groups are. */
static int parse_absent(struct parser *parser, const json_t *document,
			const json_t *security_groups)
{
	const char *groups = object_kind_names[OBJECT_GROUP];
	struct path path = path_key(NULL, groups);
	int result = 0;

	if (!json_is_object(json_object_get(document, object_kind_names[OBJECT_SERVICE])))
		result_add(&result, services_parse(parser, NULL, NULL));
	if (!json_is_object(json_object_get(document, groups)))
		result_add(&result, groups_parse(parser, &path, NULL, security_groups));
	return result;
}

int config_parse(struct config **ret_config, const json_t *document,
		 const struct config_runtime *runtime, struct errors *reterr)
{
	_cleanup_(config_freep) struct config *config = calloc(1, sizeof(*config));
	_cleanup_(members_freep) struct members *members = NULL;
	json_t *security_groups =
		json_object_get(document, object_kind_names[OBJECT_SECURITY_GROUP]);
	struct parser parser = {.errors = reterr, .config = config, .runtime = runtime};
	int result;

	if (!config)
		return -ENOMEM;
	config->references = 1;
	result = members_gather(&members, document, runtime);
	if (result < 0)
		return result;
	parser.members = members;
	result = parse_absent(&parser, document, security_groups);
	result_add(&result,
		   parse_object(&parser, NULL, document, &document_object, security_groups));
	if (result == 0)
		result = instances_add(config, runtime);
	if (result < 0)
		return result;
	*ret_config = TAKE_PTR(config);
	return 0;
}

struct config *config_ref(struct config *config)
{
	config->references++;
	return config;
}

static void ports_free(struct config *config)
{
	for (size_t i = 0; i < config->port_count; i++) {
		if (config->ports[i].is_instance)
			instance_fini(&config->ports[i]);
		else if (!config->root)
			port_fini(&config->ports[i]);
	}
	free(config->ports);
}

void config_free(struct config *config)
{
	if (--config->references > 0)
		return;
	ports_free(config);
	if (config->root) {
		config_free(config->root);
		free(config);
		return;
	}
	for (size_t i = 0; i < config->template_count; i++)
		template_fini(&config->templates[i]);
	for (size_t i = 0; i < config->acl_count; i++)
		acl_fini(&config->acls[i]);
	for (size_t i = 0; i < config->service_count; i++)
		service_fini(&config->services[i]);
	for (size_t i = 0; i < config->group_count; i++)
		group_fini(&config->groups[i]);
	for (size_t i = 0; i < config->macip_count; i++)
		macip_fini(&config->macips[i]);
	for (size_t i = 0; i < config->security_group_count; i++)
		security_group_fini(&config->security_groups[i]);
	free(config->templates);
	free(config->acls);
	free(config->services);
	free(config->groups);
	free(config->macips);
	free(config->security_groups);
	free(config);
}
