/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One address family of a policy: its entries become dimensions, vectors and a struct secg_section.
 */
#ifndef SECG_COMPILE_SECTION_H
#define SECG_COMPILE_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include <secg/policy.h>

#include "compile/entry.h"
#include "compile/lines.h"
#include "core/error.h"

/*
 * Compiles 1..SECG_MAX_ENTRIES entries, which refer to live rules. *ret_section is written on success.
 * `takes_no_mac`: a frame without Ethernet header has any MAC, else it has none.
 * -EFBIG: too many intervals; -E2BIG: too many lines; -ENOMEM.
 */
int section_compile(struct lines *lines, enum secg_family family,
		    const struct section_entry *entries, size_t count, bool takes_no_mac,
		    struct secg_section *ret_section);

/* All three sections, without rules (in policy.c). Errors as of compile_policy. */
struct compiled;
int compile_lists(struct compiled **ret_compiled, const struct entry_lists *lists,
		  const char *field, struct errors *reterr);

#endif
