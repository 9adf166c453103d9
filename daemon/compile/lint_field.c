/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of rules that match nothing, in one family or in both. */
#include <errno.h>

#include "compile/lint_internal.h"

struct place {
	struct lint *lint;
	const struct acl *acl;
	size_t rule;
	bool has_empty; /* some group of the rule is empty */
};

static bool has_family(const struct addrset *set, uint8_t family)
{
	return family == 4 ? set->v4.count : set->v6.count;
}

static int judge_group(const char *field, size_t index, const char *name, void *data)
{
	struct place *place = data;
	const struct group *group = config_find_group(place->lint->config, name);
	_cleanup_free_ char *rule = NULL;

	if (!group || addrset_count(&group->members))
		return 0;
	place->has_empty = true;
	rule = lint_rule_field(place->lint->config, place->acl, place->rule);
	if (!rule)
		return -ENOMEM;
	return findings_add(place->lint->findings, FINDING_EMPTY_GROUP,
			    finding_text("%s.%s[%zu]", rule, field, index),
			    finding_text("the group \"%s\" is empty and matches nothing", name));
}

/* Families in which some alternative is possible. */
static bool l4_allows(const struct rule *rule, uint8_t family)
{
	for (size_t i = 0; i < rule->l4_count; i++)
		if (!rule->l4[i].family || rule->l4[i].family == family)
			return true;
	return !rule->l4_count;
}

static bool allows(const struct rule *rule, uint8_t family)
{
	return (!rule->family || rule->family == family) && l4_allows(rule, family) &&
	       (!rule->has_src || has_family(&rule->src, family)) &&
	       (!rule->has_dst || has_family(&rule->dst, family));
}

static const char *family_name(uint8_t family)
{
	return family == 4 ? "IPv4" : "IPv6";
}

/* One side has addresses of a family, the other has none. */
static int judge_family(const struct place *place, const struct rule *rule, uint8_t family)
{
	bool has_src = has_family(&rule->src, family), has_dst = has_family(&rule->dst, family);
	_cleanup_free_ char *field = NULL;
	const char *lacks = has_src ? "dst" : "src", *has = has_src ? "src" : "dst";

	if (!rule->has_src || !rule->has_dst || has_src == has_dst || !l4_allows(rule, family) ||
	    (rule->family && rule->family != family))
		return 0;
	field = lint_rule_field(place->lint->config, place->acl, place->rule);
	if (!field)
		return -ENOMEM;
	return findings_add(
		place->lint->findings, FINDING_FAMILY_NEVER, finding_text("%s.%s", field, has),
		finding_text("`%s` has no %s address, so the %s addresses of `%s` never match",
			     lacks, family_name(family), family_name(family), has));
}

static int judge_rule(struct place *place)
{
	const struct rule *rule = &place->acl->rules[place->rule];
	bool matches_v4 = allows(rule, 4), matches_v6 = allows(rule, 6);
	int r = lint_each_group(lint_rule_json(place->lint->config, place->acl, place->rule),
				judge_group, place);

	if (r < 0 || place->has_empty || !rule->is_ip)
		return r;
	if (!matches_v4 && !matches_v6)
		return findings_add(place->lint->findings, FINDING_FAMILY_NEVER,
				    lint_rule_field(place->lint->config, place->acl, place->rule),
				    finding_text("rule \"%s\" matches no packet: no family is left "
						 "that all its fields have",
						 rule->id));
	if (!matches_v4)
		r = judge_family(place, rule, 4);
	if (r >= 0 && !matches_v6)
		r = judge_family(place, rule, 6);
	return r;
}

int lint_fields(struct lint *lint)
{
	for (size_t i = 0; i < lint_acl_total(lint->config); i++) {
		const struct acl *acl = lint_acl_at(lint->config, i);

		for (size_t j = 0; j < acl->rule_count && lint_touches_acl(lint, i); j++) {
			struct place place = {.lint = lint, .acl = acl, .rule = j};
			int r = judge_rule(&place);

			if (r < 0)
				return r;
		}
	}
	return 0;
}
