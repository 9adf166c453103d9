/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of IP addresses as sorted, disjoint, non-adjacent ranges, one list per family. Addresses are
 * unsigned 128-bit numbers in host order; an IPv4 address is its 32-bit number. Pure; no I/O.
 */
#ifndef SECG_MODEL_ADDRSET_H
#define SECG_MODEL_ADDRSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"

typedef unsigned __int128 addr_t; /* the compiler's own type has no portable name */

struct addr_range {
	addr_t first;
	addr_t last; /* inclusive */
};

struct addr_list {
	struct addr_range *ranges;
	size_t count;
	size_t capacity; /* 0 with a count: the ranges are lent by another set */
};

struct addrset {
	struct addr_list v4;
	struct addr_list v6;
};

/* An IP prefix. Host bits are zero. */
struct prefix {
	uint8_t family; /* 4 or 6 */
	uint8_t length; /* bits */
	addr_t address;
};

/* "10.0.0.0/8", "2001:db8::1" (host). -EINVAL: not an address or prefix; -EDOM: host bits set, and
 * *ret_prefix holds the prefix without them so that the caller can propose it. */
int prefix_parse(struct prefix *ret_prefix, const char *text);
#define PREFIX_STRING_SIZE 64
/* Canonical text (RFC 5952), a host without its length. Writes at most PREFIX_STRING_SIZE bytes. */
void prefix_format(char *text, const struct prefix *prefix);

/* Adds a prefix; the set is not canonical again before addrset_normalize. -ENOMEM. */
int addrset_add(struct addrset *set, const struct prefix *prefix);
int addrset_add_set(struct addrset *set, const struct addrset *other);
/* Sorts and merges. */
void addrset_normalize(struct addrset *set);
/* Removes what `other` holds. Both canonical; the result is. -ENOMEM. */
int addrset_subtract(struct addrset *set, const struct addrset *other);
/* Makes a set that reads the ranges of `owner`, which must outlive it unchanged. Adding to it copies. */
void addrset_lend(struct addrset *ret_set, const struct addrset *owner);
/* Ranges of both families. */
size_t addrset_count(const struct addrset *set);
bool addrset_has(const struct addrset *set, uint8_t family, addr_t address);
void addrset_fini(struct addrset *set);

#endif
