/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/config: the whole desired state. */
#include "api/exchange.h"
#include "api/write.h"

bool config_resource_get(struct exchange *exchange)
{
	reply_json(&exchange->reply, 200, config_document(engine_config(exchange->engine)));
	reply_set_etag(&exchange->reply, engine_etag(exchange->engine));
	return true;
}

static bool submit_document(struct exchange *exchange, enum change_kind kind)
{
	_cleanup_(change_freep) struct change *change = change_new();

	if (!change) {
		reply_failure(&exchange->reply, -ENOMEM);
		return true;
	}
	change->kind = kind;
	if (!write_read_body(exchange, change))
		return true;
	return write_submit(exchange, TAKE_PTR(change));
}

bool config_resource_put(struct exchange *exchange)
{
	return submit_document(exchange, CHANGE_REPLACE);
}

bool config_resource_patch(struct exchange *exchange)
{
	return submit_document(exchange, CHANGE_MERGE);
}
