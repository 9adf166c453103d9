/* SPDX-License-Identifier: Apache-2.0 */
/* Stateless rules whose answers the other direction of a port drops. */
#include <errno.h>
#include <string.h>

#include "compile/lint_internal.h"
#include "compile/return_path.h"

static const char *const direction_names[] = {[SECG_FROM] = "from", [SECG_TO] = "to"};

/* A list and the one that answers come back through; both given. */
struct pair {
	const struct port *port;
	enum secg_direction direction;
	const struct port_list *there, *back;
};

static int list_compare(const struct port_list *x, const struct port_list *y)
{
	if (x->acl_count != y->acl_count)
		return x->acl_count < y->acl_count ? -1 : 1;
	return x->acl_count ? memcmp(x->acls, y->acls, x->acl_count * sizeof(*x->acls)) : 0;
}

static int pair_compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = list_compare(x->there, y->there);

	if (!order)
		order = list_compare(x->back, y->back);
	if (!order)
		order = (x->back->otherwise > y->back->otherwise) -
			(x->back->otherwise < y->back->otherwise);
	return order;
}

/* Equal ones by port. */
static int pair_sort(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = pair_compare(a, b);

	return order ? order : (x->there > y->there) - (x->there < y->there);
}

static int port_compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->there > y->there) - (x->there < y->there);
}

static bool has_stateless(const struct port_list *list)
{
	for (size_t i = 0; i < list->acl_count; i++)
		for (size_t j = 0; j < list->acls[i]->rule_count; j++)
			if (list->acls[i]->rules[j].action == SECG_ACTION_ALLOW_STATELESS)
				return true;
	return false;
}

static bool touches_list(const struct lint *lint, const struct port_list *list)
{
	for (size_t i = 0; i < list->acl_count; i++)
		if (lint_touches_acl(lint, lint_acl_index(lint->config, list->acls[i])))
			return true;
	return false;
}

/* Pairs that the run is about, equal ones once. */
static int collect(const struct lint *lint, struct pair **ret_pairs, size_t *ret_count)
{
	const struct config *config = lint->config;
	struct pair *pairs = calloc(config->port_count * SECG_DIRECTIONS + 1, sizeof(*pairs));
	size_t count = 0, kept = 0;

	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < config->port_count * SECG_DIRECTIONS; i++) {
		const struct port *port = &config->ports[i / SECG_DIRECTIONS];
		struct pair pair = {
			.port = port,
			.direction = (enum secg_direction)(i % SECG_DIRECTIONS),
			.there = &port->list[i % SECG_DIRECTIONS],
			.back = &port->list[1 - i % SECG_DIRECTIONS],
		};

		if (pair.there->is_given && pair.back->is_given && has_stateless(pair.there) &&
		    (lint_touches(lint, OBJECT_PORT, i / SECG_DIRECTIONS) ||
		     touches_list(lint, pair.there) || touches_list(lint, pair.back)))
			pairs[count++] = pair;
	}
	qsort(pairs, count, sizeof(*pairs), pair_sort);
	for (size_t i = 0; i < count; i++)
		if (!i || pair_compare(&pairs[i], &pairs[i - 1]))
			pairs[kept++] = pairs[i];
	qsort(pairs, kept, sizeof(*pairs), port_compare);
	*ret_pairs = pairs;
	*ret_count = kept;
	return 0;
}

static int report(struct lint *lint, const struct pair *pair, const struct acl *acl, uint32_t index)
{
	const struct rule *rule = &acl->rules[index];

	return findings_add(
		lint->findings, FINDING_STATELESS_NO_RETURN,
		lint_rule_field(lint->config, acl, index),
		finding_text(
			"nothing tracks what rule \"%s\" allows, and ports.%s.%s admits no "
			"answer to it%s: add a rule there with source and destination swapped, "
			"or write `action: allow`",
			rule->id, pair->port->name, direction_names[1 - pair->direction],
			rule->l4_count > 1 ? ", or not to all its protocols" : ""));
}

/* A rule is reported once, for the first port. */
static int judge(struct lint *lint, const struct pair *pair, const struct ruleset *there,
		 const struct ruleset *back)
{
	for (uint32_t slot = 0; slot < there->rule_count; slot++) {
		const struct ruleset_rule *rule = &there->rules[slot];
		const struct acl *acl = there->acls[rule->acl];
		bool *is_done = &lint->is_dead[lint_acl_index(lint->config, acl)][rule->index];
		struct return_verdict verdict;
		int r;

		if (rule->rule->action != SECG_ACTION_ALLOW_STATELESS || *is_done)
			continue;
		if (!lint_may_go_on(lint, acl, rule->index))
			return 0;
		r = return_judge(there, slot, back, pair->back->otherwise, &lint->scratch,
				 &lint->work, &verdict);
		if (r >= 0 && verdict.path == RETURN_CLOSED) {
			*is_done = true;
			r = report(lint, pair, acl, rule->index);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int lint_returns(struct lint *lint)
{
	_cleanup_free_ struct pair *pairs = NULL;
	size_t count = 0;
	int r = collect(lint, &pairs, &count);

	for (size_t i = 0; r >= 0 && i < count && !work_is_over(&lint->work); i++) {
		_cleanup_(ruleset_fini) struct ruleset there = {0};
		_cleanup_(ruleset_fini) struct ruleset back = {0};
		const struct pair *pair = &pairs[i];

		r = ruleset_init(&there, (const struct acl *const *)pair->there->acls,
				 pair->there->acl_count, &lint->work);
		if (r >= 0)
			r = ruleset_init(&back, (const struct acl *const *)pair->back->acls,
					 pair->back->acl_count, &lint->work);
		if (r >= 0)
			r = judge(lint, pair, &there, &back);
	}
	return r;
}
