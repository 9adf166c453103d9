/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Security groups: what users of Neutron and clouds bring. The rules become two ACLs of allow rules, one
 * per direction; the remote end is the source of what is for the port, the destination of what is from it.
 */
#include <stdio.h>
#include <string.h>

#include "model/objects.h"
#include "model/rule_draft.h"

struct security_group_draft {
	json_t *json; /* the normalised object; borrowed */
	struct security_group *group;
};

/* A rule whose direction, and with it the ACL, is known only once it is read. */
struct remote_draft {
	struct rule_draft rule; /* first: its field parsers take it for themselves */
	enum secg_direction direction;
	bool has_remote;
	struct addrset remote;
};

void security_group_fini(struct security_group *group)
{
	for (int d = 0; d < SECG_DIRECTIONS; d++)
		acl_fini(&group->rules[d]);
	free(group->name);
	json_decref(group->json);
	*group = (struct security_group){0};
}

/* ── one rule ───────────────────────────────────────────────────────────────────────────────────── */

static int remote_direction(struct parser *parser, const struct path *path, const json_t *value,
			    void *object)
{
	static const struct word words[] = {{"from", SECG_FROM}, {"to", SECG_TO}};
	struct remote_draft *draft = object;
	int direction = SECG_FROM;
	int r = parse_word(parser, path, value, words, ARRAY_SIZE(words), &direction);

	draft->direction = direction;
	if (r < 0)
		return r;
	return json_put(draft->rule.l4.json, "direction", json_incref((json_t *)value));
}

static int remote_remote(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct remote_draft *draft = object;

	draft->has_remote = true;
	return rule_parse_addresses(parser, path, value, &draft->rule, &draft->remote,
				    SOURCE_REMOTE);
}

/* In the order of rule.c, for the same reasons. */
static const struct field remote_fields[] = {
	{"id", rule_parse_id},
	{"description", parse_description},
	{"labels", parse_labels},
	{"direction", remote_direction},
	{"family", rule_parse_family},
	{"remote", remote_remote},
	{"protocol", l4_parse_protocol},
	{"dst_ports", l4_parse_dst_ports},
	{"icmp_type", l4_parse_icmp_type},
	{"icmp_code", l4_parse_icmp_code},
	{"service", rule_parse_service},
};
static const struct schema remote_schema = {"a rule of a security group", remote_fields,
					    ARRAY_SIZE(remote_fields)};

static int check_required(struct parser *parser, const struct path *path, const json_t *value)
{
	struct path id = path_key(path, "id"), direction = path_key(path, "direction");
	int result = 0;

	if (!json_object_get(value, "id"))
		result_add(&result,
			   parse_error(parser, &id, ERROR_BAD_VALUE,
				       "is missing: a rule needs an id, unique in its "
				       "security group, which its counters are kept under"));
	if (!json_object_get(value, "direction"))
		result_add(&result,
			   parse_error(parser, &direction, ERROR_BAD_VALUE,
				       "is missing: write `to` for packets that leave the host "
				       "through the port, to a VM; `from` for those that enter"));
	return result;
}

static void take_remote(struct remote_draft *draft)
{
	struct rule *rule = draft->rule.rule;

	if (draft->direction == SECG_TO) {
		rule->has_src = draft->has_remote;
		rule->src = draft->remote;
	} else {
		rule->has_dst = draft->has_remote;
		rule->dst = draft->remote;
	}
	draft->remote = (struct addrset){0};
}

/* The rule is the caller's also after a mistake. */
static int remote_parse(struct parser *parser, const struct path *path, const json_t *value,
			struct rule *ret_rule, enum secg_direction *ret_direction, json_t *rules)
{
	struct remote_draft draft = {.rule.rule = ret_rule};
	int result = rule_draft_init(&draft.rule, value);

	result_add(&result, json_push(rules, draft.rule.l4.json));
	if (result < 0)
		return result;
	result_add(&result, parse_object(parser, path, value, &remote_schema, &draft));
	if (json_is_object(value))
		result_add(&result, check_required(parser, path, value));
	take_remote(&draft);
	if (!result)
		result = rule_settle(parser, path, &draft.rule);
	*ret_direction = draft.direction;
	rule_draft_fini(&draft.rule);
	return result;
}

