/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Policy as the data path reads it: root, ports, compiled rule lists, all in lines of table memory.
 *
 *   secg_selector[0] ── line of ──► secg_root ──► secg_port[port_count]   (by port id)
 *                                                   │ policy[dir]   line of ──► secg_policy
 *                                                   │ counters[dir] line of ──► __u32[rule slots]
 *
 * The selector is read once per program run; everything reached from it is immutable until a grace
 * period after the selector has moved on. Numbers are host byte order unless a type says otherwise.
 * References inside a policy are relative to its first line, so it can be placed anywhere.
 */
#ifndef SECG_POLICY_H
#define SECG_POLICY_H

#include <secg/abi.h>
#include <secg/infra.h>
#include <secg/reason.h>

enum secg_action {
	SECG_ACTION_NONE = 0,  /* not decided; never in an entry */
	SECG_ACTION_ALLOW = 1, /* permit and track */
	SECG_ACTION_ALLOW_STATELESS = 2,
	SECG_ACTION_DROP = 3,
	SECG_ACTION_PASS = 4,   /* go on with the next ACL of the list */
	SECG_ACTION_REJECT = 5, /* drop, and the daemon answers the sender */
};

/* A run of lines in use by a generation, so that the next daemon knows what it must not overwrite. */
struct secg_extent {
	__u32 line;
	__u32 lines;
};
_Static_assert(sizeof(struct secg_extent) == 8, "no holes");

struct secg_root {
	__u32 magic;  /* SECG_MAGIC */
	__u32 layout; /* SECG_LAYOUT */
	__u64 generation;
	__u32 ports;        /* line of the first struct secg_port; entry i belongs to port id i */
	__u32 port_count;   /* entries, the unused ones zeroed; port ids are below it */
	__u32 extents;      /* line of the list of extents of this generation, its own included */
	__u32 extent_count; /* items of struct secg_extent */
	__u32 ticks_q8; /* 1/256 of the ticks in a second, for times that rules give in seconds */
	__u32 zero[7];
};
_Static_assert(sizeof(struct secg_root) == 64, "one line");

enum secg_timeout {
	SECG_TIMEOUT_TCP_HALF_OPEN,
	SECG_TIMEOUT_TCP_ESTABLISHED,
	SECG_TIMEOUT_TCP_CLOSING,
	SECG_TIMEOUT_UDP_ONE_WAY,
	SECG_TIMEOUT_UDP_TWO_WAY,
	SECG_TIMEOUT_ICMP,
	SECG_TIMEOUT_OTHER,
	SECG_TIMEOUT_COUNT,
};

/* secg_port.flags */
#define SECG_PORT_VALID      0x0001u /* zero: nothing is known of the port, everything is dropped */
#define SECG_PORT_RELEASED   0x0002u /* being detached: everything passes, nothing is counted */
#define SECG_PORT_STATEFUL   0x0004u /* some rule or default of the port tracks: look sessions up */
#define SECG_PORT_TCP_STRICT 0x0008u /* only a SYN opens a TCP session */
#define SECG_PORT_KEEP       0x0010u /* on_change keep: sessions outlive the rule that made them */
#define SECG_PORT_CUT        0x0020u /* on_change cut: sessions of another policy end */
#define SECG_PORT_FAIL_OPEN  0x0040u /* what cannot be decided passes untracked */
#define SECG_PORT_AUDIT      0x0080u /* what the default would drop passes as by allow, and is told */
#define SECG_PORT_ANTI_SPOOF 0x0100u /* direction from: sender addresses are checked (spoof) */
#define SECG_PORT_RA_GUARD \
	0x0200u /* direction from: router advertisements, redirects are dropped */
#define SECG_PORT_DHCP_GUARD  0x0400u /* direction from: answers of DHCP servers are dropped */
#define SECG_PORT_SHARED      0x0800u /* its session domain has other ports too */
#define SECG_PORT_RESET       0x1000u /* reset_on_expiry: sessions note the MACs of both sides */
#define SECG_PORT_LIMITS      0x2000u /* the port has limits: sessions are counted as they open */
#define SECG_PORT_PICKUP      0x4000u /* until pickup_until, mid-stream TCP opens established sessions */
#define SECG_PORT_LOG_DEFAULT 0x8000u /* the default is logged: SECG_WATCH_DEFAULT has the rates */

/* Second line of a port: what a packet without a session needs. */
struct secg_port_rules {
	__u32 policy
		[SECG_DIRECTIONS]; /* line of struct secg_policy; 0: the direction has no rules */
	__u32 counters[SECG_DIRECTIONS]; /* line of __u32 rule words (SECG_RULE_*), by rule slot */
	/* Reference from line 0 of table memory to the tree rule word ─► slot + 1 of rules that match
	 * what a session does not show; 0: there are none. For the recheck. */
	__u32 own[SECG_DIRECTIONS];
	/* What holds when no rule decides: enum secg_action other than NONE, PASS. */
	__u8 otherwise[SECG_DIRECTIONS];
	__u16 zero0;
	/* Limits; 0: none. */
	__u32 limit_sessions;
	__u32 limit_source; /* sessions per source address of the opener */
	__u32 limit_half_open;
	__u32 zero1[6];
};
_Static_assert(sizeof(struct secg_port_rules) == 64, "one line");

