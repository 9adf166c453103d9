/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of names; numbers from the IANA registries "protocol-numbers" and "icmp(v6)-parameters". */
#include "model/l4_names.h"

#include <stddef.h>
#include <string.h>

#include "core/cleanup.h"
#include "model/nearest.h"

const char *const tcp_flag_names[TCP_FLAG_COUNT] = {"fin", "syn", "rst", "psh",
						    "ack", "urg", "ece", "cwr"};

static const struct {
	const char *name;
	uint8_t number;
	bool has_ports;
} protocols[] = {
	{"tcp", 6, true},
	{"udp", 17, true},
	{"udplite", 136, true},
	{"sctp", 132, true},
	{"dccp", 33, true},
	{"icmp", PROTOCOL_ICMP, false},
	{"icmpv6", PROTOCOL_ICMPV6, false},
	{"gre", 47, false},
	{"esp", 50, false},
	{"ah", 51, false},
	{"igmp", 2, false},
	{"vrrp", 112, false},
};

int protocol_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (!strcmp(protocols[i].name, name))
			return protocols[i].number;
	return -1;
}

const char *protocol_name(uint8_t protocol)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (protocols[i].number == protocol)
			return protocols[i].name;
	return NULL;
}

const char *protocol_nearest(const char *name)
{
	struct nearest nearest = nearest_to(name);

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		nearest_offer(&nearest, protocols[i].name);
	nearest_offer(&nearest, "any");
	nearest_offer(&nearest, "ping");
	return nearest.best;
}

bool protocol_has_ports(uint8_t protocol)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (protocols[i].number == protocol)
			return protocols[i].has_ports;
	return false;
}

static const struct {
	const char *name;
	int16_t type[ICMP_VERSIONS]; /* -1: not in this version */
} types[] = {
	{"echo-request", {8, 128}},
	{"echo-reply", {0, 129}},
	{"destination-unreachable", {3, 1}},
	{"packet-too-big", {-1, 2}},
	{"time-exceeded", {11, 3}},
	{"parameter-problem", {12, 4}},
	{"source-quench", {4, -1}},
	{"redirect", {5, 137}},
	{"router-advertisement", {9, 134}},
	{"router-solicitation", {10, 133}},
	{"neighbor-solicitation", {-1, 135}},
	{"neighbor-advertisement", {-1, 136}},
	{"timestamp-request", {13, -1}},
	{"timestamp-reply", {14, -1}},
	{"address-mask-request", {17, -1}},
	{"address-mask-reply", {18, -1}},
	{"mld-query", {-1, 130}},
	{"mld-report", {-1, 131}},
	{"mld-done", {-1, 132}},
	{"mldv2-report", {-1, 143}},
};

int icmp_type_find(enum icmp_version version, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, name))
			return types[i].type[version];
	return -1;
}

const char *icmp_type_nearest(enum icmp_version version, const char *name)
{
	struct nearest nearest = nearest_to(name);

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type[version] >= 0)
			nearest_offer(&nearest, types[i].name);
	return nearest.best;
}

const char *icmp_type_name(enum icmp_version version, uint8_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type[version] == type)
			return types[i].name;
	return NULL;
}

static const struct {
	const char *name;
	enum icmp_version version;
	uint8_t type;
	uint8_t code;
} codes[] = {
	{"network-unreachable", ICMP_V4, 3, 0},
	{"host-unreachable", ICMP_V4, 3, 1},
	{"protocol-unreachable", ICMP_V4, 3, 2},
	{"port-unreachable", ICMP_V4, 3, 3},
	{"fragmentation-needed", ICMP_V4, 3, 4},
	{"source-route-failed", ICMP_V4, 3, 5},
	{"network-prohibited", ICMP_V4, 3, 9},
	{"host-prohibited", ICMP_V4, 3, 10},
	{"admin-prohibited", ICMP_V4, 3, 13},
	{"network-redirect", ICMP_V4, 5, 0},
	{"host-redirect", ICMP_V4, 5, 1},
	{"hop-limit-exceeded", ICMP_V4, 11, 0},
	{"reassembly-time-exceeded", ICMP_V4, 11, 1},
	{"no-route", ICMP_V6, 1, 0},
	{"admin-prohibited", ICMP_V6, 1, 1},
	{"beyond-scope", ICMP_V6, 1, 2},
	{"address-unreachable", ICMP_V6, 1, 3},
	{"port-unreachable", ICMP_V6, 1, 4},
	{"source-policy", ICMP_V6, 1, 5},
	{"reject-route", ICMP_V6, 1, 6},
	{"hop-limit-exceeded", ICMP_V6, 3, 0},
	{"reassembly-time-exceeded", ICMP_V6, 3, 1},
	{"bad-header", ICMP_V6, 4, 0},
	{"unknown-header", ICMP_V6, 4, 1},
	{"unknown-option", ICMP_V6, 4, 2},
};

int icmp_code_find(enum icmp_version version, uint8_t type, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].version == version && codes[i].type == type &&
		    !strcmp(codes[i].name, name))
			return codes[i].code;
	return -1;
}

const char *icmp_code_name(enum icmp_version version, uint8_t type, uint8_t code)
{
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].version == version && codes[i].type == type && codes[i].code == code)
			return codes[i].name;
	return NULL;
}
