/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its answer, as the resources see it. A resource's handler returns true when the reply
 * is filled, false when it submitted a change: then `resume` is called once, later, with the reply filled.
 */
#ifndef SECG_API_EXCHANGE_H
#define SECG_API_EXCHANGE_H

#include <stdbool.h>

#include "api/reply.h"
#include "api/request.h"
#include "engine/engine.h"

struct exchange {
	struct engine *engine;
	const char *socket; /* path at which the server listens */
	struct request request;
	struct reply reply;
	enum object_kind kind; /* collections only */
	void (*resume)(struct exchange *exchange);
};

typedef bool (*exchange_handler)(struct exchange *exchange);

/* config_resource.c */
bool config_resource_get(struct exchange *exchange);
bool config_resource_put(struct exchange *exchange);
bool config_resource_patch(struct exchange *exchange);
/* collection.c */
bool collection_list(struct exchange *exchange);
bool collection_get(struct exchange *exchange);
bool collection_put(struct exchange *exchange);
bool collection_delete(struct exchange *exchange);
/* members_resource.c */
bool members_resource_get(struct exchange *exchange);
bool members_resource_post(struct exchange *exchange);
/* sessions_resource.c */
bool sessions_resource_get(struct exchange *exchange);
bool sessions_resource_delete(struct exchange *exchange);
/* stats_resource.c */
bool stats_resource_get(struct exchange *exchange);
/* status_resource.c */
bool status_resource_get(struct exchange *exchange);
bool status_resource_health(struct exchange *exchange);
/* openapi_resource.c */
bool openapi_resource_get(struct exchange *exchange);
/* events_resource.c */
bool events_resource_get(struct exchange *exchange);
/* doctor_resource.c */
bool doctor_resource_get(struct exchange *exchange);
/* trace_resource.c */
bool trace_resource_post(struct exchange *exchange);
/* metrics.c */
bool metrics_get(struct exchange *exchange);

#endif
