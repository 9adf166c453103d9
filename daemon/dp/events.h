/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs tell: records of the ring buffer handed on, and the table of what is told how often
 * (include/secg/event.h). Called by the engine.
 */
#ifndef SECG_DP_EVENTS_H
#define SECG_DP_EVENTS_H

#include <secg/event.h>

#include "dp/dp.h"

/* Lent; readable while there are records. */
int dp_events_fd(const struct dp *dp);
/*
 * Hands on at most `budget` records, oldest first; `event` is inside its ring, readable during the call,
 * and followed by the rest of a struct secg_event_reject where it is of that kind. What is shorter than
 * its kind must be is left out. Returns how many records were taken, or negative errno.
 */
int dp_events_drain(struct dp *dp, unsigned int budget,
		    void (*each)(const struct secg_event *event, void *data), void *data);
/* Records that found no room in the ring, by enum secg_event_kind; since the map was made. */
int dp_events_lost(const struct dp *dp, uint64_t ret_lost[SECG_EVENT_KINDS]);

struct dp_watch {
	uint32_t key; /* SECG_WATCH_*, or the number of a rule */
	struct secg_watch watch;
};
/* Makes or replaces an entry; what was counted in it begins anew. -E2BIG: the table is full. */
int dp_watch_set(struct dp *dp, const struct dp_watch *watch);
/* One that is not there is no error. */
int dp_watch_clear(struct dp *dp, uint32_t key);
/* What has been counted in an entry. -ENOENT. */
int dp_watch_get(const struct dp *dp, uint32_t key, struct secg_watch *ret_watch);
/* Keys of the table, in no order; the caller frees them. */
int dp_watch_keys(const struct dp *dp, uint32_t **ret_keys, size_t *ret_count);

#endif
