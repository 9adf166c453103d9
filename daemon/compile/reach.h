/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether any packet comes to a rule, and whether the rule changes anything. Exact within its work: a
 * verdict other than REACH_NEEDED and REACH_UNDECIDED is proven for every packet.
 */
#ifndef SECG_COMPILE_REACH_H
#define SECG_COMPILE_REACH_H

#include "compile/walk.h"

enum reach {
	REACH_NEEDED,
	REACH_UNDECIDED,   /* not within the work */
	REACH_SHADOWED,    /* `by` before it matches all, with another action */
	REACH_REPEATED,    /* `by` before it matches all, with the same action */
	REACH_UNREACHABLE, /* `by` and perhaps more before it take all together */
	REACH_FORESTALLED, /* `by` behind it in its ACL match all and do the same, none between differs */
};

struct reach_verdict {
	enum reach reach;
	uint32_t by[WALK_TAKERS_MAX]; /* slots */
	size_t by_count;
	bool has_more;
};

/* Ranges looked at for one rule. */
#define REACH_RULE_WORK 100000

/* Adds what it did to `work`; `scratch` is emptied. -ENOMEM. */
int reach_judge(const struct ruleset *set, uint32_t slot, struct arena *scratch, struct work *work,
		struct reach_verdict *ret_verdict);

#endif
