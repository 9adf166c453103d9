/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One port and its interface: attached when it appears, forgotten when it goes, tried again when it
 * resists. A port that cannot be attached says why and never holds up the others.
 */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "engine/internal.h"

#define BACKOFF_MAX_S 30
#define REVIEWS_A_TICK \
	512 /* ports whose hooks are looked at in a second; 3 µs each, with clsact 60 */

static const char put_back_note[] = "somebody had taken its hooks away; they were put back";
#define NOTED_MAX (DP_MESSAGE_SIZE - (int)sizeof(put_back_note) - 2)

const char *const port_state_names[] = {
	[PORT_WAITING] = "waiting",
	[PORT_GUARDED] = "guarded",
	[PORT_DEGRADED] = "degraded",
	[PORT_FAILED] = "failed",
};

static const char *interface_of(const struct guard *guard)
{
	return guard->entry->port->interface;
}

static void log_state(const struct guard *guard)
{
	const char *name = guard->entry->port->name;

	switch (guard->state) {
	case PORT_WAITING:
		log_info("port %s waits for interface %s", name, interface_of(guard));
		break;
	case PORT_GUARDED:
		log_info("port %s guards interface %s", name, interface_of(guard));
		break;
	case PORT_DEGRADED:
		log_warning("port %s guards interface %s, but: %s", name, interface_of(guard),
			    guard->message);
		break;
	case PORT_FAILED:
		log_error("port %s does not guard interface %s: %s", name, interface_of(guard),
			  guard->message);
		break;
	}
}

/* The same state for the same reason is said once. */
static void set_state(struct engine *engine, struct guard *guard, enum port_state state,
		      const char *message)
{
	bool is_news = !guard->is_reported || guard->state != state ||
		       strcmp(guard->message, message) != 0;

	guard->state = state;
	guard->is_reported = true;
	if (!is_news)
		return;
	snprintf(guard->message, sizeof(guard->message), "%s", message);
	log_state(guard);
	tell_port_state(engine, guard->entry->port->name, port_state_names[state], message);
}

static void set_failed(struct engine *engine, struct guard *guard, int r, const char *message)
{
	unsigned int next = guard->backoff_s ? 2 * guard->backoff_s : 1;

	memset(&guard->attachment, 0, sizeof(guard->attachment));
	guard->backoff_s = next < BACKOFF_MAX_S ? next : BACKOFF_MAX_S;
	guard->wait_s = guard->backoff_s;
	set_state(engine, guard, PORT_FAILED, message[0] ? message : strerror(-r));
}

/* Leaves the guard without an interface, whatever became of the old one. */
static void set_waiting(struct engine *engine, struct guard *guard)
{
	guard->ifindex = 0;
	guard->backoff_s = 0;
	memset(&guard->attachment, 0, sizeof(guard->attachment));
	set_state(engine, guard, PORT_WAITING, "");
}

/* `note` is what there is to say of it if all goes well. */
static void attach(struct engine *engine, struct guard *guard, const struct net_link *link,
		   const char *note)
{
	const struct generation_port *entry = guard->entry;
	struct dp_attachment attachment = {0};
	char message[DP_MESSAGE_SIZE];
	int r;

	guard->ifindex = link->ifindex;
	guard->hook = entry->port->hook;
	guard->type = link->type;
	memcpy(guard->kind, link->kind, sizeof(guard->kind));
	leftovers_replaced(engine, entry->id, link->ifindex);
	r = dp_attach(engine->dp, entry->id, link, entry->port->hook, &attachment);
	if (r < 0) {
		set_failed(engine, guard, r, attachment.message);
		return;
	}
	guard->attachment = attachment;
	guard->backoff_s = 0;
	snprintf(message, sizeof(message), "%s%s%.*s", note,
		 note[0] && attachment.message[0] ? "; " : "", NOTED_MAX, attachment.message);
	set_state(engine, guard, attachment.is_degraded ? PORT_DEGRADED : PORT_GUARDED, message);
}

void guard_attach(struct engine *engine, struct guard *guard)
{
	const struct net_link *link = net_find_name(engine->net, interface_of(guard));

	if (link)
		attach(engine, guard, link, "");
	else
		set_waiting(engine, guard);
}

/* The side of the interface may be known only now; its infrastructure rules are live before its hooks. */
static void attach_appeared(struct engine *engine, struct guard *guard, const struct net_link *link)
{
	int r = flip_sides(engine);

	if (r >= 0) {
		attach(engine, guard, link, "");
		return;
	}
	guard->ifindex = link->ifindex;
	set_failed(engine, guard, r, "the data path does not take the rules of its side");
}

/* ── events ─────────────────────────────────────────────────────────────────────────────────────── */

