/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a built generation to the live one: table memory, store, selector. Called by commit and guard.
 */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "engine/internal.h"
#include "engine/table.h"

/* ── placing ────────────────────────────────────────────────────────────────────────────────────── */

/* The lines of a tree of rule words refer to each other by their place. */
static int move_tree(struct engine *engine, const struct block *block)
{
	size_t size = block->line_count * sizeof(*block->lines);
	_cleanup_free_ struct secg_line *moved = malloc(size);

	if (!moved)
		return -ENOMEM;
	memcpy(moved, block->lines, size);
	own_move(moved, &block->tree, block->line);
	dp_tables_rewrite(engine->dp, block->line, moved, (uint32_t)block->line_count);
	return 0;
}

static int place_block(struct block *block, void *data)
{
	struct engine *engine = data;
	int r;

	block->is_used = true;
	if (block->line)
		return 0;
	r = dp_tables_place(engine->dp, block->lines, (uint32_t)block->line_count, &block->line);
	return r < 0 || !block->tree.lines ? r : move_tree(engine, block);
}

static int release_block(struct block *block, void *data)
{
	struct engine *engine = data;

	if (!block->is_used)
		dp_tables_release(engine->dp, block->line);
	block->is_used = true; /* two lists may share it */
	return 0;
}

static int clear_used(struct block *block, void *data)
{
	(void)data;
	block->is_used = false;
	return 0;
}

static int place(struct engine *engine, struct generation *next)
{
	int r;

	generation_each_block(engine->live, clear_used, NULL);
	r = generation_each_block(next, place_block, engine);
	if (r < 0)
		return r;
	generation_each_block(engine->live, release_block, engine);
	generation_resolve(next);
	return 0;
}

/* Blocks of the live generation keep their lines: those were placed before. */
static int unplace_block(struct block *block, void *data)
{
	(void)data;
	if (!block->is_used)
		block->line = 0;
	return 0;
}

static int set_used(struct block *block, void *data)
{
	(void)data;
	block->is_used = true;
	return 0;
}

static void unplace(struct engine *engine, struct generation *next)
{
	dp_tables_abort(engine->dp);
	generation_each_block(next, clear_used, NULL);
	generation_each_block(engine->live, set_used, NULL);
	generation_each_block(next, unplace_block, NULL);
}

static int fail(int r, char message[DP_MESSAGE_SIZE], const char *what, const char *why)
{
	snprintf(message, DP_MESSAGE_SIZE, "%s: %s", what, why);
	return r;
}

static int fail_tables(const struct engine *engine, int r, char message[DP_MESSAGE_SIZE])
{
	uint64_t used, size;

	if (r != -ENOSPC)
		return fail(r, message, "the tables do not take the policy", strerror(-r));
	dp_tables_usage(engine->dp, &used, &size);
	snprintf(
		message, DP_MESSAGE_SIZE,
		"the policy does not fit in the %llu MiB of --table-memory beside the live one: stop "
		"secgd, run secgd --detach-all, which a new size needs, and start it with more",
		(unsigned long long)size >> 20);
	return r;
}

int flip_try(struct engine *engine, struct generation *next, char message[DP_MESSAGE_SIZE])
{
	int r;

	flip_settle(engine);
	r = place(engine, next);
	unplace(engine, next);
	return r < 0 ? fail_tables(engine, r, message) : 0;
}

/* ── numbers ────────────────────────────────────────────────────────────────────────────────────── */

struct zeroing {
	struct engine *engine;
	int r;
};

static void zero_port(const char *name, uint32_t id, bool is_new, void *data)
{
	struct zeroing *zeroing = data;

	(void)name;
	if (is_new && zeroing->r >= 0)
		zeroing->r = dp_port_counters_zero(zeroing->engine->dp, id);
}

static void zero_rule(const char *name, uint32_t id, bool is_new, void *data)
{
	struct zeroing *zeroing = data;

	(void)name;
	if (is_new && zeroing->r >= 0)
		zeroing->r = dp_rule_counter_zero(zeroing->engine->dp, id);
}

