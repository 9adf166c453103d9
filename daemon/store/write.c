/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One commit: the rows in which two states differ, in one transaction. Rows go before rows come, so that
 * a number can move from one name to another.
 */
#include <string.h>

#include "store/database.h"

/* A statement that is prepared at its first use in a commit. */
struct writer {
	struct store *store;
	const char *sql;
	sqlite3_stmt *statement;
	const struct ids *other; /* ids to compare with */
	const struct store_state *before, *after;
	int r; /* first error; later rows are skipped */
};

static void writer_fini(struct writer *writer)
{
	sqlite3_finalize(writer->statement);
	writer->statement = NULL;
}

static int writer_prepare(struct writer *writer)
{
	if (writer->statement)
		return 0;
	if (sqlite3_prepare_v2(writer->store->db, writer->sql, -1, &writer->statement, NULL) !=
	    SQLITE_OK)
		return store_fail_sql(writer->store, "cannot write the database");
	return 0;
}

static int writer_run(struct writer *writer)
{
	int step = sqlite3_step(writer->statement);

	if (step != SQLITE_DONE)
		return store_fail_sql(writer->store, "cannot write the database");
	sqlite3_reset(writer->statement);
	sqlite3_clear_bindings(writer->statement);
	return 0;
}

static void bind_text(struct writer *writer, int index, const char *text, size_t size)
{
	sqlite3_bind_text(writer->statement, index, text, (int)size, SQLITE_TRANSIENT);
}

/* ── objects ────────────────────────────────────────────────────────────────────────────────────── */

static int write_object(struct writer *writer, const char *kind, const char *name,
			const json_t *value)
{
	_cleanup_free_ char *text = NULL;
	int r;

	text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
	if (!text)
		return -ENOMEM;
	r = writer_prepare(writer);
	if (r < 0)
		return r;
	bind_text(writer, 1, kind, strlen(kind));
	bind_text(writer, 2, name, strlen(name));
	bind_text(writer, 3, text, strlen(text));
	return writer_run(writer);
}

static int remove_object(struct writer *writer, const char *kind, const char *name)
{
	int r = writer_prepare(writer);

	if (r < 0)
		return r;
	bind_text(writer, 1, kind, strlen(kind));
	bind_text(writer, 2, name, strlen(name));
	return writer_run(writer);
}

