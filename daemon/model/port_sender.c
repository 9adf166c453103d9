/* SPDX-License-Identifier: Apache-2.0 */
/* What a port says of its senders: addresses, macip list, anti-spoof and its guards. */
#include "model/port_draft.h"
#include "model/value.h"

int port_parse_addresses(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct port_draft *draft = object;
	struct port *port = draft->port;
	json_t *list = NULL;
	int result = senders_parse(parser, path, value, "ips", &port->addresses,
				   &port->address_count, &list);

	draft->has_senders = true;
	if (list)
		result_add(&result, json_put(draft->json, "addresses", list));
	return result;
}

int port_parse_macip(struct parser *parser, const struct path *path, const json_t *value,
		     void *object)
{
	struct port_draft *draft = object;
	const struct config *config = parser->config;
	const char *name = json_string_value(value);

	draft->has_senders = true;
	if (!name)
		return parse_bad_type(parser, path, value, "the name of a macip list");
	draft->port->macip = config_find_macip(config, name);
	if (!draft->port->macip)
		return parse_not_found(parser, path, "macip list", name, config->macips,
				       config->macip_count, sizeof(*config->macips));
	return json_put(draft->json, "macip", json_incref((json_t *)value));
}

int port_parse_anti_spoof(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	struct port_draft *draft = object;
	int r = parse_bool_field(parser, path, value, draft->json, &draft->port->is_anti_spoofed);

	draft->has_anti_spoof = true;
	if (!r && draft->port->is_anti_spoofed && !draft->has_senders)
		r = parse_error(parser, path, ERROR_BAD_VALUE,
				"needs `addresses` or `macip`: without them nobody may send");
	return r;
}

int port_parse_allow_ra(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct port_draft *draft = object;

	return parse_bool_field(parser, path, value, draft->json, &draft->port->allows_ra);
}

int port_parse_allow_dhcp_server(struct parser *parser, const struct path *path,
				 const json_t *value, void *object)
{
	struct port_draft *draft = object;

	return parse_bool_field(parser, path, value, draft->json, &draft->port->allows_dhcp_server);
}

int port_settle_sender(struct parser *parser, const struct path *path, struct port_draft *draft)
{
	struct path field = path_key(path, draft->port->macip ? "macip" : "addresses");
	struct port *port = draft->port;
	const struct macip *macip = port->macip;

	if (!draft->has_anti_spoof)
		port->is_anti_spoofed = draft->has_senders;
	if (macip) {
		port->allows_ra = port->allows_ra || macip->allows_ra;
		port->allows_dhcp_server = port->allows_dhcp_server || macip->allows_dhcp_server;
	}
	return senders_check(parser, &field, port->addresses, port->address_count,
			     macip ? macip->entries : NULL, macip ? macip->entry_count : 0);
}
