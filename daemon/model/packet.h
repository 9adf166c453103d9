/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet from its description: the frame that a sender would put on the wire, with the lengths and
 * checksums that belong there. Made for trace, which asks about packets that nobody has captured. Pure.
 */
#ifndef SECG_MODEL_PACKET_H
#define SECG_MODEL_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/addrset.h"

#define PACKET_MAX_TAGS 8
#define PACKET_MAX_SIZE 160 /* of what packet_build makes */

#define PACKET_TCP_FIN  0x01
#define PACKET_TCP_SYN  0x02
#define PACKET_TCP_RST  0x04
#define PACKET_TCP_PSH  0x08
#define PACKET_TCP_ACK  0x10
#define PACKET_TCP_URG  0x20
#define PACKET_TCP_ECE  0x40
#define PACKET_TCP_CWR  0x80

struct packet_spec {
	bool has_ethernet; /* false: begins with the IP header, as on tun and WireGuard */
	uint8_t src_mac[6];
	uint8_t dst_mac[6];
	uint16_t vlan[PACKET_MAX_TAGS]; /* VIDs, outermost first */
	size_t vlan_count;
	uint8_t family; /* 4 or 6 */
	addr_t src, dst;
	uint8_t protocol;
	uint16_t sport, dport; /* of protocols with ports */
	uint8_t tcp_flags;
	uint8_t icmp_type, icmp_code; /* of the ICMP of the family */
	uint16_t icmp_id;
};

/* The ICMP of the family: it shows a type and a code. */
bool packet_has_icmp(uint8_t family, uint8_t protocol);

/* The MAC to which a stack sends `dst`: that of the group for a multicast address. False: unicast, the
 * next hop's, which the address does not tell. */
bool packet_group_mac(uint8_t ret_mac[6], uint8_t family, addr_t dst);

/* Writes the frame and returns its size. */
size_t packet_build(uint8_t ret_bytes[PACKET_MAX_SIZE], const struct packet_spec *spec);

/*
 * A frame no longer than `limit` that the data path judges alike: payload is left away, the lengths of
 * IP and UDP follow, checksums do not. Returns the new size. What contradicts itself stays so. `limit`
 * has room for the headers.
 */
size_t packet_shorten(uint8_t *bytes, size_t size, size_t limit, bool has_ethernet);

#endif
