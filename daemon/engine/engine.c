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

/* ── numbers that the kernel knows ──────────────────────────────────────────────────────────────── */

/*
 * The hooks of instances that came just before the daemon ended are in the kernel, and not in the store:
 * they keep the number that the kernel has for their interface.
 */
static int recover_instances(struct engine *engine, struct ids *ids)
{
	struct config_runtime runtime = claims_runtime(engine->claims);

	for (size_t i = 0; i < runtime.instance_count; i++) {
		const char *name = runtime.instances[i].interface;
		const struct net_link *link = net_find_name(engine->net, name);
		uint32_t id = link ? dp_interface_port(engine->dp, link->ifindex) : 0;
		uint32_t stored;
		int r;

		if (id == 0 && ids_find(engine->live->port_ids, name, &stored) == 0)
			id = stored;
		r = id && !config_find_port(claims_config(engine->claims), name)
			    ? ids_load(ids, name, id)
			    : 0;
		/* One that is somebody else's by now: it gets another. */
		if (r < 0 && r != -EEXIST && r != -ERANGE)
			return r;
	}
	return 0;
}

static int recover_ports(struct engine *engine, struct ids *ids)
{
	const struct config *config = claims_config(engine->claims);

	for (size_t i = 0; i < config->port_count; i++) {
		const char *name = config->ports[i].name;
		uint32_t id;
		int r = ids_find(engine->live->port_ids, name, &id);

		if (r == 0)
			r = ids_load(ids, name, id);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

/* Sessions of a domain have its number in their keys. The store does not know it, the live tables do. */
static int recover_domains(struct engine *engine)
{
	const struct config *config = claims_config(engine->claims);

	for (size_t i = 0; i < config->port_count; i++) {
		const struct secg_port *table = NULL;
		uint32_t id;
		int r;

		if (config->ports[i].domain &&
		    ids_find(engine->live->port_ids, config->ports[i].name, &id) == 0)
			table = dp_tables_port(engine->dp, id);
		if (!table || table->domain < SECG_MAX_PORTS)
			continue;
		r = ids_load(engine->live->domain_ids, config->ports[i].domain, table->domain);
		if (r < 0 && r != -EEXIST && r != -ERANGE)
			return r;
	}
	return 0;
}

/* Sessions that a change of members has spared are not cut now. Not in the store either. */
static int recover_spared(struct engine *engine)
{
	const struct config *config = claims_config(engine->claims);
	int r = 0;

	for (size_t i = 0; i < config->port_count && r == 0; i++) {
		const char *name = config->ports[i].name;
		json_t *policy = json_object_get(engine->live->policies, name);
		const struct secg_port *table = NULL;
		uint32_t id;

		if (policy && ids_find(engine->live->port_ids, name, &id) == 0)
			table = dp_tables_port(engine->dp, id);
		if (table && !(table->flags & SECG_PORT_CUT))
			r = json_object_set_new(policy, "spares_others", json_true());
	}
	return r < 0 ? -ENOMEM : 0;
}

/* What the store has is kept for the next write, which is told as a difference to it. */
static int recover_numbers(struct engine *engine)
{
	_cleanup_(ids_freep) struct ids *ids = NULL, *counters = NULL;
	struct generation *live = engine->live;
	int r = ids_new(&ids, 1, SECG_MAX_PORTS);

	if (r == 0)
		r = recover_ports(engine, ids);
	if (r == 0)
		r = recover_instances(engine, ids);
	if (r == 0)
		r = recover_domains(engine);
	if (r == 0)
		r = recover_spared(engine);
	if (r == 0)
		r = ids_copy(&counters, live->counter_ids);
	if (r < 0)
		return r;
	engine->has_stored = true;
	engine->stored = (struct store_state){
		.document = json_incref(live->document),
		.policies = json_incref(live->policies),
		.generation = live->number,
		.etag = live->etag,
	};
	engine->stored.ports = TAKE_PTR(live->port_ids);
	engine->stored.counters = TAKE_PTR(live->counter_ids);
	live->port_ids = TAKE_PTR(ids);
	live->counter_ids = TAKE_PTR(counters);
	return 0;
}

/* ── the first generation ───────────────────────────────────────────────────────────────────────── */

/*
 * A generation of the same number as before when every port's policy and number is what the store says;
 * sessions then notice nothing.
 */
static int build_stored(struct engine *engine, struct generation **ret_next, bool *ret_is_stored,
			struct errors *reterr)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct generation *live = engine->live;
	struct next_request request = {
		.document = live->document, .leases = engine->leases, .etag = live->etag};
	int r;

	r = config_parse(&config, live->document, NULL, reterr);
	if (r == 0)
		r = next_claims(&engine->claims, engine, config);
	if (r == 0)
		r = recover_numbers(engine);
	if (r < 0)
		return r;
	/* Where a flip for interfaces could not be stored the data path is ahead. Zero is no generation. */
	if (dp_tables_generation(engine->dp) > live->number)
		live->number = dp_tables_generation(engine->dp);
	if (live->number == 0)
		live->number = 1;
	request.config = config;
	request.claims = engine->claims;
	request.number = live->number + 1;
	r = next_build(ret_next, engine, &request, reterr);
	if (r < 0)
		return r;
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
	r = flip_to(engine, next, is_stored ? FLIP_STORED : FLIP_STORE, &old, message);
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
		refresh_note(event, link, engine);
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
	engine->leases = leases_new();
	r = engine->leases ? listen_open(engine) : -ENOMEM;
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
	leases_unref(engine->leases);
	flip_store_owed(engine);
	flip_stored_fini(engine);
	net_closep(&engine->net);
	dp_closep(&engine->dp);
	store_closep(&engine->store);
	claims_freep(&engine->claims);
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
	refresh(engine);
}

void engine_tick(struct engine *engine)
{
	leftovers_tick(engine);
	if (claims_need_look(engine->claims))
		net_look(engine->net);
	refresh(engine);
	guards_tick(engine);
	flip_settle(engine);
	flip_store_owed(engine);
	dp_sessions_sweep(engine->dp, SWEEP_BUDGET, reject_reset, engine);
	limits_recount(engine);
	expiry_tick(engine);
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
	if (engine->is_store_broken || engine->is_path_broken || engine->is_net_broken ||
	    engine->is_claim_broken || engine->is_expiry_broken)
		return false;
	for (size_t i = 0; i < engine->guard_count; i++)
		if (engine->guards[i].state == PORT_FAILED)
			return false;
	return true;
}
