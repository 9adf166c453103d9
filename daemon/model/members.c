/* SPDX-License-Identifier: Apache-2.0 */
/* Ports as members of groups. */
#include "model/members.h"

#include <stdio.h>
#include <string.h>

#include "model/objects.h"

struct member_port {
	const char *name; /* first: found by it */
	const json_t *value;
	struct prefix *hosts;
	size_t host_count;
};

struct members {
	struct member_port *ports; /* those of the document by name, then instances of templates */
	size_t count;
	size_t document_count;
	json_t *by_label; /* label_key ─► list of places in `ports`; ports without hosts are left out */
	json_t *by_group; /* name ─► the same */
	size_t visits;    /* ports looked at for labels, against MODEL_MAX_RANGES */
};

void members_free(struct members *members)
{
	for (size_t i = 0; i < members->count; i++)
		free(members->ports[i].hosts);
	free(members->ports);
	json_decref(members->by_label);
	json_decref(members->by_group);
	free(members);
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

static bool is_within(const struct prefix *host, const char *text)
{
	unsigned int width = host->family == 4 ? 32 : 128;
	struct prefix prefix;

	if (prefix_parse(&prefix, text) < 0 || prefix.family != host->family)
		return false;
	return (host->address ^ prefix.address) >> (width - prefix.length) == 0;
}

static bool is_member(const struct prefix *prefix)
{
	static const char *const never[] = {
		"0.0.0.0", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255",
		"::",      "fe80::/10",      "ff00::/8"};

	if (prefix->length < (prefix->family == 4 ? 32 : 128))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (is_within(prefix, never[i]))
			return false;
	return true;
}

static int add_host(struct member_port *port, const struct prefix *host)
{
	struct prefix *hosts = port->hosts;

	if (!(port->host_count & (port->host_count - 1))) {
		size_t capacity = port->host_count ? port->host_count * 2 : 1;

		hosts = reallocarray(port->hosts, capacity, sizeof(*hosts));
		if (!hosts)
			return -ENOMEM;
		port->hosts = hosts;
	}
	hosts[port->host_count++] = *host;
	return 0;
}

static int gather_hosts(struct member_port *port)
{
	const json_t *addresses = json_object_get(port->value, "addresses");

	for (size_t i = 0; addresses && i < list_count(addresses); i++) {
		const json_t *ips = json_object_get(list_item(addresses, i), "ips");

		for (size_t j = 0; ips && j < list_count(ips); j++) {
			const char *text = json_string_value(list_item(ips, j));
			struct prefix host;
			int r = 0;

			if (text && !prefix_parse(&host, text) && is_member(&host))
				r = add_host(port, &host);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* ── indices ────────────────────────────────────────────────────────────────────────────────────── */

static int index_add(json_t *index, const char *key, size_t place)
{
	json_t *list = json_object_get(index, key);

	if (!list) {
		int r = json_put(index, key, json_array());

		if (r < 0)
			return r;
		list = json_object_get(index, key);
	}
	return json_push(list, json_integer((json_int_t)place));
}

/* Keys of different labels may be equal, so what is found by them is compared again. */
static char *label_key(const char *name, const char *value)
{
	char *key = NULL;

	return asprintf(&key, "%s=%s", name, value) < 0 ? NULL : key;
}

static int index_labels(struct members *members, size_t place)
{
	json_t *labels = json_object_get(members->ports[place].value, "labels");
	const char *name;
	json_t *value;

	json_object_foreach(labels, name, value)
	{
		_cleanup_free_ char *key =
			json_is_string(value) ? label_key(name, json_string_value(value)) : NULL;
		int r;

		if (!json_is_string(value))
			continue;
		r = key ? index_add(members->by_label, key, place) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

static int index_groups(struct members *members, size_t place, const char *field)
{
	const json_t *names = json_object_get(members->ports[place].value, field);

	for (size_t i = 0; names && i < list_count(names); i++) {
		const char *name = json_string_value(list_item(names, i));
		int r = name ? index_add(members->by_group, name, place) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static int index_port(struct members *members, size_t place)
{
	int r = gather_hosts(&members->ports[place]);

	if (r < 0 || !members->ports[place].host_count)
		return r;
	r = index_labels(members, place);
	if (!r)
		r = index_groups(members, place, "groups");
	return r < 0 ? r : index_groups(members, place, "security_groups");
}

/* ── gathering ──────────────────────────────────────────────────────────────────────────────────── */

static int port_compare(const void *a, const void *b)
{
	const struct member_port *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void list_ports(struct members *members, const json_t *document,
		       const struct config_runtime *runtime)
{
	json_t *ports = json_object_get(document, object_kind_names[OBJECT_PORT]);
	const json_t *templates =
		json_object_get(document, object_kind_names[OBJECT_PORT_TEMPLATE]);
	const char *name;
	json_t *value;

	json_object_foreach(ports, name, value) members->ports[members->count++] =
		(struct member_port){.name = name, .value = value};
	qsort(members->ports, members->count, sizeof(*members->ports), port_compare);
	members->document_count = members->count;
	for (size_t i = 0; runtime && i < runtime->instance_count; i++)
		members->ports[members->count++] = (struct member_port){
			.name = runtime->instances[i].interface,
			.value = json_object_get(templates, runtime->instances[i].template),
		};
}

int members_gather(struct members **ret_members, const json_t *document,
		   const struct config_runtime *runtime)
{
	_cleanup_(members_freep) struct members *members = calloc(1, sizeof(*members));
	size_t count = json_object_size(json_object_get(document, object_kind_names[OBJECT_PORT])) +
		       (runtime ? runtime->instance_count : 0);

	if (!members)
		return -ENOMEM;
	members->by_label = json_object();
	members->by_group = json_object();
	members->ports = calloc(count + 1, sizeof(*members->ports));
	if (!members->by_label || !members->by_group || !members->ports)
		return -ENOMEM;
	list_ports(members, document, runtime);
	for (size_t i = 0; i < members->count; i++) {
		int r = index_port(members, i);

		if (r < 0)
			return r;
	}
	*ret_members = TAKE_PTR(members);
	return 0;
}

/* ── what groups ask for ────────────────────────────────────────────────────────────────────────── */

static int add_hosts(struct parser *parser, const struct path *path, const struct member_port *port,
		     struct addrset *set)
{
	int r = ranges_charge(parser, path, port->host_count);

	for (size_t i = 0; !r && i < port->host_count; i++)
		r = addrset_add(set, &port->hosts[i]);
	return r;
}

static int name_compare(const void *name, const void *item)
{
	const struct member_port *port = item;

	return strcmp(name, port->name);
}

int members_add_port(struct parser *parser, const struct path *path, const char *port,
		     struct addrset *set)
{
	const struct members *members = parser->members;
	const struct member_port *found = bsearch(port, members->ports, members->document_count,
						  sizeof(*members->ports), name_compare);

	if (!found)
		return parse_not_found(parser, path, "port", port, members->ports,
				       members->document_count, sizeof(*members->ports));
	return add_hosts(parser, path, found, set);
}

static int add_listed(struct parser *parser, const struct path *path, const json_t *places,
		      const json_t *select, struct addrset *set)
{
	struct members *members = parser->members;
	size_t i;
	json_t *place;

	json_array_foreach((json_t *)places, i, place)
	{
		const struct member_port *port = &members->ports[json_integer_value(place)];
		const json_t *labels = json_object_get(port->value, "labels");
		bool is_selected = true;
		const char *name;
		json_t *value;
		int r;

		if (select && ++members->visits > MODEL_MAX_RANGES)
			return parse_error(
				parser, path, ERROR_LIMIT,
				"with this one, the `select` of all groups looks at more "
				"than %u ports",
				MODEL_MAX_RANGES);
		json_object_foreach((json_t *)select, name, value) is_selected =
			is_selected && json_equal(json_object_get(labels, name), value);
		r = is_selected ? add_hosts(parser, path, port, set) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int members_add_selected(struct parser *parser, const struct path *path, const json_t *select,
			 struct addrset *set)
{
	const json_t *shortest = NULL;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)select, name, value)
	{
		_cleanup_free_ char *key = label_key(name, json_string_value(value));
		const json_t *list = key ? json_object_get(parser->members->by_label, key) : NULL;

		if (!key)
			return -ENOMEM;
		if (!list)
			return 0;
		if (!shortest || json_array_size(list) < json_array_size(shortest))
			shortest = list;
	}
	return add_listed(parser, path, shortest, select, set);
}

int members_add_named(struct parser *parser, const struct path *path, const char *group,
		      struct addrset *set)
{
	const json_t *places = json_object_get(parser->members->by_group, group);

	return add_listed(parser, path, places, NULL, set);
}
