/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the lint. */
#include "compile/lint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compile/lint_internal.h"

size_t lint_acl_index(const struct config *config, const struct acl *acl)
{
	uintptr_t place = (uintptr_t)acl, first = (uintptr_t)config->acls;
	size_t group;

	if (place >= first && place < (uintptr_t)(config->acls + config->acl_count))
		return (size_t)(acl - config->acls);
	group = (place - (uintptr_t)config->security_groups) / sizeof(*config->security_groups);
	return config->acl_count + SECG_DIRECTIONS * group +
	       (size_t)(acl - config->security_groups[group].rules);
}

bool lint_touches_acl(const struct lint *lint, size_t index)
{
	size_t acls = lint->config->acl_count;

	return index < acls ? lint_touches(lint, OBJECT_ACL, index)
			    : lint_touches(lint, OBJECT_SECURITY_GROUP,
					   (index - acls) / SECG_DIRECTIONS);
}

/* The object whose rule it is, as written, and the place of the rule there: a security group's rules of
 * both directions are one list. */
static const json_t *find_object(const struct config *config, const struct acl *acl,
				 const char **ret_name)
{
	size_t index = lint_acl_index(config, acl);
	const struct security_group *group;

	*ret_name = acl->name;
	if (index < config->acl_count)
		return acl->json;
	group = &config->security_groups[(index - config->acl_count) / SECG_DIRECTIONS];
	*ret_name = group->name;
	return group->json;
}

static size_t find_rule(const json_t *rules, const char *id)
{
	size_t i = 0;

	while (i < json_array_size(rules) &&
	       strcmp(json_string_value(json_object_get(json_array_get(rules, i), "id")), id) != 0)
		i++;
	return i;
}

const json_t *lint_rule_json(const struct config *config, const struct acl *acl, size_t rule)
{
	const char *name;
	const json_t *rules = json_object_get(find_object(config, acl, &name), "rules");

	if (lint_is_security_group(config, acl))
		rule = find_rule(rules, acl->rules[rule].id);
	return json_array_get(rules, rule);
}

char *lint_rule_field(const struct config *config, const struct acl *acl, size_t rule)
{
	const char *name;
	const json_t *rules = json_object_get(find_object(config, acl, &name), "rules");

	if (!lint_is_security_group(config, acl))
		return finding_text("acls.%s.rules[%zu]", name, rule);
	return finding_text("security_groups.%s.rules[%zu]", name,
			    rule < acl->rule_count ? find_rule(rules, acl->rules[rule].id) : 0);
}

bool lint_may_go_on(struct lint *lint, const struct acl *acl, size_t rule)
{
	if (!work_is_over(&lint->work))
		return true;
	if (!lint->skipped_from)
		lint->skipped_from = lint_rule_field(lint->config, acl, rule);
	return false;
}

/* ── verdicts as sentences ──────────────────────────────────────────────────────────────────────── */

enum finding_code lint_verdict_code(const struct reach_verdict *verdict)
{
	switch (verdict->reach) {
	case REACH_SHADOWED:
		return FINDING_SHADOWED;
	case REACH_REPEATED:
	case REACH_FORESTALLED:
		return FINDING_REDUNDANT;
	default:
		return FINDING_UNREACHABLE;
	}
}

static const char *action_name(enum secg_action action)
{
	switch (action) {
	case SECG_ACTION_ALLOW:
		return "allow";
	case SECG_ACTION_ALLOW_STATELESS:
		return "allow-stateless";
	case SECG_ACTION_DROP:
		return "drop";
	case SECG_ACTION_REJECT:
		return "reject";
	default:
		return "pass";
	}
}

/* "a", "base/b" and others: the ACL is named where it is not the rule's own. */
static char *others_text(const struct ruleset *set, uint32_t own_acl,
			 const struct reach_verdict *verdict)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (size_t i = 0; i < verdict->by_count; i++) {
		const struct ruleset_rule *by = &set->rules[verdict->by[i]];
		bool is_last = i + 1 == verdict->by_count && !verdict->has_more;

		fprintf(stream, "%s\"%s%s%s\"",
			!i        ? ""
			: is_last ? " and "
				  : ", ",
			by->acl == own_acl ? "" : set->acls[by->acl]->name,
			by->acl == own_acl ? "" : "/", by->rule->id);
	}
	if (verdict->has_more)
		fputs(" and others", stream);
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

char *lint_verdict_text(const struct ruleset *set, uint32_t slot,
			const struct reach_verdict *verdict)
{
	const struct ruleset_rule *rule = &set->rules[slot];
	_cleanup_free_ char *others = others_text(set, rule->acl, verdict);
	bool is_one = verdict->by_count == 1 && !verdict->has_more;
	const char *id = rule->rule->id;

	if (!others)
		return NULL;
	switch (verdict->reach) {
	case REACH_SHADOWED:
		return finding_text("rule \"%s\" (%s) is never reached: rule %s (%s) before it "
				    "matches every packet that it matches",
				    id, action_name(rule->rule->action), others,
				    action_name(set->rules[verdict->by[0]].rule->action));
	case REACH_REPEATED:
		return finding_text("rule \"%s\" changes nothing: rule %s before it matches every "
				    "packet that it matches, and does the same",
				    id, others);
	case REACH_FORESTALLED:
		return finding_text("rule \"%s\" changes nothing: %s %s behind it %s every packet "
				    "that it matches, and %s the same",
				    id, is_one ? "rule" : "rules", others,
				    is_one ? "matches" : "match", is_one ? "does" : "do");
	default:
		return finding_text("rule \"%s\" is never reached: %s %s before it %s every packet "
				    "that it matches",
				    id, is_one ? "rule" : "rules", others,
				    is_one ? "takes" : "together take");
	}
}

/* ── the run ────────────────────────────────────────────────────────────────────────────────────── */

static void lint_fini(struct lint *lint)
{
	for (size_t i = 0; lint->is_dead && i < lint_acl_total(lint->config); i++)
		free(lint->is_dead[i]);
	free(lint->is_dead);
	free(lint->skipped_from);
	arena_fini(&lint->scratch);
}

static int report_cuts(struct lint *lint)
{
	struct findings *findings = lint->findings;
	int r = 0;

	if (work_is_over(&lint->work))
		r = findings_add(
			findings, FINDING_LINT_SKIPPED,
			finding_text("%s", lint->skipped_from ? lint->skipped_from : ""),
			finding_text("the policy is large: after %llu comparisons the rules "
				     "from here on were not judged",
				     (unsigned long long)lint->work.limit));
	if (r < 0 || !findings->dropped)
		return r;
	/* The last one gives its place to the sentence that tells of those left out. */
	free(findings->items[--findings->count].field);
	free(findings->items[findings->count].message);
	return findings_add(findings, FINDING_LINT_SKIPPED, finding_text("%s", ""),
			    finding_text("%zu more findings are not shown", findings->dropped + 1));
}

int lint_run(const struct config *config, const struct lint_scope *scope, uint64_t work,
	     struct findings *findings)
{
	static int (*const steps[])(struct lint * lint) = {lint_fields, lint_objects, lint_acls,
							   lint_lists, lint_returns};
	_cleanup_(lint_fini) struct lint lint = {
		.config = config,
		.scope = scope,
		.findings = findings,
		.work = {.limit = work},
	};
	int r;

	lint.is_dead = calloc(lint_acl_total(config) + 1, sizeof(*lint.is_dead));
	if (!lint.is_dead)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		r = steps[i](&lint);
		if (r < 0)
			return r;
	}
	return report_cuts(&lint);
}