/* One address pair that needs no lookup: an exact MAC with one host. */
struct secg_pair {
	__u8 mac[6];
	__u8 family; /* 4, 6; 0: unused */
	__u8 zero;
	__be32 address[4]; /* IPv4: word 0, the others zero */
};
_Static_assert(sizeof(struct secg_pair) == 24, "no holes");
#define SECG_PAIRS 2

/*
 * Third line of a port: whose addresses may be used by what enters through it. The policy has an entry
 * per (MAC/mask, prefix) that is allowed: sections IPv4 and IPv6 by source MAC and source address,
 * section OTHER by source MAC alone.
 */
struct secg_port_spoof {
	__u32 policy; /* line of struct secg_policy; 0: nothing is allowed but `pair` */
	__u32 zero[3];
	struct secg_pair pair[SECG_PAIRS]; /* looked at first; also in the policy */
};
_Static_assert(sizeof(struct secg_port_spoof) == 64, "one line");

#define SECG_PORT_LINES 3

/* Three lines: the first is all that an established session needs. */
struct secg_port {
	__u32 flags;
	__u32 policy_generation; /* changes when the port's policy does; sessions of another one are rechecked */
	__u16 domain;                 /* session domain; by default the port id */
	__u16 infra[SECG_DIRECTIONS]; /* masks of 1 << enum secg_infra */
	__u16 zero0;
	__u32 timeout[8];   /* ticks, by enum secg_timeout */
	__u32 pickup_until; /* tick; with SECG_PORT_PICKUP */
	__u32 zero1[3];
	struct secg_port_rules rules;
	struct secg_port_spoof spoof;
};
_Static_assert(sizeof(struct secg_port) == 64 * SECG_PORT_LINES, "whole lines");

/*
 * Rule word: the number of a rule's counter, and a revision that is raised when what the rule matches and
 * a session does not show (SECG_ENTRY_HIDDEN), or its action, is changed. A session keeps the word of the
 * rule that opened it: while the port's table holds the same word, the hidden part of that rule is what
 * the opener matched. 0: no rule.
 */
#define SECG_RULE_NUMBER_MASK    0x0001ffffu
#define SECG_RULE_REVISION_SHIFT 17
_Static_assert(SECG_MAX_COUNTERS == SECG_RULE_NUMBER_MASK + 1, "numbers fit the word");

/*
 * Search tree over 32-bit keys (IPv4 address, one 32-bit word of an IPv6 address, port, ICMP type or
 * code; all in host order). It maps a key to the value of the elementary interval that holds it.
 *
 * reference   bits 0..27 line of the root, bits 28..30 number of inner levels (0: the root is a leaf)
 * inner line  15 separators, ascending, and `meta`: bits 0..27 line of child 0, bits 28..31 number of
 *             separators in use. Child i holds the keys from separator i-1 on. Unused separators are
 *             0xffffffff; children of one node lie in consecutive lines.
 * leaf line   8 interval starts, ascending, and 8 values. Unused starts are 0xffffffff and repeat the
 *             last value. The first start of the leftmost leaf is 0.
 * value       line of a bit vector; or, where bit 31 is set, a reference to the tree for the next
 *             32-bit word of the address (IPv6 only).
 */
#define SECG_TREE_LINE_MASK   0x0fffffffu
#define SECG_TREE_LEVEL_SHIFT 28
#define SECG_TREE_LEVEL_MASK  0x7u
#define SECG_TREE_MAX_LEVELS  4 /* 8 * 16^4 = 524 288 intervals */
#define SECG_TREE_DESCEND     0x80000000u
#define SECG_TREE_SEPARATORS  15
#define SECG_TREE_LEAF_KEYS   8

struct secg_tree_inner {
	__u32 separator[SECG_TREE_SEPARATORS];
	__u32 meta;
};
struct secg_tree_leaf {
	__u32 start[SECG_TREE_LEAF_KEYS];
	__u32 value[SECG_TREE_LEAF_KEYS];
};
_Static_assert(sizeof(struct secg_tree_inner) == 64, "one line");
_Static_assert(sizeof(struct secg_tree_leaf) == 64, "one line");

/* Bit vector: entry e is bit e % 64 of __u64 number e / 64; eight words a line. */
#define SECG_VECTOR_LINE_BITS 512
#define SECG_MAX_VECTOR_LINES 20
_Static_assert(SECG_MAX_VECTOR_LINES *SECG_VECTOR_LINE_BITS == SECG_MAX_ENTRIES, "one limit");
_Static_assert(SECG_MAX_VECTOR_LINES <= SECG_ONES_LINES, "the vector of ones is long enough");

struct secg_vector_line {
	__u64 w[8];
};
_Static_assert(sizeof(struct secg_vector_line) == 64, "one line");

