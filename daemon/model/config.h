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

/* A MAC address with its mask: bytes as on the wire, `value` has no bit outside `mask`. */
struct mac_match {
	uint8_t value[6];
	uint8_t mask[6];
};

struct mac_list {
	struct mac_match *macs;
	size_t count; /* 0: any */
};

/* `log` of a rule or default. */
struct log_rate {
	uint32_t rate; /* records a second; 0: no log */
	bool is_all;   /* packets of sessions too */
};
#define LOG_RATE_DEFAULT 10

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

/* What a rule matches beside addresses and transport. */
struct l2_match {
	/* EtherTypes of frames; LLC is the range 0-0x5ff. Families follow from 0x0800 and 0x86dd. */
	struct range_list ethertypes;
	struct range_list vlans; /* outermost VID, 0: untagged */
	struct mac_list src, dst;
};

#define FRAGMENT_ANY (-1)

struct rule {
	char *id;
	enum secg_action action;
	bool is_disabled; /* `enabled: false`: kept, counted, matches nothing */
	uint8_t family;   /* 4, 6, or 0 where the rule names none */
	bool is_ip;       /* has an IP or L4 field: never matches frames that are not IP */
	struct l2_match l2;
	uint64_t dscp;          /* mask of 1 << DSCP; 0: any */
	uint8_t tcp_flags;      /* with tcp_flags_mask: flags & mask == value */
	uint8_t tcp_flags_mask; /* 0: any */
	int8_t fragment;        /* 1: first fragments only, 0: whole packets only, FRAGMENT_ANY */
	uint32_t timeout_s;     /* 0: the port's */
	struct log_rate log;
	uint32_t sample
		[2]; /* 1 in N: packets that the rule decides, packets of its sessions; 0: none */
	bool has_src, has_dst;
	struct addrset src,
		dst; /* groups resolved; may be empty in one family, or both: matches nothing there */
	struct l4_match *l4; /* alternatives; l4_count 0: any */
	size_t l4_count;
};

struct acl {
	char *name; /* of a security group's rules: "sg:" and the group's name */
	json_t *json;
	bool is_audited; /* what it would drop or reject passes as by allow, and is told */
	struct rule *rules;
	size_t rule_count;
};

/*
 * Its rules as two ACLs of allow (or allow-stateless) rules, one per direction, which stand behind the
 * ACLs of every port that wears it: stateful groups first.
 */
struct security_group {
	char *name;
	json_t *json;
	bool is_stateful;
	struct acl rules[SECG_DIRECTIONS];
};

/* What the sender of a frame may use. */
struct macip_entry {
	struct mac_match mac; /* mask zero: any MAC */
	struct prefix *prefixes;
	size_t prefix_count; /* 0: the MAC with no IP address */
};

struct macip {
	char *name;
	json_t *json;
	struct macip_entry *entries;
	size_t entry_count;
	bool allows_ra, allows_dhcp_server;
};

struct group {
	char *name;
	json_t *json;
	struct addrset members; /* prefixes, nested groups and members without `except` */
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
	enum secg_action otherwise; /* `default`: SECG_ACTION_DROP, REJECT or ALLOW */
	struct log_rate log;        /* of the default */
};

/* Which interface a port or template is for; all that is given must hold. */
struct interface_match {
	char *name; /* glob: * ? [] */
	char *altname;
	char *alias;
	char *kind;   /* as `ip -d link` names it: veth, tun, bridge, bond, vlan ... */
	char *master; /* name of the bridge or bond it is in */
	bool has_mac;
	struct mac_match mac;
};

enum on_change {
	ON_CHANGE_RECHECK,
	ON_CHANGE_KEEP,
	ON_CHANGE_CUT,
};

struct port_limits {
	uint32_t sessions, sessions_per_source, half_open; /* 0: none */
};

