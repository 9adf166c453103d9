/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the packets of a box go in a list of ACLs. The box is led past the entries that it meets, in
 * order; what an entry takes is cut out of it, `pass` leads on to the next ACL. Exact: what arrives is a
 * product of sets with at least one packet, and nothing arrives only if no packet would.
 *
 *            ┌───────────────┐  the entry takes the inner part; the rest is up to one box for each
 *            │   src ∉ entry │  dimension, which goes on behind the entry
 *            ├───────┬───────┤
 *            │ taken │ dst ∉ │
 *            └───────┴───────┘
 */
#ifndef SECG_COMPILE_WALK_H
#define SECG_COMPILE_WALK_H

#include "compile/ruleset.h"

#define WALK_NO_ACL     UINT32_MAX
#define WALK_TAKERS_MAX 3

enum walk_end {
	WALK_ARRIVED,
	WALK_NOTHING_LEFT,
	WALK_UNDECIDED, /* the work is over */
};

struct walk {
	const struct ruleset *set;
	enum box_space space;
	struct arena *arena;
	struct work *work;
	uint32_t
		own_acl; /* the ACL that is headed for: a pass there leads past the goal. WALK_NO_ACL */
	bool stops_at_allow;              /* what an allow takes has arrived */
	bool is_end_goal;                 /* what no entry takes has arrived */
	uint32_t takers[WALK_TAKERS_MAX]; /* slots of the first rules that took something */
	size_t taker_count;
	bool has_more_takers;
};

/* Leads the box past the entries that it meets. -ENOMEM. */
int walk_run(struct walk *walk, const struct box *box, const struct ruleset_hits *hits,
	     enum walk_end *ret_end);

#endif
