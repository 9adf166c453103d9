/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neutron's objects, gathered from all files before anything is made of them.
 */
#ifndef CLI_IMPORT_NEUTRON_H
#define CLI_IMPORT_NEUTRON_H

#include "import_json.h"

struct neutron_object {
	const json_t *json; /* lent by its file; fields as in the API */
	uint32_t file;
	char *path; /* in that file */
};

struct neutron_objects {
	struct neutron_object *items;
	size_t count, room;
};

struct neutron {
	struct import *import;
	struct neutron_objects groups, rules, address_groups, ports;
	json_t *made;      /* array that owns what was made from tables of the client */
	json_t *names;     /* id of a group → its name in the policy */
	json_t *sets;      /* id of an address group → its name in the policy */
	json_t *rule_ids;  /* those that are in the policy */
	json_t *elsewhere; /* group → array of addresses of ports on other hosts */
};

/* A text field; NULL where it is absent, null or empty. */
const char *neutron_text(const json_t *object, const char *field);
/* Adds an object; `path` changes hands. */
void neutron_add(struct neutron_objects *objects, const json_t *json, uint32_t file, char *path);
/* Takes rows of the client's tables; false where the array is not one of those it knows. */
bool neutron_take_table(struct neutron *neutron, const struct import_value *value);
/* The fields of one rule that say which packets, as those of a security group's rule. false: left out,
 * and told. */
bool neutron_match(struct neutron *neutron, const struct neutron_object *rule, json_t *target);
/* Makes the ports. */
void neutron_ports(struct neutron *neutron);

#endif
