/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a group. */
#include "model/group_draft.h"
#include "model/members.h"
#include "model/objects.h"
#include "model/value.h"

static int parse_prefixes(struct parser *parser, const struct path *path, const json_t *value,
			  struct group_draft *draft, struct addrset *set)
{
	json_t *list = NULL;
	int result = addresses_parse(parser, path, value, false, set, NULL, &list);

	if (list)
		result_add(&result, json_put(draft->json, path->key, list));
	return result;
}

static int group_prefixes(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	struct group_draft *draft = object;

	return parse_prefixes(parser, path, value, draft, &draft->group.members);
}

static int group_except(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct group_draft *draft = object;

	return parse_prefixes(parser, path, value, draft, &draft->except);
}

static int nested_name(struct parser *parser, const struct path *path, const json_t *item)
{
	const char *name = json_string_value(item);

	if (!name)
		return parse_bad_type(parser, path, item, "the name of a group");
	if (*name == '@')
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "must be the name of a group without the @");
	return 0;
}

static int group_nested(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	json_auto_t *list = json_array();
	struct group_draft *draft = object;
	int result = 0;

	for (size_t i = 0; i < list_count(value); i++) {
		struct path item_path = list_path(path, value, i);
		const json_t *item = list_item(value, i);

		result_add(&result, nested_name(parser, &item_path, item));
		result_add(&result, json_push(list, json_incref((json_t *)item)));
	}
	if (!result)
		draft->nested = value;
	result_add(&result, json_put(draft->json, "groups", TAKE_PTR(list)));
	return result;
}

static int port_item(struct parser *parser, const struct path *path, const json_t *item,
		     struct group_draft *draft, json_t *list)
{
	const char *name = json_string_value(item);
	int r;

	if (!name)
		return parse_bad_type(parser, path, item, "the name of a port");
	r = members_add_port(parser, path, name, &draft->group.members);
	return r < 0 ? r : json_push(list, json_incref((json_t *)item));
}

static int group_ports(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	json_auto_t *list = json_array();
	struct group_draft *draft = object;
	int result = 0;

	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);

		result_add(&result, port_item(parser, &item, list_item(value, i), draft, list));
	}
	result_add(&result, json_put(draft->json, "ports", TAKE_PTR(list)));
	return result;
}

static int group_select(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct group_draft *draft = object;
	int result = 0;
	const char *name;
	json_t *item;

	if (!json_is_object(value))
		return parse_bad_type(parser, path, value, "an object of labels");
	if (!json_object_size(value))
		return parse_error(
			parser, path, ERROR_BAD_VALUE,
			"must have at least one label: ports with all of them are members");
	json_object_foreach((json_t *)value, name, item)
	{
		struct path label = path_key(path, name);

		if (!json_is_string(item))
			result_add(&result, parse_bad_type(parser, &label, item, "a string"));
	}
	if (!result)
		result = members_add_selected(parser, path, value, &draft->group.members);
	result_add(&result, json_put(draft->json, "select", json_incref((json_t *)value)));
	return result;
}

static const struct field group_fields[] = {
	{"description", parse_description}, {"labels", parse_labels}, {"prefixes", group_prefixes},
	{"except", group_except},           {"groups", group_nested}, {"ports", group_ports},
	{"select", group_select},           {"ipsec", NULL},
};
static const struct schema group_schema = {"a group", group_fields, ARRAY_SIZE(group_fields)};

int group_parse_fields(struct parser *parser, const struct path *path, const json_t *value,
		       struct group_draft *draft)
{
	return parse_object(parser, path, value, &group_schema, draft);
}
