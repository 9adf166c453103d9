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
	const struct acl *const *acls;
	size_t acl_count;
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
	size_t count = section_count(family, job->acls, job->acl_count);
	struct secg_section section;
	int r;

	if (!count)
		return 0;
	if (count > SECG_MAX_ENTRIES)
		return errors_add(
			job->errs, ERROR_LIMIT, job->field,
			"the rules make %zu entries for %s, at most %d are possible (a "
			"rule has one for each of its combinations of protocols and ports)",
			count, family_names[family], SECG_MAX_ENTRIES);
	entries = calloc(count, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	section_list(family, job->acls, job->acl_count, entries);
	r = section_compile(&job->lines, family, entries, count, &section);
	if (r < 0)
		return limit_error(job, r, family);
	memcpy(job->lines.line + family, &section, sizeof(section));
	return 0;
}

static int list_rules(struct compiled *compiled, const struct acl *const *acls, size_t acl_count)
{
	size_t count = 0;

	for (size_t i = 0; i < acl_count; i++)
		count += acls[i]->rule_count;
	compiled->rule_keys = calloc(count ? count : 1, sizeof(*compiled->rule_keys));
	if (!compiled->rule_keys)
		return -ENOMEM;
	for (size_t i = 0; i < acl_count; i++) {
		for (size_t j = 0; j < acls[i]->rule_count; j++) {
			const struct rule *rule = &acls[i]->rules[j];
			char *key;

			if (asprintf(&key, "%s/%s", acls[i]->name, rule->id) < 0)
				return -ENOMEM;
			compiled->rule_keys[compiled->rule_count++] = key;
			compiled->is_stateful |= rule->action == SECG_ACTION_ALLOW;
		}
	}
	return 0;
}

int compile_policy(struct compiled **ret_compiled, const struct acl *const *acls, size_t acl_count,
		   const char *field, struct errors *reterr)
{
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	_cleanup_(job_fini) struct job job = {
		.acls = acls,
		.acl_count = acl_count,
		.field = field,
		.errs = reterr,
	};
	uint32_t first;
	int r;

	if (acl_count > SECG_MAX_ACLS)
		return errors_add(reterr, ERROR_LIMIT, field,
				  "the list names %zu ACLs, at most %d are possible", acl_count,
				  SECG_MAX_ACLS);
	compiled = calloc(1, sizeof(*compiled));
	if (!compiled)
		return -ENOMEM;
	r = lines_add(&job.lines, POLICY_LINES, &first);
	if (r < 0)
		return r;
	for (enum secg_family family = 0; family < SECG_FAMILY_COUNT; family++) {
		r = compile_family(&job, family);
		if (r < 0)
			return r;
	}
	r = list_rules(compiled, acls, acl_count);
	if (r < 0)
		return r;
	compiled->lines = TAKE_PTR(job.lines.line);
	compiled->line_count = job.lines.count;
	*ret_compiled = TAKE_PTR(compiled);
	return 0;
}

void compiled_free(struct compiled *compiled)
{
	for (size_t i = 0; i < compiled->rule_count; i++)
		free(compiled->rule_keys[i]);
	free(compiled->rule_keys);
	free(compiled->lines);
	free(compiled);
}
