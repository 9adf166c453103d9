/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose addresses a port may use, as the data path looks them up: a policy with an entry for each MAC,
 * and the pairs that need no lookup (struct secg_port_spoof). Pure.
 */
#ifndef SECG_COMPILE_MACIP_H
#define SECG_COMPILE_MACIP_H

#include "compile/policy.h"

/* Entries of the port's own and those of its list, added together. Borrowed. */
struct macip_source {
	const struct macip_entry *entries[2];
	size_t counts[2];
};

/*
 * Sections IPv4 and IPv6 match source MAC and source address, section OTHER the source MAC alone; what
 * matches has SECG_ACTION_ALLOW_STATELESS. A frame without Ethernet header has any MAC. The result has no
 * rules. Errors as of compile_policy.
 */
int compile_macip(struct compiled **ret_compiled, const struct macip_source *source,
		  const char *field, struct errors *reterr);

/* The first pairs of one MAC and one host; the others are zero. */
void macip_pairs(struct secg_pair ret_pairs[SECG_PAIRS], const struct macip_source *source);

#endif
