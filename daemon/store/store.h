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
 * version: -EPROTONOSUPPORT and a message. A file that is not a sound database: -EBADMSG and a message,
 * the file is left as it is. A database that another daemon holds: -EBUSY. */
int store_open(struct store **ret_store, const char *directory, char message[STORE_MESSAGE_SIZE]);
void store_close(struct store *store);
DEFINE_CLEANUP(struct store *, store_close);

struct store_state {
	json_t *document; /* normalised, owned by the caller */
	uint64_t generation;
	uint64_t etag;
	struct ids *ports;    /* "name" */
	struct ids *counters; /* "port\nrule key"; the notes beside the numbers too */
	/* {"port": {"generation": n, "digest": "hex"}}: the generation in which a port's policy last
	 * changed and the digest of that policy, so that sessions outlive a restart unchecked. Only for
	 * names in `ports`. What else is said of a port is not stored. */
	json_t *policies;
};
/* Reads all. An empty store gives an empty document, generation and etag 0. */
int store_load(struct store *store, struct store_state *ret_state);
/* One sentence for people about the last load or commit that failed. Lends, until the next call. */
const char *store_message(const struct store *store);
void store_state_fini(struct store_state *state);

/*
 * Makes the new state durable in one transaction; only what differs from `before` is written. When it
 * returns 0 the state survives a crash of the machine. Negative errno: nothing has changed.
 */
int store_commit(struct store *store, const struct store_state *before,
		 const struct store_state *after);

#endif
