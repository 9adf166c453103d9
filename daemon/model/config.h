/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desired state, parsed and validated: what a policy document says, with names resolved. Immutable
 * once parsed; a commit builds a new one beside the live one. Pure: JSON in, structs out, no I/O.
 *
 * Every object keeps its normalised JSON (`json`, a reference it owns): lists where a field has many
 * values, canonical spellings, no defaults filled in. That is what the API answers and the store keeps.
 */
#ifndef SECG_MODEL_CONFIG_H
#define SECG_MODEL_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <secg/policy.h>

#include "core/error.h"
#include "model/addrset.h"

#define NAME_MAX_LENGTH 63

struct range {
	uint16_t first;
	uint16_t last; /* inclusive */
};

struct range_list {
	struct range *ranges; /* sorted, merged */
	size_t count;         /* 0: any */
};

/*
 * One product of transport conditions. `protocols` has a bit per protocol number. For ICMP and ICMPv6
 * `high` is the type and `low` the code; for protocols with ports `high` is the source port and `low`
 * the destination port. A product with ports names only protocols with ports; one with an ICMP type or
 * code names that one ICMP protocol.
 */
struct l4_match {
	uint8_t family;     /* 4 or 6 where the protocol implies it, 0: both */
	bool has_protocols; /* false: any protocol, and no ports */
	uint64_t protocols[4];
	struct range_list high;
	struct range_list low;
};

struct rule {
	char *id;
	enum secg_action action;
	uint8_t family; /* 4, 6, or 0 where the rule names none */
	bool is_ip;     /* has an IP or L4 field: never matches frames that are not IP */
	bool has_src, has_dst;
	struct addrset src,
		dst; /* groups resolved; may be empty in one family, or both: matches nothing there */
	struct l4_match *l4; /* alternatives; l4_count 0: any */
	size_t l4_count;
};

struct acl {
	char *name;
	json_t *json;
	struct rule *rules;
	size_t rule_count;
};

struct group {
	char *name;
	json_t *json;
	struct addrset members; /* prefixes and nested groups without `except` */
};

struct service {
	char *name;
	json_t *json; /* NULL: shipped with the program */
	struct l4_match *l4;
	size_t l4_count;
};

enum port_side {
	PORT_SIDE_AUTO, /* by the kind of the interface */
	PORT_SIDE_WORKLOAD,
	PORT_SIDE_HOST,
};

enum port_hook {
	PORT_HOOK_AUTO,
	PORT_HOOK_XDP,
	PORT_HOOK_TC,
};

/* One direction's list of ACLs. */
struct port_list {
	bool is_given;           /* false: the direction is absent and passes everything */
	const struct acl **acls; /* borrowed from the config */
	size_t acl_count;
	enum secg_action otherwise; /* `default`: SECG_ACTION_DROP or SECG_ACTION_ALLOW */
};

struct port {
	char *name;
	json_t *json;
	char *interface;
	enum port_side side;
	enum port_hook hook;
	struct port_list list[SECG_DIRECTIONS];
	bool has_infrastructure; /* false: defaults of the side */
	uint32_t infrastructure; /* mask of 1 << enum infra_row */
	bool is_tcp_strict;
	bool keeps_sessions;                    /* on_change keep */
	uint32_t timeout_s[SECG_TIMEOUT_COUNT]; /* 0: default */
};

/* Rows of the infrastructure table, one per name of the API. */
enum infra_row {
	INFRA_ARP,
	INFRA_ND,
	INFRA_RA,
	INFRA_MLD,
	INFRA_IGMP,
	INFRA_DHCP_CLIENT,
	INFRA_DHCP_SERVER,
	INFRA_LACP,
	INFRA_STP,
	INFRA_LLDP,
	INFRA_EAPOL,
	INFRA_VRRP,
	INFRA_IKE,
	INFRA_ROW_COUNT,
};

struct config {
	/* each array sorted by name */
	struct acl *acls;
	size_t acl_count;
	struct group *groups;
	size_t group_count;
	struct service *services; /* shipped ones included */
	size_t service_count;
	struct port *ports;
	size_t port_count;
};

/* Kinds of objects that are built, in the API's spelling: "acls", "groups", "services", "ports". */
enum object_kind {
	OBJECT_ACL,
	OBJECT_GROUP,
	OBJECT_SERVICE,
	OBJECT_PORT,
	OBJECT_KIND_COUNT,
};
extern const char *const object_kind_names[OBJECT_KIND_COUNT];

/* Name of a row, as in the API. */
extern const char *const infra_row_names[INFRA_ROW_COUNT];
/* Masks of 1 << enum secg_infra per direction for a port of a resolved side (not PORT_SIDE_AUTO). */
void port_infra_masks(uint16_t ret_masks[SECG_DIRECTIONS], const struct port *port,
		      enum port_side side);
extern const uint32_t timeout_default_s[SECG_TIMEOUT_COUNT];
extern const char *const timeout_names[SECG_TIMEOUT_COUNT];

/*
 * Parses a whole document ({"acls": {...}, "ports": {...}, ...}; "schema": "secg/1" is allowed and not
 * kept). On mistakes: -EINVAL, all of them in *reterr, nothing in *ret_config. -ENOMEM otherwise.
 * The document is only read.
 */
int config_parse(struct config **ret_config, const json_t *document, struct errors *reterr);
void config_free(struct config *config);
DEFINE_CLEANUP(struct config *, config_free);

/* Lend; NULL where there is none. Valid as long as the config. */
const struct acl *config_find_acl(const struct config *config, const char *name);
const struct group *config_find_group(const struct config *config, const char *name);
const struct service *config_find_service(const struct config *config, const char *name);
const struct port *config_find_port(const struct config *config, const char *name);

/* The normalised document; the caller owns the reference. Kinds without objects are left out, shipped
 * services too. NULL: no memory. */
json_t *config_document(const struct config *config);

#endif
