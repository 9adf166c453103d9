/* SPDX-License-Identifier: Apache-2.0 */
/* One rule of an ACL. */
#include <string.h>

#include "model/objects.h"
#include "model/rule_draft.h"

static const char *const source_names[SOURCE_COUNT] = {"family", "ethertypes", "src",    "dst",
						       "remote", "protocol",   "service"};

int rule_draft_init(struct rule_draft *draft, const json_t *value)
{
	draft->rule->fragment = FRAGMENT_ANY;
	draft->l4.json = json_object();
	draft->l4.may_name_services = true;
	draft->l4.has_service = json_object_get(value, "service") != NULL;
	return draft->l4.json ? 0 : -ENOMEM;
}

void rule_draft_fini(struct rule_draft *draft)
{
	l4_draft_fini(&draft->l4);
	l4_list_fini(&draft->services);
}

void rule_fini(struct rule *rule)
{
	free(rule->id);
	addrset_fini(&rule->src);
	addrset_fini(&rule->dst);
	l2_match_fini(&rule->l2);
	l4_free(rule->l4, rule->l4_count);
	*rule = (struct rule){0};
}

/* ── fields ─────────────────────────────────────────────────────────────────────────────────────── */

int rule_parse_id(struct parser *parser, const struct path *path, const json_t *value, void *object)
{
	const char *text = json_string_value(value);
	struct rule_draft *draft = object;

	if (!text)
		return parse_bad_type(parser, path, value, "a string");
	draft->rule->id = strdup(text);
	if (!draft->rule->id)
		return -ENOMEM;
	if (!is_name(text))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "an id has 1 to %d characters out of a-z, 0-9, '.', '_', '-'",
				   NAME_MAX_LENGTH);
	return json_put(draft->l4.json, "id", json_incref((json_t *)value));
}

static const struct word action_words[] = {
	{"allow", SECG_ACTION_ALLOW},         {"allow-stateless", SECG_ACTION_ALLOW_STATELESS},
	{"drop", SECG_ACTION_DROP},           {"reject", SECG_ACTION_REJECT},
	{"pass", SECG_ACTION_PASS},           {"permit+reflect", SECG_ACTION_ALLOW},
	{"allow-related", SECG_ACTION_ALLOW}, {"permit", SECG_ACTION_ALLOW_STATELESS},
	{"deny", SECG_ACTION_DROP},
};

static int rule_action(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct rule_draft *draft = object;
	int action, r;

	draft->has_action = true;
	r = parse_word(parser, path, value, action_words, ARRAY_SIZE(action_words), &action);
	if (r < 0)
		return r;
	draft->rule->action = action;
	return json_put(draft->l4.json, "action",
			json_string(word_text(action_words, ARRAY_SIZE(action_words), action)));
}

static int rule_enabled(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct rule_draft *draft = object;
	bool is_enabled;
	int r = parse_bool_field(parser, path, value, draft->l4.json, &is_enabled);

	if (!r)
		draft->rule->is_disabled = !is_enabled;
	return r;
}

static int rule_timeout(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct rule_draft *draft = object;
	int r = parse_number(parser, path, value, &timeout_kind, &draft->rule->timeout_s);

	if (r < 0)
		return r;
	return json_put(draft->l4.json, "timeout", json_integer(draft->rule->timeout_s));
}

static const struct word family_words[] = {{"ipv4", 4}, {"ipv6", 6}};

int rule_parse_family(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct rule_draft *draft = object;
	int family, r;

	r = parse_word(parser, path, value, family_words, ARRAY_SIZE(family_words), &family);
	if (r < 0)
		return r;
	draft->rule->family = (uint8_t)family;
	draft->families[SOURCE_FAMILY] = family == 4 ? FAMILIES_IPV4 : FAMILIES_IPV6;
	return json_put(draft->l4.json, "family", json_incref((json_t *)value));
}

int rule_parse_addresses(struct parser *parser, const struct path *path, const json_t *value,
			 struct rule_draft *draft, struct addrset *set, enum family_source source)
{
	json_t *list = NULL;
	int result = parse_not_empty(parser, path, value);

	if (result < 0)
		return result;
	result = addresses_parse(parser, path, value, true, set, &draft->families[source], &list);
	if (list)
		result_add(&result, json_put(draft->l4.json, path->key, list));
	return result;
}

static int rule_src(struct parser *parser, const struct path *path, const json_t *value,
		    void *object)
{
	struct rule_draft *draft = object;

	draft->rule->has_src = true;
	return rule_parse_addresses(parser, path, value, draft, &draft->rule->src, SOURCE_SRC);
}

static int rule_dst(struct parser *parser, const struct path *path, const json_t *value,
		    void *object)
{
	struct rule_draft *draft = object;

	draft->rule->has_dst = true;
	return rule_parse_addresses(parser, path, value, draft, &draft->rule->dst, SOURCE_DST);
}

static int service_item(struct parser *parser, const struct path *path, const json_t *item,
			struct rule_draft *draft, json_t *list)
{
	const char *name = json_string_value(item);
	const struct service *service;
	int r;

	if (!name)
		return parse_bad_type(parser, path, item, "the name of a service");
	service = config_find_service(parser->config, name);
	if (!service)
		return parse_not_found(parser, path, "service", name, parser->config->services,
				       parser->config->service_count,
				       sizeof(*parser->config->services));
	r = l4_append_copy(&draft->services, service->l4, service->l4_count);
	return r < 0 ? r : json_push(list, json_incref((json_t *)item));
}

