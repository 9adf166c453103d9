/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After link events: interfaces are dealt out anew. Where an instance of a template comes or goes this
 * makes a generation of its own, one for all the events that have been read together; the policy and its
 * ETag stay as they are, and it is stored with the next tick.
 */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "engine/internal.h"

/* The interface is gone, the hooks with it. */
static void forget(struct engine *engine, int ifindex)
{
	leftovers_forget(engine, ifindex);
	for (size_t i = 0; i < engine->guard_count; i++) {
		struct guard *guard = &engine->guards[i];

		if (guard->ifindex != ifindex)
			continue;
		leftover_detach(engine, guard->entry->id, ifindex);
		guard->ifindex = 0;
	}
}

void refresh_note(enum net_event event, const struct net_link *link, void *data)
{
	struct engine *engine = data;

	engine->has_link_news = true;
	if (event == NET_LINK_REMOVED)
		forget(engine, link->ifindex);
}

/* The live generation has the instances that the claims say. */
static bool has_instances(const struct engine *engine)
{
	const struct config *config = engine->live->config;
	struct config_runtime runtime = claims_runtime(engine->claims);
	size_t count = 0;

	for (size_t i = 0; i < config->port_count; i++)
		count += config->ports[i].is_instance;
	if (count != runtime.instance_count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct config_instance *wanted = &runtime.instances[i];
		const struct port *port = config_find_instance(config, wanted->interface);

		if (!port || strcmp(port->template->name, wanted->template) != 0)
			return false;
	}
	return true;
}

static int rebuild(struct engine *engine, char message[DP_MESSAGE_SIZE])
{
	_cleanup_(generation_freep) struct generation *next = NULL;
	_cleanup_(generation_freep) struct generation *old = NULL;
	_cleanup_(errors_fini) struct errors errs = {0};
	_cleanup_free_ struct guard *guards = NULL;
	const struct next_request request = {
		.config = claims_config(engine->claims),
		.document = engine->live->document,
		.leases = engine->leases,
		.claims = engine->claims,
		.number = engine->live->number + 1,
		.etag = engine->live->etag,
	};
	int r;

	r = next_build(&next, engine, &request, &errs);
	if (r >= 0 && !(guards = guards_new(next)))
		r = -ENOMEM;
	if (r < 0) {
		snprintf(message, DP_MESSAGE_SIZE, "%s",
			 errs.count ? errs.items[0].message : strerror(-r));
		return r;
	}
	r = flip_to(engine, next, FLIP_STORE_LATER, &old, message);
	if (r < 0)
		return r;
	next = NULL;
	guards_follow(engine, TAKE_PTR(guards));
	return 0;
}

static int refresh_try(struct engine *engine, char message[DP_MESSAGE_SIZE])
{
	const char *first;
	size_t count;
	int r = next_claims_update(engine, engine->claims);

	if (r < 0) {
		snprintf(message, DP_MESSAGE_SIZE, "%s", strerror(-r));
		return r;
	}
	if (has_instances(engine)) {
		guards_meet(engine);
	} else {
		r = rebuild(engine, message);
		if (r == -ENOSPC && engine->is_settle_owed) {
			/* Numbers of what has gone just now are not free yet. */
			flip_settle(engine);
			r = rebuild(engine, message);
		}
	}
	count = claims_left_over(engine->claims, &first);
	if (r < 0 || count == 0)
		return r;
	snprintf(message, DP_MESSAGE_SIZE,
		 "%zu of them, among which %s, find no number: there are at most %d ports", count,
		 first, SECG_MAX_PORTS - 1);
	return -ENOSPC;
}

void refresh(struct engine *engine)
{
	char message[DP_MESSAGE_SIZE] = "";
	bool was_broken = engine->is_claim_broken;
	int r;

	if (!engine->has_link_news && !was_broken)
		return;
	engine->has_link_news = engine->is_claim_broken = false;
	r = refresh_try(engine, message);
	if (r < 0 && !was_broken)
		log_error("interfaces are not guarded as they should be, which is tried again: %s",
			  message);
	engine->is_claim_broken = engine->is_claim_broken || r < 0;
}
