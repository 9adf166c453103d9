/* SPDX-License-Identifier: Apache-2.0 */
/* Changes on their way through the engine, and the write answer. */
#include "api/write.h"

#include <stdio.h>

#include "model/document.h"

bool write_read_body(struct exchange *exchange, struct change *change)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	const struct request *request = &exchange->request;
	int r;

	r = document_read(&change->document, request->body ? request->body : "", request->body_size,
			  &errors);
	if (!r)
		return true;
	if (errors.count)
		reply_errors(&exchange->reply, 400, &errors);
	else
		reply_failure(&exchange->reply, r);
	return false;
}

static json_t *list_or_empty(json_t *list)
{
	return list ? json_incref(list) : json_array();
}

static json_t *result_json(const struct change_result *result)
{
	char etag[24];

	snprintf(etag, sizeof(etag), "%llu", (unsigned long long)result->etag);
	return json_pack("{s:I, s:b, s:s, s:o, s:{s:I, s:I}, s:{s:o, s:o}, s:o}", "generation",
			 (json_int_t)result->generation, "changed", result->is_changed, "etag",
			 etag, "changes", list_or_empty(result->changes), "sessions", "kept",
			 (json_int_t)result->sessions_kept, "cut", (json_int_t)result->sessions_cut,
			 "ports", "waiting", list_or_empty(result->waiting), "failed",
			 list_or_empty(result->failed), "warnings",
			 list_or_empty(result->warnings));
}

static void write_done(struct change *change, void *data)
{
	const struct change_result *result = &change->result;
	struct exchange *exchange = data;

	if (result->status == 200) {
		reply_json(&exchange->reply, 200, result_json(result));
		reply_set_etag(&exchange->reply, result->etag);
	} else if (result->errors.count) {
		reply_errors(&exchange->reply, (unsigned int)result->status, &result->errors);
	} else {
		reply_error(&exchange->reply, 500, ERROR_INTERNAL, "",
			    "the change was not carried out");
	}
	exchange->resume(exchange);
}

bool write_submit(struct exchange *exchange, struct change *change)
{
	const struct request *request = &exchange->request;
	int r;

	change->is_dry_run = request_parameter(request, "dry_run");
	change->has_if_match = request->has_if_match;
	change->if_match = request->if_match;
	change->done = write_done;
	change->data = exchange;
	r = engine_submit(exchange->engine, change);
	if (!r)
		return false;
	change_free(change);
	if (r == -EBUSY)
		reply_error(&exchange->reply, 503, ERROR_BUSY, "",
			    "too many changes are waiting, try again");
	else
		reply_failure(&exchange->reply, r);
	return true;
}
