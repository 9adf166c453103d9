/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/status and /healthz: what runs, and whether it is well. */
#include <stdio.h>

#include "api/exchange.h"
#include "engine/events.h"

static json_t *kernel_json(const struct dp *dp)
{
	json_t *kernel = json_object();

	for (enum dp_feature feature = 0; feature < DP_FEATURE_COUNT; feature++)
		json_object_set_new(kernel, dp_feature_names[feature],
				    json_boolean(dp_has_feature(dp, feature)));
	return kernel;
}

static void add_memory(const char *map, uint64_t bytes, void *data)
{
	json_object_set_new(data, map, json_integer((json_int_t)bytes));
}

static json_t *memory_json(const struct dp *dp)
{
	json_t *memory = json_object();

	dp_memory(dp, add_memory, memory);
	return memory;
}

/* NULL where the tables cannot be read. */
static json_t *sessions_json(const struct dp *dp)
{
	struct dp_session_usage usage;

	if (dp_session_usage(dp, &usage) < 0)
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I}", "used", (json_int_t)usage.used, "max",
			 (json_int_t)usage.max, "new_used", (json_int_t)usage.new_used, "new_max",
			 (json_int_t)usage.new_max);
}

static void add_attachment(json_t *port, const struct dp_attachment *attachment)
{
	if (attachment->mode != DP_MODE_NONE) {
		json_object_set_new(port, "hook", json_string(attachment->is_xdp ? "xdp" : "tc"));
		json_object_set_new(port, "mode", json_string(dp_mode_names[attachment->mode]));
		json_object_set_new(port, "prog_tag", json_string(attachment->prog_tag));
	}
	if (attachment->mode_to != DP_MODE_NONE) {
		json_object_set_new(port, "mode_to",
				    json_string(dp_mode_names[attachment->mode_to]));
		json_object_set_new(port, "prog_tag_to", json_string(attachment->prog_tag_to));
	}
}

static void add_port(const struct port_status *status, void *data)
{
	const char *message = status->message[0] ? status->message : status->attachment.message;
	json_t *port =
		json_pack("{s:s, s:i, s:s, s:I, s:s}", "state", port_state_names[status->state],
			  "ifindex", status->ifindex, "tables", "bits", "generation",
			  (json_int_t)status->generation, "message", message);

	if (port && status->interface[0])
		json_object_set_new(port, "interface", json_string(status->interface));
	if (port && status->port_template)
		json_object_set_new(port, "template", json_string(status->port_template));
	if (port)
		add_attachment(port, &status->attachment);
	json_object_set_new(data, status->name, port);
}

static json_t *ports_json(const struct engine *engine)
{
	json_t *ports = json_object();

	engine_each_port(engine, add_port, ports);
	return ports;
}

static json_t *events_json(const struct engine *engine)
{
	const struct events *events = engine_events(engine);

	return json_pack("{s:s, s:I, s:I}", "boot_id", events_boot_id(events), "first",
			 (json_int_t)events_first(events), "last", (json_int_t)events_last(events));
}

bool status_resource_get(struct exchange *exchange)
{
	const struct engine *engine = exchange->engine;
	const struct dp *dp = engine_dp(engine);
	char etag[24];

	snprintf(etag, sizeof(etag), "%llu", (unsigned long long)engine_etag(engine));
	reply_json(&exchange->reply, 200,
		   json_pack("{s:s, s:I, s:s, s:o, s:o, s:o*, s:o, s:o}", "version", SECG_VERSION,
			     "generation", (json_int_t)engine_generation(engine), "etag", etag,
			     "kernel", kernel_json(dp), "memory", memory_json(dp), "sessions",
			     sessions_json(dp), "events", events_json(engine), "ports",
			     ports_json(engine)));
	reply_set_etag(&exchange->reply, engine_etag(engine));
	return true;
}

bool status_resource_health(struct exchange *exchange)
{
	if (engine_is_healthy(exchange->engine))
		reply_json(&exchange->reply, 200, json_pack("{s:s}", "status", "ok"));
	else
		reply_json(&exchange->reply, 503,
			   json_pack("{s:s, s:[{s:s, s:s, s:s}]}", "status", "failed", "errors",
				     "code", "internal", "field", "", "message",
				     "the daemon cannot keep its ports guarded, see its log"));
	return true;
}
