/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must outlive the daemon, in SQLite (WAL, synchronous=FULL): the desired state object by object,
 * generation and ETag, and the numbers given to ports and rule counters. One control thread.
 */
#ifndef SECG_STORE_STORE_H
#define SECG_STORE_STORE_H

#include <jansson.h>
#include <stdint.h>

#include "compile/ids.h"
#include "core/cleanup.h"

struct store;

#define STORE_MESSAGE_SIZE 256

/* Opens or makes <directory>/secg.db, mode 0600 in a directory of mode 0700. A schema of a later
 * version: -EPROTONOSUPPORT and a message. */
int store_open(struct store **ret_store, const char *directory, char message[STORE_MESSAGE_SIZE]);
void store_close(struct store *store);
DEFINE_CLEANUP(struct store *, store_close);

struct store_state {
	json_t *document; /* normalised, owned by the caller */
	uint64_t generation;
	uint64_t etag;
	struct ids *ports;    /* "name" */
	struct ids *counters; /* "port\nrule key" */
};
/* Reads all. An empty store gives an empty document, generation and etag 0. */
int store_load(struct store *store, struct store_state *ret_state);
void store_state_fini(struct store_state *state);

/*
 * Makes the new state durable in one transaction; only what differs from `before` is written. When it
 * returns 0 the state survives a crash of the machine. Negative errno: nothing has changed.
 */
int store_commit(struct store *store, const struct store_state *before, const struct store_state *after);

#endif
