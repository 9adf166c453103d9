/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules against those of the ACLs before theirs. An ACL may stand in several lists, and a tier that
 * decides everything in one of them is no mistake in the ACL: a rule is reported only when no packet
 * reaches it in any list.
 */
#include <errno.h>
#include <string.h>

#include "compile/lint_internal.h"

static const char *const direction_names[] = {[SECG_FROM] = "from", [SECG_TO] = "to"};

struct list {
	const struct port *port; /* the first that has it */
	enum secg_direction direction;
};

/* What is known of an ACL that has others before it in every list. */
struct candidate {
	bool is_wanted;
	bool *is_open;                  /* by rule: reached in some list, or not known */
	struct reach_verdict *verdicts; /* by rule, of the first list */
	char **messages;                /* by rule */
};

struct lists {
	struct list *items; /* with two ACLs or more; equal ones once */
	size_t count;
	struct candidate *candidates; /* by ACL */
	size_t acl_count;
	const struct config *config;
};

static void lists_fini(struct lists *lists)
{
	for (size_t i = 0; lists->candidates && i < lists->acl_count; i++) {
		struct candidate *candidate = &lists->candidates[i];

		for (size_t j = 0;
		     candidate->messages && j < lint_acl_at(lists->config, i)->rule_count; j++)
			free(candidate->messages[j]);
		free(candidate->messages);
		free(candidate->is_open);
		free(candidate->verdicts);
	}
	free(lists->candidates);
	free(lists->items);
}

static const struct port_list *port_list(const struct list *list)
{
	return &list->port->list[list->direction];
}

static int list_compare(const void *a, const void *b)
{
	const struct port_list *x = port_list(a), *y = port_list(b);

	if (x->acl_count != y->acl_count)
		return x->acl_count < y->acl_count ? -1 : 1;
	return memcmp(x->acls, y->acls, x->acl_count * sizeof(*x->acls));
}

/* In the order of ports, and of directions. */
static int port_compare(const void *a, const void *b)
{
	const struct port_list *x = port_list(a), *y = port_list(b);

	return (x > y) - (x < y);
}

/* Equal ones by port. */
static int list_sort(const void *a, const void *b)
{
	int order = list_compare(a, b);

	return order ? order : port_compare(a, b);
}

static int collect(struct lists *lists)
{
	const struct config *config = lists->config;
	size_t kept = 0;

	lists->items = calloc(config->port_count * SECG_DIRECTIONS + 1, sizeof(*lists->items));
	if (!lists->items)
		return -ENOMEM;
	for (size_t i = 0; i < config->port_count; i++)
		for (int d = 0; d < SECG_DIRECTIONS; d++)
			if (config->ports[i].list[d].acl_count > 1)
				lists->items[lists->count++] = (struct list){
					.port = &config->ports[i],
					.direction = (enum secg_direction)d,
				};
	qsort(lists->items, lists->count, sizeof(*lists->items), list_sort);
	for (size_t i = 0; i < lists->count; i++)
		if (!i || list_compare(&lists->items[i], &lists->items[i - 1]))
			lists->items[kept++] = lists->items[i];
	lists->count = kept;
	qsort(lists->items, lists->count, sizeof(*lists->items), port_compare);
	return 0;
}

/* ACLs behind one that is touched, or behind others on a port that is. */
static void mark_wanted(const struct lint *lint, struct lists *lists)
{
	const struct config *config = lint->config;

	for (size_t i = 0; i < config->port_count * SECG_DIRECTIONS; i++) {
		const struct port_list *list =
			&config->ports[i / SECG_DIRECTIONS].list[i % SECG_DIRECTIONS];
		bool is_touched = lint_touches(lint, OBJECT_PORT, i / SECG_DIRECTIONS);

		for (size_t j = 0; j < list->acl_count; j++) {
			size_t acl = lint_acl_index(lint->config, list->acls[j]);

			is_touched |= lint_touches_acl(lint, acl);
			lists->candidates[acl].is_wanted |= is_touched && j > 0;
		}
	}
	for (size_t i = 0; i < config->port_count * SECG_DIRECTIONS; i++) {
		const struct port_list *list =
			&config->ports[i / SECG_DIRECTIONS].list[i % SECG_DIRECTIONS];

		if (list->acl_count)
			lists->candidates[lint_acl_index(lint->config, list->acls[0])].is_wanted =
				false;
	}
}

static int add_room(struct lists *lists)
{
	for (size_t i = 0; i < lists->acl_count; i++) {
		struct candidate *candidate = &lists->candidates[i];
		size_t rules = lint_acl_at(lists->config, i)->rule_count + 1;

		if (!candidate->is_wanted)
			continue;
		candidate->is_open = calloc(rules, sizeof(*candidate->is_open));
		candidate->verdicts = calloc(rules, sizeof(*candidate->verdicts));
		candidate->messages = calloc(rules, sizeof(*candidate->messages));
		if (!candidate->is_open || !candidate->verdicts || !candidate->messages)
			return -ENOMEM;
	}
	return 0;
}

