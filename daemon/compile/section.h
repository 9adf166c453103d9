/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One address family of a policy: its entries become dimensions, vectors and a struct secg_section.
 */
#ifndef SECG_COMPILE_SECTION_H
#define SECG_COMPILE_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include <secg/policy.h>

#include "compile/lines.h"
#include "model/config.h"

/* One product of sets: a rule, or one transport alternative of it. */
struct section_entry {
	const struct rule *rule;
	const struct l4_match *l4; /* NULL: any */
	struct secg_entry record;
};

/* Entries that the ACLs have in the family, without a limit. */
size_t section_count(enum secg_family family, const struct acl *const *acls, size_t acl_count);
/* Writes them, in rule order; room for section_count. */
void section_list(enum secg_family family, const struct acl *const *acls, size_t acl_count,
		  struct section_entry *ret_entries);

/*
 * Compiles 1..SECG_MAX_ENTRIES entries, which refer to live rules. *ret_section is written on success.
 * -EFBIG: too many intervals; -E2BIG: too many lines; -ENOMEM.
 */
int section_compile(struct lines *lines, enum secg_family family,
		    const struct section_entry *entries, size_t count,
		    struct secg_section *ret_section);

#endif
