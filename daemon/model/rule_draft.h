/* SPDX-License-Identifier: Apache-2.0 */
/* A rule being read, and the fields of it that have files of their own. */
#ifndef SECG_MODEL_RULE_DRAFT_H
#define SECG_MODEL_RULE_DRAFT_H

#include "model/l4.h"

/* What the fields of a rule leave of the families; a side that names groups leaves both. */
enum family_source {
	SOURCE_FAMILY,
	SOURCE_ETHERTYPES, /* where another field makes the rule match IP only */
	SOURCE_SRC,
	SOURCE_DST,
	SOURCE_REMOTE, /* of a security group's rule, in place of both */
	SOURCE_PROTOCOL,
	SOURCE_SERVICE,
	SOURCE_COUNT,
};

struct rule_draft {
	struct l4_draft l4; /* first: its field parsers take it for themselves */
	struct rule *rule;
	struct l4_list services;
	bool has_action;
	unsigned int families[SOURCE_COUNT]; /* 0: the field says nothing */
};

/* Takes a new JSON object for the normal form, which the caller owns. -ENOMEM. */
int rule_draft_init(struct rule_draft *draft, const json_t *value);
void rule_draft_fini(struct rule_draft *draft);
/* What fields say together, once all are read without mistakes. */
int rule_settle(struct parser *parser, const struct path *path, struct rule_draft *draft);
parse_field_fn rule_parse_id;
parse_field_fn rule_parse_family;
parse_field_fn rule_parse_service;
/* Prefixes and groups of one side. */
int rule_parse_addresses(struct parser *parser, const struct path *path, const json_t *value,
			 struct rule_draft *draft, struct addrset *set, enum family_source source);

/* rule_l2.c */
parse_field_fn rule_parse_ethertypes;
parse_field_fn rule_parse_vlan;
parse_field_fn rule_parse_src_mac;
parse_field_fn rule_parse_dst_mac;
/* EtherTypes beside IP fields; sets is_ip and families[SOURCE_ETHERTYPES]. */
int rule_check_ethertypes(struct parser *parser, const struct path *path, struct rule_draft *draft);
/* Too many combinations. */
int rule_check_macs(struct parser *parser, const struct path *path, const struct rule_draft *draft);
void l2_match_fini(struct l2_match *l2);

/* rule_header.c */
parse_field_fn rule_parse_tcp_flags;
parse_field_fn rule_parse_dscp;
parse_field_fn rule_parse_fragment;
/* TCP flags beside other protocols. */
int rule_check_tcp_flags(struct parser *parser, const struct path *path,
			 const struct rule_draft *draft);

/* rule_tell.c */
parse_field_fn rule_parse_log;
parse_field_fn rule_parse_sample;
/* `log` of a rule or default; `json` takes it in its normal form. */
int log_parse(struct parser *parser, const struct path *path, const json_t *value, json_t *json,
	      struct log_rate *ret_log);

#endif
