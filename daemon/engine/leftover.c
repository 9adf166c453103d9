/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports that are to be detached. Mostly done at once; what resists stays released in the tables, so that
 * its hooks let everything pass, and is tried again.
 */
#include <string.h>

#include "core/log.h"
#include "engine/internal.h"

static void add(struct engine *engine, uint32_t id, int ifindex)
{
	struct leftover *leftovers;

	leftovers = realloc(engine->leftovers, (engine->leftover_count + 1) * sizeof(*leftovers));
	if (!leftovers)
		return;
	engine->leftovers = leftovers;
	leftovers[engine->leftover_count++] = (struct leftover){.id = id, .ifindex = ifindex};
}

static void remove_at(struct engine *engine, size_t index)
{
	engine->leftovers[index] = engine->leftovers[--engine->leftover_count];
}

void leftover_detach(struct engine *engine, uint32_t id, int ifindex)
{
	int r = dp_detach(engine->dp, id, ifindex);

	if (r >= 0)
		return;
	log_error(
		"port number %u cannot be detached from interface number %d and is tried again: %s",
		id, ifindex, strerror(-r));
	add(engine, id, ifindex);
}

void leftovers_tick(struct engine *engine)
{
	for (size_t i = engine->leftover_count; i > 0; i--) {
		const struct leftover *leftover = &engine->leftovers[i - 1];

		if (dp_detach(engine->dp, leftover->id, leftover->ifindex) >= 0)
			remove_at(engine, i - 1);
	}
}

void leftovers_forget(struct engine *engine, int ifindex)
{
	for (size_t i = engine->leftover_count; i > 0; i--) {
		const struct leftover *leftover = &engine->leftovers[i - 1];

		if (leftover->ifindex != ifindex)
			continue;
		dp_forget(engine->dp, leftover->id, ifindex);
		remove_at(engine, i - 1);
	}
}

void leftovers_replaced(struct engine *engine, uint32_t id)
{
	for (size_t i = engine->leftover_count; i > 0; i--)
		if (engine->leftovers[i - 1].id == id)
			remove_at(engine, i - 1);
}

void leftovers_release(const struct engine *engine, struct generation *next)
{
	for (size_t i = 0; i < engine->leftover_count; i++)
		generation_release_port(next, engine->leftovers[i].id);
}