static int zero_new_numbers(struct engine *engine, const struct generation *next)
{
	struct zeroing zeroing = {.engine = engine};

	ids_each(next->port_ids, zero_port, &zeroing);
	ids_each(next->counter_ids, zero_rule, &zeroing);
	return zeroing.r;
}

/* ── going live ─────────────────────────────────────────────────────────────────────────────────── */

/* What the store has: numbers and all of a generation that was live when it was last written. */
static void stored_state(const struct engine *engine, const struct generation *before,
			 struct store_state *ret_state)
{
	if (engine->has_stored)
		*ret_state = engine->stored;
	else
		generation_store_state(before, ret_state);
}

static int store(struct engine *engine, const struct generation *before,
		 const struct generation *after)
{
	struct store_state from, to;
	int r;

	stored_state(engine, before, &from);
	generation_store_state(after, &to);
	r = store_commit(engine->store, &from, &to);
	engine->is_store_broken = r < 0;
	if (r < 0)
		return r;
	flip_stored_fini(engine);
	engine->is_store_owed = false;
	return 0;
}

void flip_stored_fini(struct engine *engine)
{
	if (engine->has_stored)
		store_state_fini(&engine->stored);
	engine->has_stored = false;
}

/* Interfaces come and go faster than a disk writes: what they change is stored later, all at once. */
static void owe_store(struct engine *engine, struct generation *before)
{
	engine->is_store_owed = true;
	if (engine->has_stored)
		return;
	engine->has_stored = true;
	engine->stored = (struct store_state){
		.document = json_incref(before->document),
		.policies = json_incref(before->policies),
		.generation = before->number,
		.etag = before->etag,
	};
	engine->stored.ports = TAKE_PTR(before->port_ids);
	engine->stored.counters = TAKE_PTR(before->counter_ids);
}

void flip_store_owed(struct engine *engine)
{
	bool was_broken = engine->is_store_broken;

	if (!engine->is_store_owed || store(engine, engine->live, engine->live) >= 0 || was_broken)
		return;
	log_error("generation %llu cannot be stored: %s", (unsigned long long)engine->live->number,
		  store_message(engine->store));
}

/* The store is ahead of the data path: take it back, so that the refusal is true after a restart too. */
static void take_back(struct engine *engine, struct generation *next)
{
	if (store(engine, next, engine->live) < 0)
		log_error("the store holds a state that is not live and cannot be taken back: %s",
			  store_message(engine->store));
}

struct removal {
	struct engine *engine;
	const struct generation *next;
};

static void note_removed_domain(const char *name, uint32_t id, bool is_new, void *data)
{
	struct removal *removal = data;
	uint32_t other;

	(void)is_new;
	if (ids_find(removal->next->domain_ids, name, &other) == 0)
		return;
	removal->engine->removed_domains[id - SECG_MAX_PORTS] = true;
	removal->engine->has_removed = true;
}

/* Their numbers go to other domains, their sessions must not. */
static void note_removed_domains(struct engine *engine, const struct generation *next)
{
	struct removal removal = {engine, next};

	ids_each(engine->live->domain_ids, note_removed_domain, &removal);
}

int flip_to(struct engine *engine, struct generation *next, enum flip_store how,
	    struct generation **ret_old, char message[DP_MESSAGE_SIZE])
{
	int r = leftovers_release(engine, next);

