/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lint as its own files see it.
 *
 *   lint.c          the run, and where it is cut short     lint_scope.c    what a write touches
 *   lint_field.c    fields that match nothing              lint_object.c   wide members, unused objects
 *   lint_acl.c      rules within one ACL                   lint_list.c     rules in lists of ACLs
 *   lint_return.c   answers to stateless rules
 */
#ifndef SECG_COMPILE_LINT_INTERNAL_H
#define SECG_COMPILE_LINT_INTERNAL_H

#include "compile/lint.h"
#include "compile/reach.h"

struct lint {
	const struct config *config;
	const struct lint_scope *scope; /* NULL: everything */
	struct findings *findings;
	struct work work;
	struct arena scratch;
	bool **is_dead;     /* by ACL and rule: no packet reaches it, whatever the list */
	char *skipped_from; /* field of the first rule that was not looked at; NULL: none */
};

static inline bool lint_touches(const struct lint *lint, enum object_kind kind, size_t index)
{
	return !lint->scope || lint->scope->is_touched[kind][index];
}

/*
 * All lists of rules in a row: ACLs, then those of security groups, one for each direction. An index below
 * means that row.
 */
static inline size_t lint_acl_total(const struct config *config)
{
	return config->acl_count + SECG_DIRECTIONS * config->security_group_count;
}

static inline const struct acl *lint_acl_at(const struct config *config, size_t index)
{
	size_t behind = index - config->acl_count;

	if (index < config->acl_count)
		return &config->acls[index];
	return &config->security_groups[behind / SECG_DIRECTIONS].rules[behind % SECG_DIRECTIONS];
}

size_t lint_acl_index(const struct config *config, const struct acl *acl);
/* Whether the run is about the ACL, or the security group. */
bool lint_touches_acl(const struct lint *lint, size_t index);
static inline bool lint_is_security_group(const struct config *config, const struct acl *acl)
{
	return lint_acl_index(config, acl) >= config->acl_count;
}

/* The rule as written; lends. */
const json_t *lint_rule_json(const struct config *config, const struct acl *acl, size_t rule);
/* "acls.web.rules[2]"; NULL: no memory. */
char *lint_rule_field(const struct config *config, const struct acl *acl, size_t rule);
/* The work is over: false, and the place is noted. -ENOMEM is told by the note's absence. */
bool lint_may_go_on(struct lint *lint, const struct acl *acl, size_t rule);
/* "rule "a" (drop) before it matches every packet that it matches" and the like; NULL: no memory. */
char *lint_verdict_text(const struct ruleset *set, uint32_t slot,
			const struct reach_verdict *verdict);
enum finding_code lint_verdict_code(const struct reach_verdict *verdict);
static inline bool lint_is_dead(const struct reach_verdict *verdict)
{
	return verdict->reach == REACH_SHADOWED || verdict->reach == REACH_REPEATED ||
	       verdict->reach == REACH_UNREACHABLE;
}

/* Each adds its findings; -ENOMEM. In this order. */
int lint_fields(struct lint *lint);
int lint_objects(struct lint *lint);
int lint_acls(struct lint *lint);
int lint_lists(struct lint *lint);
int lint_returns(struct lint *lint);

/* ── names in documents ─────────────────────────────────────────────────────────────────────────── */

/* Calls `each` for every name that a rule gives for a group (without @) or a service, with the field and
 * the index in it. Stops at the first negative result. */
typedef int lint_name_fn(const char *field, size_t index, const char *name, void *data);
int lint_each_group(const json_t *rule, lint_name_fn *each, void *data);
int lint_each_service(const json_t *rule, lint_name_fn *each, void *data);
/* The same for groups in a group. */
int lint_each_nested(const struct group *group, lint_name_fn *each, void *data);

#endif