/* Dimensions of a section. One that does not tell entries apart is left out of `dims`. */
#define SECG_DIM_SRC     0x01u
#define SECG_DIM_DST     0x02u
#define SECG_DIM_PROTO   0x04u
#define SECG_DIM_L4_HIGH 0x08u /* source port, or ICMP type */
#define SECG_DIM_L4_LOW  0x10u /* destination port, or ICMP code */
/* The rare ones: what a session does not show. A recheck leaves them out and takes OWN instead. */
#define SECG_DIM_VLAN      0x20u  /* outermost VID, 0 without a tag */
#define SECG_DIM_ETHERTYPE 0x40u  /* section OTHER; below 0x600: LLC */
#define SECG_DIM_BYTES     0x80u  /* tables of single bytes */
#define SECG_DIM_OWN       0x100u /* some entries match what a session does not show */

/* Bytes that have tables. A MAC with any mask is six of them; the first byte is the first on the wire. */
enum secg_byte {
	SECG_BYTE_SRC_MAC = 0,
	SECG_BYTE_DST_MAC = 6,
	SECG_BYTE_TCP_FLAGS = 12, /* byte 13 of the TCP header */
	SECG_BYTE_TRAFFIC = 13,   /* DSCP; SECG_TRAFFIC_FRAGMENT set for a first fragment */
	SECG_BYTE_COUNT = 14,
};
#define SECG_TRAFFIC_FRAGMENT 0x40u

/* A dimension over one byte. Four a line. */
struct secg_byte_table {
	__u32 byte;  /* enum secg_byte */
	__u32 table; /* line of __u32[256]: line of the vector, by value of the byte */
	__u32 absent; /* vector for frames that do not have the byte: no Ethernet header, not TCP, not IP */
	__u32 zero;
};
_Static_assert(sizeof(struct secg_byte_table) == 16, "four a line");

/*
 * One address family of a policy, one line. The first entry whose bit is set in the AND of the vectors
 * of all `dims` decides. With dims 0 every one of the `entries` matches, so the first decides.
 * All references are lines relative to the first line of the policy.
 */
struct secg_section {
	__u32 entries;      /* number of entries; 0: nothing matches */
	__u32 vector_lines; /* lines of each vector: ceil(entries / 512) */
	__u32 dims;         /* mask of SECG_DIM_* */
	__u32 entry;        /* line of struct secg_entry[], four a line */
	__u32 src;          /* tree reference */
	__u32 dst;          /* tree reference */
	__u32 proto;        /* line of __u32[256]: line of the vector, by protocol number */
	__u32 l4[2];        /* tree references: SECG_DIM_L4_HIGH, SECG_DIM_L4_LOW */
	__u32 no_l4[2];     /* vectors for packets that show no ports, no ICMP type */
	__u32 vlan;         /* tree reference */
	__u32 ethertype;    /* tree reference */
	__u32 bytes;        /* line of struct secg_byte_table[] */
	__u32 byte_count;   /* at most SECG_BYTE_COUNT */
	__u32 own; /* tree reference, keyed by slot + 1: entries that show all they match, and those of
		    * the rule in that slot; 0: only the former */
};
_Static_assert(sizeof(struct secg_section) == 64, "one line");

enum secg_family {
	SECG_FAMILY_IPV4 = 0,
	SECG_FAMILY_IPV6 = 1,
	SECG_FAMILY_OTHER = 2, /* frames that are not IP */
	SECG_FAMILY_COUNT = 3,
};

struct secg_policy {
	struct secg_section section[SECG_FAMILY_COUNT];
};
_Static_assert(sizeof(struct secg_policy) == 192, "three lines");

/*
 * What a match means. A rule that is not one product of sets (a service, ping) has several entries
 * with the same slot. Entries of a section are in rule order.
 */
struct secg_entry {
	__u32 slot;  /* rule's position in the port's table of counter indices */
	__u32 next;  /* SECG_ACTION_PASS: first entry of the next ACL; may equal `entries` */
	__u8 action; /* enum secg_action; of an audited rule that drops or rejects: ALLOW */
	__u8 flags;  /* SECG_ENTRY_* */
	__u16 zero;
	__u32 timeout_s; /* of sessions that it opens, once they are answered; 0: the port's */
};
#define SECG_ENTRY_AUDIT  0x1u /* would drop, but its ACL is only audited: pass, track, tell */
#define SECG_ENTRY_WATCH  0x2u /* logged or sampled: secg_watch has the rates */
#define SECG_ENTRY_HIDDEN 0x4u /* matches what a session does not show */
_Static_assert(sizeof(struct secg_entry) == 16, "four a line");
#define SECG_ENTRIES_PER_LINE  4
#define SECG_COUNTERS_PER_LINE 16

/* Value of the per-CPU array secg_port_counters, by port id. */
struct secg_port_counters {
	struct secg_counter passed[SECG_DIRECTIONS]; /* what went through, wire packets and bytes */
	struct secg_counter dropped[SECG_DIRECTIONS];
	struct secg_counter infra[SECG_INFRA_SLOTS];
	__u64 reasons[SECG_REASON_SLOTS]; /* wire packets, by enum secg_reason */
};
_Static_assert(sizeof(struct secg_port_counters) == 64 + 256 + 512, "no holes");

#endif
