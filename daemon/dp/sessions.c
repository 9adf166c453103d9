/* SPDX-License-Identifier: Apache-2.0 */
/* The session tables read and changed from outside the packet path. See include/secg/flow.h. */
#include "dp/sessions.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "secg.skel.h"

#define READ_TRIES 4
#define BATCH      4096u

uint32_t dp_flow_timeout(const struct secg_flow_key *key, const struct secg_flow *flow,
			 const uint32_t timeout[8])
{
	uint32_t which = secg_flow_timeout(key->proto, flow->s.state);

	if ((flow->s.state & SECG_FLOW_OWN_TIMEOUT) && secg_flow_is_own_timeout(which))
		return flow->a.timeout;
	return timeout[which];
}

int64_t dp_session_overdue(const struct dp *dp, const struct dp_session *session, uint32_t now)
{
	const struct secg_port *port = dp_tables_port(dp, session->flow.a.port);
	/* Ticks wrap; a packet may have come after `now` was read, so idle can be below zero. */
	int32_t idle = (int32_t)(now - session->flow.s.seen);

	if (!port)
		return INT32_MAX;
	return (int64_t)idle - dp_flow_timeout(&session->key, &session->flow, port->timeout);
}

bool session_read_slot(const struct dp *dp, uint32_t slot, struct dp_session *ret_session)
{
	const struct secg_slot *from = &dp->slots[slot];

	for (int i = 0; i < READ_TRIES; i++) {
		uint32_t version = __atomic_load_n(&from->version, __ATOMIC_ACQUIRE);
		struct secg_slot copy;

		if ((__atomic_load_n(&from->s.state, __ATOMIC_RELAXED) & SECG_FLOW_PHASE_MASK) ==
		    SECG_FLOW_FREE)
			return false;
		if (version & 1)
			continue;
		memcpy(&copy, from, sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&from->version, __ATOMIC_RELAXED) != version)
			continue;
		ret_session->key = copy.key;
		ret_session->flow.s = copy.s;
		ret_session->flow.a = copy.a;
		ret_session->position = session_position(SESSIONS_ESTABLISHED, slot);
		return (copy.s.state & SECG_FLOW_PHASE_MASK) != SECG_FLOW_FREE;
	}
	return false;
}

static int hash_fd(const struct dp *dp, enum session_table table)
{
	return bpf_map__fd(table == SESSIONS_NEW ? dp->skel->maps.secg_new
						 : dp->skel->maps.secg_overflow);
}

/* Batches, which every kernel that loads the programs has (5.6; cmpxchg needs 5.12). */
int session_each_hashed(const struct dp *dp, enum session_table table, uint64_t first,
			bool (*each)(const struct dp_session *session, void *data), void *data)
{
	_cleanup_free_ struct secg_flow_key *keys = calloc(BATCH, sizeof(*keys));
	_cleanup_free_ struct secg_flow *flows = calloc(BATCH, sizeof(*flows));
	uint32_t token = 0;
	uint64_t number = 0;
	bool is_last = false;

	if (!keys || !flows)
		return -ENOMEM;
	for (void *from = NULL; !is_last; from = &token) {
		uint32_t count = BATCH;

		if (bpf_map_lookup_batch(hash_fd(dp, table), from, &token, keys, flows, &count,
					 NULL) < 0) {
			if (errno != ENOENT)
				return -errno;
			is_last = true;
		}
		for (uint32_t i = 0; i < count; i++, number++) {
			struct dp_session session = {keys[i], flows[i],
						     session_position(table, number)};

			if (number >= first && !each(&session, data))
				return -ECANCELED;
		}
	}
	return 0;
}

struct listing {
	const struct dp *dp;
	uint32_t now;
	bool (*each)(const struct dp_session *session, void *data);
	void *data;
};

static bool list_live(const struct dp_session *session, void *data)
{
	const struct listing *listing = data;

	if (dp_session_overdue(listing->dp, session, listing->now) > 0)
		return true;
	return listing->each(session, listing->data);
}

