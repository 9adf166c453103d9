/* SPDX-License-Identifier: Apache-2.0 */
/* Finding references in a document. */
#include "engine/usage.h"

#include <stdio.h>
#include <string.h>

struct search {
	enum object_kind kind;
	const char *name;
	struct errors *errs;
	int count;
	int r;
};

static bool is_list_with(const json_t *list, const char *text)
{
	size_t i;
	json_t *item;

	if (json_is_string(list))
		return strcmp(json_string_value(list), text) == 0;
	json_array_foreach((json_t *)list, i,
			   item) if (json_is_string(item) &&
				     strcmp(json_string_value(item), text) == 0) return true;
	return false;
}

__attribute__((format(printf, 2, 3))) static void found(struct search *search, const char *format,
							...)
{
	_cleanup_free_ char *field = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&field, format, args);
	va_end(args);
	if (r < 0) {
		field = NULL;
		search->r = -ENOMEM;
		return;
	}
	search->count++;
	r = errors_add(search->errs, ERROR_IN_USE, field, "uses %s", search->name);
	if (r == -ENOMEM)
		search->r = r;
}

static void search_rule(struct search *search, const char *acl, size_t index, const json_t *rule)
{
	static const char *const addresses[] = {"src", "dst"};
	char group[NAME_MAX_LENGTH + 2];

	if (search->kind == OBJECT_SERVICE) {
		if (is_list_with(json_object_get(rule, "service"), search->name))
			found(search, "acls.%s.rules[%zu].service", acl, index);
		return;
	}
	snprintf(group, sizeof(group), "@%s", search->name);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		if (is_list_with(json_object_get(rule, addresses[i]), group))
			found(search, "acls.%s.rules[%zu].%s", acl, index, addresses[i]);
}

static void search_acls(struct search *search, const json_t *acls)
{
	json_t *acl, *rule;
	const char *name;
	size_t i;

	json_object_foreach((json_t *)acls, name, acl)
	{
		json_array_foreach(json_object_get(acl, "rules"), i, rule)
			search_rule(search, name, i, rule);
	}
}

static void search_groups(struct search *search, const json_t *groups)
{
	json_t *group;
	const char *name;

	json_object_foreach((json_t *)groups, name,
			    group) if (is_list_with(json_object_get(group, "groups"), search->name))
		found(search, "groups.%s.groups", name);
}

static void search_ports(struct search *search, const json_t *ports)
{
	static const char *const lists[] = {"from", "to"};
	json_t *port;
	const char *name;

	json_object_foreach((json_t *)ports, name, port)
	{
		for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
			if (is_list_with(json_object_get(port, lists[i]), search->name))
				found(search, "ports.%s.%s", name, lists[i]);
	}
}

int usage_find(const json_t *document, enum object_kind kind, const char *name,
	       struct errors *reterr)
{
	struct search search = {.kind = kind, .name = name, .errs = reterr};

	if (kind == OBJECT_ACL)
		search_ports(&search, json_object_get(document, object_kind_names[OBJECT_PORT]));
	if (kind == OBJECT_GROUP)
		search_groups(&search, json_object_get(document, object_kind_names[OBJECT_GROUP]));
	if (kind == OBJECT_GROUP || kind == OBJECT_SERVICE)
		search_acls(&search, json_object_get(document, object_kind_names[OBJECT_ACL]));
	return search.r < 0 ? search.r : search.count;
}
