/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards after a commit: detached what is gone, attached what is new, and what the answer says of it.
 */
#include <string.h>

#include "engine/internal.h"

struct guard *guards_new(const struct generation *generation)
{
	struct guard *guards = calloc(generation->port_count + 1, sizeof(*guards));

	for (size_t i = 0; guards && i < generation->port_count; i++)
		guards[i].entry = &generation->ports[i];
	return guards;
}

/*
 * Everything that goes is detached before anything is attached, so that two ports can swap interfaces
 * and a port can take over the interface of one that is gone.
 */
static void detach_moved(struct engine *engine, struct guard *old)
{
	const struct generation_port *entry =
		generation_find_port(engine->live, old->entry->port->name);

	if (!entry) {
		engine->removed[old->entry->id] = true;
		engine->has_removed = true;
	}
	if (entry && strcmp(old->entry->port->interface, entry->port->interface) == 0)
		return;
	if (old->ifindex)
		leftover_detach(engine, old->entry->id, old->ifindex);
	old->ifindex = 0;
	old->is_reported = false;
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

	for (size_t i = 0; i < old_count; i++)
		detach_moved(engine, &old[i]);
	engine->guards = guards;
	engine->guard_count = engine->live->port_count;
	for (size_t i = 0; i < engine->guard_count; i++) {
		const char *name = guards[i].entry->port->name;

		/* Both are sorted by name. */
		while (at < old_count && strcmp(old[at].entry->port->name, name) < 0)
			at++;
		if (at < old_count && strcmp(old[at].entry->port->name, name) == 0)
			take_over(&guards[i], &old[at]);
		if (guards[i].ifindex == 0 || guards[i].hook != guards[i].entry->port->hook)
			guard_attach(engine, &guards[i]);
	}
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

static int report_state(struct change_result *result, const char *name, enum port_state state,
			const char *message)
{
	int r = 0;

	if (state == PORT_WAITING)
		r = json_array_append_new(result->waiting, json_string(name));
	if (state == PORT_FAILED)
		r = json_array_append_new(result->failed, json_string(name));
	if (r == 0 && (state == PORT_FAILED || state == PORT_DEGRADED)) {
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

static const struct guard *find_guard(const struct engine *engine, const struct port *port)
{
	for (size_t i = 0; i < engine->guard_count; i++) {
		const struct guard *guard = &engine->guards[i];

		if (strcmp(guard->entry->port->name, port->name) == 0 &&
		    strcmp(guard->entry->port->interface, port->interface) == 0)
			return guard;
	}
	return NULL;
}

int guards_foresee(const struct engine *engine, const struct config *config,
		   struct change_result *result)
{
	int r = report_init(result);

	for (size_t i = 0; r >= 0 && i < config->port_count; i++) {
		const struct port *port = &config->ports[i];
		const struct guard *guard = find_guard(engine, port);

		if (guard)
			r = report_state(result, port->name, guard->state, guard->message);
		else if (!net_find_name(engine->net, port->interface))
			r = report_state(result, port->name, PORT_WAITING, "");
	}
	return r;
}
