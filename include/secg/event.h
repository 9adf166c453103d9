/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the programs tell the daemon: records in the ring buffer secg_events, and how many of them a
 * second. What a record does not have is zero. Host byte order unless a type says otherwise.
 */
#ifndef SECG_EVENT_H
#define SECG_EVENT_H

#include <linux/types.h>

enum secg_event_kind {
	SECG_EVENT_LOG = 1,          /* a rule or default with `log` decided */
	SECG_EVENT_DROP = 2,         /* dropped for another reason than a rule or the default */
	SECG_EVENT_SAMPLE = 3,       /* 1 in N of a rule with `sample` */
	SECG_EVENT_AUDIT = 4,        /* passes only because of audit */
	SECG_EVENT_SESSION_FULL = 5, /* a newcomer found no room */
	SECG_EVENT_REJECT = 6,       /* to be answered: struct secg_event_reject */
	SECG_EVENT_KINDS = 7,
};

#define SECG_EVENT_ESTABLISHED 0x1u /* flags: the packet belongs to a session */
#define SECG_EVENT_IPV6        0x2u
#define SECG_EVENT_L3          0x4u /* the head begins with the IP header */

struct secg_event {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 kind;    /* enum secg_event_kind */
	__u32 ifindex;
	__u32 rule;       /* rule word, or 0 */
	__u32 suppressed; /* like it since the last one that was told, for the rate */
	__u16 port;       /* port id */
	__u8 direction;   /* enum secg_direction */
	__u8 reason;      /* enum secg_reason: why it was dropped, or would be; 0: it passed */
	__u8 action;      /* enum secg_action of the rule or default */
	__u8 flags;       /* SECG_EVENT_* */
	__u8 proto;
	__u8 tcp_flags;
	__be32 src[4]; /* IPv4: word 0 */
	__be32 dst[4];
	__be16 sport; /* ICMP queries: identifier */
	__be16 dport;
	__u16 ethertype;
	__u16 vlan; /* outermost VID */
	__u8 src_mac[6];
	__u8 dst_mac[6];
	__u8 icmp_type;
	__u8 icmp_code;
	__u16 l3_offset; /* bytes from the start of the frame to the network header */
	__u32 length;    /* bytes of the frame */
	__u16 tag_type; /* of the tag that the hook found beside the frame, in front of it; 0: none */
	__u16 tag;      /* priority and VID of that one */
	__u32 zero[4];
};
_Static_assert(sizeof(struct secg_event) == 112, "no holes");

#define SECG_EVENT_HEAD 256 /* bytes of the frame that a reject carries at most */

struct secg_event_reject {
	struct secg_event event;
	__u32 l4_offset; /* bytes from the start of the frame to the transport header */
	__u32 seq;       /* TCP, host order */
	__u32 ack;
	__u32 payload; /* bytes of TCP payload */
	__u16 head_size;
	__u16 zero[3];
	__u8 head[SECG_EVENT_HEAD]; /* from the start of the frame */
};
_Static_assert(sizeof(struct secg_event_reject) == 112 + 24 + SECG_EVENT_HEAD, "no holes");

/*
 * Key and value of the hash secg_watch: what is told, and at which rate. The daemon makes the entries;
 * without one nothing is told. Key: rule number, or one of the following with a number below.
 */
#define SECG_WATCH_DEFAULT 0x80000000u /* | port id << 1 | direction: the default */
#define SECG_WATCH_REASON  0x40000000u /* | enum secg_reason: drops that no rule makes */
#define SECG_WATCH_REJECT  0x20000000u /* | port id: answers to rejected packets */

struct secg_watch {
	__u32 rate;       /* records a second; 0: none by rate */
	__u32 tick;       /* start of the second that is counted */
	__u32 used;       /* records in it */
	__u32 suppressed; /* kept back since the last record */
	__u32 sample
		[2]; /* 1 in N packets that open a session or have none, that belong to one; 0: none */
	__u32 log_all; /* 1: packets of sessions too, 0: only what the rule itself decides */
	__u32 zero;
};
_Static_assert(sizeof(struct secg_watch) == 32, "no holes");

#endif
