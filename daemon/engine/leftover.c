/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports that are to be detached, and interfaces that are a port's no more. Mostly done at once; what
 * resists is tried again. A port that is gone from the policy stays released in the tables meanwhile, so
 * that its hooks let everything pass.
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

static int try_again(struct engine *engine, const struct leftover *leftover)
{
	if (leftover->id)
		return dp_detach(engine->dp, leftover->id, leftover->ifindex);
	return dp_release_interface(engine->dp, leftover->ifindex);
}

void leftovers_tick(struct engine *engine)
{
	for (size_t i = engine->leftover_count; i > 0; i--)
		if (try_again(engine, &engine->leftovers[i - 1]) >= 0)
			remove_at(engine, i - 1);
	if (engine->is_unwanted_owed)
		leftovers_detach_unwanted(engine);
	if (engine->is_strays_owed)
		leftovers_release_strays(engine);
}

void leftovers_forget(struct engine *engine, int ifindex)
{
	for (size_t i = engine->leftover_count; i > 0; i--) {
		const struct leftover *leftover = &engine->leftovers[i - 1];

		if (leftover->ifindex == ifindex && try_again(engine, leftover) >= 0)
			remove_at(engine, i - 1);
	}
}

void leftovers_replaced(struct engine *engine, uint32_t id, int ifindex)
{
	for (size_t i = engine->leftover_count; i > 0; i--) {
		struct leftover *leftover = &engine->leftovers[i - 1];

		if (leftover->id == id)
			leftover->id = 0;
		if (leftover->ifindex == ifindex)
			leftover->ifindex = 0;
		if (!leftover->id && !leftover->ifindex)
			remove_at(engine, i - 1);
	}
}

int leftovers_release(const struct engine *engine, struct generation *next)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < engine->leftover_count; i++)
		if (engine->leftovers[i].id)
			r = generation_release_port(next, engine->leftovers[i].id);
	return r;
}

/* ── what an earlier daemon has left ────────────────────────────────────────────────────────────── */

static bool is_known_port(uint32_t id, void *data)
{
	const struct engine *engine = data;

	return ids_name(engine->live->port_ids, id) != NULL;
}

void leftovers_detach_unwanted(struct engine *engine)
{
	int r = dp_detach_unwanted(engine->dp, is_known_port, engine);

	if (r < 0 && !engine->is_unwanted_owed)
		log_error("ports of an earlier daemon cannot be detached and are tried again: %s",
			  strerror(-r));
	engine->is_unwanted_owed = r < 0;
}

static bool is_guarded_there(uint32_t id, int ifindex, void *data)
{
	const struct engine *engine = data;

	for (size_t i = 0; i < engine->guard_count; i++)
		if (engine->guards[i].entry->id == id)
			return engine->guards[i].ifindex == ifindex;
	/* A port that is gone is the business of the leftovers. */
	return true;
}

void leftovers_release_strays(struct engine *engine)
{
	int r = 0;

	/* Links first: without its entry, a packet that still meets one would be nobody's. */
	for (size_t i = 0; r == 0 && i < engine->guard_count; i++)
		if (!engine->guards[i].ifindex)
			r = dp_detach(engine->dp, engine->guards[i].entry->id, 0);
	if (r == 0)
		r = dp_release_strays(engine->dp, is_guarded_there, engine);
	if (r < 0 && !engine->is_strays_owed)
		log_error(
			"interfaces that are a port's no more cannot be released and are tried again: %s",
			strerror(-r));
	engine->is_strays_owed = r < 0;
}