	if (r >= 0)
		r = place(engine, next);
	if (r >= 0)
		r = zero_new_numbers(engine, next);
	if (r < 0) {
		unplace(engine, next);
		return fail_tables(engine, r, message);
	}
	if (how == FLIP_STORE) {
		r = store(engine, engine->live, next);
		if (r < 0) {
			unplace(engine, next);
			return fail(r, message, "the policy cannot be stored",
				    store_message(engine->store));
		}
	}
	r = dp_tables_flip(engine->dp, next->number, next->table, next->table_count);
	engine->is_path_broken = r < 0 && r != -ENOSPC;
	if (r < 0) {
		unplace(engine, next);
		if (how == FLIP_STORE)
			take_back(engine, next);
		return fail_tables(engine, r, message);
	}
	ids_clear_new(next->port_ids);
	ids_clear_new(next->counter_ids);
	engine->is_settle_owed = true;
	note_removed_domains(engine, next);
	if (how == FLIP_STORE_LATER)
		owe_store(engine, engine->live);
	*ret_old = engine->live;
	engine->live = next;
	listen_follow(engine);
	if (next->number != (*ret_old)->number)
		tell_commit(engine);
	return 0;
}

void flip_settle(struct engine *engine)
{
	int r;

	if (!engine->is_settle_owed)
		return;
	r = dp_tables_settle(engine->dp);
	if (r < 0) {
		log_error("cannot wait for the data path to let go of old tables: %s",
			  strerror(-r));
		engine->is_path_broken = true;
		return;
	}
	engine->is_settle_owed = false;
	ids_settle(engine->live->port_ids);
	ids_settle(engine->live->counter_ids);
	ids_settle(engine->live->domain_ids);
	if (engine->has_removed)
		sessions_clear_removed(engine);
}

/* ── interfaces that appear ─────────────────────────────────────────────────────────────────────── */

/* The side of a port whose interface is there; PORT_SIDE_AUTO: as it is. */
static enum port_side find_side(const struct engine *engine, const struct generation_port *entry)
{
	enum port_side side;

	if (entry->port->side != PORT_SIDE_AUTO)
		return PORT_SIDE_AUTO;
	side = next_side(next_link(engine, engine->claims, entry->port));
	return side == entry->side ? PORT_SIDE_AUTO : side;
}

/* It is about to be guarded for the first time. */
static bool begins_to_pick_up(const struct engine *engine, size_t index)
{
	const struct port *port = engine->live->ports[index].port;
	struct claim claim = claims_find(engine->claims, port);

	return port->pickup_s && claim.state == CLAIM_ONE &&
	       engine->guards[index].ifindex != claim.ifindex;
}

/* Writes what interfaces that appear change of their ports into `table`; returns whether any does. */
static bool update_ports(const struct engine *engine, struct secg_port *table)
{
	const struct generation *live = engine->live;
	bool has_changed = false;

	for (size_t i = 0; i < live->port_count; i++) {
		const struct generation_port *entry = &live->ports[i];
		enum port_side side = find_side(engine, entry);

		if (side != PORT_SIDE_AUTO) {
			table_set_side(&table[entry->id], entry, side);
			has_changed = true;
		}
		if (begins_to_pick_up(engine, i)) {
			table[entry->id].pickup_until = next_pickup_end(engine, entry->port);
			has_changed = true;
		}
	}
	return has_changed;
}

/* The table itself tells which sides are live now, so they are noted only after the flip. */
static void note_sides(struct engine *engine)
{
	for (size_t i = 0; i < engine->live->port_count; i++) {
		struct generation_port *entry = &engine->live->ports[i];
		enum port_side side = find_side(engine, entry);

		if (side != PORT_SIDE_AUTO)
			entry->side = side;
	}
}

int flip_sides(struct engine *engine)
{
	struct generation *live = engine->live;
	_cleanup_free_ struct secg_port *table = NULL;
	int r;

	table = calloc(live->table_count, sizeof(*table));
	if (!table)
		return -ENOMEM;
	memcpy(table, live->table, live->table_count * sizeof(*table));
	if (!update_ports(engine, table))
		return 0;
	r = dp_tables_flip(engine->dp, live->number + 1, table, live->table_count);
	engine->is_path_broken = r < 0 && r != -ENOSPC;
	if (r < 0)
		return r;
	memcpy(live->table, table, live->table_count * sizeof(*table));
	live->number++;
	engine->is_settle_owed = engine->is_store_owed = true;
	note_sides(engine);
	tell_commit(engine);
	return 0;
}
