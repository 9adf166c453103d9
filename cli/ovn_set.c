/* SPDX-License-Identifier: Apache-2.0 */
/* Address sets and port groups of OVN as groups; the addresses of logical ports. */
#include <string.h>

#include "import_address.h"
#include "import_ovn.h"
#include "memory.h"
#include "value.h"

/* ── ports ──────────────────────────────────────────────────────────────────────────────────────── */

/* 10.0.0.4/24 is the host 10.0.0.4 in port security, 10.0.0.0/24 the network. */
static void add_ip(json_t *ips, const char *text)
{
	struct import_prefix prefix;
	char plain[IMPORT_PREFIX_SIZE];

	if (!import_prefix_parse(text, &prefix))
		return;
	if (import_prefix_has_host_bits(&prefix))
		prefix.length = prefix.family == 4 ? 32 : 128;
	import_prefix_format(&prefix, plain);
	import_push_once(ips, plain);
}

/* "MAC IP IP/LENGTH…"; a MAC alone may use every address. */
static bool add_entry(json_t *entries, const char *text, bool is_secured)
{
	_cleanup_free_ char *words = memory_copy(text);
	char *save = NULL, *word = strtok_r(words, " ,", &save);
	char mac[IMPORT_PREFIX_SIZE];
	json_t *entry, *ips;

	if (!word || !import_mac_format(word, NULL, mac))
		return false;
	entry = memory_check(json_object());
	ips = memory_check(json_array());
	for (word = strtok_r(NULL, " ,", &save); word; word = strtok_r(NULL, " ,", &save))
		add_ip(ips, word);
	if (is_secured && json_array_size(ips) == 0) {
		import_push_text(ips, "0.0.0.0/0");
		import_push_text(ips, "::/0");
	}
	import_put_text(entry, "mac", mac);
	import_put(entry, "ips", ips);
	import_push(entries, entry);
	return true;
}

json_t *ovn_addresses(struct ovn *ovn, const struct ovn_row *port, bool is_secured)
{
	json_auto_t *list = ovn_list(port, is_secured ? "port_security" : "addresses");
	json_t *entries = memory_check(json_array());
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(item);

		/* "dynamic" and "MAC dynamic" are in a column of their own */
		if (strstr(text, "dynamic") || strcmp(text, "unknown") == 0 ||
		    strcmp(text, "router") == 0)
			continue;
		if (!add_entry(entries, text, is_secured))
			import_json_left(ovn->import, port->file, port->path,
					 "port %s: the address '%s' cannot be read",
					 ovn_text(port, "name"), text);
	}
	if (!is_secured && ovn_text(port, "dynamic_addresses")[0])
		add_entry(entries, ovn_text(port, "dynamic_addresses"), false);
	return entries;
}

bool ovn_is_port(void *data, const char *value)
{
	struct ovn *ovn = data;
	const char *name = ovn_text(ovn->port, "name");
	const struct ovn_row *group;

	if (value[0] == '"')
		return strncmp(value + 1, name, strlen(name)) == 0 &&
		       strcmp(value + 1 + strlen(name), "\"") == 0;
	if (value[0] != '@')
		return false;
	group = ovn_find(ovn, OVN_TABLE_GROUP, value + 1);
	return group && ovn_has_port(group, ovn_text(ovn->port, "_uuid"));
}

/* ── sets ───────────────────────────────────────────────────────────────────────────────────────── */

/* The port group of "name_ip4" or "name_ip6", which is the set of its ports' addresses. */
static const struct ovn_row *find_implied(const struct ovn *ovn, const char *set)
{
	size_t size = strlen(set);
	_cleanup_free_ char *name = NULL;

	if (size < 5 ||
	    (strcmp(set + size - 4, "_ip4") != 0 && strcmp(set + size - 4, "_ip6") != 0))
		return NULL;
	name = memory_format("%.*s", (int)size - 4, set);
	return ovn_find(ovn, OVN_TABLE_GROUP, name);
}

static void add_members(json_t *members, const json_t *entries)
{
	const json_t *entry, *ip;
	size_t i, j;

	json_array_foreach(entries, i, entry)
	{
		json_array_foreach(json_object_get(entry, "ips"), j, ip)
			import_push_once(members, json_string_value(ip));
	}
}

