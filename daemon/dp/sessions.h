/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sessions.c and sweep.c share: reading the three tables and freeing what is in them.
 */
#ifndef SECG_DP_SESSIONS_H
#define SECG_DP_SESSIONS_H

#include "dp/internal.h"

/*
 * A position is the table in the top bits and a number below: the slot, or for the hashes the how
 * manieth entry in the kernel's order. A listing of a hash that goes on after changes may therefore
 * miss or repeat a few entries; one of the slots does not.
 */
enum session_table {
	SESSIONS_ESTABLISHED,
	SESSIONS_OVERFLOW,
	SESSIONS_NEW,
	SESSIONS_TABLES,
};
#define SESSION_TABLE_SHIFT 62
#define SESSION_INDEX_MASK  ((UINT64_C(1) << SESSION_TABLE_SHIFT) - 1)

static inline uint64_t session_position(enum session_table table, uint64_t index)
{
	return (uint64_t)table << SESSION_TABLE_SHIFT | index;
}

static inline enum session_table session_table_of(uint64_t position)
{
	return (enum session_table)(position >> SESSION_TABLE_SHIFT);
}

/* Reads a slot in one piece; false: free, or being filled. */
bool session_read_slot(const struct dp *dp, uint32_t slot, struct dp_session *ret_session);
/* Every entry of a hash from number `first` on, as it stands. -ECANCELED when `each` returned false. */
int session_each_hashed(const struct dp *dp, enum session_table table, uint64_t first,
			bool (*each)(const struct dp_session *session, void *data), void *data);
/* Frees the slot if it still is of the same incarnation. -ENOENT. */
int session_free_slot(struct dp *dp, uint32_t slot, uint32_t state);
/* Deletes an entry of secg_overflow and takes it out of its bucket's count. -ENOENT. */
int session_free_overflow(struct dp *dp, const struct secg_flow_key *key);

#endif
