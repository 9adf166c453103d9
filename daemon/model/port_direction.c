/* SPDX-License-Identifier: Apache-2.0 */
/* What a port says of its directions: the lists of ACLs, and what holds when no rule decides. */
#include "model/port_draft.h"
#include "model/rule_draft.h"

/* Room for the longest list. */
static int list_reserve(struct port_list *list)
{
	if (!list->acls)
		list->acls = calloc(SECG_MAX_ACLS, sizeof(struct acl *));
	return list->acls ? 0 : -ENOMEM;
}

static int acl_item(struct parser *parser, const struct path *path, const json_t *item,
		    struct port_list *list)
{
	const char *name = json_string_value(item);
	const struct acl *acl;

	if (!name)
		return parse_bad_type(parser, path, item, "the name of an ACL");
	acl = config_find_acl(parser->config, name);
	if (!acl)
		return parse_not_found(parser, path, "ACL", name, parser->config->acls,
				       parser->config->acl_count, sizeof(*parser->config->acls));
	for (size_t i = 0; i < list->acl_count; i++)
		if (list->acls[i] == acl)
			return parse_error(parser, path, ERROR_BAD_VALUE,
					   "\"%s\" is in the list already: its rules would never "
					   "be reached a second time",
					   name);
	list->acls[list->acl_count++] = acl;
	return 0;
}

static int parse_acl_list(struct parser *parser, const struct path *path, const json_t *value,
			  struct port_draft *draft, struct port_list *list)
{
	json_auto_t *names = json_array();
	int result = 0;

	list->is_given = true;
	if (list_count(value) > SECG_MAX_ACLS)
		return parse_error(parser, path, ERROR_LIMIT,
				   "has %zu ACLs, but one direction takes at most %d",
				   list_count(value), SECG_MAX_ACLS);
	if (list_reserve(list) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item_path = list_path(path, value, i);
		const json_t *item = list_item(value, i);

		result_add(&result, acl_item(parser, &item_path, item, list));
		result_add(&result, json_push(names, json_incref((json_t *)item)));
	}
	result_add(&result, json_put(draft->json, path->key, TAKE_PTR(names)));
	return result;
}

int port_parse_from(struct parser *parser, const struct path *path, const json_t *value,
		    void *object)
{
	struct port_draft *draft = object;

	return parse_acl_list(parser, path, value, draft, &draft->port->list[SECG_FROM]);
}

int port_parse_to(struct parser *parser, const struct path *path, const json_t *value, void *object)
{
	struct port_draft *draft = object;

	return parse_acl_list(parser, path, value, draft, &draft->port->list[SECG_TO]);
}

/* ── security groups ────────────────────────────────────────────────────────────────────────────── */

static int group_item(struct parser *parser, const struct path *path, const json_t *item,
		      struct port *port)
{
	const struct config *config = parser->config;
	const char *name = json_string_value(item);
	const struct security_group *group;

	if (!name)
		return parse_bad_type(parser, path, item, "the name of a security group");
	group = config_find_security_group(config, name);
	if (!group)
		return parse_not_found(parser, path, "security group", name,
				       config->security_groups, config->security_group_count,
				       sizeof(*config->security_groups));
	for (size_t i = 0; i < port->security_group_count; i++)
		if (port->security_groups[i] == group)
			return parse_error(parser, path, ERROR_BAD_VALUE,
					   "\"%s\" is in the list already", name);
	port->security_groups[port->security_group_count++] = group;
	return 0;
}

/* Behind the ACLs, stateful groups first: their sessions let the answers of stateless ones in too. */
static int append_groups(struct port *port, struct port_list *list, enum secg_direction direction)
{
	if (list_reserve(list) < 0)
		return -ENOMEM;
	list->is_given = true;
	for (int is_stateful = 1; is_stateful >= 0; is_stateful--) {
		for (size_t i = 0; i < port->security_group_count; i++) {
			const struct security_group *group = port->security_groups[i];

			if (group->is_stateful == is_stateful)
				list->acls[list->acl_count++] = &group->rules[direction];
		}
	}
	return 0;
}

