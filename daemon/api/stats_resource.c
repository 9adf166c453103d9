/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/stats: counters of ports, rules, reasons and infrastructure rules. */
#include "api/exchange.h"
#include "api/reason_names.h"

static json_t *direction_json(const struct secg_port_counters *counters,
			      enum secg_direction direction)
{
	return json_pack("{s:I, s:I, s:I}", "packets",
			 (json_int_t)counters->passed[direction].packets, "bytes",
			 (json_int_t)counters->passed[direction].bytes, "dropped",
			 (json_int_t)counters->dropped[direction].packets);
}

static json_t *ports_json(const struct engine_stats *stats)
{
	json_t *ports = json_object();

	for (size_t i = 0; i < stats->port_count; i++) {
		const struct engine_port_stats *port = &stats->ports[i];

		json_object_set_new(ports, port->name,
				    json_pack("{s:o, s:o}", "from",
					      direction_json(&port->counters, SECG_FROM), "to",
					      direction_json(&port->counters, SECG_TO)));
	}
	return ports;
}

static json_t *rules_json(const struct engine_stats *stats)
{
	json_t *rules = json_object();

	for (size_t i = 0; i < stats->rule_count; i++)
		json_object_set_new(rules, stats->rules[i].key,
				    json_pack("{s:I, s:I}", "packets",
					      (json_int_t)stats->rules[i].counter.packets, "bytes",
					      (json_int_t)stats->rules[i].counter.bytes));
	return rules;
}

static json_t *numbers_json(const char *const *names, const uint64_t *numbers, size_t first,
			    size_t count)
{
	json_t *json = json_object();

	for (size_t i = first; i < count; i++)
		json_object_set_new(json, names[i], json_integer((json_int_t)numbers[i]));
	return json;
}

bool stats_resource_get(struct exchange *exchange)
{
	const char *port = request_parameter(&exchange->request, "port");
	_cleanup_(engine_stats_fini) struct engine_stats stats = {0};
	int r;

	r = engine_stats(exchange->engine, port, &stats);
	if (r == -ENOENT) {
		reply_error(&exchange->reply, 404, ERROR_NOT_FOUND, "query.port",
			    "there is no port %s", port);
		return true;
	}
	if (r < 0) {
		reply_failure(&exchange->reply, r);
		return true;
	}
	reply_json(
		&exchange->reply, 200,
		json_pack("{s:o, s:o, s:o, s:o}", "ports", ports_json(&stats), "rules",
			  rules_json(&stats), "reasons",
			  numbers_json(reason_names, stats.reasons, SECG_REASON_NONE + 1,
				       SECG_REASON_COUNT),
			  "infrastructure",
			  numbers_json(infra_row_names, stats.infrastructure, 0, INFRA_ROW_COUNT)));
	return true;
}
