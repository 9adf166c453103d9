/* SPDX-License-Identifier: Apache-2.0 */
/* Sections as JSON objects, in the order in which a person would write them. */
#include "import_policy.h"

#include <ctype.h>
#include <string.h>

#include "memory.h"

#define NAME_SIZE      63 /* characters of a name */
#define INTERFACE_SIZE 15

void import_policy_init(struct import_policy *policy)
{
	policy->groups = memory_check(json_object());
	policy->security_groups = memory_check(json_object());
	policy->acls = memory_check(json_object());
	policy->macip = memory_check(json_object());
	policy->ports = memory_check(json_object());
	policy->group_names = memory_check(json_object());
	import_put(policy->group_names, "infra", json_true()); /* reserved */
}

void import_policy_fini(struct import_policy *policy)
{
	json_decref(policy->groups);
	json_decref(policy->security_groups);
	json_decref(policy->acls);
	json_decref(policy->macip);
	json_decref(policy->ports);
	json_decref(policy->group_names);
}

json_t *import_policy_document(const struct import_policy *policy)
{
	const struct {
		const char *name;
		json_t *objects;
	} sections[] = {
		{"groups", policy->groups}, {"security_groups", policy->security_groups},
		{"acls", policy->acls},     {"macip", policy->macip},
		{"ports", policy->ports},
	};
	json_t *document = memory_check(json_object());

	import_put_text(document, "schema", "secg/1");
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (json_object_size(sections[i].objects) > 0)
			import_put(document, sections[i].name, json_incref(sections[i].objects));
	}
	return document;
}

/* What has no place in a name becomes '-', once a run; none at the ends. */
static char *clean(const char *wanted)
{
	char *name = memory_check(calloc(1, NAME_SIZE + 1));
	size_t size = 0;

	for (; *wanted && size < NAME_SIZE; wanted++) {
		char c = (char)tolower((unsigned char)*wanted);

		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", c))
			c = '-';
		if (c != '-' || (size > 0 && name[size - 1] != '-'))
			name[size++] = c;
	}
	while (size > 0 && name[size - 1] == '-')
		size--;
	name[size] = '\0';
	return name;
}

char *import_name(json_t *taken, const char *wanted, const char *otherwise)
{
	_cleanup_free_ char *base = clean(wanted ? wanted : "");
	char *name;

	if (base[0] == '\0') {
		free(base);
		base = clean(otherwise);
	}
	name = memory_copy(base);
	for (unsigned int i = 2; json_object_get(taken, name); i++) {
		int room = NAME_SIZE - snprintf(NULL, 0, "-%u", i);

		free(name);
		name = memory_format("%.*s-%u", room, base, i);
	}
	import_put(taken, name, json_true());
	return name;
}

bool import_is_interface(const char *name)
{
	size_t size = strlen(name);

	if (size == 0 || size > INTERFACE_SIZE || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	for (; *name; name++) {
		if (strchr("/:", *name) || isspace((unsigned char)*name))
			return false;
	}
	return true;
}

void import_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, memory_check(value)) < 0)
		memory_check(NULL);
}

void import_put_text(json_t *object, const char *key, const char *text)
{
	import_put(object, key, json_string(text));
}

void import_push(json_t *array, json_t *value)
{
	if (json_array_append_new(array, memory_check(value)) < 0)
		memory_check(NULL);
}

void import_push_text(json_t *array, const char *text)
{
	import_push(array, json_string(text));
}

void import_push_once(json_t *array, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		if (json_is_string(item) && strcmp(json_string_value(item), text) == 0)
			return;
	}
	import_push_text(array, text);
}
