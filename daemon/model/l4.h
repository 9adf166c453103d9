/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport conditions: protocol, ports, ICMP type and code, as rules and services write them, become
 * alternatives (struct l4_match). Results are those of parse.h.
 */
#ifndef SECG_MODEL_L4_H
#define SECG_MODEL_L4_H

#include "model/l4_names.h"
#include "model/value.h"

/* Conditions being read. First member of the drafts of rules and services. */
struct l4_draft {
	json_t *json;           /* the normalised object; borrowed */
	bool has_service;       /* a service is named: transport fields beside it are wrong */
	bool may_name_services; /* a rule, which has `service` */
	bool is_given;          /* some transport field says something */
	bool is_muted; /* a field that later ones depend on is wrong already: those are not judged */
	bool has_protocols;
	bool is_ping;
	uint64_t protocols[4];
	struct range_list src_ports, dst_ports;
	struct range_list icmp_type[ICMP_VERSIONS], icmp_code[ICMP_VERSIONS];
};
void l4_draft_fini(struct l4_draft *draft);

/* In a schema these stand in this order, because each depends on those before. */
parse_field_fn l4_parse_protocol;
parse_field_fn l4_parse_src_ports;
parse_field_fn l4_parse_dst_ports;
parse_field_fn l4_parse_icmp_type;
parse_field_fn l4_parse_icmp_code;
#define L4_FIELDS                                                                     \
	{"protocol", l4_parse_protocol}, {"src_ports", l4_parse_src_ports},           \
		{"dst_ports", l4_parse_dst_ports}, {"icmp_type", l4_parse_icmp_type}, \
	{                                                                             \
		"icmp_code", l4_parse_icmp_code                                       \
	}

/* A growing list of alternatives. */
struct l4_list {
	struct l4_match *matches;
	size_t count;
};
/* Appends the alternatives of a draft that was read without mistakes; takes its ranges. */
int l4_append_draft(struct l4_list *list, struct l4_draft *draft);
/* Takes the ranges of the match, also on failure. */
int l4_append(struct l4_list *list, struct l4_match match);
int l4_append_copy(struct l4_list *list, const struct l4_match *matches, size_t count);
void l4_list_fini(struct l4_list *list);
void l4_free(struct l4_match *matches, size_t count);

/* Families that some alternative leaves: bit 0 IPv4, bit 1 IPv6. */
#define FAMILIES_IPV4 0x1u
#define FAMILIES_IPV6 0x2u
#define FAMILIES_ALL  0x3u
unsigned int l4_families(const struct l4_match *matches, size_t count);

static inline void protocols_add(uint64_t protocols[4], uint8_t protocol)
{
	protocols[protocol / 64] |= UINT64_C(1) << protocol % 64;
}

static inline bool protocols_have(const uint64_t protocols[4], uint8_t protocol)
{
	return protocols[protocol / 64] >> protocol % 64 & 1;
}

#endif