struct port {
	char *name;
	json_t *json;
	char *interface;               /* NULL: `match` */
	struct interface_match *match; /* NULL: `interface` */
	/* Made of a template, named after its interface: "tap1", or "if/tap1" where a port of the document
	 * has that name, which no name of the document can be. Its other fields are the template's. */
	bool is_instance;
	const struct port_template *template; /* of an instance; NULL */
	enum port_side side;
	enum port_hook hook;
	struct port_list list[SECG_DIRECTIONS];
	bool has_infrastructure; /* false: defaults of the side */
	uint32_t infrastructure; /* mask of 1 << enum infra_row */
	bool is_tcp_strict;
	enum on_change on_change;
	/* The security groups it wears; their rules are in `list`. Borrowed. */
	const struct security_group **security_groups;
	size_t security_group_count;
	struct macip_entry *addresses; /* its own; those of `macip` come on top */
	size_t address_count;
	const struct macip *macip; /* borrowed; NULL: none */
	bool is_anti_spoofed;
	bool allows_ra, allows_dhcp_server; /* its own or its macip's */
	char *domain;                       /* NULL: its own */
	uint32_t pickup_s;
	struct port_limits limits;
	bool resets_expired;
	bool is_audited;
	bool fails_open;
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
	unsigned int references;
	/* Owns all but `ports` and the names of instances in it; NULL: this one owns it. */
	struct config *root;
	/* each array sorted by name */
	struct acl *acls;
	size_t acl_count;
	struct group *groups;
	size_t group_count;
	struct service *services; /* shipped ones included */
	size_t service_count;
	struct security_group *security_groups;
	size_t security_group_count;
	struct macip *macips;
	size_t macip_count;
	struct port *ports; /* instances of templates included */
	size_t port_count;
	struct port_template *templates;
	size_t template_count;
};

/* What every interface gets that no port claims. `port` has no name and no interface. */
struct port_template {
	char *name;
	json_t *json;
	struct interface_match match;
	struct port port;
	bool is_quarantine; /* its lists are given and empty, and it has no security groups */
};

/* Kinds of objects that are built, in the API's spelling: "acls", "groups", "services", "ports" ... */
enum object_kind {
	OBJECT_ACL,
	OBJECT_GROUP,
	OBJECT_SERVICE,
	OBJECT_PORT,
	OBJECT_SECURITY_GROUP,
	OBJECT_MACIP,
	OBJECT_PORT_TEMPLATE,
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

/* An interface that no port claims, and the template that it gets. */
struct config_instance {
	const char *interface;
	const char *template; /* one that the document does not have is no mistake: no port then */
};

/* A member that a group has for a while. */
struct config_member {
	const char *group; /* one that the document does not have is no mistake either */
	struct prefix prefix;
};

/* What is not in the document and yet part of the configuration. */
struct config_runtime {
	const struct config_instance *instances;
	size_t instance_count;
	const struct config_member *members;
	size_t member_count;
};

/*
 * Parses a whole document ({"acls": {...}, "ports": {...}, ...}; "schema": "secg/1" is allowed and not
 * kept). On mistakes: -EINVAL, all of them in *reterr, nothing in *ret_config. -ENOMEM otherwise.
 * The document is only read; `runtime` NULL: nothing beside it.
 */
int config_parse(struct config **ret_config, const json_t *document,
		 const struct config_runtime *runtime, struct errors *reterr);
struct config *config_ref(struct config *config);
/* Lets go of a reference; a parsed configuration has one. */
void config_free(struct config *config);
DEFINE_CLEANUP(struct config *, config_free);
/*
 * The same configuration with these instances in place of those that it has, in no time: everything
 * else is shared with `config`, which lives on as long as needed. Not for instances that declare
 * addresses, which groups would have to learn: template_has_members. -E2BIG: more than SECG_MAX_PORTS - 1
 * ports in all; -ENOMEM.
 */
int config_with_instances(struct config **ret_config, struct config *config,
			  const struct config_runtime *runtime);
/* The instance for an interface. Lends; NULL. */
const struct port *config_find_instance(const struct config *config, const char *interface);
/* Whether a port of this template can be a member of groups. */
bool template_has_members(const struct port_template *template);

/* Lend; NULL where there is none. Valid as long as the config. */
const struct acl *config_find_acl(const struct config *config, const char *name);
const struct group *config_find_group(const struct config *config, const char *name);
const struct service *config_find_service(const struct config *config, const char *name);
const struct port *config_find_port(const struct config *config, const char *name);
const struct security_group *config_find_security_group(const struct config *config,
							const char *name);
const struct macip *config_find_macip(const struct config *config, const char *name);
const struct port_template *config_find_template(const struct config *config, const char *name);

/* The normalised object; lends. NULL: the document has none of this name. */
json_t *config_object(const struct config *config, enum object_kind kind, const char *name);
/* The normalised objects of one kind, by name; the caller owns the reference. NULL: no memory. */
json_t *config_collection(const struct config *config, enum object_kind kind);
/* The normalised document; the caller owns the reference. Kinds without objects are left out, shipped
 * services too. NULL: no memory. */
json_t *config_document(const struct config *config);

#endif
