/* SPDX-License-Identifier: Apache-2.0 */
/* Counters by the names that people gave. */
#include <stdio.h>
#include <string.h>

#include "engine/internal.h"

struct collection {
	const struct engine *engine;
	struct engine_stats *stats;
	const char *port; /* NULL: all */
	size_t capacity;
	int r;
};

static int add_rule(struct collection *collection, const char *key,
		    const struct secg_counter *counter)
{
	struct engine_stats *stats = collection->stats;
	char *copy;

	if (stats->rule_count == collection->capacity) {
		size_t capacity = collection->capacity ? 2 * collection->capacity : 64;
		struct engine_rule_counter *rules =
			realloc(stats->rules, capacity * sizeof(*rules));

		if (!rules)
			return -ENOMEM;
		stats->rules = rules;
		collection->capacity = capacity;
	}
	copy = strdup(key);
	if (!copy)
		return -ENOMEM;
	stats->rules[stats->rule_count++] =
		(struct engine_rule_counter){.key = copy, .counter = *counter};
	return 0;
}

/* ── rules ──────────────────────────────────────────────────────────────────────────────────────── */

static bool is_of_port(const char *name, const char *port)
{
	size_t length = strlen(port);

	return strncmp(name, port, length) == 0 && name[length] == '\n';
}

static void collect_rule(const char *name, uint32_t id, bool is_new, void *data)
{
	struct collection *collection = data;
	struct secg_counter counter;

	(void)is_new;
	if (collection->r < 0 || (collection->port && !is_of_port(name, collection->port)))
		return;
	collection->r = dp_rule_counter(collection->engine->dp, id, &counter);
	if (collection->r >= 0)
		collection->r = add_rule(collection, strchr(name, '\n') + 1, &counter);
}

static int compare_rules(const void *a, const void *b)
{
	return strcmp(((const struct engine_rule_counter *)a)->key,
		      ((const struct engine_rule_counter *)b)->key);
}

/* One row per key: what several ports counted is added up. */
static void merge_rules(struct engine_stats *stats)
{
	size_t kept = 0;

	if (stats->rule_count == 0)
		return;
	qsort(stats->rules, stats->rule_count, sizeof(*stats->rules), compare_rules);
	for (size_t i = 1; i < stats->rule_count; i++) {
		struct engine_rule_counter *rule = &stats->rules[i];

		if (compare_rules(&stats->rules[kept], rule) != 0) {
			stats->rules[++kept] = *rule;
			continue;
		}
		stats->rules[kept].counter.packets += rule->counter.packets;
		stats->rules[kept].counter.bytes += rule->counter.bytes;
		free((char *)rule->key);
	}
	stats->rule_count = kept + 1;
}

/* ── ports ──────────────────────────────────────────────────────────────────────────────────────── */

const char *const infra_bit_rows[SECG_INFRA_COUNT] = {
#define BIT_ROW(name, row) [SECG_INFRA_##name] = row,
	SECG_INFRA_BITS(BIT_ROW)
#undef BIT_ROW
};

static int add_infrastructure(struct collection *collection,
			      const struct secg_port_counters *counters)
{
	char key[32];
	int r = 0;

	for (int bit = 0; r >= 0 && bit < SECG_INFRA_COUNT; bit++) {
		snprintf(key, sizeof(key), "infra/%s", infra_bit_rows[bit]);
		r = add_rule(collection, key, &counters->infra[bit]);
		for (int row = 0; row < INFRA_ROW_COUNT; row++)
			if (strcmp(infra_row_names[row], infra_bit_rows[bit]) == 0)
				collection->stats->infrastructure[row] +=
					counters->infra[bit].packets;
	}
	return r;
}

static int add_counters(struct collection *collection, uint32_t id,
			struct secg_port_counters *counters)
{
	int r = dp_port_counters(collection->engine->dp, id, counters);

	if (r < 0)
		return r;
	for (int reason = 0; reason < SECG_REASON_COUNT; reason++)
		collection->stats->reasons[reason] += counters->reasons[reason];
	return add_infrastructure(collection, counters);
}

static int collect_ports(struct collection *collection)
{
	const struct generation *live = collection->engine->live;
	struct engine_stats *stats = collection->stats;
	struct secg_port_counters unknown;
	int r;

	stats->ports = calloc(live->port_count + 1, sizeof(*stats->ports));
	if (!stats->ports)
		return -ENOMEM;
	for (size_t i = 0; i < live->port_count; i++) {
		const struct generation_port *entry = &live->ports[i];
		struct engine_port_stats *port = &stats->ports[stats->port_count];

		if (collection->port && strcmp(collection->port, entry->port->name) != 0)
			continue;
		r = add_counters(collection, entry->id, &port->counters);
		if (r < 0)
			return r;
		port->name = entry->port->name;
		stats->port_count++;
	}
	return collection->port ? 0 : add_counters(collection, 0, &unknown);
}

int engine_stats(const struct engine *engine, const char *port, struct engine_stats *ret_stats)
{
	_cleanup_(engine_stats_fini) struct engine_stats stats = {0};
	struct collection collection = {.engine = engine, .stats = &stats, .port = port};
	int r;

	if (port && !generation_find_port(engine->live, port))
		return -ENOENT;
	r = collect_ports(&collection);
	if (r < 0)
		return r;
	ids_each(engine->live->counter_ids, collect_rule, &collection);
	if (collection.r < 0)
		return collection.r;
	merge_rules(&stats);
	*ret_stats = stats;
	stats = (struct engine_stats){0};
	return 0;
}

void engine_stats_fini(struct engine_stats *stats)
{
	for (size_t i = 0; i < stats->rule_count; i++)
		free((char *)stats->rules[i].key);
	free(stats->rules);
	free(stats->ports);
	*stats = (struct engine_stats){0};
}
