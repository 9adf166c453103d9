/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generation that comes next: which interface belongs to which port, the instances of templates,
 * what the table says of ports whose interfaces go over to others. Called by commit, start and refresh.
 */
#include <stdio.h>
#include <string.h>

#include "engine/internal.h"

/* ── claims ─────────────────────────────────────────────────────────────────────────────────────── */

static bool has_mac(const struct net_link *link)
{
	static const uint8_t none[6];

	return net_link_has_ethernet(link) && memcmp(link->mac, none, sizeof(none)) != 0;
}

/* The end of tunnels that the kernel sees is made by the daemon. */
static bool is_own_device(const struct net_link *link)
{
	return strcmp(link->name, "secg0") == 0;
}

static struct claim_link claim_link_of(const struct net *net, const struct net_link *link)
{
	const struct net_link *master = link->master ? net_find_ifindex(net, link->master) : NULL;
	struct claim_link result = {
		.facts =
			{
				.name = link->name,
				.kind = link->kind,
				.alias = link->alias,
				.master = master ? master->name : "",
				.altnames = link->altnames,
				.altname_count = link->altname_count,
				.has_ethernet = net_link_has_ethernet(link),
				.has_mac = has_mac(link),
			},
		.ifindex = link->ifindex,
		.version = link->version,
		.is_reserved = (link->flags & IFF_LOOPBACK) || is_own_device(link) ||
			       !net_link_is_guardable(link),
	};

	memcpy(result.facts.mac, link->mac, sizeof(result.facts.mac));
	return result;
}

int next_claims_update(const struct engine *engine, struct claims *claims)
{
	size_t count = net_count(engine->net);
	_cleanup_free_ struct claim_link *links = calloc(count + 1, sizeof(*links));

	if (!links)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		links[i] = claim_link_of(engine->net, net_at(engine->net, i));
	return claims_update(claims, links, count);
}

int next_claims(struct claims **ret_claims, const struct engine *engine, struct config *config)
{
	_cleanup_(claims_freep) struct claims *claims = NULL;
	int r;

	r = claims_new(&claims, config);
	if (r == 0)
		r = next_claims_update(engine, claims);
	if (r < 0)
		return r;
	*ret_claims = TAKE_PTR(claims);
	return 0;
}

const struct net_link *next_link(const struct engine *engine, const struct claims *claims,
				 const struct port *port)
{
	struct claim claim = claims_find(claims, port);

	return claim.state == CLAIM_ONE ? net_find_ifindex(engine->net, claim.ifindex) : NULL;
}

static const char *link_name(const struct engine *engine, int ifindex)
{
	const struct net_link *link = net_find_ifindex(engine->net, ifindex);

	return link ? link->name : "?";
}

void claim_explain(const struct engine *engine, const struct claim *claim,
		   char ret_text[DP_MESSAGE_SIZE])
{
	if (claim->rival)
		snprintf(
			ret_text, DP_MESSAGE_SIZE,
			"interface %s fits the match of port %s as well, and neither is more specific",
			link_name(engine, claim->ifindex), claim->rival->name);
	else
		snprintf(ret_text, DP_MESSAGE_SIZE, "interfaces %s and %s both fit its match",
			 link_name(engine, claim->ifindex), link_name(engine, claim->other));
}

/* ── what a port of it starts with ──────────────────────────────────────────────────────────────── */

struct outlook {
	const struct engine *engine;
	const struct claims *claims;
};

enum port_side next_side(const struct net_link *link)
{
	if (!link)
		return PORT_SIDE_AUTO;
	return net_link_is_workload(link) ? PORT_SIDE_WORKLOAD : PORT_SIDE_HOST;
}

static enum port_side side_of(const struct port *port, void *data)
{
	const struct outlook *outlook = data;

	return next_side(next_link(outlook->engine, outlook->claims, port));
}

uint32_t next_pickup_end(const struct engine *engine, const struct port *port)
{
	double ticks = port->pickup_s * dp_ticks_per_second(engine->dp);

	return dp_now(engine->dp) + (ticks > INT32_MAX ? INT32_MAX : (uint32_t)ticks);
}

