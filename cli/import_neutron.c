/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neutron: security groups and ports. Its directions are seen from the instance: `ingress` goes to it,
 * which is `to` here, `egress` comes from it.
 */
#include "import_neutron.h"

#include <string.h>

#include "import_address.h"
#include "memory.h"
#include "value.h"

const char *neutron_text(const json_t *object, const char *field)
{
	const char *text = json_string_value(json_object_get(object, field));

	return text && text[0] != '\0' ? text : NULL;
}

void neutron_add(struct neutron_objects *objects, const json_t *json, uint32_t file, char *path)
{
	objects->items = memory_grow(objects->items, objects->count, &objects->room,
				     sizeof(*objects->items));
	objects->items[objects->count++] =
		(struct neutron_object){.json = json, .file = file, .path = path};
}

/* ── reading ────────────────────────────────────────────────────────────────────────────────────── */

static void add_array(struct neutron *neutron, struct neutron_objects *objects,
		      const struct import_value *value, const json_t *array, const char *path)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(array)) {
		import_json_error(neutron->import, value->file, path, "must be a list");
		return;
	}
	json_array_foreach(array, i, item)
	{
		_cleanup_free_ char *item_path = memory_format("%s[%zu]", path, i);

		if (!json_is_object(item) || !neutron_text(item, "id"))
			import_json_error(neutron->import, value->file, item_path,
					  "must be an object with an id");
		else
			neutron_add(objects, item, value->file, TAKE_PTR(item_path));
	}
}

static void take_group_rules(struct neutron *neutron, const struct import_value *value,
			     size_t first)
{
	size_t end = neutron->groups.count;

	for (size_t i = first; i < end; i++) {
		const struct neutron_object *group = &neutron->groups.items[i];
		const json_t *rules = json_object_get(group->json, "security_group_rules");
		_cleanup_free_ char *path = memory_format("%s.security_group_rules", group->path);

		if (rules)
			add_array(neutron, &neutron->rules, value, rules, path);
	}
}

/* An answer of the API: one or several collections, or one object under its singular name. */
static void take_object(struct neutron *neutron, const struct import_value *value)
{
	const struct {
		const char *many, *one;
		struct neutron_objects *objects;
	} kinds[] = {
		{"security_groups", "security_group", &neutron->groups},
		{"security_group_rules", "security_group_rule", &neutron->rules},
		{"address_groups", "address_group", &neutron->address_groups},
		{"ports", "port", &neutron->ports},
	};
	size_t first = neutron->groups.count;
	bool is_known = false;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *many = json_object_get(value->json, kinds[i].many);
		const json_t *one = json_object_get(value->json, kinds[i].one);

		if (many)
			add_array(neutron, kinds[i].objects, value, many, kinds[i].many);
		if (json_is_object(one) && neutron_text(one, "id"))
			neutron_add(kinds[i].objects, one, value->file, memory_copy(kinds[i].one));
		is_known = is_known || many || one;
	}
	take_group_rules(neutron, value, first);
	if (!is_known)
		import_json_error(neutron->import, value->file, "",
				  "holds none of security_groups, security_group_rules, "
				  "address_groups and ports");
}

static void take_value(struct neutron *neutron, const struct import_value *value)
{
	if (json_is_object(value->json))
		take_object(neutron, value);
	else if (!json_is_array(value->json) || !neutron_take_table(neutron, value))
		import_json_error(neutron->import, value->file, "",
				  "is neither an answer of the API nor a list of security group "
				  "rules or security groups of the client");
}

/* ── groups ─────────────────────────────────────────────────────────────────────────────────────── */

static void make_address_group(struct neutron *neutron, const struct neutron_object *object)
{
	struct import_policy *policy = &neutron->import->policy;
	const char *id = neutron_text(object->json, "id");
	_cleanup_free_ char *name = NULL;
	json_t *group = memory_check(json_object()), *prefixes = memory_check(json_array());
	const json_t *address;
	size_t i;

	json_array_foreach(json_object_get(object->json, "addresses"), i, address)
	{
		struct import_prefix prefix;
		char text[IMPORT_PREFIX_SIZE];

		if (!json_is_string(address) ||
		    !import_prefix_parse(json_string_value(address), &prefix)) {
			_cleanup_free_ char *path =
				memory_format("%s.addresses[%zu]", object->path, i);

			import_json_error(neutron->import, object->file, path,
					  "must be an address or a prefix");
			continue;
		}
		import_prefix_format(&prefix, text);
		import_push_once(prefixes, text);
	}
	name = import_name(policy->group_names, neutron_text(object->json, "name"), id);
	import_put_text(neutron->sets, id, name);
	if (neutron_text(object->json, "description"))
		import_put_text(group, "description", neutron_text(object->json, "description"));
	import_put(group, "prefixes", prefixes);
	import_put(policy->groups, name, group);
}

