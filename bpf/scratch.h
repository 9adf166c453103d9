/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The packet that is judged, what becomes of it, and room for the rare paths. One per CPU: a program is not
 * interrupted by another on its CPU. What is read back from here is an unknown number to the verifier,
 * so that paths meet again which on the stack would be followed apart (docs/decisions/0002).
 */
#ifndef SECG_BPF_SCRATCH_H
#define SECG_BPF_SCRATCH_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "maps.h"
#include "packet.h"
#include "query.h"

/* Result of extensions_walk. */
struct extensions {
	__u32 at;     /* offset of what follows the last extension */
	__u32 reason; /* enum secg_reason */
	__be32 fragment_id;
	__u32 fragment_edge; /* as in struct packet */
	__u8 type;           /* protocol of what follows */
	__u8 fragment;       /* enum packet_fragment */
	__u8 header[8];      /* the extension under the eye */
	__u8 is_last;        /* it is itself what the packet carries */
	__u8 zero;
};

/* What is to be told of a packet (event.h). */
#define TELL_RULE   0x1u /* its rule, session or default is watched */
#define TELL_AUDIT  0x2u /* it passes only because of audit */
#define TELL_DROP   0x4u /* dropped, and no rule or default does it */
#define TELL_REJECT 0x8u /* rejected: to be answered */

struct tell {
	__u32 what;  /* TELL_* */
	__u32 watch; /* key of secg_watch for TELL_RULE, TELL_AUDIT */
	__u32 rule;  /* rule word */
	__u32 ifindex;
	__u32 length; /* bytes of the frame */
	__u32 now;    /* tick */
	__u32 second; /* ticks in one */
	__u16 port;
	__u8 direction;
	__u8 reason;
	__u8 action;
	__u8 flags; /* SECG_EVENT_* */
	__u8 zero[2];
};

/* What a session of a rule or default keeps of it. */
struct keepsake {
	__u32 flags;   /* SECG_FLOW_OWN_TIMEOUT, SECG_FLOW_WATCHED */
	__u32 timeout; /* ticks */
};

/* The question of a recheck and, where the answer is yes, what the session keeps of its present rule. */
struct recheck {
	__u32 owner;    /* id of the port on which it opened */
	__u32 opened;   /* enum secg_direction */
	__u32 is_reply; /* the packet at hand is of the other side */
	__u32 rule;     /* in: word of the rule that it had; out: of the one that it has */
	struct keepsake kept;
};

/* Vectors of the rare dimensions of a query (rare.h). */
#define RARE_KEYS 3 /* VLAN, EtherType, OWN; the bytes that have tables follow */
#define RARE_MAX  (RARE_KEYS + SECG_BYTE_COUNT)

struct rare {
	struct secg_vector_line match; /* their AND, one line of it */
	__u32 count;
	__u32 line[RARE_MAX]; /* first line of each; 0: left out */
	__u32 zero;
};

/* The sender under the eye (sender.h), and where the walk over a neighbour message is (antispoof_nd.h). */
struct sender {
	struct packet packet; /* its MAC, its address in src, and whether there are MACs */
	__u8 head[32];        /* of ARP, or an option of a neighbour message */
	__u32 line;           /* of struct secg_port_spoof */
	__u32 at;             /* offset of the next option */
	__u32 end;
	__u8 nd_type;
	__u8 has_claimed; /* an option has named the MAC of the target */
	__u8 zero[2];
};

/* What became of a packet on its way through the steps of the verdict. */
struct outcome {
	__u32 rule;    /* word of the rule that decided or opened its session; 0: none */
	__u32 watch;   /* key of secg_watch for what decided */
	__u8 reason;   /* enum secg_reason */
	__u8 action;   /* enum secg_action of the rule or default that decided */
	__u8 what;     /* TELL_* */
	__u8 is_known; /* a session has decided */
	__u8 is_cut;   /* its session fell to a policy change: what drops it now is that */
	__u8 is_again; /* a SYN on a live session: the rules are asked, nothing opens */
	__u8 zero[2];
};

struct scratch {
	struct packet packet; /* that is judged */
	struct outcome outcome;
	struct secg_flow_key key; /* of the flow that is looked up, opened, moved or ended */
	struct rare rare;
	struct sender sender;
	struct recheck recheck;
	struct extensions ext;
	struct packet inner; /* what an ICMP error carries */
	struct iphdr ip4;
	struct ipv6hdr ip6;
	__u8 l4[8];
	struct query query;
	struct secg_flow opening; /* a session that is being made or moved */
	struct tell tell;
	struct secg_event_reject record;
	struct ethhdr eth; /* of the packet that is told */
	__be16 tag[2];
	struct secg_flow flow; /* the session of a traced run: a copy, which may be written */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} secg_scratch __weak_map SEC(".maps");

__inline struct scratch *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&secg_scratch, &zero);
}

#endif
