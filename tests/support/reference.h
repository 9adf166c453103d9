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

#endif
