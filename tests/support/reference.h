/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference matcher: rules tried one after the other, as the documentation words it. Slow and
 * obvious on purpose, and without any code of the compiler, so that the two can be held against each
 * other.
 */
#ifndef SECG_TESTS_REFERENCE_H
#define SECG_TESTS_REFERENCE_H

#include <stddef.h>

#include "compile/policy.h"

/* First match over the concatenation of the ACLs. The slot counts rules over the concatenation. */
struct compile_verdict reference_match(const struct acl *const *acls, size_t n,
				       const struct compile_packet *packet);

/* The same, with dimensions of SECG_DIM_* taken for fitting, so that it shows which ones decide; adds one
 * to passes[slot] for each pass rule on the way. `passes` may be NULL. */
struct compile_verdict reference_match_without(const struct acl *const *acls, size_t n,
					       const struct compile_packet *packet,
					       uint32_t dimensions, uint64_t *passes);

/* The first match for a session that the rule of slot own - 1 has opened (0: another one): what a session
 * does not show fits that rule, and no other. */
struct compile_verdict reference_recheck(const struct acl *const *acls, size_t n,
					 const struct compile_packet *packet, uint32_t own);

#endif
