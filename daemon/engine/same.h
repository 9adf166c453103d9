/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two parsed ACLs say the same to the compiler, so that what was compiled from one serves the
 * other. Pure.
 */
#ifndef SECG_ENGINE_SAME_H
#define SECG_ENGINE_SAME_H

#include <stdbool.h>

#include "model/config.h"

/* Same ACLs by name, in the same order, with the same rules, groups and services resolved. */
bool acl_lists_are_same(const struct acl *const *a, size_t a_count, const struct acl *const *b,
			size_t b_count);
/* Same name and rules; their addresses, which groups may have changed, are not looked at. */
bool acls_are_same_but_for_addresses(const struct acl *a, const struct acl *b);

#endif