/* Its hooks are on the interface already: it was first guarded before, perhaps by an earlier daemon. */
static bool is_on(const struct engine *engine, const struct port *port, uint32_t id, int ifindex)
{
	const struct generation_port *before = generation_find_port(engine->live, port->name);

	if (before && engine->guards)
		return engine->guards[before - engine->live->ports].ifindex == ifindex;
	return !engine->guards && dp_interface_port(engine->dp, ifindex) == id;
}

static uint32_t pickup_of(const struct port *port, uint32_t id, void *data)
{
	const struct outlook *outlook = data;
	const struct engine *engine = outlook->engine;
	const struct secg_port *table = dp_tables_port(engine->dp, id);
	struct claim claim = claims_find(outlook->claims, port);

	if (claim.state == CLAIM_ONE && !is_on(engine, port, id, claim.ifindex))
		return next_pickup_end(engine, port);
	return table ? table->pickup_until : 0;
}

/* ── interfaces that go over ────────────────────────────────────────────────────────────────────── */

struct place {
	int ifindex;
	uint32_t id;
};

static int compare_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

/* Where the ports of the generation will be, by ifindex. */
static struct place *find_places(const struct generation *generation, const struct claims *claims,
				 size_t *ret_count)
{
	struct place *places = calloc(generation->port_count + 1, sizeof(*places));
	size_t count = 0;

	for (size_t i = 0; places && i < generation->port_count; i++) {
		const struct generation_port *entry = &generation->ports[i];
		struct claim claim = claims_find(claims, entry->port);

		if (claim.state == CLAIM_ONE)
			places[count++] = (struct place){claim.ifindex, entry->id};
	}
	if (places)
		qsort(places, count, sizeof(*places), compare_place);
	*ret_count = count;
	return places;
}

/*
 * The hooks of a port that is gone still send its packets to its number for a moment. Where the
 * interface has another port by then, the number has that one's policy meanwhile: never is it open.
 */
static int hand_over(const struct engine *engine, struct generation *next,
		     const struct claims *claims)
{
	size_t count;
	_cleanup_free_ struct place *places = find_places(next, claims, &count);

	if (!places)
		return -ENOMEM;
	next->handovers = calloc(engine->guard_count + 1, sizeof(*next->handovers));
	if (!next->handovers)
		return -ENOMEM;
	for (size_t i = 0; i < engine->guard_count; i++) {
		const struct guard *guard = &engine->guards[i];
		struct place key = {.ifindex = guard->ifindex};
		const struct place *to;

		if (!guard->ifindex || generation_find_port(next, guard->entry->port->name))
			continue;
		to = bsearch(&key, places, count, sizeof(*places), compare_place);
		if (to)
			next->handovers[next->handover_count++] =
				(struct generation_handover){guard->entry->id, to->id};
	}
	return 0;
}

/* ── building ───────────────────────────────────────────────────────────────────────────────────── */

/*
 * With the instances that the claims say. Where they declare addresses the groups have to learn of them,
 * so that everything is read anew; else everything is shared.
 */
static int configure(struct config **ret_config, struct config *config, const json_t *document,
		     const struct leases *leases, const struct claims *claims,
		     struct errors *reterr)
{
	struct config_runtime runtime = claims_runtime(claims);

	runtime.members = leases_members(leases, &runtime.member_count);
	if (claims_have_members(claims))
		return config_parse(ret_config, document, &runtime, reterr);
	return config_with_instances(ret_config, config, &runtime);
}

int next_build(struct generation **ret_generation, const struct engine *engine,
	       const struct next_request *request, struct errors *reterr)
{
	_cleanup_(generation_freep) struct generation *generation = NULL;
	_cleanup_(config_freep) struct config *config = NULL;
	struct outlook outlook = {engine, request->claims};
	const struct generation_context context = {
		.live = engine->live,
		.number = request->number,
		.etag = request->etag,
		.counter_limit = SECG_MAX_COUNTERS,
		.ticks_per_second = dp_ticks_per_second(engine->dp),
		.side = side_of,
		.pickup = pickup_of,
		.data = &outlook,
	};
	int r;

	r = configure(&config, request->config, request->document, request->leases, request->claims,
		      reterr);
	if (r < 0)
		return r;
	r = generation_build(&generation, config, request->document, &context, reterr);
	if (r < 0)
		return r;
	config = NULL;
	r = hand_over(engine, generation, request->claims);
	if (r < 0)
		return r;
	*ret_generation = TAKE_PTR(generation);
	return 0;
}
