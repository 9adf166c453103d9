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

/* Where objects are named. */
static const struct reference {
	enum object_kind used, user;
	const char *field;
	bool is_rule; /* of a rule of the object */
	bool has_at;  /* as "@name" */
} references[] = {
	{OBJECT_ACL, OBJECT_PORT, "from", false, false},
	{OBJECT_ACL, OBJECT_PORT, "to", false, false},
	{OBJECT_ACL, OBJECT_PORT_TEMPLATE, "from", false, false},
	{OBJECT_ACL, OBJECT_PORT_TEMPLATE, "to", false, false},
	{OBJECT_SERVICE, OBJECT_ACL, "service", true, false},
	{OBJECT_SERVICE, OBJECT_SECURITY_GROUP, "service", true, false},
	{OBJECT_GROUP, OBJECT_GROUP, "groups", false, false},
	{OBJECT_GROUP, OBJECT_ACL, "src", true, true},
	{OBJECT_GROUP, OBJECT_ACL, "dst", true, true},
	{OBJECT_GROUP, OBJECT_SECURITY_GROUP, "remote", true, true},
	{OBJECT_GROUP, OBJECT_PORT, "groups", false, false},
	{OBJECT_GROUP, OBJECT_PORT_TEMPLATE, "groups", false, false},
	{OBJECT_SECURITY_GROUP, OBJECT_GROUP, "groups", false, false},
	{OBJECT_SECURITY_GROUP, OBJECT_ACL, "src", true, true},
	{OBJECT_SECURITY_GROUP, OBJECT_ACL, "dst", true, true},
	{OBJECT_SECURITY_GROUP, OBJECT_SECURITY_GROUP, "remote", true, true},
	{OBJECT_SECURITY_GROUP, OBJECT_PORT, "security_groups", false, false},
	{OBJECT_SECURITY_GROUP, OBJECT_PORT_TEMPLATE, "security_groups", false, false},
	{OBJECT_PORT, OBJECT_GROUP, "ports", false, false},
	{OBJECT_MACIP, OBJECT_PORT, "macip", false, false},
	{OBJECT_MACIP, OBJECT_PORT_TEMPLATE, "macip", false, false},
};

static void search_object(struct search *search, const struct reference *reference,
			  const char *name, const json_t *object)
{
	const char *kind = object_kind_names[reference->user];
	char wanted[NAME_MAX_LENGTH + 2];
	size_t i;
	json_t *rule;

	snprintf(wanted, sizeof(wanted), "%s%s", reference->has_at ? "@" : "", search->name);
	if (!reference->is_rule && is_list_with(json_object_get(object, reference->field), wanted))
		found(search, "%s.%s.%s", kind, name, reference->field);
	if (!reference->is_rule)
		return;
	json_array_foreach(json_object_get(object, "rules"), i, rule)
	{
		if (is_list_with(json_object_get(rule, reference->field), wanted))
			found(search, "%s.%s.rules[%zu].%s", kind, name, i, reference->field);
	}
}

/* A security group may name itself: that goes with it. */
static bool is_itself(const struct search *search, const struct reference *reference,
		      const char *name)
{
	return reference->user == search->kind && !strcmp(name, search->name);
}

int usage_find(const json_t *document, enum object_kind kind, const char *name,
	       struct errors *reterr)
{
	struct search search = {.kind = kind, .name = name, .errs = reterr};

	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		const struct reference *reference = &references[i];
		json_t *objects = json_object_get(document, object_kind_names[reference->user]);
		const char *user;
		json_t *object;

		if (reference->used != kind)
			continue;
		json_object_foreach(objects, user, object)
		{
			if (!is_itself(&search, reference, user))
				search_object(&search, reference, user, object);
		}
	}
	return search.r < 0 ? search.r : search.count;
}
