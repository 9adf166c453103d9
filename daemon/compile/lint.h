/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lint: what a valid policy says that its author hardly means (docs/lint.md). Pure; any thread.
 * Nothing is reported that is not so; what takes too long to prove is left out, and LINT_SKIPPED says
 * where rules were not looked at.
 */
#ifndef SECG_COMPILE_LINT_H
#define SECG_COMPILE_LINT_H

#include <jansson.h>

#include "compile/finding.h"
#include "model/config.h"

/* Ranges looked at in one run, about a fifth of a second; and when a person asks for all of it. */
#define LINT_WRITE_WORK UINT64_C(8000000)
#define LINT_FULL_WORK  UINT64_C(50000000)

/* Objects that a write touches, by their place in the config: those it changes, and those whose meaning
 * changes because they use one of those. */
struct lint_scope {
	bool *is_touched[OBJECT_KIND_COUNT];
};

/* From the changes of document_diff. -ENOMEM. */
int lint_scope_init(struct lint_scope *scope, const struct config *config, const json_t *changes);
void lint_scope_fini(struct lint_scope *scope);

/*
 * Adds what is found; everything that concerns the scope, or the whole policy, unused objects included,
 * where it is NULL. -ENOMEM: the findings are incomplete.
 */
int lint_run(const struct config *config, const struct lint_scope *scope, uint64_t work,
	     struct findings *findings);

#endif
