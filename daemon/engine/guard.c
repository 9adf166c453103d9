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
	[PORT_WAITING] = "waiting",         [PORT_GUARDED] = "guarded",
	[PORT_QUARANTINED] = "quarantined", [PORT_AMBIGUOUS] = "ambiguous",
	[PORT_DEGRADED] = "degraded",       [PORT_FAILED] = "failed",
};

static void log_state(const struct guard *guard)
{
	const char *name = guard->entry->port->name;
	const char *interface = guard->interface;

	switch (guard->state) {
	case PORT_WAITING:
		if (interface[0])
			log_info("port %s waits for interface %s", name, interface);
		else
			log_info("port %s waits for an interface that fits its match", name);
		break;
	case PORT_GUARDED:
		log_info("port %s guards interface %s", name, interface);
		break;
	case PORT_QUARANTINED:
		log_info("port %s keeps interface %s in quarantine", name, interface);
		break;
	case PORT_AMBIGUOUS:
		log_error("port %s guards no interface: %s", name, guard->message);
		break;
	case PORT_DEGRADED:
		log_warning("port %s guards interface %s, but: %s", name, interface,
			    guard->message);
		break;
	case PORT_FAILED:
		log_error("port %s does not guard interface %s: %s", name, interface,
			  guard->message);
		break;
	}
}

/* Here and nowhere else does a state change. The same state for the same reason is said once. */
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

static void set_attached(struct engine *engine, struct guard *guard, const char *message)
{
	const struct port_template *template = guard->entry->port->template;

	if (guard->attachment.is_degraded)
		set_state(engine, guard, PORT_DEGRADED, message);
	else
		set_state(engine, guard,
			  template && template->is_quarantine ? PORT_QUARANTINED : PORT_GUARDED,
			  message);
}

static void set_failed(struct engine *engine, struct guard *guard, int r, const char *message)
{
	unsigned int next = guard->backoff_s ? 2 * guard->backoff_s : 1;

	memset(&guard->attachment, 0, sizeof(guard->attachment));
	guard->backoff_s = next < BACKOFF_MAX_S ? next : BACKOFF_MAX_S;
	guard->wait_s = guard->backoff_s;
	set_state(engine, guard, PORT_FAILED, message[0] ? message : strerror(-r));
}

/* ── without an interface ───────────────────────────────────────────────────────────────────────── */

static void name_interface(struct guard *guard, const char *name)
{
	snprintf(guard->interface, sizeof(guard->interface), "%s", name ? name : "");
}

void guard_leave(struct engine *engine, struct guard *guard)
{
	struct claim claim = claims_find(engine->claims, guard->entry->port);
	char message[DP_MESSAGE_SIZE] = "";

	guard->ifindex = 0;
	guard->backoff_s = 0;
	memset(&guard->attachment, 0, sizeof(guard->attachment));
	name_interface(guard, guard->entry->port->interface);
	if (claim.state != CLAIM_AMBIGUOUS) {
		set_state(engine, guard, PORT_WAITING, message);
		return;
	}
	claim_explain(engine, &claim, message);
	set_state(engine, guard, PORT_AMBIGUOUS, message);
}

/* ── with one ───────────────────────────────────────────────────────────────────────────────────── */

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
	guard->version = link->version;
	memcpy(guard->kind, link->kind, sizeof(guard->kind));
	name_interface(guard, link->name);
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
	set_attached(engine, guard, message);
}

static const struct net_link *find_link(const struct engine *engine, const struct guard *guard)
{
	return next_link(engine, engine->claims, guard->entry->port);
}

static bool is_other_device(const struct guard *guard, const struct net_link *link)
{
	return guard->ifindex != link->ifindex || guard->type != link->type ||
	       strcmp(guard->kind, link->kind) != 0;
}

bool guard_is_apart(const struct engine *engine, const struct guard *guard)
{
	const struct net_link *link = find_link(engine, guard);

	/* The message tells which interfaces there are, so it is made anew. */
	if (!link)
		return true;
	return is_other_device(guard, link) || guard->hook != guard->entry->port->hook ||
	       (guard->state == PORT_FAILED && guard->version != link->version);
}

void guard_stay(struct engine *engine, struct guard *guard)
{
	const struct net_link *link = find_link(engine, guard);
	char message[DP_MESSAGE_SIZE];

	if (!port_state_is_attached(guard->state) || !link)
		return;
	memcpy(message, guard->message, sizeof(message));
	name_interface(guard, link->name);
	set_attached(engine, guard, message);
}

void guard_meet(struct engine *engine, struct guard *guard, int sides)
{
	const struct net_link *link = find_link(engine, guard);

	if (!link) {
		guard_leave(engine, guard);
		return;
	}
	if (sides >= 0) {
		attach(engine, guard, link, "");
		return;
	}
	guard->ifindex = link->ifindex;
	name_interface(guard, link->name);
	set_failed(engine, guard, sides, "the data path does not take the rules of its side");
}

/* ── looking after them ─────────────────────────────────────────────────────────────────────────── */

static void put_back(struct engine *engine, struct guard *guard)
{
	const struct net_link *link = find_link(engine, guard);

	/* Gone or another by now: its event comes. */
	if (!link || link->ifindex != guard->ifindex)
		return;
	log_warning("somebody has taken hooks of port %s off interface %s: they are put back",
		    guard->entry->port->name, guard->interface);
	attach(engine, guard, link, put_back_note);
}

static void review(struct engine *engine, struct guard *guard)
{
	struct dp_attachment *attachment = &guard->attachment;

	if (!port_state_is_attached(guard->state))
		return;
	if (!dp_is_attached(engine->dp, guard->entry->id, guard->ifindex, attachment))
		put_back(engine, guard);
	else if (dp_review(engine->dp, guard->ifindex, attachment))
		set_attached(engine, guard, attachment->message);
}

/* The sides of its interface may be known only now; its infrastructure rules are live before its hooks. */
static void retry(struct engine *engine, struct guard *guard)
{
	guard_meet(engine, guard, flip_sides(engine));
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
		const struct port_template *template = guard->entry->port->template;
		struct port_status status = {
			.name = guard->entry->port->name,
			.state = guard->state,
			.ifindex = guard->ifindex,
			.interface = guard->interface,
			.port_template = template ? template->name : NULL,
			.attachment = guard->attachment,
			.generation = guard->entry->changed,
		};

		memcpy(status.message, guard->message, sizeof(status.message));
		each(&status, data);
	}
}
