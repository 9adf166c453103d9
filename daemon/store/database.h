/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What store.c and write.c share: the open database and how its errors become ours.
 */
#ifndef SECG_STORE_DATABASE_H
#define SECG_STORE_DATABASE_H

#include <sqlite3.h>

#include "store/store.h"

struct store {
	sqlite3 *db;
	char *path;
	char message[STORE_MESSAGE_SIZE];
};

static inline void statement_freep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

/* Negative errno of an SQLite result code; 0 for the good ones. */
int database_errno(int code);
/* Keeps a sentence for store_message; returns r. */
int store_fail(struct store *store, int r, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with what SQLite says about its last error. */
int store_fail_sql(struct store *store, const char *what);
int store_exec(struct store *store, const char *sql);
/* One number: the value of a pragma or of a row of meta; *ret_value is left alone without a row. */
int store_read_number(struct store *store, const char *sql, int64_t *ret_value);

#endif