/* ── all rules ──────────────────────────────────────────────────────────────────────────────────── */

static int group_stateful(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	struct security_group_draft *draft = object;

	return parse_bool_field(parser, path, value, draft->json, &draft->group->is_stateful);
}

static int group_rules(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	json_auto_t *seen = json_object();
	struct security_group_draft *draft = object;
	struct security_group *group = draft->group;
	json_t *rules = json_array();
	int result = json_put(draft->json, "rules", rules);
	size_t index;
	json_t *item;

	if (!json_is_array(value))
		return parse_bad_type(parser, path, value, "a list of rules");
	for (int d = 0; d < SECG_DIRECTIONS; d++) {
		group->rules[d].rules = calloc(json_array_size(value) + 1, sizeof(struct rule));
		if (!group->rules[d].rules)
			return -ENOMEM;
	}
	if (!seen || result < 0)
		return -ENOMEM;
	json_array_foreach((json_t *)value, index, item)
	{
		struct path rule_path = path_index(path, index);
		enum secg_direction direction = SECG_FROM;
		struct rule rule = {.action = SECG_ACTION_ALLOW};

		result_add(&result,
			   remote_parse(parser, &rule_path, item, &rule, &direction, rules));
		result_add(&result, rule_check_id(parser, &rule_path, &rule, index, seen));
		if (!group->is_stateful)
			rule.action = SECG_ACTION_ALLOW_STATELESS;
		group->rules[direction].rules[group->rules[direction].rule_count++] = rule;
	}
	return result;
}

static const struct field group_fields[] = {
	{"description", parse_description},
	{"labels", parse_labels},
	{"stateful", group_stateful}, /* before the rules, whose action it is */
	{"rules", group_rules},
};
static const struct schema group_schema = {"a security group", group_fields,
					   ARRAY_SIZE(group_fields)};

/* ── all security groups ────────────────────────────────────────────────────────────────────────── */

static int name_group(struct security_group *group, const char *name)
{
	group->json = json_object();
	group->name = strdup(name);
	for (int d = 0; d < SECG_DIRECTIONS; d++)
		if (asprintf(&group->rules[d].name, "sg:%s", name) < 0)
			group->rules[d].name = NULL;
	return group->json && group->name && group->rules[SECG_FROM].name &&
			       group->rules[SECG_TO].name
		       ? 0
		       : -ENOMEM;
}

static int group_parse(struct parser *parser, const struct path *path, const json_t *value,
		       struct security_group *group)
{
	struct security_group_draft draft = {.json = group->json, .group = group};
	const struct group *other = config_find_group(parser->config, group->name);
	int result = parse_object_name(parser, path, group->name);

	group->is_stateful = true;
	if (other && other->json)
		result_add(&result,
			   parse_error(parser, path, ERROR_CONFLICT,
				       "a group has this name too: \"@%s\" would mean both",
				       group->name));
	result_add(&result, parse_object(parser, path, value, &group_schema, &draft));
	return result;
}

static int group_compare(const void *a, const void *b)
{
	const struct security_group *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int security_groups_parse(struct parser *parser, const struct path *path, const json_t *value)
{
	struct config *config = parser->config;
	int result = 0;
	const char *name;
	json_t *item;

	config->security_groups =
		calloc(json_object_size(value) + 1, sizeof(*config->security_groups));
	if (!config->security_groups)
		return -ENOMEM;
	json_object_foreach((json_t *)value, name, item)
	{
		struct path group_path = path_key(path, name);
		struct security_group *group =
			&config->security_groups[config->security_group_count++];

		if (name_group(group, name) < 0)
			return -ENOMEM;
		result_add(&result, group_parse(parser, &group_path, item, group));
	}
	qsort(config->security_groups, config->security_group_count,
	      sizeof(*config->security_groups), group_compare);
	return result;
}
