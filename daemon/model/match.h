/* SPDX-License-Identifier: Apache-2.0 */
/* Which interfaces a port or template is for: read, tried on an interface, compared. Pure. */
#ifndef SECG_MODEL_MATCH_H
#define SECG_MODEL_MATCH_H

#include "model/config.h"
#include "model/parse.h"

/* What is known of an interface. Texts that it does not have are "". */
struct interface_facts {
	const char *name;
	const char *kind; /* of rtnetlink: tap and tun are both "tun" */
	const char *alias;
	const char *master;
	const char *const *altnames;
	size_t altname_count;
	bool has_ethernet;
	bool has_mac;
	uint8_t mac[6];
};

/* All that is given holds. */
bool match_fits(const struct interface_match *match, const struct interface_facts *facts);
/* Its `name` is one name, so that it cannot fit by accident. */
bool match_is_literal(const struct interface_match *match);
/* Above zero: `a` is more specific. More fields first, then more bytes that its texts fix: wildcards fix
 * none, a MAC those that its mask has. */
int match_compare(const struct interface_match *a, const struct interface_match *b);

/* `ret_json` is the normalised object, the caller's. Results are those of parse.h. */
int match_parse(struct parser *parser, const struct path *path, const json_t *value,
		struct interface_match *ret_match, json_t **ret_json);
void match_fini(struct interface_match *match);

#endif
