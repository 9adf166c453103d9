/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics: the counters in Prometheus' text format, version 0.0.4. */
#include <stdio.h>
#include <string.h>

#include "api/exchange.h"
#include "api/reason_names.h"
#include "engine/events.h"

#define PORT_STATES (PORT_FAILED + 1)

/* Label values escape backslash, quote and newline. */
static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", out);
		else if (*value == '\\' || *value == '"')
			fprintf(out, "\\%c", *value);
		else
			fputc(*value, out);
	}
	fputc('"', out);
}

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_plain(FILE *out, const char *name, const char *type, const char *help,
		      uint64_t value)
{
	put_head(out, name, type, help);
	fprintf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void put_labelled(FILE *out, const char *name, const char *label, const char *value,
			 uint64_t number)
{
	fprintf(out, "%s{", name);
	put_label(out, label, value);
	fprintf(out, "} %llu\n", (unsigned long long)number);
}

static const struct {
	const char *name;
	const char *help;
	size_t offset; /* of the counter of direction from, in struct secg_port_counters */
	bool is_bytes;
} port_metrics[] = {
	{"secg_port_packets_total", "Packets that passed a port.",
	 offsetof(struct secg_port_counters, passed), false},
	{"secg_port_bytes_total", "Bytes that passed a port.",
	 offsetof(struct secg_port_counters, passed), true},
	{"secg_port_dropped_packets_total", "Packets dropped at a port.",
	 offsetof(struct secg_port_counters, dropped), false},
	{"secg_port_dropped_bytes_total", "Bytes dropped at a port.",
	 offsetof(struct secg_port_counters, dropped), true},
};

static void put_ports(FILE *out, const struct engine_stats *stats)
{
	static const char *const directions[SECG_DIRECTIONS] = {"from", "to"};

	for (size_t m = 0; m < ARRAY_SIZE(port_metrics); m++) {
		put_head(out, port_metrics[m].name, "counter", port_metrics[m].help);
		for (size_t i = 0; i < stats->port_count * SECG_DIRECTIONS; i++) {
			const struct engine_port_stats *port = &stats->ports[i / SECG_DIRECTIONS];
			const struct secg_counter *counter =
				(const void *)((const char *)&port->counters +
					       port_metrics[m].offset);

			counter += i % SECG_DIRECTIONS;
			fprintf(out, "%s{", port_metrics[m].name);
			put_label(out, "port", port->name);
			fputc(',', out);
			put_label(out, "direction", directions[i % SECG_DIRECTIONS]);
			fprintf(out, "} %llu\n",
				(unsigned long long)(port_metrics[m].is_bytes ? counter->bytes
									      : counter->packets));
		}
	}
}

static void put_rules(FILE *out, const struct engine_stats *stats)
{
	put_head(out, "secg_rule_packets_total", "counter", "Packets a rule decided.");
	for (size_t i = 0; i < stats->rule_count; i++)
		put_labelled(out, "secg_rule_packets_total", "rule", stats->rules[i].key,
			     stats->rules[i].counter.packets);
	put_head(out, "secg_rule_bytes_total", "counter", "Bytes a rule decided.");
	for (size_t i = 0; i < stats->rule_count; i++)
		put_labelled(out, "secg_rule_bytes_total", "rule", stats->rules[i].key,
			     stats->rules[i].counter.bytes);
	put_head(out, "secg_drops_total", "counter", "Packets dropped, by reason.");
	for (size_t i = SECG_REASON_NONE + 1; i < SECG_REASON_COUNT; i++)
		put_labelled(out, "secg_drops_total", "reason", reason_names[i], stats->reasons[i]);
	put_head(out, "secg_infrastructure_packets_total", "counter",
		 "Packets an infrastructure rule passed.");
	for (size_t i = 0; i < INFRA_ROW_COUNT; i++)
		put_labelled(out, "secg_infrastructure_packets_total", "name", infra_row_names[i],
			     stats->infrastructure[i]);
}

static void count_state(const struct port_status *status, void *data)
{
	uint64_t *counts = data;

	counts[status->state]++;
}

static void put_engine(FILE *out, const struct engine *engine)
{
	uint64_t states[PORT_STATES] = {0};
	struct dp_session_usage usage;

	put_head(out, "secg_build_info", "gauge", "Version of the daemon.");
	put_labelled(out, "secg_build_info", "version", SECG_VERSION, 1);
	put_plain(out, "secg_healthy", "gauge", "1 while the daemon keeps its ports guarded.",
		  engine_is_healthy(engine));
	put_plain(out, "secg_generation", "gauge", "Generation of the policy in force.",
		  engine_generation(engine));
	engine_each_port(engine, count_state, states);
	put_head(out, "secg_ports", "gauge", "Ports by state.");
	for (size_t i = 0; i < PORT_STATES; i++)
		put_labelled(out, "secg_ports", "state", port_state_names[i], states[i]);
	if (dp_session_usage(engine_dp(engine), &usage) < 0)
		return;
	put_plain(out, "secg_sessions", "gauge", "Answered sessions.", usage.used);
	put_plain(out, "secg_sessions_max", "gauge", "Room for answered sessions.", usage.max);
	put_plain(out, "secg_new_sessions", "gauge", "Half-open and one-way sessions.",
		  usage.new_used);
	put_plain(out, "secg_new_sessions_max", "gauge", "Room for half-open and one-way sessions.",
		  usage.new_max);
}

static void put_events(FILE *out, const struct engine *engine)
{
	const struct events *events = engine_events(engine);
	struct engine_notices notices = engine_notices(engine);
	const struct {
		const char *result;
		uint64_t count;
	} answers[] = {
		{"sent", notices.answers_sent},
		{"failed", notices.answers_failed},
		{"skipped", notices.answers_skipped},
		{"lost", notices.answers_lost},
	};

	put_head(out, "secg_events_total", "counter", "Events since the daemon started.");
	for (int type = 0; type < EVENT_TYPE_COUNT; type++)
		put_labelled(out, "secg_events_total", "type", event_type_names[type],
			     events_count(events, (enum event_type)type));
	put_plain(out, "secg_events_lost_total", "counter",
		  "Records that found no room on their way to the daemon.", notices.lost);
	put_plain(out, "secg_events_suppressed_total", "counter", "Records kept back for a rate.",
		  notices.suppressed);
	put_head(out, "secg_answers_total", "counter", "Answers to rejected packets.");
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		put_labelled(out, "secg_answers_total", "result", answers[i].result,
			     answers[i].count);
	put_plain(out, "secg_resets_total", "counter",
		  "TCP resets sent to the ends of sessions that expired.", notices.resets);
}

bool metrics_get(struct exchange *exchange)
{
	_cleanup_(engine_stats_fini) struct engine_stats stats = {0};
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out;
	int r;

	r = engine_stats(exchange->engine, NULL, &stats);
	if (r < 0) {
		reply_failure(&exchange->reply, r);
		return true;
	}
	out = open_memstream(&text, &size);
	if (!out) {
		reply_failure(&exchange->reply, -errno);
		return true;
	}
	put_engine(out, exchange->engine);
	put_ports(out, &stats);
	put_rules(out, &stats);
	put_events(out, exchange->engine);
	r = ferror(out);
	if (fclose(out) || r || !text)
		reply_failure(&exchange->reply, -ENOMEM);
	else
		reply_text(&exchange->reply, 200, "text/plain; version=0.0.4", TAKE_PTR(text),
			   size);
	return true;
}
