/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The infrastructure table: which rows hold in which direction, by the side of the port. A row that is
 * off by default and named explicitly holds in both directions; DHCP rows have directions of their own.
 */
#include <string.h>

#include "model/port_draft.h"
#include "model/value.h"

const char *const infra_row_names[INFRA_ROW_COUNT] = {
	[INFRA_ARP] = "arp",
	[INFRA_ND] = "nd",
	[INFRA_RA] = "ra",
	[INFRA_MLD] = "mld",
	[INFRA_IGMP] = "igmp",
	[INFRA_DHCP_CLIENT] = "dhcp-client",
	[INFRA_DHCP_SERVER] = "dhcp-server",
	[INFRA_LACP] = "lacp",
	[INFRA_STP] = "stp",
	[INFRA_LLDP] = "lldp",
	[INFRA_EAPOL] = "eapol",
	[INFRA_VRRP] = "vrrp",
	[INFRA_IKE] = "ike",
};

#define BIT(name) ((uint16_t)(1u << SECG_INFRA_##name))
#define BOTH(name)                   \
	{                            \
		BIT(name), BIT(name) \
	}
#define REQUESTS_IN(row)                              \
	{                                             \
		BIT(row##_REQUEST), BIT(row##_ANSWER) \
	}
#define REQUESTS_OUT(row)                             \
	{                                             \
		BIT(row##_ANSWER), BIT(row##_REQUEST) \
	}

/* Bits of a row by side (workload, host) and direction (from, to), when the row is on. */
static const struct {
	bool is_on[2]; /* by default */
	uint16_t bits[2][SECG_DIRECTIONS];
} rows[INFRA_ROW_COUNT] = {
	[INFRA_ARP] = {{true, true}, {BOTH(ARP), BOTH(ARP)}},
	[INFRA_ND] = {{true, true}, {BOTH(ND), BOTH(ND)}},
	[INFRA_RA] = {{true, true}, {{0, BIT(RA)}, {BIT(RA), 0}}},
	[INFRA_MLD] = {{true, true}, {BOTH(MLD), BOTH(MLD)}},
	[INFRA_IGMP] = {{true, true}, {BOTH(IGMP), BOTH(IGMP)}},
	[INFRA_DHCP_CLIENT] = {{true, true}, {REQUESTS_IN(DHCP_CLIENT), REQUESTS_OUT(DHCP_CLIENT)}},
	[INFRA_DHCP_SERVER] = {{false, false},
			       {REQUESTS_OUT(DHCP_SERVER), REQUESTS_IN(DHCP_SERVER)}},
	[INFRA_LACP] = {{false, true}, {BOTH(LACP), BOTH(LACP)}},
	[INFRA_STP] = {{false, true}, {BOTH(STP), BOTH(STP)}},
	[INFRA_LLDP] = {{false, true}, {BOTH(LLDP), BOTH(LLDP)}},
	[INFRA_EAPOL] = {{false, true}, {BOTH(EAPOL), BOTH(EAPOL)}},
	[INFRA_VRRP] = {{false, false}, {BOTH(VRRP), BOTH(VRRP)}},
	[INFRA_IKE] = {{false, false}, {BOTH(IKE), BOTH(IKE)}},
};

void port_infra_masks(uint16_t ret_masks[SECG_DIRECTIONS], const struct port *port,
		      enum port_side side)
{
	int column = side == PORT_SIDE_HOST;

	ret_masks[SECG_FROM] = ret_masks[SECG_TO] = 0;
	for (int i = 0; i < INFRA_ROW_COUNT; i++) {
		bool is_on = port->has_infrastructure ? port->infrastructure >> i & 1
						      : rows[i].is_on[column];

		for (int d = 0; is_on && d < SECG_DIRECTIONS; d++)
			ret_masks[d] |= rows[i].bits[column][d];
	}
}

static int row_item(struct parser *parser, const struct path *path, const json_t *item,
		    struct port *port)
{
	const char *name = json_string_value(item);

	if (!name)
		return parse_bad_type(parser, path, item, "the name of an infrastructure rule");
	for (int i = 0; i < INFRA_ROW_COUNT; i++) {
		if (!strcmp(infra_row_names[i], name)) {
			port->infrastructure |= 1u << i;
			return 0;
		}
	}
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "must be one of arp, nd, ra, mld, igmp, dhcp-client, dhcp-server, lacp, "
			   "stp, lldp, eapol, vrrp, ike, not \"%s\"",
			   excerpt(name).text);
}

int port_parse_infrastructure(struct parser *parser, const struct path *path, const json_t *value,
			      void *object)
{
	json_auto_t *list = json_array();
	struct port_draft *draft = object;
	int result = 0;

	draft->port->has_infrastructure = true;
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item_path = list_path(path, value, i);
		const json_t *item = list_item(value, i);

		result_add(&result, row_item(parser, &item_path, item, draft->port));
		result_add(&result, json_push(list, json_incref((json_t *)item)));
	}
	result_add(&result, json_put(draft->json, "infrastructure", TAKE_PTR(list)));
	return result;
}
