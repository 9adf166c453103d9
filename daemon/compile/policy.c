/* SPDX-License-Identifier: Apache-2.0 */
/* A list of ACLs becomes one policy: three sections and the keys of its rules. */
#include "compile/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/lines.h"
#include "compile/section.h"
#include "compile/tree.h"
#include "core/cleanup.h"

#define POLICY_LINES (sizeof(struct secg_policy) / sizeof(struct secg_line))

static const char *const family_names[SECG_FAMILY_COUNT] = {
	[SECG_FAMILY_IPV4] = "IPv4",
	[SECG_FAMILY_IPV6] = "IPv6",
	[SECG_FAMILY_OTHER] = "frames that are not IP",
};

/* Everything of one compilation that a section needs. */
struct job {
	struct lines lines;
	struct entry_lists lists;
	const char *field;
	struct errors *errs;
};

static void job_fini(struct job *job)
{
	lines_fini(&job->lines);
}

/* A limit that showed up on the way, as a sentence. */
static int limit_error(struct job *job, int r, enum secg_family family)
{
	switch (r) {
	case -EFBIG:
		return errors_add(job->errs, ERROR_LIMIT, job->field,
				  "the rules for %s cut the source or the destination addresses "
				  "into more than the %d intervals that one search can tell apart",
				  family_names[family], TREE_MAX_INTERVALS);
	case -E2BIG:
		return errors_add(job->errs, ERROR_LIMIT, job->field,
				  "the compiled rules need more than the %zu MiB of table memory "
				  "that one list may take",
				  COMPILE_MAX_LINES * sizeof(struct secg_line) >> 20);
	default:
		return r;
	}
}

static int compile_family(struct job *job, enum secg_family family)
{
	_cleanup_free_ struct section_entry *entries = NULL;
	size_t count = entry_count(family, &job->lists);
	struct secg_section section;
	int r;

	if (!count)
		return 0;
	if (count > SECG_MAX_ENTRIES)
		return errors_add(
			job->errs, ERROR_LIMIT, job->field,
			"the rules make %zu entries for %s, at most %d are possible (a "
			"rule has one for each of its combinations of protocols, ports and MACs)",
			count, family_names[family], SECG_MAX_ENTRIES);
	entries = calloc(count, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	entry_list(family, &job->lists, entries);
	r = section_compile(&job->lines, family, entries, count, job->lists.takes_no_mac, &section);
	if (r < 0)
		return limit_error(job, r, family);
	memcpy(job->lines.line + family, &section, sizeof(section));
	return 0;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
	return hash ^ hash >> 32;
}

static uint64_t mix_macs(uint64_t hash, const struct mac_list *list)
{
	hash = mix(hash, list->count);
	for (size_t i = 0; i < list->count; i++) {
		uint64_t words[2] = {0};

		memcpy(&words[0], list->macs[i].value, sizeof(list->macs[i].value));
		memcpy(&words[1], list->macs[i].mask, sizeof(list->macs[i].mask));
		hash = mix(mix(hash, words[0]), words[1]);
	}
	return hash;
}

/* As of compiled.rule_hidden. */
static uint64_t hash_hidden(const struct rule *rule)
{
	const struct range_list *vlans = &rule->l2.vlans;
	uint64_t hash = 1;

	if (!entry_is_hidden(rule))
		return 0;
	hash = mix(hash, rule->action);
	hash = mix(hash, rule->dscp);
	hash = mix(hash, (uint64_t)rule->tcp_flags << 16 | (uint64_t)rule->tcp_flags_mask << 8 |
				 (uint8_t)rule->fragment);
	hash = mix(hash, vlans->count);
	for (size_t i = 0; i < vlans->count; i++)
		hash = mix(hash, (uint64_t)vlans->ranges[i].first << 16 | vlans->ranges[i].last);
	hash = mix_macs(mix_macs(hash, &rule->l2.src), &rule->l2.dst);
	return hash ? hash : 1;
}

static int add_rule(struct compiled *compiled, const struct acl *acl, const struct rule *rule,
		    bool is_audited)
{
	size_t slot = compiled->rule_count;
	char *key;

	if (asprintf(&key, "%s/%s", acl->name, rule->id) < 0)
		return -ENOMEM;
	compiled->rule_keys[slot] = key;
	compiled->rule_hidden[slot] = hash_hidden(rule);
	compiled->rule_count++;
	compiled->is_stateful |=
		!rule->is_disabled && entry_action(rule, is_audited) == SECG_ACTION_ALLOW;
	return 0;
}

static int list_rules(struct compiled *compiled, const struct entry_lists *lists)
{
	size_t count = 1;
	int r;

	for (size_t i = 0; i < lists->acl_count; i++)
		count += lists->acls[i]->rule_count;
	compiled->rule_keys = calloc(count, sizeof(*compiled->rule_keys));
	compiled->rule_hidden = calloc(count, sizeof(*compiled->rule_hidden));
	if (!compiled->rule_keys || !compiled->rule_hidden)
		return -ENOMEM;
	for (size_t i = 0; i < lists->acl_count; i++) {
		const struct acl *acl = lists->acls[i];

		for (size_t j = 0; j < acl->rule_count; j++) {
			r = add_rule(compiled, acl, &acl->rules[j],
				     lists->is_audited || acl->is_audited);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int compile_lists(struct compiled **ret_compiled, const struct entry_lists *lists,
		  const char *field, struct errors *reterr)
{
	_cleanup_(job_fini) struct job job = {.lists = *lists, .field = field, .errs = reterr};
	struct compiled *compiled;
	uint32_t first;
	int r;

	r = lines_add(&job.lines, POLICY_LINES, &first);
	if (r < 0)
		return r;
	for (enum secg_family family = 0; family < SECG_FAMILY_COUNT; family++) {
		r = compile_family(&job, family);
		if (r < 0)
			return r;
	}
	compiled = calloc(1, sizeof(*compiled));
	if (!compiled)
		return -ENOMEM;
	compiled->lines = TAKE_PTR(job.lines.line);
	compiled->line_count = job.lines.count;
	*ret_compiled = compiled;
	return 0;
}

int compile_policy(struct compiled **ret_compiled, const struct acl *const *acls, size_t acl_count,
		   bool is_audited, const char *field, struct errors *reterr)
{
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	const struct entry_lists lists = {
		.acls = acls,
		.acl_count = acl_count,
		.is_audited = is_audited,
	};
	int r;

	if (acl_count > SECG_MAX_ACLS)
		return errors_add(reterr, ERROR_LIMIT, field,
				  "the list names %zu ACLs, at most %d are possible", acl_count,
				  SECG_MAX_ACLS);
	r = compile_lists(&compiled, &lists, field, reterr);
	if (r >= 0)
		r = list_rules(compiled, &lists);
	if (r < 0)
		return r;
	*ret_compiled = TAKE_PTR(compiled);
	return 0;
}

void compiled_free(struct compiled *compiled)
{
	for (size_t i = 0; i < compiled->rule_count; i++)
		free(compiled->rule_keys[i]);
	free(compiled->rule_keys);
	free(compiled->rule_hidden);
	free(compiled->lines);
	free(compiled);
}