static int write_objects(struct store *store, const json_t *before, const json_t *after)
{
	_cleanup_(writer_fini) struct writer put = {
		.store = store,
		.sql = "INSERT OR REPLACE INTO objects(kind, name, json) VALUES(?, ?, ?)",
	};
	_cleanup_(writer_fini) struct writer del = {
		.store = store,
		.sql = "DELETE FROM objects WHERE kind = ? AND name = ?",
	};
	json_t *objects, *value;
	const char *kind, *name;
	int r;

	json_object_foreach((json_t *)before, kind, objects)
	{
		json_object_foreach(objects, name, value)
		{
			if (json_object_get(json_object_get(after, kind), name))
				continue;
			r = remove_object(&del, kind, name);
			if (r < 0)
				return r;
		}
	}
	json_object_foreach((json_t *)after, kind, objects)
	{
		json_object_foreach(objects, name, value)
		{
			json_t *old = json_object_get(json_object_get(before, kind), name);

			if (old && (old == value || json_equal(old, value)))
				continue;
			r = write_object(&put, kind, name, value);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* ── numbers ────────────────────────────────────────────────────────────────────────────────────── */

static bool has_same_number(const struct ids *ids, const char *name, uint32_t id)
{
	uint32_t other;

	return ids_find(ids, name, &other) == 0 && other == id;
}

static bool has_same_policy(const struct writer *writer, const char *name)
{
	const json_t *before = json_object_get(writer->before->policies, name);
	const json_t *after = json_object_get(writer->after->policies, name);

	return before == after ||
	       (before && after && json_equal((json_t *)before, (json_t *)after));
}

static void remove_port(const char *name, uint32_t id, bool is_new, void *data)
{
	struct writer *writer = data;

	(void)is_new;
	if (writer->r < 0 || has_same_number(writer->other, name, id))
		return;
	writer->r = writer_prepare(writer);
	if (writer->r < 0)
		return;
	bind_text(writer, 1, name, strlen(name));
	writer->r = writer_run(writer);
}

static void write_port(const char *name, uint32_t id, bool is_new, void *data)
{
	struct writer *writer = data;
	const json_t *policy = json_object_get(writer->after->policies, name);

	(void)is_new;
	if (writer->r < 0 ||
	    (has_same_number(writer->other, name, id) && has_same_policy(writer, name)))
		return;
	writer->r = writer_prepare(writer);
	if (writer->r < 0)
		return;
	bind_text(writer, 1, name, strlen(name));
	sqlite3_bind_int64(writer->statement, 2, id);
	if (policy) {
		const char *digest = json_string_value(json_object_get(policy, "digest"));

		sqlite3_bind_int64(writer->statement, 3,
				   json_integer_value(json_object_get(policy, "generation")));
		bind_text(writer, 4, digest, strlen(digest));
	}
	writer->r = writer_run(writer);
}

/* A counter's name is "port\nrule key"; the columns keep the two apart. */
static void bind_counter(struct writer *writer, const char *name)
{
	const char *rule = strchrnul(name, '\n');

	bind_text(writer, 1, name, (size_t)(rule - name));
	if (*rule)
		rule++;
	bind_text(writer, 2, rule, strlen(rule));
}

static bool has_same_note(const struct ids *a, const struct ids *b, uint32_t id)
{
	struct ids_note x = ids_note(a, id), y = ids_note(b, id);

	return x.digest == y.digest && x.revision == y.revision;
}

/* Binds the name of a number that differs from the other state's, or whose note does; false where there
 * is nothing to do. */
static bool begin_counter(struct writer *writer, const char *name, uint32_t id)
{
	if (writer->r < 0 || (has_same_number(writer->other, name, id) &&
			      has_same_note(writer->before->counters, writer->after->counters, id)))
		return false;
	writer->r = writer_prepare(writer);
	if (writer->r < 0)
		return false;
	bind_counter(writer, name);
	return true;
}

static void remove_counter(const char *name, uint32_t id, bool is_new, void *data)
{
	struct writer *writer = data;

	(void)is_new;
	if (begin_counter(writer, name, id))
		writer->r = writer_run(writer);
}

static void write_counter(const char *name, uint32_t id, bool is_new, void *data)
{
	struct writer *writer = data;
	struct ids_note note;

	(void)is_new;
	if (!begin_counter(writer, name, id))
		return;
	note = ids_note(writer->after->counters, id);
	sqlite3_bind_int64(writer->statement, 3, id);
	sqlite3_bind_int64(writer->statement, 4, note.revision);
	sqlite3_bind_int64(writer->statement, 5, (sqlite3_int64)note.digest);
	writer->r = writer_run(writer);
}

static int write_numbers(struct store *store, const struct store_state *before,
			 const struct store_state *after, const char *sql, const struct ids *ids,
			 const struct ids *other,
			 void (*each)(const char *name, uint32_t id, bool is_new, void *data))
{
	_cleanup_(writer_fini) struct writer writer = {
		.store = store,
		.sql = sql,
		.other = other,
		.before = before,
		.after = after,
	};

	ids_each(ids, each, &writer);
	return writer.r;
}

/* ── the commit ─────────────────────────────────────────────────────────────────────────────────── */

static int write_meta(struct store *store, const char *key, uint64_t value)
{
	_cleanup_(writer_fini) struct writer writer = {
		.store = store,
		.sql = "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)",
	};
	int r = writer_prepare(&writer);

	if (r < 0)
		return r;
	bind_text(&writer, 1, key, strlen(key));
	sqlite3_bind_int64(writer.statement, 2, (sqlite3_int64)value);
	return writer_run(&writer);
}

static int write_state(struct store *store, const struct store_state *before,
		       const struct store_state *after)
{
	int r;

	r = write_objects(store, before->document, after->document);
	if (r >= 0)
		r = write_numbers(store, before, after, "DELETE FROM port_ids WHERE name = ?",
				  before->ports, after->ports, remove_port);
	if (r >= 0)
		r = write_numbers(store, before, after,
				  "INSERT INTO port_ids(name, id, generation, digest)"
				  " VALUES(?, ?, ?, ?) ON CONFLICT(name) DO UPDATE SET"
				  " generation = excluded.generation, digest = excluded.digest",
				  after->ports, before->ports, write_port);
	if (r >= 0)
		r = write_numbers(store, before, after,
				  "DELETE FROM counter_ids WHERE port = ? AND rule = ?",
				  before->counters, after->counters, remove_counter);
	if (r >= 0)
		r = write_numbers(store, before, after,
				  "INSERT INTO counter_ids(port, rule, idx, revision, digest)"
				  " VALUES(?, ?, ?, ?, ?)",
				  after->counters, before->counters, write_counter);
	if (r >= 0)
		r = write_meta(store, "generation", after->generation);
	if (r >= 0)
		r = write_meta(store, "etag", after->etag);
	return r;
}

int store_commit(struct store *store, const struct store_state *before,
		 const struct store_state *after)
{
	int r;

	r = store_exec(store, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	r = write_state(store, before, after);
	if (r >= 0)
		r = store_exec(store, "COMMIT");
	/* Some errors have rolled back already; then there is no transaction left to end. */
	if (r < 0 && !sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}
