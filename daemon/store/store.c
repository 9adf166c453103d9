/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the database: its place, its soundness, its schema. Reading is in read.c, writing in write.c.
 * Called by the engine only; knows the shape of a document (kind, name, JSON), not what is in it.
 */
#include "store/store.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/database.h"

#define SCHEMA_VERSION      2
#define SCHEMA_VERSION_TEXT "2"

/* What each version has that the one before had not. */
static const char *const schema[SCHEMA_VERSION + 1] = {
	[1] = "CREATE TABLE objects(kind TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL,"
	      " PRIMARY KEY(kind, name)) WITHOUT ROWID;"
	      "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
	      "CREATE TABLE port_ids(name TEXT PRIMARY KEY, id INTEGER NOT NULL UNIQUE,"
	      " generation INTEGER, digest TEXT) WITHOUT ROWID;"
	      "CREATE TABLE counter_ids(port TEXT NOT NULL, rule TEXT NOT NULL,"
	      " idx INTEGER NOT NULL UNIQUE, PRIMARY KEY(port, rule)) WITHOUT ROWID;",
	[2] = "ALTER TABLE counter_ids ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;"
	      "ALTER TABLE counter_ids ADD COLUMN digest INTEGER NOT NULL DEFAULT 0;",
};

int database_errno(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
		return -EBADMSG;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_CANTOPEN:
		return -EACCES;
	default:
		return -EIO;
	}
}

int store_fail(struct store *store, int r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(store->message, sizeof(store->message), format, args);
	va_end(args);
	return r;
}

int store_fail_sql(struct store *store, const char *what)
{
	return store_fail(store, database_errno(sqlite3_extended_errcode(store->db)),
			  "%s: %s in %s", what, sqlite3_errmsg(store->db), store->path);
}

int store_exec(struct store *store, const char *sql)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_fail_sql(store, "cannot use the database");
	return 0;
}

/* A directory that others may write to could have our files exchanged under us. */
static int prepare_directory(struct store *store, const char *directory)
{
	struct stat st;

	if (mkdir(directory, 0700) == 0)
		return 0;
	if (errno != EEXIST)
		return store_fail(store, -errno, "cannot make %s: %s", directory, strerror(errno));
	if (stat(directory, &st) < 0)
		return store_fail(store, -errno, "cannot read %s: %s", directory, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return store_fail(store, -ENOTDIR, "%s is not a directory", directory);
	if (st.st_uid != geteuid() || (st.st_mode & S_IWOTH))
		return store_fail(store, -EPERM,
				  "%s belongs to someone else or everyone may write to it; "
				  "give the daemon a directory of its own",
				  directory);
	if ((st.st_mode & 077) && chmod(directory, 0700) < 0)
		return store_fail(store, -errno, "cannot change the mode of %s: %s", directory,
				  strerror(errno));
	return 0;
}

/* Makes the file before SQLite does, so that it and the journal beside it are never readable by others. */
static int prepare_file(struct store *store)
{
	_cleanup_close_ int fd = -1;

	fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || fchmod(fd, 0600) < 0)
		return store_fail(store, -errno, "cannot open %s: %s", store->path,
				  strerror(errno));
	return 0;
}

static int check_soundness(struct store *store)
{
	_cleanup_(statement_freep) sqlite3_stmt *statement = NULL;
	const char *finding;

	if (sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL) !=
	    SQLITE_OK)
		return store_fail_sql(store, "cannot read the database");
	if (sqlite3_step(statement) != SQLITE_ROW)
		return store_fail_sql(store, "cannot read the database");
	finding = (const char *)sqlite3_column_text(statement, 0);
	if (!finding || strcmp(finding, "ok") != 0)
		return store_fail(store, -EBADMSG,
				  "%s is damaged (%.80s); restore it or move it away", store->path,
				  finding ? finding : "no answer");
	return 0;
}

static int prepare_schema(struct store *store)
{
	int64_t version = 0;
	int r;

	r = store_read_number(store, "PRAGMA user_version", &version);
	if (r < 0)
		return r;
	if (version > SCHEMA_VERSION)
		return store_fail(
			store, -EPROTONOSUPPORT,
			"%s was written by a later version (schema %lld, this one knows %d)",
			store->path, (long long)version, SCHEMA_VERSION);
	if (version == SCHEMA_VERSION)
		return 0;
	for (int64_t step = version + 1; r >= 0 && step <= SCHEMA_VERSION; step++)
		r = store_exec(store, schema[step]);
	if (r < 0)
		return r;
	return store_exec(store, "PRAGMA user_version = " SCHEMA_VERSION_TEXT);
}

/*
 * The exclusive lock is taken here and kept until close: two daemons on one database would hand the same
 * numbers out twice.
 */
static int open_database(struct store *store)
{
	int r;

	if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW,
			    NULL) != SQLITE_OK)
		return store_fail_sql(store, "cannot open the database");
	sqlite3_extended_result_codes(store->db, 1);
	r = store_exec(store, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
			      "PRAGMA synchronous = FULL");
	if (r >= 0)
		r = store_exec(store, "BEGIN EXCLUSIVE");
	if (r == -EBUSY)
		return store_fail(store, r, "%s is in use by another daemon", store->path);
	if (r >= 0)
		r = check_soundness(store);
	if (r >= 0)
		r = prepare_schema(store);
	if (r >= 0)
		r = store_exec(store, "COMMIT");
	return r;
}

static int open_all(struct store *store, const char *directory)
{
	int r;

	if (asprintf(&store->path, "%s/secg.db", directory) < 0) {
		store->path = NULL;
		return store_fail(store, -ENOMEM, "no memory");
	}
	r = prepare_directory(store, directory);
	if (r < 0)
		return r;
	r = prepare_file(store);
	if (r < 0)
		return r;
	return open_database(store);
}

int store_open(struct store **ret_store, const char *directory, char message[STORE_MESSAGE_SIZE])
{
	_cleanup_(store_closep) struct store *store = NULL;
	int r;

	store = calloc(1, sizeof(*store));
	if (!store) {
		snprintf(message, STORE_MESSAGE_SIZE, "no memory");
		return -ENOMEM;
	}
	r = open_all(store, directory);
	if (r < 0) {
		snprintf(message, STORE_MESSAGE_SIZE, "%s", store->message);
		return r;
	}
	*ret_store = TAKE_PTR(store);
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

const char *store_message(const struct store *store)
{
	return store->message;
}
