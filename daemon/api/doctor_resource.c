/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/doctor: what an operator should know of this host, and what to type. */
#include "api/auth.h"
#include "api/exchange.h"
#include "engine/doctor.h"

static json_t *finding_json(const struct doctor_finding *finding)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:s}", "code", doctor_code_words[finding->code],
				 "severity", doctor_severity_words[finding->severity], "message",
				 finding->message, "fix", finding->fix ? finding->fix : "");

	if (json && finding->port)
		json_object_set_new(json, "port", json_string(finding->port));
	return json;
}

static json_t *findings_json(const struct doctor_findings *findings)
{
	json_t *list = json_array();

	for (size_t i = 0; i < findings->count; i++)
		json_array_append_new(list, finding_json(&findings->items[i]));
	return json_pack("{s:o}", "findings", list);
}

bool doctor_resource_get(struct exchange *exchange)
{
	_cleanup_(doctor_findings_fini) struct doctor_findings findings = {0};
	_cleanup_(doctor_facts_fini) struct doctor_facts facts = {0};
	struct auth_groups groups = {0};
	struct doctor_setup setup = {.socket = exchange->socket};
	int r;

	auth_groups_refresh(&groups);
	setup.has_admin_group = groups.has_write;
	setup.has_read_group = groups.has_read;
	r = doctor_gather(&facts, exchange->engine, &setup);
	if (r < 0) {
		reply_failure(&exchange->reply, r);
		return true;
	}
	doctor_judge(&findings, &facts);
	if (findings.is_incomplete)
		reply_failure(&exchange->reply, -ENOMEM);
	else
		reply_json(&exchange->reply, 200, findings_json(&findings));
	return true;
}