static int wear_groups(struct parser *parser, const struct path *path, struct port *port)
{
	for (int d = 0; d < SECG_DIRECTIONS; d++) {
		struct port_list *list = &port->list[d];
		int r;

		if (list->acl_count + port->security_group_count > SECG_MAX_ACLS)
			return parse_error(parser, path, ERROR_LIMIT,
					   "makes %zu ACLs and security groups, but one direction "
					   "takes at most %d",
					   list->acl_count + port->security_group_count,
					   SECG_MAX_ACLS);
		r = append_groups(port, list, d);
		if (r < 0)
			return r;
	}
	return 0;
}

int port_parse_security_groups(struct parser *parser, const struct path *path, const json_t *value,
			       void *object)
{
	json_auto_t *names = json_array();
	struct port_draft *draft = object;
	struct port *port = draft->port;
	int result = 0;

	if (list_count(value) > SECG_MAX_ACLS)
		return parse_error(parser, path, ERROR_LIMIT,
				   "has %zu security groups, but a port wears at most %d",
				   list_count(value), SECG_MAX_ACLS);
	port->security_groups = calloc(SECG_MAX_ACLS, sizeof(struct security_group *));
	if (!port->security_groups)
		return -ENOMEM;
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item_path = list_path(path, value, i);
		const json_t *item = list_item(value, i);

		result_add(&result, group_item(parser, &item_path, item, port));
		result_add(&result, json_push(names, json_incref((json_t *)item)));
	}
	result_add(&result, json_put(draft->json, path->key, TAKE_PTR(names)));
	if (!result && port->security_group_count)
		result = wear_groups(parser, path, port);
	return result;
}

/* ── default ────────────────────────────────────────────────────────────────────────────────────── */

struct default_draft {
	json_t *json; /* the normalised object; borrowed */
	struct port_list *list;
};

static int default_action(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	static const struct word words[] = {{"drop", SECG_ACTION_DROP},
					    {"reject", SECG_ACTION_REJECT},
					    {"allow", SECG_ACTION_ALLOW}};
	struct default_draft *draft = object;
	int action = SECG_ACTION_DROP;
	int r = parse_word(parser, path, value, words, ARRAY_SIZE(words), &action);

	if (r < 0)
		return r;
	draft->list->otherwise = action;
	return json_put(draft->json, "action", json_incref((json_t *)value));
}

static int default_log(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct default_draft *draft = object;

	return log_parse(parser, path, value, draft->json, &draft->list->log);
}

static const struct field default_fields[] = {
	{"action", default_action},
	{"log", default_log},
};
static const struct schema default_schema = {"the default of a direction", default_fields,
					     ARRAY_SIZE(default_fields)};

static int parse_default(struct parser *parser, const struct path *path, const json_t *value,
			 json_t *json, struct port_list *list)
{
	struct default_draft draft = {.json = json_object(), .list = list};
	int result = json_put(json, path->key, draft.json);

	if (result < 0)
		return result;
	if (!json_is_object(value))
		return parse_bad_type(parser, path, value, "an object, as in {action: drop}");
	result = parse_object(parser, path, value, &default_schema, &draft);
	if (!result && !list->is_given)
		result = parse_error(parser, path, ERROR_BAD_VALUE,
				     "has no effect, because a direction without a list passes "
				     "everything: add `%s: []` to have the default decide",
				     path->key);
	return result;
}

static int default_from(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct port_draft *draft = object;

	return parse_default(parser, path, value, draft->json, &draft->port->list[SECG_FROM]);
}

static int default_to(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct port_draft *draft = object;

	return parse_default(parser, path, value, draft->json, &draft->port->list[SECG_TO]);
}

int port_parse_default(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	static const struct field fields[] = {{"from", default_from}, {"to", default_to}};
	static const struct schema schema = {"the default of a port", fields, ARRAY_SIZE(fields)};
	const struct port_draft *port_draft = object;
	struct port_draft draft = {.json = json_object(), .port = port_draft->port};
	int r = json_put(port_draft->json, "default", draft.json);

	if (r < 0)
		return r;
	if (!json_is_object(value))
		return parse_bad_type(parser, path, value,
				      "an object, as in {from: {action: drop}}");
	return parse_object(parser, path, value, &schema, &draft);
}
