/* SPDX-License-Identifier: Apache-2.0 */
/* Listing and deleting sessions. */
#include <string.h>

#include "core/log.h"
#include "engine/internal.h"
#include "engine/view.h"

#define DELETE_CHUNK 65536 /* sessions noted before they are deleted */

/* ── listing ────────────────────────────────────────────────────────────────────────────────────── */

struct listing {
	const struct engine *engine;
	const struct session_filter *filter;
	uint32_t now;
	double ticks_per_second;
	bool (*each)(const struct session_view *session, void *data);
	void *data;
};

static struct listing listing_of(const struct engine *engine, const struct session_filter *filter)
{
	return (struct listing){
		.engine = engine,
		.filter = filter,
		.now = dp_now(engine->dp),
		.ticks_per_second = dp_ticks_per_second(engine->dp),
	};
}

const char *rule_key(const struct engine *engine, uint32_t word)
{
	uint32_t number = word & SECG_RULE_NUMBER_MASK;
	const char *name = number ? ids_name(engine->live->counter_ids, number) : NULL;

	return name ? strchr(name, '\n') + 1 : NULL;
}

/* False: not a session that the filter means. */
static bool make_view(const struct listing *listing, const struct dp_session *session,
		      struct session_view *ret_view)
{
	const struct generation *live = listing->engine->live;
	const struct generation_port *entry = generation_find_id(live, session->flow.a.port);
	struct view_context context;

	if (!entry)
		return false;
	context = (struct view_context){
		.port = entry->port->name,
		.rule = rule_key(listing->engine, session->flow.s.rule),
		.timeout = live->table[entry->id].timeout,
		.now = listing->now,
		.ticks_per_second = listing->ticks_per_second,
	};
	view_fill(ret_view, session, &context);
	return view_matches(ret_view, listing->filter);
}

static bool list_one(const struct dp_session *session, void *data)
{
	struct listing *listing = data;
	struct session_view view;

	if (!make_view(listing, session, &view))
		return true;
	/* A cursor names the last one that was listed and is never 0, positions count from 0. */
	view.position++;
	return listing->each(&view, listing->data);
}

int engine_sessions(const struct engine *engine, const struct session_filter *filter,
		    uint64_t cursor, bool (*each)(const struct session_view *session, void *data),
		    void *data)
{
	struct listing listing = listing_of(engine, filter);

	listing.each = each;
	listing.data = data;
	return dp_sessions_each(engine->dp, cursor, list_one, &listing);
}

/* ── deleting ───────────────────────────────────────────────────────────────────────────────────── */

struct deletion {
	struct listing listing;
	const struct engine *removed; /* what is marked in it as gone; NULL: the filter decides */
	struct dp_session *sessions;
	size_t count;
};

/* Sessions that traffic makes anew meanwhile are not meant; without this a busy port would never end. */
static bool is_after(const struct dp_session *session, uint32_t start)
{
	return (int32_t)(session->flow.a.created - start) > 0;
}

static bool is_removed(const struct engine *engine, const struct dp_session *session)
{
	uint16_t port = session->flow.a.port, domain = session->key.domain;

	return (port < SECG_MAX_PORTS && engine->removed[port]) ||
	       (domain >= SECG_MAX_PORTS && domain < 2 * SECG_MAX_PORTS &&
		engine->removed_domains[domain - SECG_MAX_PORTS]);
}

static bool note_one(const struct dp_session *session, void *data)
{
	struct deletion *deletion = data;
	struct session_view view;

	if (is_after(session, deletion->listing.now))
		return true;
	if (deletion->removed ? is_removed(deletion->removed, session)
			      : make_view(&deletion->listing, session, &view))
		deletion->sessions[deletion->count++] = *session;
	return deletion->count < DELETE_CHUNK;
}

/* Deleting while listing would make the listing lose its place, so each round notes first. */
static int64_t delete_all(struct engine *engine, struct deletion *deletion)
{
	int64_t total = 0;
	int64_t round;
	int r;

	deletion->sessions = calloc(DELETE_CHUNK, sizeof(*deletion->sessions));
	if (!deletion->sessions)
		return -ENOMEM;
	do {
		round = 0;
		deletion->count = 0;
		r = dp_sessions_each(engine->dp, 0, note_one, deletion);
		if (r < 0)
			return r;
		for (size_t i = 0; i < deletion->count; i++) {
			r = dp_session_delete(engine->dp, &deletion->sessions[i]);
			if (r < 0 && r != -ENOENT)
				return r;
			round += r >= 0;
		}
		total += round;
	} while (round > 0 && deletion->count == DELETE_CHUNK);
	return total;
}

static void deletion_fini(struct deletion *deletion)
{
	free(deletion->sessions);
}

int64_t engine_sessions_delete(struct engine *engine, const struct session_filter *filter)
{
	_cleanup_(deletion_fini) struct deletion deletion = {.listing = listing_of(engine, filter)};

	int64_t deleted = delete_all(engine, &deletion);

	limits_recount(engine);
	return deleted;
}

void sessions_clear_removed(struct engine *engine)
{
	_cleanup_(deletion_fini) struct deletion deletion = {
		.listing = listing_of(engine, NULL),
		.removed = engine,
	};
	int64_t r = delete_all(engine, &deletion);

	if (r < 0)
		log_error("sessions of ports that are gone cannot be deleted: %s",
			  strerror((int)-r));
	memset(engine->removed, 0, sizeof(engine->removed));
	memset(engine->removed_domains, 0, sizeof(engine->removed_domains));
	engine->has_removed = false;
}
