/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference of sessions: a plain list of flows, gone through from the first to the last, and rules
 * tried one after the other, as docs/packet-path.md and the RFCs word them. Slow and obvious on purpose,
 * and without any code of the programs, so that the two can be held against each other. Pure: time comes
 * as a number, where a flow falls in the tables from whoever asks.
 */
#ifndef SECG_TESTS_SESSION_REFERENCE_H
#define SECG_TESTS_SESSION_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include <secg/flow.h>
#include <secg/policy.h>

#define REF_PORTS   3
#define REF_HOSTS   3
#define REF_RULES   6
#define REF_FLOWS   256
#define REF_BUCKETS 64

enum ref_kind {
	REF_PLAIN, /* shows no more than its protocol */
	REF_WITH_PORTS,
	REF_QUERY,
	REF_ANSWER,
	REF_ERROR,
	REF_ICMP_OTHER,
};

struct ref_packet {
	uint8_t family; /* 4, 6 */
	uint8_t proto;
	enum ref_kind kind;
	int src, dst; /* numbers of hosts */
	uint16_t sport, dport;
	uint8_t flags; /* TCP */
	uint32_t seq, ack;
	uint8_t type, code; /* ICMP */
	uint16_t id;
	const struct ref_packet *inner; /* REF_ERROR: what it carries */
};

struct ref_rule {
	enum secg_action action;
	int proto;    /* -1: any */
	int src, dst; /* -1: any */
	int dport;    /* -1: any */
	int type;     /* ICMP; -1: any */
	bool is_syn;  /* TCP with SYN and without ACK, which a session does not show */
	uint32_t timeout_s;
	uint32_t birth; /* raised when action or is_syn changes, and when the rule was away */
};

struct ref_list {
	bool is_given;
	enum secg_action otherwise;
	int count;
	struct ref_rule rules[REF_RULES];
};

enum ref_on_change {
	REF_RECHECK,
	REF_KEEP,
	REF_CUT,
};

struct ref_port {
	int domain;
	uint32_t generation; /* differs when the policy does */
	struct ref_list list[SECG_DIRECTIONS];
	bool is_strict;
	bool fails_open;
	enum ref_on_change on_change;
	uint32_t timeout[SECG_TIMEOUT_COUNT];                   /* ticks */
	uint32_t limit_sessions, limit_source, limit_half_open; /* 0: none */
	bool picks_up;
	uint32_t pickup_until; /* tick */
};

enum ref_place {
	REF_NEW,
	REF_SLOT,
	REF_BESIDE,
};

struct ref_flow {
	struct ref_packet opener; /* its tuple */
	enum secg_direction opened;
	int port; /* on which it opened */
	int domain;
	uint32_t phase; /* SECG_FLOW_NEW, ... */
	bool is_picked_up;
	bool has_syn_reply;
	bool has_fin[2]; /* by enum secg_side, as the rest */
	/* What the side has acknowledged last; of the opener of an unanswered flow, the number of a challenge. */
	uint32_t acked[2];
	int again; /* side that began anew on a live session; -1: none */
	uint16_t again_ack;
	uint32_t seen;
	uint32_t generation;
	int rule;         /* of the list in which it opened; -1: its default */
	uint32_t birth;   /* of the rule */
	uint32_t timeout; /* of the rule; ticks, 0: none */
	uint64_t packets[2];
	enum ref_place place;
	uint32_t bucket;
	int way;
};

struct ref {
	struct ref_port ports[REF_PORTS];
	uint32_t ticks_per_second;
	bool usable[REF_BUCKETS][SECG_WAYS]; /* what the established table has room for */
	int room_beside;                     /* flows that find room beside it */
	uint32_t (*bucket)(const struct ref_flow *flow, void *data);
	void *data;
	int count;
	struct ref_flow flows[REF_FLOWS];
};

/* Judges a packet that arrives on a port, and follows what it does to the flows. */
enum secg_reason ref_judge(struct ref *ref, int port, enum secg_direction direction,
			   const struct ref_packet *packet, uint32_t now);
/* Every flow gets older. */
void ref_age(struct ref *ref, uint32_t ticks);
/* Sessions of a port; of one opener where `family` is not 0. */
uint32_t ref_sessions(const struct ref *ref, int port, int family, int source);
uint32_t ref_half_open(const struct ref *ref, int port);
/* Ticks of a time that a rule or port gives in seconds: never shorter. */
uint32_t ref_ticks(const struct ref *ref, uint32_t seconds);

/* Of session_rules.c. */
/* Whether a flow can be made of it. */
bool ref_is_trackable(const struct ref_packet *packet);
/* Both open the same flow. */
bool ref_opens_same(const struct ref_packet *opener, const struct ref_packet *packet);
/* The packet that `packet` is a reply to. False: there can be none. */
bool ref_turn_round(struct ref_packet *ret_opener, const struct ref_packet *packet);
/* First match; -1: none. */
int ref_match(const struct ref_list *list, const struct ref_packet *packet);
/* The same for the opener of a session: what a session does not show fits the rule that it has, if that is
 * the same still, and no other. */
int ref_match_session(const struct ref_list *list, const struct ref_packet *opener, int rule,
		      uint32_t birth);
bool ref_tracks(const struct ref_list *list);
/* What holds when no rule decides. A direction that is absent passes everything, and tracks where the other
 * one does. */
enum secg_action ref_otherwise(const struct ref_port *port, enum secg_direction direction);

/* Of session_tcp.c. What a TCP packet means to a live flow. */
enum ref_step {
	REF_GOES_ON,
	REF_ANSWERED, /* it is established now */
	REF_OVER,     /* the packet passes, the flow is no more */
	REF_ANEW,     /* the flow is no more, the packet is the first of another */
	REF_ASKS,     /* the rules decide about the packet, the flow stays */
	REF_BAD_FLAGS,
	REF_BAD_RESET,
};
bool ref_tcp_is_sane(uint8_t flags);
bool ref_tcp_opens(uint8_t flags);
enum ref_step ref_tcp(struct ref_flow *flow, const struct ref_packet *packet, enum secg_side side);
/* A FIN of the side has passed: after those of both an answered flow is closing. */
void ref_tcp_fin(struct ref_flow *flow, const struct ref_packet *packet, enum secg_side side);

#define REF_FIN 0x01
#define REF_SYN 0x02
#define REF_RST 0x04
#define REF_ACK 0x10

#endif