int rule_parse_service(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	json_auto_t *list = json_array();
	struct rule_draft *draft = object;
	int result = parse_not_empty(parser, path, value);

	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);

		result_add(&result, service_item(parser, &item, list_item(value, i), draft, list));
	}
	result_add(&result, json_put(draft->l4.json, "service", TAKE_PTR(list)));
	return result;
}

static const struct field rule_fields[] = {
	{"id", rule_parse_id},
	{"description", parse_description},
	{"labels", parse_labels},
	{"action", rule_action},
	{"family", rule_parse_family},
	{"src", rule_src},
	{"dst", rule_dst},
	L4_FIELDS,
	{"service", rule_parse_service},
	{"enabled", rule_enabled},
	{"ethertypes", rule_parse_ethertypes},
	{"vlan", rule_parse_vlan},
	{"src_mac", rule_parse_src_mac},
	{"dst_mac", rule_parse_dst_mac},
	{"tcp_flags", rule_parse_tcp_flags},
	{"dscp", rule_parse_dscp},
	{"fragment", rule_parse_fragment},
	{"timeout", rule_timeout},
	{"log", rule_parse_log},
	{"sample", rule_parse_sample},
};
static const struct schema rule_schema = {"a rule", rule_fields, ARRAY_SIZE(rule_fields)};

/* ── the whole rule ─────────────────────────────────────────────────────────────────────────────── */

static const char *families_text(unsigned int families)
{
	return families == FAMILIES_IPV4 ? "IPv4" : "IPv6";
}

/* Names the first field that leaves no family together with one before it. */
static int check_families(struct parser *parser, const struct path *path,
			  const struct rule_draft *draft)
{
	for (int i = 1; i < SOURCE_COUNT; i++) {
		struct path field = path_key(path, source_names[i]);
		unsigned int families = draft->families[i];

		for (int j = 0; families && j < i; j++) {
			if (!draft->families[j] || draft->families[j] & families)
				continue;
			return parse_error(parser, &field, ERROR_BAD_VALUE,
					   "is %s only, but `%s` is %s only: a packet cannot be "
					   "both, so the rule would never match",
					   families_text(families), source_names[j],
					   families_text(draft->families[j]));
		}
	}
	return 0;
}

static int check_required(struct parser *parser, const struct path *path, const json_t *value,
			  const struct rule_draft *draft)
{
	struct path id = path_key(path, "id"), action = path_key(path, "action");
	int result = 0;

	if (!json_object_get(value, "id"))
		result_add(&result,
			   parse_error(parser, &id, ERROR_BAD_VALUE,
				       "is missing: a rule needs an id, unique in its ACL, which "
				       "its counters are kept under"));
	if (!draft->has_action)
		result_add(&result, parse_error(parser, &action, ERROR_BAD_VALUE,
						"is missing: write allow, allow-stateless, drop, "
						"reject or pass"));
	return result;
}

/* Moves the alternatives into the rule. */
static int take_l4(struct rule_draft *draft)
{
	struct rule *rule = draft->rule;
	enum family_source source = draft->services.count ? SOURCE_SERVICE : SOURCE_PROTOCOL;
	int r = draft->l4.is_given ? l4_append_draft(&draft->services, &draft->l4) : 0;

	if (r < 0)
		return r;
	rule->l4 = TAKE_PTR(draft->services.matches);
	rule->l4_count = draft->services.count;
	draft->services.count = 0;
	if (rule->l4_count)
		draft->families[source] = l4_families(rule->l4, rule->l4_count);
	rule->is_ip = rule->family || rule->has_src || rule->has_dst || rule->l4_count ||
		      rule->dscp || rule->fragment != FRAGMENT_ANY;
	return 0;
}

static int check_timeout(struct parser *parser, const struct path *path,
			 const struct rule_draft *draft)
{
	struct path field = path_key(path, "timeout");

	if (!draft->rule->timeout_s || draft->rule->action == SECG_ACTION_ALLOW)
		return 0;
	return parse_error(parser, &field, ERROR_BAD_VALUE,
			   "is that of sessions, and only a rule that says `allow` opens sessions");
}

/* A rule that passes on is not what decides. */
static int check_told(struct parser *parser, const struct path *path,
		      const struct rule_draft *draft)
{
	const struct rule *rule = draft->rule;
	struct path field = path_key(path, rule->log.rate ? "log" : "sample");

	if (rule->action != SECG_ACTION_PASS ||
	    (!rule->log.rate && !rule->sample[0] && !rule->sample[1]))
		return 0;
	return parse_error(parser, &field, ERROR_BAD_VALUE,
			   "is about packets that the rule decides, and `pass` leaves that to the "
			   "rules behind: write it there");
}

int rule_settle(struct parser *parser, const struct path *path, struct rule_draft *draft)
{
	int result = take_l4(draft);

	if (result < 0)
		return result;
	result_add(&result, rule_check_ethertypes(parser, path, draft));
	result_add(&result, rule_check_macs(parser, path, draft));
	result_add(&result, rule_check_tcp_flags(parser, path, draft));
	result_add(&result, check_timeout(parser, path, draft));
	result_add(&result, check_told(parser, path, draft));
	result_add(&result, check_families(parser, path, draft));
	return result;
}

int rule_parse(struct parser *parser, const struct path *path, const json_t *value,
	       struct rule *ret_rule, json_t **ret_json)
{
	_cleanup_(rule_draft_fini) struct rule_draft draft = {.rule = ret_rule};
	int result = rule_draft_init(&draft, value);

	if (result < 0)
		return result;
	*ret_json = draft.l4.json;
	result = parse_object(parser, path, value, &rule_schema, &draft);
	if (json_is_object(value))
		result_add(&result, check_required(parser, path, value, &draft));
	return result < 0 ? result : rule_settle(parser, path, &draft);
}