/* Security groups that a port wears are a union: that one has what another has is no mistake. */
static bool is_union(const struct lint *lint, const struct ruleset *set, uint32_t slot,
		     const struct reach_verdict *verdict)
{
	const struct config *config = lint->config;

	if (!lint_is_security_group(config, set->acls[set->rules[slot].acl]))
		return false;
	for (size_t i = 0; i < verdict->by_count; i++)
		if (!lint_is_security_group(config, set->acls[set->rules[verdict->by[i]].acl]))
			return false;
	return true;
}

/* One rule in one list. */
static int judge_rule(struct lint *lint, const struct list *list, const struct ruleset *set,
		      uint32_t slot, struct candidate *candidate, uint32_t index)
{
	struct reach_verdict verdict;
	_cleanup_free_ char *text = NULL;
	int r;

	r = reach_judge(set, slot, &lint->scratch, &lint->work, &verdict);
	if (r < 0)
		return r;
	if (!lint_is_dead(&verdict) || is_union(lint, set, slot, &verdict)) {
		candidate->is_open[index] = true;
		return 0;
	}
	if (candidate->messages[index])
		return 0;
	text = lint_verdict_text(set, slot, &verdict);
	if (!text)
		return -ENOMEM;
	candidate->verdicts[index] = verdict;
	candidate->messages[index] = finding_text("%s (as in ports.%s.%s)", text, list->port->name,
						  direction_names[list->direction]);
	return candidate->messages[index] ? 0 : -ENOMEM;
}

static int judge_list(struct lint *lint, struct lists *lists, const struct list *list)
{
	const struct port_list *acls = port_list(list);
	_cleanup_(ruleset_fini) struct ruleset set = {0};
	int r;

	r = ruleset_init(&set, (const struct acl *const *)acls->acls, acls->acl_count, &lint->work);
	for (uint32_t slot = 0; r >= 0 && slot < set.rule_count; slot++) {
		const struct ruleset_rule *rule = &set.rules[slot];
		const struct acl *acl = set.acls[rule->acl];
		size_t i = lint_acl_index(lint->config, acl);
		struct candidate *candidate = &lists->candidates[i];

		if (!candidate->is_wanted || candidate->is_open[rule->index] ||
		    lint->is_dead[i][rule->index])
			continue;
		if (!lint_may_go_on(lint, acl, rule->index))
			return 0;
		r = judge_rule(lint, list, &set, slot, candidate, rule->index);
	}
	return r;
}

static bool has_wanted(const struct lint *lint, const struct lists *lists, const struct list *list)
{
	const struct port_list *acls = port_list(list);

	for (size_t i = 1; i < acls->acl_count; i++)
		if (lists->candidates[lint_acl_index(lint->config, acls->acls[i])].is_wanted)
			return true;
	return false;
}

static int report(struct lint *lint, struct lists *lists)
{
	for (size_t i = 0; i < lists->acl_count; i++) {
		struct candidate *candidate = &lists->candidates[i];
		const struct acl *acl = lint_acl_at(lists->config, i);

		for (size_t j = 0; candidate->is_wanted && j < acl->rule_count; j++) {
			int r;

			if (candidate->is_open[j] || !candidate->messages[j])
				continue;
			r = findings_add(lint->findings, lint_verdict_code(&candidate->verdicts[j]),
					 lint_rule_field(lint->config, acl, j),
					 TAKE_PTR(candidate->messages[j]));
			if (r < 0)
				return r;
			lint->is_dead[i][j] = true;
		}
	}
	return 0;
}

int lint_lists(struct lint *lint)
{
	_cleanup_(lists_fini) struct lists lists = {
		.config = lint->config,
		.acl_count = lint_acl_total(lint->config),
		.candidates = calloc(lint_acl_total(lint->config) + 1, sizeof(struct candidate)),
	};
	int r;

	if (!lists.candidates)
		return -ENOMEM;
	r = collect(&lists);
	if (r < 0)
		return r;
	mark_wanted(lint, &lists);
	r = add_room(&lists);
	for (size_t i = 0; r >= 0 && i < lists.count; i++)
		if (has_wanted(lint, &lists, &lists.items[i]) && !work_is_over(&lint->work))
			r = judge_list(lint, &lists, &lists.items[i]);
	/* A list that was not looked at to the end may be the one where the rule is reached. */
	return r < 0 || work_is_over(&lint->work) ? r : report(lint, &lists);
}
