/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of `openstack … list -f json`: rows with headings for people, put back to the fields of the API.
 */
#include <stdio.h>
#include <string.h>

#include "import_neutron.h"
#include "memory.h"

static void copy_text(json_t *target, const char *field, const json_t *row, const char *heading)
{
	if (neutron_text(row, heading))
		import_put_text(target, field, neutron_text(row, heading));
}

/* "80:443", "type=8", "type=3:code=4", "". */
static bool put_range(json_t *target, const char *range)
{
	int first, last, end = 0;

	if (sscanf(range, "%d:%d%n", &first, &last, &end) == 2 && range[end] == '\0') {
		import_put(target, "port_range_max", json_integer(last));
	} else if (sscanf(range, "type=%d:code=%d%n", &first, &last, &end) == 2 &&
		   range[end] == '\0') {
		import_put(target, "port_range_max", json_integer(last));
	} else if (sscanf(range, "type=%d%n", &first, &end) != 1 || range[end] != '\0') {
		return false;
	}
	import_put(target, "port_range_min", json_integer(first));
	return true;
}

static json_t *keep(struct neutron *neutron, json_t *object)
{
	import_push(neutron->made, object);
	return object;
}

static void take_rule(struct neutron *neutron, const struct import_value *value, const json_t *row,
		      size_t index)
{
	json_t *rule = keep(neutron, json_object());
	const char *range = neutron_text(row, "Port Range");
	char *path = memory_format("[%zu]", index);

	copy_text(rule, "id", row, "ID");
	copy_text(rule, "ethertype", row, "Ethertype");
	copy_text(rule, "direction", row, "Direction");
	copy_text(rule, "protocol", row, "IP Protocol");
	copy_text(rule, "remote_ip_prefix", row, "IP Range");
	copy_text(rule, "remote_group_id", row, "Remote Security Group");
	copy_text(rule, "remote_address_group_id", row, "Remote Address Group");
	copy_text(rule, "security_group_id", row, "Security Group");
	if (!neutron_text(rule, "id") || (range && !put_range(rule, range)))
		import_json_error(neutron->import, value->file, path,
				  "is no row of 'openstack security group rule list'");
	/* the client shows the code 0 as none: what was narrow would become wide */
	if (range && strncmp(range, "type=", 5) == 0 && !strchr(range, ':'))
		import_json_left(neutron->import, value->file, path,
				 "rule %s: this table does not show whether its ICMP code is 0 or "
				 "any; any is taken: import the answer of GET "
				 "/v2.0/security-groups instead",
				 neutron_text(rule, "id") ? neutron_text(rule, "id") : "");
	neutron_add(&neutron->rules, rule, value->file, path);
}

static void take_group(struct neutron *neutron, const struct import_value *value, const json_t *row,
		       size_t index)
{
	json_t *group = keep(neutron, json_object());
	char *path = memory_format("[%zu]", index);

	copy_text(group, "id", row, "ID");
	copy_text(group, "name", row, "Name");
	copy_text(group, "description", row, "Description");
	if (!neutron_text(group, "id"))
		import_json_error(neutron->import, value->file, path,
				  "is no row of 'openstack security group list'");
	neutron_add(&neutron->groups, group, value->file, path);
}

bool neutron_take_table(struct neutron *neutron, const struct import_value *value)
{
	const json_t *first = json_array_get(value->json, 0), *row;
	bool is_rules =
		json_object_get(first, "IP Protocol") && json_object_get(first, "Direction");
	bool is_groups = !is_rules && json_object_get(first, "Name") &&
			 !json_object_get(first, "MAC Address");
	size_t i;

	if (json_array_size(value->json) == 0)
		return true;
	if (is_rules && !json_object_get(first, "Security Group")) {
		import_json_error(neutron->import, value->file, "[0]",
				  "does not show the security group of each rule: list the rules "
				  "of all groups, without naming one");
		return true;
	}
	json_array_foreach(value->json, i, row)
	{
		if (is_rules)
			take_rule(neutron, value, row, i);
		else if (is_groups)
			take_group(neutron, value, row, i);
	}
	return is_rules || is_groups;
}