/* The group of an id, made if no file shows it. */
static json_t *group_of(struct neutron *neutron, const char *id, const json_t *shown)
{
	struct import_policy *policy = &neutron->import->policy;
	const char *known = json_string_value(json_object_get(neutron->names, id));
	_cleanup_free_ char *name = NULL, *otherwise = NULL;
	json_t *group;

	if (known)
		return json_object_get(policy->security_groups, known);
	otherwise = memory_format("sg-%.8s", id);
	name = import_name(policy->group_names, neutron_text(shown, "name"), otherwise);
	group = memory_check(json_object());
	if (neutron_text(shown, "description"))
		import_put_text(group, "description", neutron_text(shown, "description"));
	import_put(group, "labels", json_pack("{s:s}", "neutron-id", id));
	if (json_is_false(json_object_get(shown, "stateful")))
		import_put(group, "stateful", json_false());
	import_put(group, "rules", json_array());
	import_put_text(neutron->names, id, name);
	import_put(policy->security_groups, name, group);
	return group;
}

static bool put_direction(struct neutron *neutron, const struct neutron_object *rule,
			  json_t *target)
{
	const char *direction = neutron_text(rule->json, "direction");

	if (direction && strcmp(direction, "ingress") == 0) {
		import_put_text(target, "direction", "to");
	} else if (direction && strcmp(direction, "egress") == 0) {
		import_put_text(target, "direction", "from");
	} else {
		import_json_error(neutron->import, rule->file, rule->path,
				  "needs a direction, ingress or egress");
		return false;
	}
	return true;
}

static void make_rule(struct neutron *neutron, const struct neutron_object *rule)
{
	const char *id = neutron_text(rule->json, "id");
	const char *group_id = neutron_text(rule->json, "security_group_id");
	json_auto_t *target = memory_check(json_object());

	if (!group_id) {
		import_json_error(neutron->import, rule->file, rule->path,
				  "needs a security_group_id");
		return;
	}
	if (json_object_get(neutron->rule_ids, id))
		return; /* in the list of rules, and in that of its group */
	import_put(neutron->rule_ids, id, json_true());
	import_put_text(target, "id", id);
	if (!put_direction(neutron, rule, target) || !neutron_match(neutron, rule, target))
		return;
	if (neutron_text(rule->json, "description"))
		import_put_text(target, "description", neutron_text(rule->json, "description"));
	import_push(json_object_get(group_of(neutron, group_id, NULL), "rules"),
		    json_incref(target));
}

/* ── all of it ──────────────────────────────────────────────────────────────────────────────────── */

static void make(struct neutron *neutron)
{
	for (size_t i = 0; i < neutron->address_groups.count; i++)
		make_address_group(neutron, &neutron->address_groups.items[i]);
	for (size_t i = 0; i < neutron->groups.count; i++) {
		const json_t *group = neutron->groups.items[i].json;

		group_of(neutron, neutron_text(group, "id"), group);
	}
	/* a group that only its rules show must have its name before another rule refers to it */
	for (size_t i = 0; i < neutron->rules.count; i++) {
		const char *id = neutron_text(neutron->rules.items[i].json, "security_group_id");

		if (id)
			group_of(neutron, id, NULL);
	}
	neutron_ports(neutron);
	for (size_t i = 0; i < neutron->rules.count; i++)
		make_rule(neutron, &neutron->rules.items[i]);
}

static void fini_objects(struct neutron_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++)
		free(objects->items[i].path);
	free(objects->items);
}

void import_neutron(struct import *import)
{
	struct neutron neutron = {
		.import = import,
		.made = memory_check(json_array()),
		.names = memory_check(json_object()),
		.sets = memory_check(json_object()),
		.rule_ids = memory_check(json_object()),
		.elsewhere = memory_check(json_object()),
	};
	struct import_values values;

	import_json_read(&values, import);
	for (size_t i = 0; i < values.count; i++)
		take_value(&neutron, &values.items[i]);
	if (import->errors.count == 0)
		make(&neutron);
	fini_objects(&neutron.groups);
	fini_objects(&neutron.rules);
	fini_objects(&neutron.address_groups);
	fini_objects(&neutron.ports);
	json_decref(neutron.made);
	json_decref(neutron.names);
	json_decref(neutron.sets);
	json_decref(neutron.rule_ids);
	json_decref(neutron.elsewhere);
	import_json_fini(&values);
}
