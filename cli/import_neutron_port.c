/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of Neutron: interfaces that wear security groups and may use some addresses. */
#include <string.h>

#include "import_address.h"
#include "import_neutron.h"
#include "memory.h"

static void left(struct neutron *neutron, const struct neutron_object *port, const char *field,
		 const char *why)
{
	_cleanup_free_ char *path = memory_format("%s.%s", port->path, field);

	import_json_left(neutron->import, port->file, path, "port %s: %s",
			 neutron_text(port->json, "id"), why);
}

/* The entry of this MAC, made if there is none. */
static json_t *entry_of(json_t *addresses, const char *mac)
{
	json_t *entry;
	size_t i;

	json_array_foreach(addresses, i, entry)
	{
		if (strcmp(json_string_value(json_object_get(entry, "mac")), mac) == 0)
			return json_object_get(entry, "ips");
	}
	entry = memory_check(json_object());
	import_put_text(entry, "mac", mac);
	import_put(entry, "ips", json_array());
	import_push(addresses, entry);
	return json_object_get(entry, "ips");
}

static void add_address(struct neutron *neutron, const struct neutron_object *port,
			const char *field, json_t *addresses, const char *mac, const char *ip)
{
	struct import_prefix prefix;
	char mac_text[IMPORT_PREFIX_SIZE], text[IMPORT_PREFIX_SIZE];

	if (!mac || !import_mac_format(mac, NULL, mac_text)) {
		left(neutron, port, field, "its MAC address cannot be read");
		return;
	}
	if (!ip) {
		entry_of(addresses, mac_text);
		return;
	}
	if (!import_prefix_parse(ip, &prefix)) {
		left(neutron, port, field, "an address of it cannot be read");
		return;
	}
	import_prefix_format(&prefix, text);
	import_push_once(entry_of(addresses, mac_text), text);
}

static json_t *addresses_of(struct neutron *neutron, const struct neutron_object *port)
{
	json_t *addresses = memory_check(json_array());
	const char *mac = neutron_text(port->json, "mac_address");
	const json_t *fixed = json_object_get(port->json, "fixed_ips");
	const json_t *item;
	size_t i;

	if (mac && json_array_size(fixed) == 0)
		add_address(neutron, port, "mac_address", addresses, mac, NULL);
	json_array_foreach(fixed, i, item) add_address(neutron, port, "fixed_ips", addresses, mac,
						       neutron_text(item, "ip_address"));
	json_array_foreach(json_object_get(port->json, "allowed_address_pairs"), i, item)
	{
		const char *own = neutron_text(item, "mac_address");

		add_address(neutron, port, "allowed_address_pairs", addresses, own ? own : mac,
			    neutron_text(item, "ip_address"));
	}
	return addresses;
}

static json_t *groups_of(struct neutron *neutron, const struct neutron_object *port)
{
	json_t *names = memory_check(json_array());
	const json_t *id;
	size_t i;

	json_array_foreach(json_object_get(port->json, "security_groups"), i, id)
	{
		const char *name = json_is_string(id)
					   ? json_string_value(json_object_get(
						     neutron->names, json_string_value(id)))
					   : NULL;

		if (name)
			import_push_once(names, name);
		else
			left(neutron, port, "security_groups",
			     "no file shows a security group that it wears");
	}
	return names;
}

/* The addresses of a port on another host, for the rules that name one of its groups. */
static void add_elsewhere(struct neutron *neutron, const json_t *groups, const json_t *addresses)
{
	struct import_policy *policy = &neutron->import->policy;
	const json_t *group, *entry, *ip;
	size_t i, j, k;

	json_array_foreach(groups, i, group)
	{
		const char *name = json_string_value(group);
		const char *known = json_string_value(json_object_get(neutron->elsewhere, name));

		if (!known) {
			_cleanup_free_ char *wanted = memory_format("%s-elsewhere", name);
			_cleanup_free_ char *own =
				import_name(policy->group_names, wanted, "elsewhere");

			import_put(policy->groups, own, json_pack("{s:[]}", "prefixes"));
			import_put_text(neutron->elsewhere, name, own);
			known = json_string_value(json_object_get(neutron->elsewhere, name));
		}
		json_array_foreach(addresses, j, entry)
		{
			json_array_foreach(json_object_get(entry, "ips"), k, ip) import_push_once(
				json_object_get(json_object_get(policy->groups, known), "prefixes"),
				json_string_value(ip));
		}
	}
}

/* NULL: not known, and told. The caller frees it. */
static char *interface_of(struct neutron *neutron, const struct neutron_object *port)
{
	const char *id = neutron_text(port->json, "id");
	const char *owner = neutron_text(port->json, "device_owner");
	const char *kind = neutron_text(port->json, "binding:vnic_type");
	const char *mapped = import_mapped(neutron->import, id);
	bool is_trunk = owner && strncmp(owner, "trunk:", 6) == 0;

	if (mapped)
		return memory_copy(mapped);
	if (is_trunk || (kind && strcmp(kind, "normal") != 0)) {
		left(neutron, port, is_trunk ? "device_owner" : "binding:vnic_type",
		     "has no tap interface; give --map ID=INTERFACE if this host has another for "
		     "it");
		return NULL;
	}
	return memory_format("tap%.11s", id);
}

static void put_policy(struct neutron *neutron, const struct neutron_object *port, json_t *target,
		       json_t *groups, json_t *addresses)
{
	bool is_secured = !json_is_false(json_object_get(port->json, "port_security_enabled"));

	if (is_secured && json_array_size(groups) > 0) {
		import_put(target, "security_groups", json_incref(groups));
	} else if (is_secured) {
		import_put(target, "from", json_array()); /* Neutron lets nothing through */
		import_put(target, "to", json_array());
	} else if (json_array_size(groups) > 0) {
		left(neutron, port, "security_groups",
		     "wears security groups, but its port security is off, so that they do not "
		     "hold: it is left without them");
	}
	if (json_array_size(addresses) == 0)
		return;
	import_put(target, "addresses", json_incref(addresses));
	if (!is_secured)
		import_put(target, "anti_spoof", json_false());
}

static void make_port(struct neutron *neutron, const struct neutron_object *port)
{
	struct import_policy *policy = &neutron->import->policy;
	const char *host = neutron_text(port->json, "binding:host_id");
	const char *name = neutron_text(port->json, "name");
	json_auto_t *groups = groups_of(neutron, port);
	json_auto_t *addresses = addresses_of(neutron, port);
	_cleanup_free_ char *interface = NULL, *own = NULL;
	json_t *target;

	if (neutron->import->host && (!host || strcmp(host, neutron->import->host) != 0)) {
		add_elsewhere(neutron, groups, addresses);
		return;
	}
	interface = interface_of(neutron, port);
	if (!interface)
		return;
	target = memory_check(json_object());
	own = import_name(policy->ports, name, interface);
	if (neutron_text(port->json, "description"))
		import_put_text(target, "description", neutron_text(port->json, "description"));
	import_put(target, "labels",
		   json_pack("{s:s}", "neutron-id", neutron_text(port->json, "id")));
	import_put_text(target, "interface", interface);
	put_policy(neutron, port, target, groups, addresses);
	import_put(policy->ports, own, target);
}

void neutron_ports(struct neutron *neutron)
{
	for (size_t i = 0; i < neutron->ports.count; i++) {
		const struct neutron_object *port = &neutron->ports.items[i];
		const char *owner = neutron_text(port->json, "device_owner");

		/* routers, DHCP and metadata ports are no interfaces of workloads */
		if (!owner || strncmp(owner, "network:", 8) != 0)
			make_port(neutron, port);
	}
}
