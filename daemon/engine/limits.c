/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of ports with limits, counted anew every second, and when the daemon itself ends some: what the
 * programs add and take away in between does not know of sessions that expire or are evicted.
 */
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "engine/internal.h"
#include "engine/view.h"

/* What ends within this time is not counted: until the next count it may be gone. */
#define MARGIN_SECONDS 2

struct recount {
	struct engine *engine;
	uint32_t now;
	uint32_t margin;          /* ticks */
	struct secg_usage *usage; /* by port id */
	uint64_t *live;           /* by port id: those that end soon included */
	struct dp_source *sources;
	size_t source_count;
	size_t source_capacity;
	int r;
};

static void recount_fini(struct recount *recount)
{
	free(recount->usage);
	free(recount->live);
	free(recount->sources);
}

static int add_source(struct recount *recount, const struct dp_session *session)
{
	struct dp_source source = {
		.key.port = session->flow.a.port,
		.key.family = session->key.flags & SECG_KEY_IPV6 ? 6 : 4,
		.sessions = 1,
	};

	if (recount->source_count == recount->source_capacity) {
		size_t capacity = recount->source_capacity ? recount->source_capacity * 2 : 1024;
		struct dp_source *grown =
			reallocarray(recount->sources, capacity, sizeof(*recount->sources));

		if (!grown)
			return -ENOMEM;
		recount->sources = grown;
		recount->source_capacity = capacity;
	}
	memcpy(source.key.addr, session->key.addr[view_opener(session)], sizeof(source.key.addr));
	recount->sources[recount->source_count++] = source;
	return 0;
}

static bool count_one(const struct dp_session *session, void *data)
{
	struct recount *recount = data;
	const struct generation *live = recount->engine->live;
	uint16_t port = session->flow.a.port;
	struct secg_usage *usage;

	if (port >= live->table_count || !(live->table[port].flags & SECG_PORT_LIMITS))
		return true;
	recount->live[port]++;
	if (dp_session_overdue(recount->engine->dp, session, recount->now + recount->margin) > 0)
		return true;
	usage = &recount->usage[port];
	usage->sessions++;
	if (session->key.proto == SECG_PROTO_TCP &&
	    (session->flow.s.state & SECG_FLOW_PHASE_MASK) == SECG_FLOW_NEW)
		usage->half_open++;
	if (live->table[port].rules.limit_source)
		recount->r = add_source(recount, session);
	return recount->r == 0;
}

/* One entry a source. */
static void merge_sources(struct recount *recount)
{
	size_t count = 0;

	if (recount->source_count == 0)
		return;
	qsort(recount->sources, recount->source_count, sizeof(*recount->sources),
	      dp_source_compare);
	for (size_t i = 1; i < recount->source_count; i++) {
		if (dp_source_compare(&recount->sources[count], &recount->sources[i]) == 0)
			recount->sources[count].sessions++;
		else
			recount->sources[++count] = recount->sources[i];
	}
	recount->source_count = count + 1;
}

static int write_counts(struct recount *recount)
{
	struct engine *engine = recount->engine;
	int r = 0;

	for (size_t i = 0; i < engine->live->port_count && r == 0; i++) {
		const struct generation_port *entry = &engine->live->ports[i];

		if (!(engine->live->table[entry->id].flags & SECG_PORT_LIMITS))
			continue;
		r = dp_usage_set(engine->dp, entry->id, &recount->usage[entry->id]);
		tell_session_80(engine, entry->port->name, &engine->is_limit_near[entry->id],
				recount->live[entry->id], entry->port->limits.sessions);
	}
	if (r == 0) {
		merge_sources(recount);
		r = dp_sources_set(engine->dp, recount->sources, recount->source_count);
	}
	return r;
}

static bool has_limits(const struct engine *engine)
{
	for (size_t i = 0; i < engine->live->port_count; i++)
		if (engine->live->table[engine->live->ports[i].id].flags & SECG_PORT_LIMITS)
			return true;
	return false;
}

void limits_recount(struct engine *engine)
{
	_cleanup_(recount_fini) struct recount recount = {
		.engine = engine,
		.now = dp_now(engine->dp),
		.margin = (uint32_t)(MARGIN_SECONDS * dp_ticks_per_second(engine->dp)) + 1,
	};
	int r;

	if (!has_limits(engine))
		return;
	recount.usage = calloc(engine->live->table_count, sizeof(*recount.usage));
	recount.live = calloc(engine->live->table_count, sizeof(*recount.live));
	r = recount.usage && recount.live ? dp_sessions_each(engine->dp, 0, count_one, &recount)
					  : -ENOMEM;
	if (r == 0)
		r = recount.r;
	if (r == 0)
		r = write_counts(&recount);
	if (r < 0 && !engine->is_recount_broken)
		log_error("sessions cannot be counted, limits may refuse too early: %s",
			  strerror(-r));
	engine->is_recount_broken = r < 0;
}
