/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's life: opening on what an earlier daemon left, the events of the loop, closing.
 */
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "engine/internal.h"

#define SWEEP_BUDGET 65536 /* session slots looked at every second */

static int say(int r, char message[DP_MESSAGE_SIZE], const char *what, const char *why)
{
	snprintf(message, DP_MESSAGE_SIZE, "%s: %s", what, why);
	return r;
}

/* ── the stored state ───────────────────────────────────────────────────────────────────────────── */

static int load(struct engine *engine, const char *directory, char message[DP_MESSAGE_SIZE])
{
	_Static_assert(STORE_MESSAGE_SIZE <= DP_MESSAGE_SIZE, "one buffer serves both");
	_cleanup_(store_state_fini) struct store_state state = {0};
	int r;

	r = store_open(&engine->store, directory, message);
	if (r < 0)
		return r;
	r = store_load(engine->store, &state);
	if (r < 0)
		return say(r, message, "the stored policy cannot be read",
			   store_message(engine->store));
	r = generation_from_store(&engine->live, &state);
	return r < 0 ? say(r, message, "the stored policy cannot be taken up", strerror(-r)) : 0;
}

static int say_errors(int r, char message[DP_MESSAGE_SIZE], const struct errors *errs)
{
	const struct error *first = errs->items;

	if (errs->count == 0)
		return say(r, message, "the stored policy cannot be made live", strerror(-r));
	snprintf(
		message, DP_MESSAGE_SIZE,
		"the stored policy is not valid any more, what is pinned stays in force: %s: %s (%zu in all)",
		first->field, first->message, errs->count + errs->dropped);
	return r;
}

/*
 * A generation of the same number as before when every port's policy and number is what the store says;
 * sessions then notice nothing.
 */
static int build_stored(struct engine *engine, struct generation **ret_next, bool *ret_is_stored,
			struct errors *reterr)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct generation *live = engine->live;
	struct generation_context context = {
		.live = live,
		.etag = live->etag,
		.counter_limit = SECG_MAX_COUNTERS,
		.ticks_per_second = dp_ticks_per_second(engine->dp),
		.side = flip_side_of,
		.data = engine,
	};
	int r;

	/* Where a flip for sides could not be stored the data path is ahead. Zero is no generation. */
	if (dp_tables_generation(engine->dp) > live->number)
		live->number = dp_tables_generation(engine->dp);
	if (live->number == 0)
		live->number = 1;
	context.number = live->number + 1;
	r = config_parse(&config, live->document, NULL, reterr);
	if (r < 0)
		return r;
	r = generation_build(ret_next, config, live->document, &context, reterr);
	if (r < 0)
		return r;
	config = NULL;
	*ret_is_stored = !(*ret_next)->has_changed_policies && !(*ret_next)->has_changed_numbers;
	if (*ret_is_stored)
		(*ret_next)->number = live->number;
	return 0;
}

static int start(struct engine *engine, char message[DP_MESSAGE_SIZE])
{
	_cleanup_(errors_fini) struct errors errs = {0};
	_cleanup_(generation_freep) struct generation *next = NULL;
	_cleanup_(generation_freep) struct generation *old = NULL;
	_cleanup_free_ struct guard *guards = NULL;
	bool is_stored = false;
	int r;

	r = build_stored(engine, &next, &is_stored, &errs);
	if (r < 0)
		return say_errors(r, message, &errs);
	guards = guards_new(next);
	if (!guards)
		return say(-ENOMEM, message, "the stored policy cannot be made live",
			   strerror(ENOMEM));
	leftovers_detach_unwanted(engine);
	r = flip_to(engine, next, is_stored, &old, message);
	if (r < 0)
		return r;
	next = NULL;
	guards_follow(engine, TAKE_PTR(guards));
	leftovers_release_strays(engine);
	flip_settle(engine);
	return 0;
}

/* ── open, close ────────────────────────────────────────────────────────────────────────────────── */

static void link_event(enum net_event event, const struct net_link *link, void *data)
{
	struct engine *engine = data;

	/* While net_open reports what is there, the guards are not made yet; they will ask. */
	if (engine->guards)
		guards_link_event(event, link, engine);
}

int engine_open(struct engine **ret_engine, const struct engine_options *options,
		char message[DP_MESSAGE_SIZE])
{
	_cleanup_(engine_closep) struct engine *engine = NULL;
	char note[DP_MESSAGE_SIZE] = "";
	int r;

	engine = calloc(1, sizeof(*engine));
	if (!engine)
		return say(-ENOMEM, message, "the engine cannot start", strerror(ENOMEM));
	engine->inject = options->inject;
	r = listen_open(engine);
	if (r < 0)
		return say(r, message, "the engine cannot start", strerror(-r));
	r = load(engine, options->state_directory, message);
	if (r < 0)
		return r;
	r = dp_open(&engine->dp, &options->dp, note);
	if (r < 0)
		return say(r, message, "the data path cannot be opened",
			   note[0] ? note : strerror(-r));
	if (note[0])
		log_warning("%s", note);
	r = listen_start(engine);
	if (r < 0)
		return say(r, message, "the data path cannot be listened to", strerror(-r));
	r = net_open(&engine->net, link_event, engine);
	if (r < 0)
		return say(r, message, "the interfaces cannot be followed", strerror(-r));
	r = start(engine, message);
	if (r < 0)
		return r;
	*ret_engine = TAKE_PTR(engine);
	return 0;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	for (size_t i = 0; i < engine->queue_count; i++)
		change_free(engine->queue[i]);
	listen_close(engine);
	net_closep(&engine->net);
	dp_closep(&engine->dp);
	store_closep(&engine->store);
	generation_freep(&engine->live);
	free(engine->guards);
	free(engine->leftovers);
	free(engine);
}

/* ── the loop ───────────────────────────────────────────────────────────────────────────────────── */

int engine_fd(const struct engine *engine)
{
	return net_fd(engine->net);
}

void engine_dispatch(struct engine *engine)
{
	int r = net_dispatch(engine->net);

	if (r < 0 && !engine->is_net_broken)
		log_error("interfaces cannot be followed any more: %s", strerror(-r));
	engine->is_net_broken = r < 0;
	flip_settle(engine);
}

void engine_tick(struct engine *engine)
{
	leftovers_tick(engine);
	guards_tick(engine);
	flip_settle(engine);
	dp_sessions_sweep(engine->dp, SWEEP_BUDGET, reject_reset, engine);
	limits_recount(engine);
	listen_tick(engine);
}

/* ── reads ──────────────────────────────────────────────────────────────────────────────────────── */

const struct config *engine_config(const struct engine *engine)
{
	return engine->live->config;
}

uint64_t engine_etag(const struct engine *engine)
{
	return engine->live->etag;
}

uint64_t engine_generation(const struct engine *engine)
{
	return engine->live->number;
}

const struct dp *engine_dp(const struct engine *engine)
{
	return engine->dp;
}

bool engine_is_healthy(const struct engine *engine)
{
	if (engine->is_store_broken || engine->is_path_broken || engine->is_net_broken)
		return false;
	for (size_t i = 0; i < engine->guard_count; i++)
		if (engine->guards[i].state == PORT_FAILED)
			return false;
	return true;
}