/* Kept in the row, so that it can be lent. */
const json_t *ovn_set_members(void *data, const char *set)
{
	struct ovn *ovn = data;
	const struct ovn_row *row = ovn_find(ovn, OVN_TABLE_SET, set);
	json_t *members;

	if (!row)
		row = find_implied(ovn, set);
	if (!row)
		return NULL;
	members = json_object_get(row->columns, "members");
	if (members)
		return members;
	members = ovn_list(row, "addresses");
	for (size_t i = 0; i < ovn->tables[OVN_TABLE_PORT].count; i++) {
		const struct ovn_row *port = &ovn->tables[OVN_TABLE_PORT].items[i];

		if (ovn_has_port(row, ovn_text(port, "_uuid"))) {
			json_auto_t *entries = ovn_addresses(ovn, port, false);

			add_members(members, entries);
		}
	}
	import_put(row->columns, "members", members);
	return members;
}

/* Ports of this host belong to it as ports, those of others by their addresses. */
static void put_group_ports(struct ovn *ovn, const struct ovn_row *row, json_t *group)
{
	json_t *ports = memory_check(json_array()), *prefixes = memory_check(json_array());

	for (size_t i = 0; i < ovn->tables[OVN_TABLE_PORT].count; i++) {
		const struct ovn_row *port = &ovn->tables[OVN_TABLE_PORT].items[i];
		const char *name = value_member(ovn->port_names, ovn_text(port, "name"));
		json_auto_t *entries = NULL;

		if (!ovn_has_port(row, ovn_text(port, "_uuid")))
			continue;
		entries = ovn_addresses(ovn, port, false);
		if (name[0])
			import_push_once(ports, name);
		else
			add_members(prefixes, entries);
	}
	if (json_array_size(ports) > 0)
		import_put(group, "ports", json_incref(ports));
	if (json_array_size(prefixes) > 0 || json_array_size(ports) == 0)
		import_put(group, "prefixes", json_incref(prefixes));
	json_decref(ports);
	json_decref(prefixes);
}

static void put_prefixes(json_t *group, const json_t *members)
{
	json_t *prefixes = memory_check(json_array());
	const json_t *member;
	size_t i;

	json_array_foreach(members, i, member)
	{
		struct import_prefix prefix;
		char text[IMPORT_PREFIX_SIZE];

		if (!import_prefix_parse(json_string_value(member), &prefix))
			continue;
		import_prefix_format(&prefix, text);
		import_push_once(prefixes, text);
	}
	import_put(group, "prefixes", prefixes);
}

char *ovn_set_group(void *data, const char *set)
{
	struct ovn *ovn = data;
	struct import_policy *policy = &ovn->import->policy;
	const struct ovn_row *row = ovn_find(ovn, OVN_TABLE_SET, set);
	const char *wanted = set, *known;
	_cleanup_free_ char *name = NULL, *word = NULL;
	json_t *group;

	if (!row) {
		row = find_implied(ovn, set);
		wanted = ovn_text(row, "name"); /* one group for both families */
	}
	known = value_member(ovn->sets, wanted);
	if (known[0])
		return memory_copy(known);
	name = import_name(policy->group_names, wanted, "set");
	word = memory_format("@%s", name);
	group = memory_check(json_object());
	if (json_object_get(row->columns, "ports"))
		put_group_ports(ovn, row, group);
	else
		put_prefixes(group, ovn_set_members(ovn, set));
	import_put(policy->groups, name, group);
	import_put_text(ovn->sets, wanted, word);
	return TAKE_PTR(word);
}

char *ovn_set_except(void *data, const json_t *prefixes, const json_t *except, int family)
{
	struct ovn *ovn = data;
	struct import_policy *policy = &ovn->import->policy;
	json_auto_t *group = memory_check(json_object());
	json_t *own = memory_check(json_array()), *groups = memory_check(json_array());
	_cleanup_free_ char *name = NULL;
	const json_t *item, *other;
	const char *key;
	size_t i;

	if (!prefixes)
		import_push_text(own, family == 4 ? "0.0.0.0/0" : "::/0");
	json_array_foreach(prefixes, i, item)
	{
		const char *text = json_string_value(item);

		import_push_text(text[0] == '@' ? groups : own, text + (text[0] == '@'));
	}
	if (json_array_size(own) > 0)
		import_put(group, "prefixes", json_incref(own));
	import_put(group, "except", json_incref((json_t *)except));
	if (json_array_size(groups) > 0)
		import_put(group, "groups", json_incref(groups));
	json_decref(own);
	json_decref(groups);
	json_object_foreach(policy->groups, key, other)
	{
		if (json_equal(other, group))
			return memory_format("@%s", key);
	}
	name = import_name(policy->group_names, "all-but", "all-but");
	import_put(policy->groups, name, json_incref(group));
	return memory_format("@%s", name);
}
