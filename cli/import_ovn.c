/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OVN: logical ports with the ACLs that hold for them. from-lport is traffic that comes from the port,
 * `from` here; to-lport goes to it.
 */
#include "import_ovn.h"

#include <string.h>

#include "memory.h"
#include "value.h"

/* Neutron calls the interface of a port so; its logical port is called as the port's id. */
static bool is_uuid(const char *name)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (strlen(name) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i]; i++) {
		if (shape[i] == '-' ? name[i] != '-' : !strchr("0123456789abcdef", name[i]))
			return false;
	}
	return true;
}

/* The interface of a logical port on this host; NULL: it has none here. The caller frees it. */
static char *interface_of(struct ovn *ovn, const struct ovn_row *port)
{
	const struct ovn_rows *rows = &ovn->tables[OVN_TABLE_INTERFACE];
	const char *name = ovn_text(port, "name");
	const char *mapped = import_mapped(ovn->import, name);

	if (mapped)
		return memory_copy(mapped);
	for (size_t i = 0; i < rows->count; i++) {
		if (strcmp(ovn_option(&rows->items[i], "external_ids", "iface-id"), name) == 0)
			return memory_copy(ovn_text(&rows->items[i], "name"));
	}
	if (ovn->has_table[OVN_TABLE_INTERFACE])
		return NULL;
	if (ovn_text(port, "parent_name")[0]) {
		import_json_left(ovn->import, port->file, port->path,
				 "port %s: is inside port %s by a tag; give --map %s=INTERFACE if "
				 "this host has an interface for it",
				 name, ovn_text(port, "parent_name"), name);
		return NULL;
	}
	if (is_uuid(name))
		return memory_format("tap%.11s", name);
	if (import_is_interface(name))
		return memory_copy(name);
	import_json_left(ovn->import, port->file, port->path,
			 "port %s: no interface can have its name; give --map %s=INTERFACE, or the "
			 "host's 'ovs-vsctl --format=json list Interface'",
			 name, name);
	return NULL;
}

/* Ports of routers, of the physical network and the like have no workload behind them. */
static bool is_workload(const struct ovn_row *port)
{
	return ovn_text(port, "type")[0] == '\0';
}

static void put_addresses(struct ovn *ovn, const struct ovn_row *port, json_t *target)
{
	json_auto_t *secured = ovn_addresses(ovn, port, true);
	json_auto_t *known = ovn_addresses(ovn, port, false);
	bool is_secured = json_array_size(secured) > 0;

	if (is_secured)
		import_put(target, "addresses", json_incref(secured));
	else if (json_array_size(known) > 0)
		import_put(target, "addresses", json_incref(known));
	if (!is_secured && json_array_size(known) > 0)
		import_put(target, "anti_spoof", json_false());
}

static void put_lists(struct ovn *ovn, const struct ovn_row *port, json_t *target)
{
	static const char *const directions[] = {"from", "to"};
	const json_t *enabled = json_object_get(port->columns, "enabled");
	bool is_off =
		json_is_false(json_array_size(enabled) == 1 ? json_array_get(enabled, 0) : enabled);

	for (int i = 0; i < 2; i++) {
		json_t *lists = ovn_acls(ovn, port, directions[i]);

		if (is_off) {
			json_decref(lists);
			lists = memory_check(json_array());
		}
		if (lists)
			import_put(target, directions[i], lists);
	}
}

static void make_port(struct ovn *ovn, const struct ovn_row *port, const char *interface)
{
	struct import_policy *policy = &ovn->import->policy;
	const char *name = value_member(ovn->port_names, ovn_text(port, "name"));
	json_t *target = memory_check(json_object());

	import_put_text(target, "interface", interface);
	put_lists(ovn, port, target);
	put_addresses(ovn, port, target);
	import_put(policy->ports, name, target);
}

/* Names first: groups of ports refer to them. */
static void make_ports(struct ovn *ovn)
{
	const struct ovn_rows *rows = &ovn->tables[OVN_TABLE_PORT];
	char **interfaces = memory_check(calloc(rows->count + 1, sizeof(*interfaces)));

	for (size_t i = 0; i < rows->count; i++) {
		const char *name = ovn_text(&rows->items[i], "name");
		_cleanup_free_ char *own = NULL;

		if (!is_workload(&rows->items[i]))
			continue;
		interfaces[i] = interface_of(ovn, &rows->items[i]);
		if (!interfaces[i])
			continue;
		own = import_name(ovn->import->policy.ports, name, interfaces[i]);
		import_put_text(ovn->port_names, name, own);
	}
	for (size_t i = 0; i < rows->count; i++) {
		if (interfaces[i])
			make_port(ovn, &rows->items[i], interfaces[i]);
		free(interfaces[i]);
	}
	free(interfaces);
}

/* Puts every text that begins with '@' into `words`. */
static void find_words(json_t *words, const json_t *value)
{
	const json_t *item;
	const char *key;
	size_t i;

	if (json_is_string(value) && json_string_value(value)[0] == '@')
		import_put(words, json_string_value(value) + 1, json_true());
	json_array_foreach(value, i, item) find_words(words, item);
	json_object_foreach((json_t *)value, key, item) find_words(words, item);
}

/* Groups were made while expressions were read, some of which were left out after all. */
static void drop_unused(struct import_policy *policy)
{
	json_auto_t *words = memory_check(json_object());
	const json_t *name;
	const char *key;
	json_t *group;
	void *next;
	size_t i;

	find_words(words, policy->acls);
	/* groups of groups are made from rules, one deep */
	json_object_foreach(policy->groups, key, group)
	{
		json_array_foreach(json_object_get(group, "groups"), i, name)
		{
			if (json_object_get(words, key))
				import_put(words, json_string_value(name), json_true());
		}
	}
	json_object_foreach_safe(policy->groups, next, key, group)
	{
		if (!json_object_get(words, key))
			json_object_del(policy->groups, key);
	}
}

static void check_tables(struct ovn *ovn)
{
	static const struct {
		enum ovn_table table;
		const char *name;
	} needed[] = {
		{OVN_TABLE_ACL, "ACL"},
		{OVN_TABLE_SWITCH, "Logical_Switch"},
		{OVN_TABLE_PORT, "Logical_Switch_Port"},
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!ovn->has_table[needed[i].table])
			problems_add(&ovn->import->errors, NULL, 0, 0,
				     "no file shows the table %s: ovn-nbctl --format=json "
				     "--pretty list %s",
				     needed[i].name, needed[i].name);
	}
}

void import_ovn(struct import *import)
{
	struct ovn ovn = {
		.import = import,
		.sets = memory_check(json_object()),
		.port_names = memory_check(json_object()),
		.lists = memory_check(json_object()),
	};
	struct import_values values;

	import_json_read(&values, import);
	ovn_tables_read(&ovn, &values);
	if (import->errors.count == 0)
		check_tables(&ovn);
	if (import->errors.count == 0)
		make_ports(&ovn);
	drop_unused(&import->policy);
	ovn_tables_fini(&ovn);
	json_decref(ovn.sets);
	json_decref(ovn.port_names);
	json_decref(ovn.lists);
	import_json_fini(&values);
}
