/* SPDX-License-Identifier: Apache-2.0 */
/* Port templates, and the ports that are made of them. */
#include <stdio.h>
#include <string.h>

#include "model/match.h"
#include "model/objects.h"
#include "model/value.h"

void template_fini(struct port_template *template)
{
	free(template->name);
	match_fini(&template->match);
	port_fini(&template->port);
	json_decref(template->json);
	*template = (struct port_template){0};
}

void instance_fini(struct port *port)
{
	free(port->name);
	free(port->interface);
	*port = (struct port){0};
}

bool template_has_members(const struct port_template *template)
{
	return template->port.address_count > 0;
}

/* ── reading ────────────────────────────────────────────────────────────────────────────────────── */

static bool is_closed(const struct port_list *list)
{
	return list->is_given && list->acl_count == 0 && list->otherwise != SECG_ACTION_ALLOW;
}

/* The match stands in the template, where it is always there. */
static void take_match(struct port_template *template)
{
	struct interface_match *match = template->port.match;

	template->port.match = NULL;
	if (match)
		template->match = *match;
	free(match);
}

static int check_match(struct parser *parser, const struct path *path, const json_t *value,
		       const struct port_template *template, json_t *matches)
{
	json_t *match = json_object_get(template->json, "match");
	struct path field = path_key(path, "match");
	_cleanup_free_ char *key = match ? json_dumps(match, JSON_SORT_KEYS) : NULL;
	const char *other;

	if (!match && (!json_is_object(value) || json_object_get(value, "match")))
		return 0; /* wrong, which has been said */
	if (!match)
		return parse_error(
			parser, &field, ERROR_BAD_VALUE,
			"is missing: a template needs to say which interfaces it is for, "
			"as in {name: \"vnet*\"}");
	if (!key)
		return -ENOMEM;
	other = json_string_value(json_object_get(matches, key));
	if (other)
		return parse_error(parser, &field, ERROR_CONFLICT,
				   "is the same as that of port template \"%s\"", other);
	return json_put(matches, key, json_string(template->name));
}

static int parse_template(struct parser *parser, const struct path *path, const json_t *value,
			  struct port_template *template, json_t *matches)
{
	struct port *port = &template->port;
	int result = parse_object_name(parser, path, template->name);

	result_add(&result, port_parse_fields(parser, path, value, port, template->json, true));
	take_match(template);
	result_add(&result, check_match(parser, path, value, template, matches));
	template->is_quarantine = is_closed(&port->list[SECG_FROM]) &&
				  is_closed(&port->list[SECG_TO]) &&
				  port->security_group_count == 0;
	return result;
}

static int template_compare(const void *a, const void *b)
{
	const struct port_template *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int templates_parse(struct parser *parser, const struct path *path, const json_t *value)
{
	json_auto_t *matches = json_object();
	struct config *config = parser->config;
	int result = 0;
	const char *name;
	json_t *item;

	config->templates = calloc(json_object_size(value) + 1, sizeof(*config->templates));
	if (!matches || !config->templates)
		return -ENOMEM;
	json_object_foreach((json_t *)value, name, item)
	{
		struct path template_path = path_key(path, name);
		struct port_template *template = &config->templates[config->template_count];

		template->json = json_object();
		template->name = strdup(name);
		if (!template->json || !template->name) {
			template_fini(template);
			return -ENOMEM;
		}
		config->template_count++;
		result_add(&result,
			   parse_template(parser, &template_path, item, template, matches));
	}
	qsort(config->templates, config->template_count, sizeof(*config->templates),
	      template_compare);
	return result;
}

/* ── instances ──────────────────────────────────────────────────────────────────────────────────── */

/* With a "/" no port and no interface has the name. */
#define INSTANCE_PREFIX "if/"

static bool is_taken(const struct config *config, const char *name)
{
	return !strcmp(name, "infra") || config_find_port(config, name);
}

static char *instance_name(const struct config *config, const char *interface)
{
	char *name = NULL;

	if (asprintf(&name, "%s%s", is_taken(config, interface) ? INSTANCE_PREFIX : "", interface) <
	    0)
		return NULL;
	return name;
}

static int add_instance(struct config *config, struct port *ret_port,
			const struct config_instance *instance)
{
	const struct port_template *template = config_find_template(config, instance->template);
	struct port port;

	if (!template)
		return 0;
	port = template->port;
	port.is_instance = true;
	port.template = template;
	port.json = NULL;
	port.name = instance_name(config, instance->interface);
	port.interface = strdup(instance->interface);
	if (!port.name || !port.interface) {
		instance_fini(&port);
		return -ENOMEM;
	}
	*ret_port = port;
	return 1;
}

static int port_compare(const void *a, const void *b)
{
	const struct port *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int instances_add(struct config *config, const struct config_runtime *runtime)
{
	size_t count = config->port_count;
	struct port *ports;
	int r = 0;

	if (!runtime || runtime->instance_count == 0)
		return 0;
	ports = reallocarray(config->ports, count + runtime->instance_count + 1, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	config->ports = ports;
	/* Names are looked up among the sorted ones, so they are counted only at the end. */
	for (size_t i = 0; r >= 0 && i < runtime->instance_count; i++) {
		r = add_instance(config, &ports[count], &runtime->instances[i]);
		count += r > 0;
	}
	config->port_count = count;
	qsort(ports, count, sizeof(*ports), port_compare);
	if (r >= 0 && count > SECG_MAX_PORTS - 1)
		r = -E2BIG;
	return r < 0 ? r : 0;
}

int config_with_instances(struct config **ret_config, struct config *config,
			  const struct config_runtime *runtime)
{
	_cleanup_(config_freep) struct config *next = malloc(sizeof(*next));
	struct config *root = config->root ? config->root : config;
	int r;

	if (!next)
		return -ENOMEM;
	*next = *root;
	next->references = 1;
	next->root = config_ref(root);
	next->port_count = 0;
	next->ports = calloc(root->port_count + 1, sizeof(*next->ports));
	if (!next->ports)
		return -ENOMEM;
	for (size_t i = 0; i < root->port_count; i++)
		if (!root->ports[i].is_instance)
			next->ports[next->port_count++] = root->ports[i];
	r = instances_add(next, runtime);
	if (r < 0)
		return r;
	*ret_config = TAKE_PTR(next);
	return 0;
}

const struct port *config_find_instance(const struct config *config, const char *interface)
{
	const struct port *port = config_find_port(config, interface);
	char name[NAME_MAX_LENGTH + 1];

	if (port && port->is_instance)
		return port;
	snprintf(name, sizeof(name), INSTANCE_PREFIX "%s", interface);
	return config_find_port(config, name);
}
