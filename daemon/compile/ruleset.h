/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of ACLs as boxes in order, for questions about all packets at once.
 */
#ifndef SECG_COMPILE_RULESET_H
#define SECG_COMPILE_RULESET_H

#include "compile/overlap.h"

struct ruleset_rule {
	const struct rule *rule;
	uint32_t acl;   /* position in the list of ACLs */
	uint32_t index; /* in its ACL */
};

struct ruleset_entry {
	struct box box;
	uint32_t slot; /* of the rule: its position in the list */
	uint32_t l4;   /* alternative of the rule */
};

struct ruleset_space {
	struct ruleset_entry *entries; /* in rule order */
	size_t count;
	uint32_t *first; /* entry by slot, one more than there are rules */
	struct overlap overlap;
};

struct ruleset {
	const struct acl *const *acls; /* borrowed, like the rules */
	size_t acl_count;
	struct ruleset_rule *rules;
	size_t rule_count;
	struct ruleset_space spaces[BOX_SPACES];
	struct arena arena;
};

/* -ENOMEM: `set` holds nothing. Where the boxes alone are more than is left of the work, there are no
 * rules in the set and the work is over. */
int ruleset_init(struct ruleset *set, const struct acl *const *acls, size_t acl_count,
		 struct work *work);
void ruleset_fini(struct ruleset *set);

struct ruleset_hits {
	const uint32_t *entries; /* ascending */
	size_t count;
};

/* Entries first .. end - 1 of a space that meet the box; the memory is the arena's. -ENOMEM. */
int ruleset_find(struct ruleset_hits *ret_hits, const struct ruleset *set, enum box_space space,
		 const struct box *box, uint32_t first, uint32_t end, struct arena *arena,
		 struct work *work);

#endif
