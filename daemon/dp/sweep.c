/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions counted, and expired ones freed. Called by the loop and for status. */
#include <bpf/libbpf.h>

#include "dp/sessions.h"
#include "secg.skel.h"

/* The packet that finds an expired entry decides about it; the sweep comes a second later, so that it
 * never frees one that a packet has just refreshed. */
static int64_t sweep_margin(const struct dp *dp)
{
	return (int64_t)dp->ticks_per_second + 1;
}

struct overflow_sweep {
	struct dp *dp;
	void (*expired)(const struct dp_session *session, void *data);
	void *data;
	uint32_t now;
	uint32_t budget;
	uint32_t seen;
	int freed;
};

static bool sweep_overflow(const struct dp_session *session, void *data)
{
	struct overflow_sweep *sweep = data;

	/* Deleting while walking may skip entries of the same hash bucket; the next round has them. */
	if (dp_session_overdue(sweep->dp, session, sweep->now) > sweep_margin(sweep->dp) &&
	    session_free_overflow(sweep->dp, &session->key) == 0) {
		sweep->freed++;
		sweep->expired(session, sweep->data);
	}
	return ++sweep->seen < sweep->budget;
}

/* The LRU of new flows throws its oldest out by itself; its expired entries need no sweep. */
int dp_sessions_sweep(struct dp *dp, uint32_t budget,
		      void (*expired)(const struct dp_session *session, void *data), void *data)
{
	uint32_t now = dp_now(dp);
	struct dp_session session;
	struct overflow_sweep overflow;
	int freed = 0, r;

	for (; budget && dp->sweep < dp->slot_count; budget--, dp->sweep++) {
		uint32_t slot = (uint32_t)dp->sweep;

		if (!session_read_slot(dp, slot, &session))
			continue;
		dp->sweep_used++;
		if (dp_session_overdue(dp, &session, now) > sweep_margin(dp) &&
		    session_free_slot(dp, slot, session.flow.s.state) == 0) {
			freed++;
			dp->sweep_used--;
			expired(&session, data);
		}
	}
	if (!budget)
		return freed;
	/* The end of the slots: the overflow once a round. */
	overflow = (struct overflow_sweep){
		.dp = dp, .expired = expired, .data = data, .now = now, .budget = budget};
	r = session_each_hashed(dp, SESSIONS_OVERFLOW, dp->sweep - dp->slot_count, sweep_overflow,
				&overflow);
	if (r < 0 && r != -ECANCELED)
		return r;
	dp->sweep_used += overflow.seen - (uint32_t)overflow.freed;
	if (r == 0) {
		dp->swept_used = dp->sweep_used;
		dp->sweep_used = 0;
	}
	/* Cut short by the budget: go on behind what is still there. */
	dp->sweep = r == 0 ? 0 : dp->sweep + overflow.seen - (uint32_t)overflow.freed;
	return freed + overflow.freed;
}

void dp_sessions_swept(const struct dp *dp, uint64_t *ret_used, uint64_t *ret_max)
{
	*ret_used = dp->swept_used;
	*ret_max = dp->slot_count + bpf_map__max_entries(dp->skel->maps.secg_overflow);
}

static bool count_one(const struct dp_session *session, void *data)
{
	(void)session;
	++*(uint64_t *)data;
	return true;
}

int dp_session_usage(const struct dp *dp, struct dp_session_usage *ret_usage)
{
	struct dp_session_usage usage = {
		.max = dp->slot_count + bpf_map__max_entries(dp->skel->maps.secg_overflow),
		.new_max = bpf_map__max_entries(dp->skel->maps.secg_new),
	};
	int r;

	for (uint32_t slot = 0; slot < dp->slot_count; slot++)
		if (__atomic_load_n(&dp->slots[slot].s.state, __ATOMIC_RELAXED) &
		    SECG_FLOW_PHASE_MASK)
			usage.used++;
	r = session_each_hashed(dp, SESSIONS_OVERFLOW, 0, count_one, &usage.used);
	if (r == 0)
		r = session_each_hashed(dp, SESSIONS_NEW, 0, count_one, &usage.new_used);
	if (r < 0)
		return r;
	*ret_usage = usage;
	return 0;
}
