/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of the lint as warnings of the API. */
#include "engine/advice.h"

#include "compile/lint.h"

static int put_warnings(struct change_result *result, const struct findings *findings)
{
	json_t *warnings = json_array();

	if (!warnings)
		return -ENOMEM;
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];
		json_t *warning =
			json_pack("{s:s, s:s, s:s}", "code", finding_code_name(finding->code),
				  "field", finding->field, "message", finding->message);

		if (json_array_append_new(warnings, warning) < 0) {
			json_decref(warnings);
			return -ENOMEM;
		}
	}
	json_decref(result->warnings);
	result->warnings = warnings;
	return 0;
}

int advice_give(struct change *change, const struct config *config)
{
	_cleanup_(lint_scope_fini) struct lint_scope scope = {0};
	_cleanup_(findings_fini) struct findings findings = {0};
	int r;

	if (!change->is_dry_run && !change->result.is_changed)
		return put_warnings(&change->result, &findings);
	r = change->is_dry_run ? 0 : lint_scope_init(&scope, config, change->result.changes);
	if (r < 0)
		return r;
	r = lint_run(config, change->is_dry_run ? NULL : &scope,
		     change->is_dry_run ? LINT_FULL_WORK : LINT_WRITE_WORK, &findings);
	return r < 0 ? r : put_warnings(&change->result, &findings);
}
