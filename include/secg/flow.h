/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Sessions as kernel and daemon see them: the key of a flow, the slot of the established table, the
 * value of the two hashes beside it.
 *
 *   secg_new          LRU hash   key ─► struct secg_flow     half-open and one-way flows
 *   secg_established  array of struct secg_slot, mmapable     answered flows, SECG_WAYS slots a bucket
 *   secg_overflow     hash       key ─► struct secg_flow     answered flows whose bucket is full
 */
#ifndef SECG_FLOW_H
#define SECG_FLOW_H

#include <secg/policy.h>

#define SECG_WAYS 4 /* slots of a bucket; bucket b is slots [b * SECG_WAYS, ...) */

/*
 * Both directions of a flow make the same key: endpoint 0 is the numerically lower (address words, then
 * port, compared as stored). `parity` = (direction in which the session opened) XOR (the opener is
 * endpoint 1): an opening packet and its reply agree on it, a packet that crosses two ports of one
 * domain, or a session opened from the other side, does not.
 */
struct secg_flow_key {
	__be32 addr[2][4]; /* IPv4: word 0, the others zero */
	/* ICMP queries: the identifier at the side that asks, its type << 8 | code at the other. Protocols
	 * without ports: 0. */
	__be16 port[2];
	__u16 domain;
	__u8 proto;
	__u8 flags; /* SECG_KEY_* */
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct secg_flow_key) == 40, "no holes, five words to compare");

#define SECG_KEY_PARITY   0x1u
#define SECG_KEY_IPV6     0x2u
#define SECG_KEY_ASKED_TO 0x4u /* ICMP query in direction to, answer in direction from */

/*
 * Half-word products (NH, RFC 4418 §5.2): every bit of the word meets unknown bits of the key. A plain
 * product would not do: modulo 2^64 the top byte of a word moves only the top byte of the sum, whatever
 * the key, and two such bytes cancel out.
 */
static inline __u64 secg_flow_product(__u64 word, __u64 key)
{
	return (__u64)((__u32)word + (__u32)key) * (__u32)((word >> 32) + (key >> 32));
}

/*
 * Hash of a key under the seed of its table (secg_selector[SECG_SELECTOR_SEED]), so that nobody outside
 * can aim flows at one bucket. Bucket = hash & (buckets - 1). The five words multiply side by side.
 */
static inline __u32 secg_flow_hash(const struct secg_flow_key *key, __u64 seed)
{
	const __u64 *word = (const __u64 *)key;
	__u64 sum = seed;

	sum += secg_flow_product(word[0], seed ^ 0x9e3779b97f4a7c15ull);
	sum += secg_flow_product(word[1], seed ^ 0xbf58476d1ce4e5b9ull);
	sum += secg_flow_product(word[2], seed ^ 0x94d049bb133111ebull);
	sum += secg_flow_product(word[3], seed ^ 0xd6e8feb86659fd93ull);
	sum += secg_flow_product(word[4], seed ^ 0xa0761d6478bd642full);
	sum ^= sum >> 32;
	sum *= 0xe7037ed1a0b428dbull;
	return (__u32)(sum >> 32);
}

/* Protocols that a session treats by name; the numbers are IANA's. */
#define SECG_PROTO_ICMP    1
#define SECG_PROTO_TCP     6
#define SECG_PROTO_UDP     17
#define SECG_PROTO_DCCP    33
#define SECG_PROTO_ICMPV6  58
#define SECG_PROTO_SCTP    132
#define SECG_PROTO_UDPLITE 136

/* The transport header begins with source and destination port. */
static inline int secg_has_ports(__u8 proto)
{
	return proto == SECG_PROTO_TCP || proto == SECG_PROTO_UDP || proto == SECG_PROTO_SCTP ||
	       proto == SECG_PROTO_DCCP || proto == SECG_PROTO_UDPLITE;
}

/*
 * State word. The daemon changes a slot only by compare-and-swap of this word to phase FREE; the
 * incarnation, raised at each claim, keeps it from freeing a slot that was given to another flow.
 */
#define SECG_FLOW_PHASE_MASK        0x0000000fu
#define SECG_FLOW_FREE              0u          /* nothing here */
#define SECG_FLOW_NEW               1u          /* TCP half-open, others one-way */
#define SECG_FLOW_ESTABLISHED       2u          /* TCP established, others two-way */
#define SECG_FLOW_CLOSING           3u          /* TCP after both FINs or a reset */
#define SECG_FLOW_OPENED_TO         0x00000010u /* opened in direction to, else from */
#define SECG_FLOW_PICKUP            0x00000020u /* TCP that was not seen to open */
#define SECG_FLOW_SYN_REPLY         0x00000040u /* the other side has sent its SYN */
#define SECG_FLOW_FIN_ORIG          0x00000080u
#define SECG_FLOW_FIN_REPLY         0x00000100u
#define SECG_FLOW_OWN_TIMEOUT       0x00000200u /* its rule has a timeout: secg_flow_account.timeout */
#define SECG_FLOW_WATCHED           0x00000400u /* its rule is logged or sampled on every packet */
#define SECG_FLOW_SYN_AGAIN_ORIG    0x00000800u /* answered, and yet its opener began anew: `syn` */
#define SECG_FLOW_SYN_AGAIN_REPLY   0x00001000u /* likewise the other side */
#define SECG_FLOW_INCARNATION_SHIFT 16

