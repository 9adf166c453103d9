/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as other tools write them, in the spelling that a policy takes. Pure.
 */
#ifndef CLI_IMPORT_ADDRESS_H
#define CLI_IMPORT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#define IMPORT_PREFIX_SIZE 64 /* of a prefix or MAC with mask as text, with its end */

struct import_prefix {
	int family; /* 4 or 6 */
	unsigned int length;
	uint8_t address[16]; /* host bits as written */
};

/* ADDRESS, ADDRESS/LENGTH or ADDRESS/NETMASK. */
bool import_prefix_parse(const char *text, struct import_prefix *ret_prefix);
bool import_prefix_has_host_bits(const struct import_prefix *prefix);
/* Without host bits; a host without its length. */
void import_prefix_format(const struct import_prefix *prefix, char text[IMPORT_PREFIX_SIZE]);
/* Does `outer` hold all of `inner`? */
bool import_prefix_covers(const struct import_prefix *outer, const struct import_prefix *inner);

/* MAC or MAC/MASK, in lower case; the mask is left out where it has all bits. */
bool import_mac_format(const char *mac, const char *mask, char text[IMPORT_PREFIX_SIZE]);

#endif