static void forget(struct engine *engine, int ifindex)
{
	leftovers_forget(engine, ifindex);
	for (size_t i = 0; i < engine->guard_count; i++) {
		struct guard *guard = &engine->guards[i];

		if (guard->ifindex != ifindex)
			continue;
		leftover_detach(engine, guard->entry->id, ifindex);
		set_waiting(engine, guard);
	}
}

/* The interface has lost its name to another: the port is of the name, not of the device. */
static void leave_renamed(struct engine *engine, const struct net_link *link)
{
	for (size_t i = 0; i < engine->guard_count; i++) {
		struct guard *guard = &engine->guards[i];

		if (guard->ifindex != link->ifindex || strcmp(interface_of(guard), link->name) == 0)
			continue;
		leftover_detach(engine, guard->entry->id, guard->ifindex);
		set_waiting(engine, guard);
	}
}

static bool is_other_device(const struct guard *guard, const struct net_link *link)
{
	return guard->ifindex != link->ifindex || guard->type != link->type ||
	       strcmp(guard->kind, link->kind) != 0;
}

static void find_work(struct engine *engine, const struct net_link *link)
{
	for (size_t i = 0; i < engine->guard_count; i++) {
		struct guard *guard = &engine->guards[i];

		if (strcmp(interface_of(guard), link->name) != 0)
			continue;
		/* After an overrun the new device is told of before the end of the old one. */
		if (guard->ifindex && guard->ifindex != link->ifindex)
			leftover_detach(engine, guard->entry->id, guard->ifindex);
		if (is_other_device(guard, link) || guard->state == PORT_FAILED)
			attach_appeared(engine, guard, link);
	}
}

void guards_link_event(enum net_event event, const struct net_link *link, void *data)
{
	struct engine *engine = data;

	switch (event) {
	case NET_LINK_REMOVED:
		forget(engine, link->ifindex);
		break;
	case NET_LINK_CHANGED:
		leave_renamed(engine, link);
		find_work(engine, link);
		break;
	case NET_LINK_ADDED:
		find_work(engine, link);
		break;
	}
}

/* ── looking after them ─────────────────────────────────────────────────────────────────────────── */

static void put_back(struct engine *engine, struct guard *guard)
{
	const struct net_link *link = net_find_name(engine->net, interface_of(guard));

	/* Gone or another by now: its event comes. */
	if (!link || link->ifindex != guard->ifindex)
		return;
	log_warning("somebody has taken hooks of port %s off interface %s: they are put back",
		    guard->entry->port->name, interface_of(guard));
	attach(engine, guard, link, put_back_note);
}

static void review(struct engine *engine, struct guard *guard)
{
	struct dp_attachment *attachment = &guard->attachment;

	if (guard->state != PORT_GUARDED && guard->state != PORT_DEGRADED)
		return;
	if (!dp_is_attached(engine->dp, guard->entry->id, guard->ifindex, attachment))
		put_back(engine, guard);
	else if (dp_review(engine->dp, guard->ifindex, attachment))
		set_state(engine, guard, attachment->is_degraded ? PORT_DEGRADED : PORT_GUARDED,
			  attachment->message);
}

static void retry(struct engine *engine, struct guard *guard)
{
	const struct net_link *link = net_find_name(engine->net, interface_of(guard));

	if (link)
		attach_appeared(engine, guard, link);
	else
		set_waiting(engine, guard);
}

/* What somebody does to hooks makes no event: some ports a second are asked. */
void guards_tick(struct engine *engine)
{
	size_t count = engine->guard_count < REVIEWS_A_TICK ? engine->guard_count : REVIEWS_A_TICK;

	for (size_t i = 0; i < count; i++)
		review(engine, &engine->guards[engine->next_review++ % engine->guard_count]);
	for (size_t i = 0; i < engine->guard_count; i++) {
		struct guard *guard = &engine->guards[i];

		if (guard->state == PORT_FAILED && (guard->wait_s == 0 || --guard->wait_s == 0))
			retry(engine, guard);
	}
}

void guards_heal(struct engine *engine)
{
	for (size_t i = 0; i < engine->guard_count; i++) {
		struct guard *guard = &engine->guards[i];

		if (guard->state == PORT_FAILED)
			retry(engine, guard);
		else
			review(engine, guard);
	}
}

void engine_each_port(const struct engine *engine,
		      void (*each)(const struct port_status *status, void *data), void *data)
{
	for (size_t i = 0; i < engine->guard_count; i++) {
		const struct guard *guard = &engine->guards[i];
		struct port_status status = {
			.name = guard->entry->port->name,
			.state = guard->state,
			.ifindex = guard->ifindex,
			.attachment = guard->attachment,
			.generation = guard->entry->changed,
		};

		memcpy(status.message, guard->message, sizeof(status.message));
		each(&status, data);
	}
}
