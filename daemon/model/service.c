/* SPDX-License-Identifier: Apache-2.0 */
/* Services: named lists of transport conditions, the user's and those that come with the program. */
#include <string.h>

#include "model/l4.h"
#include "model/objects.h"

static const struct field service_fields[] = {L4_FIELDS};
static const struct schema service_schema = {"an entry of a service", service_fields,
					     ARRAY_SIZE(service_fields)};

void service_fini(struct service *service)
{
	free(service->name);
	json_decref(service->json);
	l4_free(service->l4, service->l4_count);
	*service = (struct service){0};
}

static int parse_entry(struct parser *parser, const struct path *path, const json_t *value,
		       struct l4_list *list, json_t *entries)
{
	_cleanup_(l4_draft_fini) struct l4_draft draft = {.json = json_object()};
	int r = json_push(entries, draft.json);

	if (r < 0)
		return r;
	r = parse_object(parser, path, value, &service_schema, &draft);
	if (r < 0)
		return r;
	if (!draft.has_protocols)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "must name a `protocol`: an entry that matches everything is "
				   "not a service");
	return l4_append_draft(list, &draft);
}

static int parse_entries(struct parser *parser, const struct path *path, const json_t *value,
			 struct service *service)
{
	_cleanup_(l4_list_fini) struct l4_list list = {0};
	size_t index;
	json_t *item;
	int result = 0;

	service->json = json_array();
	if (!service->json)
		return -ENOMEM;
	if (!json_is_array(value))
		return parse_bad_type(parser, path, value,
				      "a list of entries, as in [{protocol: tcp, dst_ports: 443}]");
	if (!json_array_size(value))
		return parse_error(parser, path, ERROR_BAD_VALUE, "must have at least one entry");
	json_array_foreach((json_t *)value, index, item)
	{
		struct path entry = path_index(path, index);

		result_add(&result, parse_entry(parser, &entry, item, &list, service->json));
	}
	service->l4_count = list.count;
	service->l4 = TAKE_PTR(list.matches);
	list.count = 0;
	return result;
}

static int ship(struct service *service, const struct shipped_service *shipped)
{
	_cleanup_(l4_list_fini) struct l4_list list = {0};
	struct l4_match match = {.has_protocols = true};
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(shipped->protocols) && shipped->protocols[i]; i++)
		protocols_add(match.protocols, shipped->protocols[i]);
	for (size_t i = 0; i < ARRAY_SIZE(shipped->ports) && shipped->ports[i].last; i++) {
		r = range_list_add(&match.low, shipped->ports[i]);
		if (r < 0) {
			range_list_fini(&match.low);
			return r;
		}
	}
	range_list_normalize(&match.low);
	r = l4_append(&list, match);
	if (r < 0)
		return r;
	service->name = strdup(shipped->name);
	if (!service->name)
		return -ENOMEM;
	service->l4_count = list.count;
	service->l4 = TAKE_PTR(list.matches);
	list.count = 0;
	return 0;
}

static int service_compare(const void *a, const void *b)
{
	const struct service *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int services_parse(struct parser *parser, const struct path *path, const json_t *value)
{
	struct config *config = parser->config;
	int result = 0, r;
	const char *name;
	json_t *item;

	config->services =
		calloc(json_object_size(value) + shipped_service_count, sizeof(*config->services));
	if (!config->services)
		return -ENOMEM;
	json_object_foreach((json_t *)value, name, item)
	{
		struct path service_path = path_key(path, name);
		struct service *service = &config->services[config->service_count];

		service->name = strdup(name);
		if (!service->name)
			return -ENOMEM;
		config->service_count++;
		result_add(&result, parse_object_name(parser, &service_path, name));
		result_add(&result, parse_entries(parser, &service_path, item, service));
	}
	for (size_t i = 0; i < shipped_service_count; i++) {
		if (json_object_get(value, shipped_services[i].name))
			continue;
		r = ship(&config->services[config->service_count++], &shipped_services[i]);
		if (r < 0)
			return r;
	}
	qsort(config->services, config->service_count, sizeof(*config->services), service_compare);
	return result;
}
