/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/trace: what the policy would do with a packet. */
#include <string.h>

#include "api/exchange.h"
#include "api/reason_names.h"
#include "engine/trace.h"
#include "model/document.h"

static bool read_request(struct exchange *exchange, struct trace_request *request)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	const struct request *http = &exchange->request;
	json_auto_t *document = NULL;
	int r;

	r = document_read(&document, http->body ? http->body : "", http->body_size, &errors);
	if (r >= 0)
		r = trace_request_parse(request, document, &errors);
	if (r >= 0)
		return true;
	if (errors.count)
		reply_errors(&exchange->reply, 400, &errors);
	else
		reply_failure(&exchange->reply, r);
	return false;
}

/* What only some answers have. */
static int add_details(json_t *json, const struct trace_result *result)
{
	int r = 0;

	if (result->reason != SECG_REASON_NONE)
		r |= json_object_set_new(json, "reason", json_string(reason_names[result->reason]));
	if (result->is_acl_rule)
		r |= json_object_set_new(json, "acl",
					 json_stringn(result->rule, strcspn(result->rule, "/")));
	if (result->rule)
		r |= json_object_set_new(json, "rule", json_string(result->rule));
	if (result->session)
		r |= json_object_set_new(json, "session", json_string(result->session));
	return r;
}

static json_t *result_json(const struct trace_result *result)
{
	const char *verdict = result->reason == SECG_REASON_NONE ? "pass"
			      : result->is_rejected              ? "reject"
								 : "drop";
	json_t *json = json_pack("{s:s, s:s, s:b, s:I, s:s, s:s}", "verdict", verdict, "antispoof",
				 result->antispoof, "would_create", result->would_create,
				 "generation", (json_int_t)result->generation, "prog_tag",
				 result->prog_tag, "attached_tag", result->attached_tag);

	if (!json || add_details(json, result)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

bool trace_resource_post(struct exchange *exchange)
{
	_cleanup_(trace_request_fini) struct trace_request request = {0};
	_cleanup_(trace_result_fini) struct trace_result result = {0};
	_cleanup_(errors_fini) struct errors errors = {0};
	int r;

	if (!read_request(exchange, &request))
		return true;
	r = engine_trace(exchange->engine, &request, &result, &errors);
	if (r >= 0)
		reply_json(&exchange->reply, 200, result_json(&result));
	else if (errors.count)
		reply_errors(&exchange->reply,
			     r == -ENOENT    ? 404
			     : r == -ENOLINK ? 409
					     : 400,
			     &errors);
	else
		reply_failure(&exchange->reply, r);
	return true;
}
