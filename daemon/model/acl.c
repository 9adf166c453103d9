/* SPDX-License-Identifier: Apache-2.0 */
/* ACLs: ordered lists of rules. */
#include <string.h>

#include "model/objects.h"
#include "model/value.h"

struct acl_draft {
	json_t *json; /* the normalised object; borrowed */
	struct acl *acl;
};

void acl_fini(struct acl *acl)
{
	for (size_t i = 0; i < acl->rule_count; i++)
		rule_fini(&acl->rules[i]);
	free(acl->rules);
	free(acl->name);
	json_decref(acl->json);
	*acl = (struct acl){0};
}

int rule_check_id(struct parser *parser, const struct path *path, const struct rule *rule,
		  size_t index, json_t *seen)
{
	struct path id = path_key(path, "id");
	const json_t *first;

	if (!rule->id)
		return 0;
	first = json_object_get(seen, rule->id);
	if (first)
		return parse_error(parser, &id, ERROR_BAD_VALUE,
				   "is already the id of rules[%lld]: ids are unique in their list",
				   (long long)json_integer_value(first));
	return json_put(seen, rule->id, json_integer((json_int_t)index));
}

static int acl_rules(struct parser *parser, const struct path *path, const json_t *value,
		     void *object)
{
	json_auto_t *seen = json_object();
	struct acl_draft *draft = object;
	struct acl *acl = draft->acl;
	json_t *rules = json_array();
	int result = json_put(draft->json, "rules", rules);
	size_t index;
	json_t *item;

	if (!json_is_array(value))
		return parse_bad_type(parser, path, value, "a list of rules");
	acl->rules = calloc(json_array_size(value) + 1, sizeof(*acl->rules));
	if (!seen || !acl->rules)
		return -ENOMEM;
	json_array_foreach((json_t *)value, index, item)
	{
		struct path rule_path = path_index(path, index);
		struct rule *rule = &acl->rules[acl->rule_count++];
		json_t *json = NULL;

		result_add(&result, rule_parse(parser, &rule_path, item, rule, &json));
		result_add(&result, json_push(rules, json));
		result_add(&result, rule_check_id(parser, &rule_path, rule, index, seen));
	}
	return result;
}

static int acl_audit(struct parser *parser, const struct path *path, const json_t *value,
		     void *object)
{
	struct acl_draft *draft = object;

	return parse_bool_field(parser, path, value, draft->json, &draft->acl->is_audited);
}

static const struct field acl_fields[] = {
	{"description", parse_description},
	{"labels", parse_labels},
	{"rules", acl_rules},
	{"audit", acl_audit},
};
static const struct schema acl_schema = {"an ACL", acl_fields, ARRAY_SIZE(acl_fields)};

static int acl_compare(const void *a, const void *b)
{
	const struct acl *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int acls_parse(struct parser *parser, const struct path *path, const json_t *value)
{
	struct config *config = parser->config;
	int result = 0;
	const char *name;
	json_t *item;

	if (!json_object_size(value))
		return 0;
	config->acls = calloc(json_object_size(value), sizeof(*config->acls));
	if (!config->acls)
		return -ENOMEM;
	json_object_foreach((json_t *)value, name, item)
	{
		struct path acl_path = path_key(path, name);
		struct acl *acl = &config->acls[config->acl_count];
		struct acl_draft draft = {.json = json_object(), .acl = acl};

		acl->json = draft.json;
		acl->name = strdup(name);
		if (!acl->json || !acl->name) {
			acl_fini(acl);
			return -ENOMEM;
		}
		config->acl_count++;
		result_add(&result, parse_object_name(parser, &acl_path, name));
		result_add(&result, parse_object(parser, &acl_path, item, &acl_schema, &draft));
	}
	qsort(config->acls, config->acl_count, sizeof(*config->acls), acl_compare);
	return result;
}
