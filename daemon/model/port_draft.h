/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port being read, and the fields of it that have files of their own. A port template has the same
 * fields; nothing here asks for a name or an interface.
 */
#ifndef SECG_MODEL_PORT_DRAFT_H
#define SECG_MODEL_PORT_DRAFT_H

#include "model/objects.h"

/* port_direction.c; in a schema in this order */
parse_field_fn port_parse_from;
parse_field_fn port_parse_to;
parse_field_fn port_parse_security_groups;
parse_field_fn port_parse_default; /* judged by whether the lists are given */

/* port_sender.c; in a schema in this order */
parse_field_fn port_parse_addresses;
parse_field_fn port_parse_macip;
parse_field_fn port_parse_anti_spoof;
parse_field_fn port_parse_allow_ra;
parse_field_fn port_parse_allow_dhcp_server;
/* What follows from these fields together, once all are read. */
int port_settle_sender(struct parser *parser, const struct path *path, struct port_draft *draft);

/* port_session.c */
parse_field_fn port_parse_domain;
parse_field_fn port_parse_pickup;
parse_field_fn port_parse_limits;
parse_field_fn port_parse_timeouts;
parse_field_fn port_parse_reset_on_expiry;

/* infra.c */
parse_field_fn port_parse_infrastructure;

/* macip.c: a list of objects of `mac` and addresses, which `prefixes` names. The entries are the caller's
 * also after a mistake; `ret_json` is too, and may be NULL then. */
int senders_parse(struct parser *parser, const struct path *path, const json_t *value,
		  const char *prefixes, struct macip_entry **ret_entries, size_t *ret_count,
		  json_t **ret_json);
void senders_free(struct macip_entry *entries, size_t count);
/* ERROR_LIMIT when two lists together are more than one port takes; either may be empty. */
int senders_check(struct parser *parser, const struct path *path, const struct macip_entry *first,
		  size_t first_count, const struct macip_entry *second, size_t second_count);

#endif
