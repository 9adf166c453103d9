/* SPDX-License-Identifier: Apache-2.0 */
/* Rules against those of their own ACL: what is so there is so in every list. */
#include <errno.h>

#include "compile/lint_internal.h"

static int report(struct lint *lint, const struct ruleset *set, uint32_t slot,
		  const struct reach_verdict *verdict)
{
	return findings_add(lint->findings, lint_verdict_code(verdict),
			    lint_rule_field(lint->config, set->acls[0], slot),
			    lint_verdict_text(set, slot, verdict));
}

static int judge(struct lint *lint, const struct ruleset *set, bool is_reported, bool *is_dead)
{
	for (uint32_t slot = 0; slot < set->rule_count; slot++) {
		struct reach_verdict verdict;
		int r;

		if (!lint_may_go_on(lint, set->acls[0], slot))
			return 0;
		r = reach_judge(set, slot, &lint->scratch, &lint->work, &verdict);
		if (r < 0)
			return r;
		is_dead[slot] = lint_is_dead(&verdict);
		if (is_reported && (is_dead[slot] || verdict.reach == REACH_FORESTALLED))
			r = report(lint, set, slot, &verdict);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Whether the run is about a port, or about an ACL of one of its lists. */
static bool touches_port(const struct lint *lint, size_t index)
{
	const struct port *port = &lint->config->ports[index];
	bool is_touched = lint_touches(lint, OBJECT_PORT, index);

	for (int d = 0; d < SECG_DIRECTIONS; d++)
		for (size_t i = 0; i < port->list[d].acl_count && !is_touched; i++)
			is_touched = lint_touches_acl(
				lint, lint_acl_index(lint->config, port->list[d].acls[i]));
	return is_touched;
}

/* Reported for ACLs that are touched; those on the ports concerned are judged for the steps behind. */
static void mark_wanted(const struct lint *lint, bool *is_wanted)
{
	const struct config *config = lint->config;

	for (size_t i = 0; i < lint_acl_total(config); i++)
		is_wanted[i] = lint_touches_acl(lint, i);
	for (size_t i = 0; i < config->port_count; i++) {
		if (!touches_port(lint, i))
			continue;
		for (int d = 0; d < SECG_DIRECTIONS; d++) {
			const struct port_list *list = &config->ports[i].list[d];

			for (size_t j = 0; j < list->acl_count; j++)
				is_wanted[lint_acl_index(lint->config, list->acls[j])] = true;
		}
	}
}

int lint_acls(struct lint *lint)
{
	_cleanup_free_ bool *is_wanted = calloc(lint_acl_total(lint->config) + 1, sizeof(bool));

	if (!is_wanted)
		return -ENOMEM;
	mark_wanted(lint, is_wanted);
	for (size_t i = 0; i < lint_acl_total(lint->config); i++) {
		const struct acl *acl = lint_acl_at(lint->config, i);
		_cleanup_(ruleset_fini) struct ruleset set = {0};
		int r;

		lint->is_dead[i] = calloc(acl->rule_count + 1, sizeof(bool));
		if (!lint->is_dead[i])
			return -ENOMEM;
		if (!is_wanted[i] || !lint_may_go_on(lint, acl, 0))
			continue;
		r = ruleset_init(&set, &acl, 1, &lint->work);
		if (r >= 0 && lint_may_go_on(lint, acl, 0))
			r = judge(lint, &set, lint_touches_acl(lint, i), lint->is_dead[i]);
		if (r < 0)
			return r;
	}
	return 0;
}
