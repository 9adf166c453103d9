/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for tests: from a description to bytes, lengths and checksums as a stack would send them. */
#ifndef SECG_TESTS_WIRE_H
#define SECG_TESTS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/addrset.h"

#define WIRE_MAX_SIZE 4096

#define WIRE_TCP_SYN  0x02
#define WIRE_TCP_ACK  0x10

struct wire {
	uint8_t src_mac[6];
	uint8_t dst_mac[6];
	unsigned int tags; /* VLAN tags */
	uint16_t vlan;     /* VID of the outermost */
	uint8_t family;    /* 4, 6; 0: a frame of `ethertype` that is not IP */
	uint16_t ethertype;
	bool has_options;       /* an IPv4 option, or a header of destination options */
	bool is_first_fragment; /* its transport and payload have a size divisible by 8 */
	uint8_t dscp;
	addr_t src, dst;
	uint8_t protocol;
	/* Ports, where the protocol has them; of ICMP and ICMPv6 the type, the code and the identifier. */
	uint16_t sport, dport;
	uint8_t icmp_type, icmp_code;
	uint16_t icmp_id;
	uint8_t tcp_flags;
	uint32_t seq, ack;
	const void *payload; /* lent */
	size_t payload_size;
	size_t min_size; /* zeros behind the packet up to this size */
};

bool wire_has_ports(uint8_t protocol);
/* The protocol shows a type and a code: an ICMP of its own family. */
bool wire_has_icmp(uint8_t family, uint8_t protocol);

/* Writes the frame and returns its size; at most WIRE_MAX_SIZE, payload cut to fit. */
size_t wire_build(uint8_t bytes[WIRE_MAX_SIZE], const struct wire *wire);

#endif
