/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules as entries of a section: products of sets, in the order in which they are tried.
 */
#ifndef SECG_COMPILE_ENTRY_H
#define SECG_COMPILE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <secg/policy.h>

#include "model/config.h"

/* One product of sets: a rule, or one combination of its alternatives. */
struct section_entry {
	const struct rule *rule;
	const struct l4_match *l4;         /* NULL: any */
	const struct mac_match *src, *dst; /* NULL: any, also none at all */
	struct secg_entry record;
};

/* What a session does not show: VLAN, MACs, DSCP, TCP flags, fragments. */
bool entry_is_hidden(const struct rule *rule);
/* Of an audited list, what drops or rejects passes as by allow. */
enum secg_action entry_action(const struct rule *rule, bool is_audited);

/* Whether the rule is in force, and addresses, family and EtherTypes leave it anything to match there. */
bool entry_is_possible(const struct rule *rule, enum secg_family family);

/* The lists that a section is made of. Borrowed. */
struct entry_lists {
	const struct acl *const *acls;
	size_t acl_count;
	bool is_audited;   /* all of them, whatever they say themselves */
	bool takes_no_mac; /* a frame without Ethernet header has any MAC, else it has none */
};

/* Entries that the lists have in the family, without a limit. */
size_t entry_count(enum secg_family family, const struct entry_lists *lists);
/* Writes them, in rule order; room for entry_count. */
void entry_list(enum secg_family family, const struct entry_lists *lists,
		struct section_entry *ret_entries);

#endif
