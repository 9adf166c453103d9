/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A packet as every later step sees it, filled by parse.h. Addresses and ports as on the wire.
 */
#ifndef SECG_BPF_PACKET_H
#define SECG_BPF_PACKET_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/types.h>

#include <secg/policy.h>

#define __inline static __always_inline
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Protocol numbers that <linux/in.h> of 6.1 lacks or hides. */
#define PROTO_UDPLITE  136
#define PROTO_DCCP     33
#define PROTO_SCTP     132
#define PROTO_HIP      139
#define PROTO_SHIM6    140
#define PROTO_MOBILITY 135

enum packet_fragment {
	FRAGMENT_NONE,
	FRAGMENT_FIRST, /* has the transport header */
	FRAGMENT_LATER,
};

/* What the transport header shows. */
enum packet_l4 {
	L4_NONE,        /* nothing below the protocol number */
	L4_PORTS,       /* sport, dport */
	L4_ICMP_QUERY,  /* type, code; identifier in sport, type and code again in dport */
	L4_ICMP_ANSWER, /* type, code; identifier in dport, those of the query in sport */
	L4_ICMP_ERROR,  /* type, code; an IP packet follows */
	L4_ICMP_OTHER,  /* type, code */
};

#define PACKET_BYTES 16 /* SECG_BYTE_COUNT and what makes any number of four bits an index */
_Static_assert(SECG_BYTE_COUNT <= PACKET_BYTES, "every byte has its place");

/* Masks of 1 << enum secg_byte. */
#define ABSENT_MACS      ((1u << SECG_BYTE_TCP_FLAGS) - 1)
#define ABSENT_TCP_FLAGS (1u << SECG_BYTE_TCP_FLAGS)
#define ABSENT_TRAFFIC   (1u << SECG_BYTE_TRAFFIC)

struct packet {
	__be32 src[4]; /* IPv4: word 0, the others zero */
	__be32 dst[4];
	__u8 byte[PACKET_BYTES]; /* by enum secg_byte */
	__be16 sport;
	__be16 dport;
	__u16 ethertype; /* host order; below 0x600: LLC, a length */
	__u16 l3_offset; /* bytes from the start of the frame */
	__u16 l4_offset;
	__u16 vlan;   /* outermost VID; 0: untagged, or a priority tag */
	__u16 absent; /* which of `byte` the frame does not have */
	__u32 end;    /* where the IP packet ends; padding may follow */
	__u8 family;  /* enum secg_family */
	__u8 proto;
	__u8 l4;       /* enum packet_l4 */
	__u8 fragment; /* enum packet_fragment */
	__u8 tcp_flags;
	__u8 icmp_type;
	__u8 icmp_code;
	__u8 hop_limit;
	__u32 seq; /* TCP, host order */
	__u32 ack;
	__be32 fragment_id;
	__u32 fragment_edge; /* byte of the datagram where a first fragment ends, a later one begins */
	__u32 packets;       /* as on the wire: a GSO packet is its segments */
	__u32 bytes;
	__u32 is_stp; /* LLC 42-42-03 */
};

/* Where the parser reads; filled by the hook. */
struct frame {
	void *data;
	void *data_end;
	__u32 length;   /* bytes of the whole frame, buffers beyond data_end included */
	__u32 segments; /* of a GSO packet; 0: not known, or not one */
	__u16 l3_type;  /* EtherType of a device without Ethernet header */
	__u16 tags;     /* VLAN tags that the hook took from metadata */
	__u16 vlan;     /* VID of the one */
	__u32 gso_size; /* bytes of payload a segment; 0: not a GSO packet */
	__u8 is_l3;     /* the device has no Ethernet header */
};

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10

#endif
