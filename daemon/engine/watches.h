/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the data path is to tell, and how often: the entries of secg_watch that a generation needs, and
 * what was kept back for the rate. Pure.
 */
#ifndef SECG_ENGINE_WATCHES_H
#define SECG_ENGINE_WATCHES_H

#include "dp/events.h"
#include "engine/generation.h"

#define WATCH_REASON_RATE 10   /* records a second about one reason of drops */
#define WATCH_AUDIT_RATE  10   /* about one audited rule or default that is not logged */
#define WATCH_REJECT_RATE 1000 /* answers a second at one port */

struct watch_item {
	struct dp_watch wanted;
	uint32_t told; /* of those kept back, how many an event has told already (listen.c) */
};

/* Sorted by key, each key once. */
struct watches {
	struct watch_item *items;
	size_t count, room;
};

void watches_fini(struct watches *watches);
/* -ENOMEM. */
int watches_make(struct watches *ret_watches, const struct generation *generation);
/* By key; where a key is twice, the first stays. */
void watches_sort(struct watches *watches);
/* Lends; NULL. */
struct watch_item *watches_find(const struct watches *watches, uint32_t key);
/* Whether both ask for the same, whatever the programs have counted in them. */
bool watches_are_same(const struct dp_watch *a, const struct dp_watch *b);

#endif