int dp_sessions_each(const struct dp *dp, uint64_t position,
		     bool (*each)(const struct dp_session *session, void *data), void *data)
{
	struct listing listing = {dp, dp_now(dp), each, data};
	enum session_table table = session_table_of(position);
	uint64_t first = position & SESSION_INDEX_MASK;
	int r = 0;

	if (table == SESSIONS_ESTABLISHED) {
		struct dp_session session;

		for (uint64_t slot = first; slot < dp->slot_count; slot++)
			if (session_read_slot(dp, (uint32_t)slot, &session) &&
			    !list_live(&session, &listing))
				return 0;
	}
	for (int hashed = SESSIONS_OVERFLOW; hashed < SESSIONS_TABLES && r == 0; hashed++)
		if (hashed >= (int)table)
			r = session_each_hashed(dp, (enum session_table)hashed,
						hashed == (int)table ? first : 0, list_live,
						&listing);
	return r == -ECANCELED ? 0 : r;
}

int session_free_slot(struct dp *dp, uint32_t slot, uint32_t state)
{
	uint32_t *word = &dp->slots[slot].s.state;
	uint32_t present = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	do {
		if ((present & SECG_FLOW_PHASE_MASK) == SECG_FLOW_FREE ||
		    present >> SECG_FLOW_INCARNATION_SHIFT != state >> SECG_FLOW_INCARNATION_SHIFT)
			return -ENOENT;
	} while (!__atomic_compare_exchange_n(word, &present,
					      present >> SECG_FLOW_INCARNATION_SHIFT
								 << SECG_FLOW_INCARNATION_SHIFT,
					      false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return 0;
}

static uint32_t bucket_slot(const struct dp *dp, const struct secg_flow_key *key)
{
	uint32_t mask = dp->slot_count / SECG_WAYS - 1;

	return (secg_flow_hash(key, dp->selector[SECG_SELECTOR_SEED]) & mask) * SECG_WAYS;
}

int session_free_overflow(struct dp *dp, const struct secg_flow_key *key)
{
	/* Only who deletes the entry takes it out of the count. */
	if (bpf_map_delete_elem(hash_fd(dp, SESSIONS_OVERFLOW), key) < 0)
		return -errno;
	__atomic_fetch_sub(&dp->slots[bucket_slot(dp, key)].overflow, 1, __ATOMIC_ACQ_REL);
	return 0;
}

/* A flow that was promoted since it was listed is still that flow. */
static int delete_promoted(struct dp *dp, const struct dp_session *session)
{
	uint32_t first = bucket_slot(dp, &session->key);
	struct dp_session other;

	for (uint32_t slot = first; slot < first + SECG_WAYS; slot++)
		if (session_read_slot(dp, slot, &other) &&
		    !memcmp(&other.key, &session->key, sizeof(other.key)) &&
		    other.flow.a.created == session->flow.a.created)
			return session_free_slot(dp, slot, other.flow.s.state);
	return session_free_overflow(dp, &session->key);
}

/* An entry of a hash is deleted if it is of the session's incarnation. */
static int delete_hashed(struct dp *dp, enum session_table table, const struct dp_session *session)
{
	struct secg_flow flow;

	if (bpf_map_lookup_elem(hash_fd(dp, table), &session->key, &flow) < 0)
		return -errno;
	if (flow.a.created != session->flow.a.created)
		return -ENOENT;
	if (table == SESSIONS_OVERFLOW)
		return session_free_overflow(dp, &session->key);
	return bpf_map_delete_elem(hash_fd(dp, table), &session->key) < 0 ? -errno : 0;
}

int dp_session_delete(struct dp *dp, const struct dp_session *session)
{
	enum session_table table = session_table_of(session->position);
	uint64_t slot = session->position & SESSION_INDEX_MASK;
	struct dp_session present;
	int r;

	if (table == SESSIONS_ESTABLISHED) {
		if (slot >= dp->slot_count || !session_read_slot(dp, (uint32_t)slot, &present) ||
		    memcmp(&present.key, &session->key, sizeof(present.key)))
			return -ENOENT;
		return session_free_slot(dp, (uint32_t)slot, session->flow.s.state);
	}
	r = delete_hashed(dp, table, session);
	return r == -ENOENT && table == SESSIONS_NEW ? delete_promoted(dp, session) : r;
}
