/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations without a data path: built from a document on top of the one before, placed as a commit
 * does. For one test program; included after cmocka.h.
 */
#ifndef SECG_TESTS_GENERATION_LAB_H
#define SECG_TESTS_GENERATION_LAB_H

#include <stdio.h>
#include <string.h>

#include "engine/generation.h"
#include "engine/table.h"

#define TICKS_PER_SECOND 31.25

static uint32_t counter_limit;

static enum port_side side_of(const struct port *port, void *data)
{
	const char *interface = port->interface;

	(void)data;
	if (strncmp(interface, "tap", 3) == 0)
		return PORT_SIDE_WORKLOAD;
	return strncmp(interface, "eth", 3) == 0 ? PORT_SIDE_HOST : PORT_SIDE_AUTO;
}

static inline struct generation *empty(uint32_t limit)
{
	struct generation *generation = NULL;
	struct store_state state = {
		.document = json_object(),
		.policies = json_object(),
		.generation = 10,
		.etag = 3,
	};

	counter_limit = limit;
	assert_int_equal(ids_new(&state.ports, 1, SECG_MAX_PORTS), 0);
	assert_int_equal(ids_new(&state.counters, 1, counter_limit), 0);
	assert_int_equal(generation_from_store(&generation, &state), 0);
	return generation;
}

/* Builds, and puts the blocks somewhere as a commit does. */
static int place(struct block *block, void *data)
{
	uint32_t *next = data;

	if (!block->line)
		block->line = ++*next;
	return 0;
}

static int try_build(struct generation **ret_generation, const struct generation *live,
		     const char *text)
{
	static uint32_t next_line;
	_cleanup_(errors_fini) struct errors errs = {0};
	struct generation_context context = {
		.live = live,
		.number = live->number + 1,
		.etag = live->etag + 1,
		.counter_limit = counter_limit,
		.ticks_per_second = TICKS_PER_SECOND,
		.side = side_of,
	};
	json_t *document = json_loads(text, 0, NULL);
	struct config *config = NULL;
	int r;

	assert_non_null(document);
	if (config_parse(&config, document, NULL, &errs) < 0)
		fail_msg("%s: %s", errs.items[0].field, errs.items[0].message);
	r = generation_build(ret_generation, config, document, &context, &errs);
	json_decref(document);
	if (r < 0) {
		config_free(config);
		return r;
	}
	generation_each_block(*ret_generation, place, &next_line);
	generation_resolve(*ret_generation);
	return 0;
}

static inline struct generation *build(const struct generation *live, const char *text)
{
	struct generation *generation = NULL;

	assert_int_equal(try_build(&generation, live, text), 0);
	return generation;
}

/* As after the flip and its grace period. */
static inline struct generation *go_live(struct generation *live, struct generation *next)
{
	generation_free(live);
	ids_clear_new(next->port_ids);
	ids_clear_new(next->counter_ids);
	ids_settle(next->port_ids);
	ids_settle(next->counter_ids);
	return next;
}

static inline const struct secg_port *table_of(const struct generation *generation,
					       const char *name)
{
	const struct generation_port *entry = generation_find_port(generation, name);

	assert_non_null(entry);
	return &generation->table[entry->id];
}

static inline uint32_t counter_of(const struct generation *generation, const char *port,
				  int direction, size_t slot)
{
	const struct generation_port *entry = generation_find_port(generation, port);

	return ((const uint32_t *)entry->counters[direction]->lines)[slot];
}

#endif