/* Which of a port's timeouts (enum secg_timeout) a session in this state has. */
static inline __u32 secg_flow_timeout(__u8 proto, __u32 state)
{
	__u32 phase = state & SECG_FLOW_PHASE_MASK;

	switch (proto) {
	case SECG_PROTO_TCP:
		if (phase == SECG_FLOW_NEW)
			return SECG_TIMEOUT_TCP_HALF_OPEN;
		return phase == SECG_FLOW_CLOSING ? SECG_TIMEOUT_TCP_CLOSING
						  : SECG_TIMEOUT_TCP_ESTABLISHED;
	case SECG_PROTO_UDP:
	case SECG_PROTO_UDPLITE:
		return phase == SECG_FLOW_NEW ? SECG_TIMEOUT_UDP_ONE_WAY : SECG_TIMEOUT_UDP_TWO_WAY;
	case SECG_PROTO_ICMP:
	case SECG_PROTO_ICMPV6:
		return SECG_TIMEOUT_ICMP;
	default:
		return SECG_TIMEOUT_OTHER;
	}
}

/* Index into the pairs below. */
enum secg_side {
	SECG_ORIG = 0, /* packets of the opener */
	SECG_REPLY = 1,
};

/* Whether a rule's own timeout takes the place of that one. */
static inline int secg_flow_is_own_timeout(__u32 timeout)
{
	return timeout == SECG_TIMEOUT_TCP_ESTABLISHED || timeout == SECG_TIMEOUT_UDP_TWO_WAY ||
	       timeout == SECG_TIMEOUT_ICMP || timeout == SECG_TIMEOUT_OTHER;
}

struct secg_flow_state {
	__u32 state; /* SECG_FLOW_* */
	__u32 seen;  /* tick of the last packet */
	__u32 rule;  /* rule word (SECG_RULE_*); 0: no rule (absent direction, default allow) */
	__u32 generation; /* secg_port.policy_generation under which it was last judged */
};

struct secg_flow_account {
	__u64 packets
		[2]; /* wire packets, by enum secg_side; may miss a few where one side uses several CPUs */
	__u64 bytes[2];
	__u32 edge[2]; /* TCP: highest acknowledgement sent by the side, host order */
	__u32 created; /* tick */
	__u16 port;    /* id of the port on which it opened */
	__u16 syn; /* with SECG_FLOW_SYN_AGAIN_*: low half of the number that acknowledges that SYN */
	__u32 timeout; /* ticks; with SECG_FLOW_OWN_TIMEOUT, where secg_flow_is_own_timeout says so */
	__u8 mac[2]
		[6]; /* by enum secg_side, where the port resets expired sessions; zero: not seen */
};
_Static_assert(sizeof(struct secg_flow_state) == 16, "no holes");
_Static_assert(sizeof(struct secg_flow_account) == 64, "no holes");

/* Value of secg_new and secg_overflow. */
struct secg_flow {
	struct secg_flow_state s;
	struct secg_flow_account a;
};
_Static_assert(sizeof(struct secg_flow) == 80, "no holes");

/*
 * Line 0 is what a lookup reads, line 1 what every packet writes. `version` is odd while a BPF program
 * fills the slot; only BPF makes it odd. A reader takes the version before and after and starts again
 * when it moved.
 */
struct secg_slot {
	struct secg_flow_key key;
	__u32 version;
	__u32 overflow; /* first way of a bucket only: entries of secg_overflow that belong to it */
	struct secg_flow_state s;

	struct secg_flow_account a;
};
_Static_assert(sizeof(struct secg_slot) == 128, "two lines");

/*
 * Value of the array secg_usage, by port id: sessions of ports with limits. The daemon counts them anew
 * every second; in between the programs add what opens and take away what they end. Never more than
 * there are, but for flows that the LRU of new ones evicts before the next count.
 */
struct secg_usage {
	__u32 sessions;  /* read as signed: ends that were not counted as they opened */
	__u32 half_open; /* of these, TCP that is half-open */
};
_Static_assert(sizeof(struct secg_usage) == 8, "no holes");

/* Key of the LRU hash secg_sources; its value is a __u32, sessions as in struct secg_usage. */
struct secg_source_key {
	__be32 addr[4]; /* of the opener */
	__u16 port;     /* port id */
	__u8 family;    /* 4, 6 */
	__u8 zero;
};
_Static_assert(sizeof(struct secg_source_key) == 20, "no holes");

/* Key and value of secg_fragments: the verdict of a datagram's first fragment. */
struct secg_fragment_key {
	__be32 src[4];
	__be32 dst[4];
	__be32 id;
	__u16 port; /* port id */
	__u8 proto;
	__u8 flags; /* bit 0: direction, bit 1: IPv6 */
};
_Static_assert(sizeof(struct secg_fragment_key) == 40, "no holes");

struct secg_fragment {
	__u32 seen; /* tick */
	__u32 rule; /* word of the rule that let the first fragment pass */
	__u32 end; /* bytes of the datagram that the first fragment carries; a later one begins there or after */
	__u32 is_dropped; /* 1: the first did not pass */
};
_Static_assert(sizeof(struct secg_fragment) == 16, "no holes");

#endif
