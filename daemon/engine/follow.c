/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards after a change of ports or interfaces: each is taken to the interface that is its port's now.
 * Called after a generation has gone live and after the claims have changed; both are the engine's by then.
 */
#include <string.h>

#include "core/log.h"
#include "engine/internal.h"

struct guard *guards_new(const struct generation *generation)
{
	struct guard *guards = calloc(generation->port_count + 1, sizeof(*guards));

	for (size_t i = 0; guards && i < generation->port_count; i++)
		guards[i].entry = &generation->ports[i];
	return guards;
}

/* ── hooks on the move ──────────────────────────────────────────────────────────────────────────── */

#define SPARE_ID 0 /* no port has it */

/* Hooks that are on an interface which is not their port's any more. */
struct hold {
	uint32_t id;
	int ifindex;
	uint32_t to; /* port that has the interface now; 0: none */
};

struct holds {
	struct hold *items;
	size_t count;
};

static void holds_fini(struct holds *holds)
{
	free(holds->items);
}

/* Guards of the live generation that have an interface by the claims, by its ifindex. */
struct aim {
	int ifindex;
	uint32_t id;
};

struct aims {
	struct aim *items;
	size_t count;
};

static void aims_fini(struct aims *aims)
{
	free(aims->items);
}

static int compare_aim(const void *a, const void *b)
{
	const struct aim *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

static int aims_make(struct aims *aims, const struct engine *engine)
{
	aims->items = calloc(engine->guard_count + 1, sizeof(*aims->items));
	if (!aims->items)
		return -ENOMEM;
	for (size_t i = 0; i < engine->guard_count; i++) {
		const struct generation_port *entry = engine->guards[i].entry;
		struct claim claim = claims_find(engine->claims, entry->port);

		if (claim.state == CLAIM_ONE)
			aims->items[aims->count++] = (struct aim){claim.ifindex, entry->id};
	}
	qsort(aims->items, aims->count, sizeof(*aims->items), compare_aim);
	return 0;
}

/* Port that an interface belongs to; 0: none. */
static uint32_t aims_find(const struct aims *aims, int ifindex)
{
	struct aim key = {.ifindex = ifindex};
	const struct aim *found = NULL;

	if (aims->count)
		found = bsearch(&key, aims->items, aims->count, sizeof(key), compare_aim);
	return found ? found->id : 0;
}

static void holds_add(struct holds *holds, const struct aims *aims, const struct guard *guard)
{
	uint32_t to = guard->ifindex ? aims_find(aims, guard->ifindex) : 0;

	if (guard->ifindex && to != guard->entry->id)
		holds->items[holds->count++] = (struct hold){guard->entry->id, guard->ifindex, to};
}

static bool is_held(const struct holds *holds, uint32_t id)
{
	for (size_t i = 0; i < holds->count; i++)
		if (holds->items[i].id == id)
			return true;
	return false;
}

static void holds_remove(struct holds *holds, size_t index)
{
	holds->items[index] = holds->items[--holds->count];
}

/* Interfaces that nobody has now. */
static void let_go(struct engine *engine, struct holds *holds)
{
	for (size_t i = holds->count; i-- > 0;) {
		struct hold hold = holds->items[i];

		if (hold.to)
			continue;
		leftover_detach(engine, hold.id, hold.ifindex);
		holds_remove(holds, i);
	}
}

static void hand_over(struct engine *engine, const struct hold *hold)
{
	int r = dp_hand_over(engine->dp, hold->id, hold->to);

	if (r >= 0)
		return;
	log_warning("the hooks of interface number %d are put on anew: %s", hold->ifindex,
		    strerror(-r));
	leftover_detach(engine, hold->id, hold->ifindex);
}

/* One hand-over makes room for the next; ports that swap need a place beside. */
static void hand_over_all(struct engine *engine, struct holds *holds)
{
	while (holds->count) {
		size_t at = holds->count;

		for (size_t i = holds->count; at == holds->count && i-- > 0;)
			if (!is_held(holds, holds->items[i].to))
				at = i;
		if (at < holds->count) {
			hand_over(engine, &holds->items[at]);
			holds_remove(holds, at);
			continue;
		}
		hand_over(engine,
			  &(struct hold){holds->items[0].id, holds->items[0].ifindex, SPARE_ID});
		holds->items[0].id = SPARE_ID;
	}
}

/* ── everybody to his place ─────────────────────────────────────────────────────────────────────── */

/*
 * `old` are guards whose ports may be gone. Everything that goes is off before anything is attached, so
 * that a port can take over the interface of one that is gone.
 */
static void move_hooks(struct engine *engine, const struct guard *old, size_t old_count)
{
	_cleanup_(holds_fini) struct holds holds = {0};
	_cleanup_(aims_fini) struct aims aims = {0};

	holds.items = calloc(old_count + 1, sizeof(*holds.items));
	if (!holds.items || aims_make(&aims, engine) < 0) {
		log_error("no memory: interfaces stay with the ports that had them");
		engine->is_claim_broken = true;
		return;
	}
	for (size_t i = 0; i < old_count; i++)
		holds_add(&holds, &aims, &old[i]);
	let_go(engine, &holds);
	hand_over_all(engine, &holds);
}

static void meet_all(struct engine *engine, int sides)
{
	for (size_t i = 0; i < engine->guard_count; i++) {
		struct guard *guard = &engine->guards[i];

		if (guard_is_apart(engine, guard))
			guard_meet(engine, guard, sides);
		else
			guard_stay(engine, guard);
	}
}

void guards_meet(struct engine *engine)
{
	move_hooks(engine, engine->guards, engine->guard_count);
	meet_all(engine, flip_sides(engine));
}

static void take_over(struct guard *guard, const struct guard *old)
{
	const struct generation_port *entry = guard->entry;

	*guard = *old;
	guard->entry = entry;
}

void guards_follow(struct engine *engine, struct guard *guards)
{
	_cleanup_free_ struct guard *old = engine->guards;
	size_t old_count = engine->guard_count;
	size_t at = 0;

	for (size_t i = 0; i < old_count; i++) {
		if (generation_find_port(engine->live, old[i].entry->port->name))
			continue;
		engine->removed[old[i].entry->id] = true;
		engine->has_removed = true;
	}
	engine->guards = guards;
	engine->guard_count = engine->live->port_count;
	for (size_t i = 0; i < engine->guard_count; i++) {
		const char *name = guards[i].entry->port->name;

		/* Both are sorted by name. */
		while (at < old_count && strcmp(old[at].entry->port->name, name) < 0)
			at++;
		if (at < old_count && strcmp(old[at].entry->port->name, name) == 0)
			take_over(&guards[i], &old[at]);
	}
	move_hooks(engine, old, old_count);
	/* The generation was built for the interfaces as they are. */
	meet_all(engine, 0);
}

/* ── answers ────────────────────────────────────────────────────────────────────────────────────── */

static int report_init(struct change_result *result)
{
	result->waiting = json_array();
	result->failed = json_array();
	if (!result->warnings) /* those of the lint are there already */
		result->warnings = json_array();
	return result->waiting && result->failed && result->warnings ? 0 : -ENOMEM;
}

static bool is_worth_a_warning(enum port_state state)
{
	return state == PORT_FAILED || state == PORT_DEGRADED || state == PORT_AMBIGUOUS;
}

static int report_state(struct change_result *result, const char *name, enum port_state state,
			const char *message)
{
	int r = 0;

	if (state == PORT_WAITING)
		r = json_array_append_new(result->waiting, json_string(name));
	if (state == PORT_FAILED)
		r = json_array_append_new(result->failed, json_string(name));
	if (r == 0 && is_worth_a_warning(state)) {
		json_t *warning = json_pack("{s:s, s:s+, s:s}", "code", port_state_names[state],
					    "field", "ports.", name, "message", message);

		r = json_array_append_new(result->warnings, warning);
	}
	return r < 0 ? -ENOMEM : 0;
}

int guards_report(const struct engine *engine, struct change_result *result)
{
	int r = report_init(result);

	for (size_t i = 0; r >= 0 && i < engine->guard_count; i++) {
		const struct guard *guard = &engine->guards[i];

		r = report_state(result, guard->entry->port->name, guard->state, guard->message);
	}
	return r;
}

/* The guard that a port has on an interface already; NULL. */
static const struct guard *find_guard(const struct engine *engine, const char *name, int ifindex)
{
	const struct generation_port *entry = generation_find_port(engine->live, name);
	const struct guard *guard = entry ? &engine->guards[entry - engine->live->ports] : NULL;

	return guard && guard->ifindex == ifindex ? guard : NULL;
}

int guards_foresee(const struct engine *engine, const struct generation *next,
		   const struct claims *claims, struct change_result *result)
{
	int r = report_init(result);

	for (size_t i = 0; r >= 0 && i < next->port_count; i++) {
		const struct port *port = next->ports[i].port;
		struct claim claim = claims_find(claims, port);
		const struct guard *guard = find_guard(engine, port->name, claim.ifindex);
		char message[DP_MESSAGE_SIZE] = "";

		if (claim.state == CLAIM_NONE) {
			r = report_state(result, port->name, PORT_WAITING, message);
		} else if (claim.state == CLAIM_AMBIGUOUS) {
			claim_explain(engine, &claim, message);
			r = report_state(result, port->name, PORT_AMBIGUOUS, message);
		} else if (guard) {
			r = report_state(result, port->name, guard->state, guard->message);
		}
	}
	return r;
}
