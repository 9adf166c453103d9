/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what answers the packets of a stateless rule may come back: nothing tracks them, so the other
 * direction's list has to admit the answers by a rule of its own.
 */
#ifndef SECG_COMPILE_RETURN_PATH_H
#define SECG_COMPILE_RETURN_PATH_H

#include "compile/walk.h"

enum return_path {
	RETURN_OPEN,      /* every part of the rule has answers that come back */
	RETURN_CLOSED,    /* no answer to `l4` of the rule comes back, in no family */
	RETURN_UNDECIDED, /* not within the work */
};

struct return_verdict {
	enum return_path path;
	size_t l4; /* RETURN_CLOSED: alternative of the rule */
};

/* Ranges looked at for one rule. */
#define RETURN_RULE_WORK 200000

/*
 * Judges a rule of `set` by the list `back` of the other direction, which ends in `otherwise`. ICMP is
 * answered where a type has an answer, multicast never; where a rule names ports of one side, the other
 * has a client's port. Adds what it did to `work`; `scratch` is
 * emptied. -ENOMEM.
 */
int return_judge(const struct ruleset *set, uint32_t slot, const struct ruleset *back,
		 enum secg_action otherwise, struct arena *scratch, struct work *work,
		 struct return_verdict *ret_verdict);

#endif
