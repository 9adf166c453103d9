/* SPDX-License-Identifier: Apache-2.0 */
/* Text of MAC addresses with their masks: "52:54:00:12:34:56", "52:54:00:00:00:00/ff:ff:ff:00:00:00". */
#ifndef SECG_MODEL_MAC_H
#define SECG_MODEL_MAC_H

#include "model/config.h"
#include "model/parse.h"

/* -EINVAL: not an address, or a wrong mask; -EDOM: bits outside the mask, and *ret_mac holds the address
 * without them so that the caller can propose it. */
int mac_parse(struct mac_match *ret_mac, const char *text);
#define MAC_STRING_SIZE 36
/* Canonical text; a mask of ones is left out. Writes at most MAC_STRING_SIZE bytes. */
void mac_format(char *text, const struct mac_match *mac);
bool mac_is_exact(const struct mac_match *mac);

/* A value that is one MAC address; results are those of parse.h. */
int parse_mac(struct parser *parser, const struct path *path, const json_t *value,
	      struct mac_match *ret_mac);
/* A string of its canonical text. NULL: no memory. */
json_t *mac_json(const struct mac_match *mac);

#endif
