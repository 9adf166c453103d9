/* SPDX-License-Identifier: Apache-2.0 */
/* Names of protocols and of ICMP types and codes, as the API spells them. */
#ifndef SECG_MODEL_L4_NAMES_H
#define SECG_MODEL_L4_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Index of the two ICMP protocols in pairs. */
enum icmp_version {
	ICMP_V4,
	ICMP_V6,
	ICMP_VERSIONS,
};

#define PROTOCOL_ICMP   1
#define PROTOCOL_ICMPV6 58

/* Bit i of byte 13 of the TCP header. */
#define TCP_FLAG_COUNT 8
extern const char *const tcp_flag_names[TCP_FLAG_COUNT];

/* -1: not a name. */
int protocol_find(const char *name);
/* NULL: no name. */
const char *protocol_name(uint8_t protocol);
/* What was probably meant by an unknown name, any and ping among the offers; NULL: no idea. */
const char *protocol_nearest(const char *name);
/* TCP, UDP, UDP-Lite, SCTP, DCCP. */
bool protocol_has_ports(uint8_t protocol);

/* -1: not a name of a type in this version. */
int icmp_type_find(enum icmp_version version, const char *name);
const char *icmp_type_nearest(enum icmp_version version, const char *name);
const char *icmp_type_name(enum icmp_version version, uint8_t type);
int icmp_code_find(enum icmp_version version, uint8_t type, const char *name);
const char *icmp_code_name(enum icmp_version version, uint8_t type, uint8_t code);

#endif
