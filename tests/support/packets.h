/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames for tests, written as a list of layers on one line:
 *
 *   const struct layer syn[] = {ETH, VLAN(5), IP4("10.0.0.1", "10.0.0.2"), TCP(1000, 80, SYN), END};
 *
 * Types, lengths and next-header numbers follow from the order; fields named after a layer's own
 * arguments (IP4(a, b, .ihl = 4)) bend them. Checksums stay zero: the data path reads none.
 */
#ifndef SECG_TESTS_PACKETS_H
#define SECG_TESTS_PACKETS_H

#include <stddef.h>
#include <stdint.h>

enum layer_kind {
	LAYER_END,
	LAYER_ETH,
	LAYER_VLAN,
	LAYER_ARP,
	LAYER_LLC,
	LAYER_IP4,
	LAYER_IP6,
	LAYER_EXTENSION,
	LAYER_AH,
	LAYER_FRAGMENT,
	LAYER_TCP,
	LAYER_PORTS, /* UDP, UDP-Lite, SCTP, DCCP */
	LAYER_ICMP,
	LAYER_ADDRESS, /* 16 bytes of a neighbour message */
	LAYER_OPTION,  /* of a neighbour message, with a MAC */
	LAYER_RAW,
	LAYER_PAD, /* bytes that no length field counts */
	LAYER_CUT, /* the frame ends `size` bytes earlier than its lengths say */
};

struct layer {
	enum layer_kind kind;
	uint16_t type;     /* its own number: EtherType of a tag, protocol */
	uint16_t next;     /* what its type field says; 0: what follows */
	uint16_t size;     /* bytes of RAW, PAD, CUT; of a port header */
	const void *bytes; /* contents of RAW; NULL: 0xa5 */
	const char *src, *dst;
	const char *mac;    /* the source's; NULL: 02:00:00:00:00:01 */
	const char *to_mac; /* NULL: 02:00:00:00:00:02 */
	uint16_t sport, dport;
	uint16_t vid;
	uint8_t ttl;                /* 0: 64 */
	uint8_t tos;                /* or traffic class */
	uint8_t version, ihl, doff; /* 0: the right one */
	uint8_t options; /* bytes after an IPv4 or TCP header; units of 8 after an extension header */
	uint8_t icmp_type, icmp_code;
	uint8_t flags;   /* TCP */
	uint8_t more;    /* fragments follow */
	uint16_t offset; /* of a fragment, in units of 8 bytes */
	uint32_t id;     /* of a datagram or an echo */
	uint32_t seq, ack;
	int adjust;        /* added to the length field */
	uint16_t length;   /* the length field outright; 0: computed */
	uint8_t no_length; /* the length field says 0 */
};

#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define PSH 0x08
#define ACK 0x10
#define URG 0x20

#define END                       \
	{                         \
		.kind = LAYER_END \
	}
#define ETH                       \
	{                         \
		.kind = LAYER_ETH \
	}
#define ETH_OF(address, ...)                                     \
	{                                                        \
		.kind = LAYER_ETH, .mac = (address), __VA_ARGS__ \
	}
#define ETHERTYPE(number)                           \
	{                                           \
		.kind = LAYER_ETH, .next = (number) \
	}
#define VLAN(number)                                                \
	{                                                           \
		.kind = LAYER_VLAN, .type = 0x8100, .vid = (number) \
	}
#define VLAN_AD(number)                                             \
	{                                                           \
		.kind = LAYER_VLAN, .type = 0x88a8, .vid = (number) \
	}
#define ARP                       \
	{                         \
		.kind = LAYER_ARP \
	}
/* Operation, MAC and address of the sender, address of the target. */
#define ARP_OF(operation, hardware, sender, target, ...)                                     \
	{                                                                                    \
		.kind = LAYER_ARP, .flags = (operation), .mac = (hardware), .src = (sender), \
		.dst = (target), __VA_ARGS__                                                 \
	}
#define LLC(three)                                  \
	{                                           \
		.kind = LAYER_LLC, .bytes = (three) \
	}
#define IP4(a, b, ...)                                                 \
	{                                                              \
		.kind = LAYER_IP4, .src = (a), .dst = (b), __VA_ARGS__ \
	}
#define IP6(a, b, ...)                                                 \
	{                                                              \
		.kind = LAYER_IP6, .src = (a), .dst = (b), __VA_ARGS__ \
	}
#define EXT(number, ...)                                               \
	{                                                              \
		.kind = LAYER_EXTENSION, .type = (number), __VA_ARGS__ \
	}
#define AH(...)                                           \
	{                                                 \
		.kind = LAYER_AH, .type = 51, __VA_ARGS__ \
	}
#define FRAG6(...)                                              \
	{                                                       \
		.kind = LAYER_FRAGMENT, .type = 44, __VA_ARGS__ \
	}
#define TCP(a, b, bits, ...)                                                               \
	{                                                                                  \
		.kind = LAYER_TCP, .type = 6, .sport = (a), .dport = (b), .flags = (bits), \
		__VA_ARGS__                                                                \
	}
#define PORTS(number, bytes_, a, b, ...)                                               \
	{                                                                              \
		.kind = LAYER_PORTS, .type = (number), .size = (bytes_), .sport = (a), \
		.dport = (b), __VA_ARGS__                                              \
	}
#define UDP(a, b, ...)     PORTS(17, 8, a, b, __VA_ARGS__)
#define UDPLITE(a, b, ...) PORTS(136, 8, a, b, __VA_ARGS__)
#define SCTP(a, b, ...)    PORTS(132, 12, a, b, __VA_ARGS__)
#define DCCP(a, b, ...)    PORTS(33, 12, a, b, __VA_ARGS__)
#define ICMP(a, b, ...)                                                                        \
	{                                                                                      \
		.kind = LAYER_ICMP, .type = 1, .icmp_type = (a), .icmp_code = (b), __VA_ARGS__ \
	}
#define ICMP6(a, b, ...)                                                                        \
	{                                                                                       \
		.kind = LAYER_ICMP, .type = 58, .icmp_type = (a), .icmp_code = (b), __VA_ARGS__ \
	}
#define ADDRESS(address)                                \
	{                                               \
		.kind = LAYER_ADDRESS, .src = (address) \
	}
#define OPTION(number, address, ...)                                                       \
	{                                                                                  \
		.kind = LAYER_OPTION, .icmp_type = (number), .mac = (address), __VA_ARGS__ \
	}
#define PROTO(number)                                          \
	{                                                      \
		.kind = LAYER_RAW, .type = (number), .size = 8 \
	}
#define RAW(count)                                 \
	{                                          \
		.kind = LAYER_RAW, .size = (count) \
	}
#define BYTES(text)                                                          \
	{                                                                    \
		.kind = LAYER_RAW, .size = sizeof(text) - 1, .bytes = (text) \
	}
#define PAD(count)                                 \
	{                                          \
		.kind = LAYER_PAD, .size = (count) \
	}
#define CUT(count)                                 \
	{                                          \
		.kind = LAYER_CUT, .size = (count) \
	}

#define FRAME_MAX 16384

struct frame {
	uint32_t size;
	uint8_t data[FRAME_MAX];
};

/* Puts the layers up to END together. A list that cannot be a frame ends the test program. */
void frame_build(struct frame *ret_frame, const struct layer *layers);

#endif
