/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole state, row by row. Called when the engine starts.
 */
#include <stdio.h>

#include <secg/abi.h>

#include "store/database.h"

int store_read_number(struct store *store, const char *sql, int64_t *ret_value)
{
	_cleanup_(statement_freep) sqlite3_stmt *statement = NULL;
	int r;

	if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return store_fail_sql(store, "cannot read the database");
	r = sqlite3_step(statement);
	if (r == SQLITE_ROW)
		*ret_value = sqlite3_column_int64(statement, 0);
	else if (r != SQLITE_DONE)
		return store_fail_sql(store, "cannot read the database");
	return 0;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

static int load_object(struct store *store, sqlite3_stmt *row, struct store_state *state)
{
	const char *kind = text_of(row, 0);
	const char *name = text_of(row, 1);
	json_t *objects = json_object_get(state->document, kind);
	json_t *value;

	value = json_loads(text_of(row, 2), JSON_DECODE_ANY, NULL);
	if (!value)
		return store_fail(store, -EBADMSG, "%s holds unreadable JSON for %s.%s",
				  store->path, kind, name);
	if (!objects) {
		objects = json_object();
		if (json_object_set_new(state->document, kind, objects) < 0) {
			json_decref(value);
			return -ENOMEM;
		}
	}
	return json_object_set_new(objects, name, value) < 0 ? -ENOMEM : 0;
}

static int load_port(struct store *store, sqlite3_stmt *row, struct store_state *state)
{
	const char *name = text_of(row, 0);
	json_t *policy;
	int r;

	r = ids_load(state->ports, name, (uint32_t)sqlite3_column_int64(row, 1));
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return store_fail(store, -EBADMSG, "%s holds a port number for %s that cannot be",
				  store->path, name);
	if (sqlite3_column_type(row, 3) != SQLITE_TEXT)
		return 0;
	policy = json_pack("{s:I, s:s}", "generation", (json_int_t)sqlite3_column_int64(row, 2),
			   "digest", text_of(row, 3));
	return json_object_set_new(state->policies, name, policy) < 0 ? -ENOMEM : 0;
}

static int load_counter(struct store *store, sqlite3_stmt *row, struct store_state *state)
{
	const struct ids_note note = {
		.revision = (uint32_t)sqlite3_column_int64(row, 3),
		.digest = (uint64_t)sqlite3_column_int64(row, 4),
	};
	uint32_t id = (uint32_t)sqlite3_column_int64(row, 2);
	_cleanup_free_ char *name = NULL;
	int r;

	if (asprintf(&name, "%s\n%s", text_of(row, 0), text_of(row, 1)) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	r = ids_load(state->counters, name, id);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return store_fail(store, -EBADMSG,
				  "%s holds a counter number for %s that cannot be", store->path,
				  text_of(row, 1));
	ids_set_note(state->counters, id, note);
	return 0;
}

static int load_rows(struct store *store, struct store_state *state, const char *sql,
		     int (*load)(struct store *store, sqlite3_stmt *row, struct store_state *state))
{
	_cleanup_(statement_freep) sqlite3_stmt *statement = NULL;
	int step;
	int r;

	if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return store_fail_sql(store, "cannot read the database");
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		r = load(store, statement, state);
		if (r == -ENOMEM)
			return store_fail(store, r, "no memory to read %s", store->path);
		if (r < 0)
			return r;
	}
	return step == SQLITE_DONE ? 0 : store_fail_sql(store, "cannot read the database");
}

static int load_all(struct store *store, struct store_state *state)
{
	int64_t generation = 0;
	int64_t etag = 0;
	int r;

	r = store_read_number(store, "SELECT value FROM meta WHERE key = 'generation'",
			      &generation);
	if (r >= 0)
		r = store_read_number(store, "SELECT value FROM meta WHERE key = 'etag'", &etag);
	if (r >= 0)
		r = load_rows(store, state, "SELECT kind, name, json FROM objects", load_object);
	if (r >= 0)
		r = load_rows(store, state, "SELECT name, id, generation, digest FROM port_ids",
			      load_port);
	if (r >= 0)
		r = load_rows(store, state,
			      "SELECT port, rule, idx, revision, digest FROM counter_ids",
			      load_counter);
	state->generation = (uint64_t)generation;
	state->etag = (uint64_t)etag;
	return r;
}

int store_load(struct store *store, struct store_state *ret_state)
{
	_cleanup_(store_state_fini) struct store_state state = {0};
	int r;

	state.document = json_object();
	state.policies = json_object();
	if (!state.document || !state.policies)
		return store_fail(store, -ENOMEM, "no memory to read %s", store->path);
	r = ids_new(&state.ports, 1, SECG_MAX_PORTS);
	if (r >= 0)
		r = ids_new(&state.counters, 1, SECG_MAX_COUNTERS);
	if (r < 0)
		return store_fail(store, r, "no memory to read %s", store->path);
	r = load_all(store, &state);
	if (r < 0)
		return r;
	ids_clear_new(state.ports);
	ids_clear_new(state.counters);
	*ret_state = state;
	state = (struct store_state){0};
	return 0;
}

void store_state_fini(struct store_state *state)
{
	json_decref(state->document);
	json_decref(state->policies);
	ids_freep(&state->ports);
	ids_freep(&state->counters);
	*state = (struct store_state){0};
}
