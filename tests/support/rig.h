/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real BPF programs, loaded into a network namespace of the process's own and run on one packet at a
 * time (BPF_PROG_TEST_RUN). A policy document becomes table memory through the daemon's parser and
 * compiler; sessions and counters are read from the maps. What cannot happen ends the process with a
 * sentence: a test has nothing to decide then. One thread, root.
 */
#ifndef SECG_TESTS_RIG_H
#define SECG_TESTS_RIG_H

#include <stdbool.h>

#include <secg/event.h>
#include <secg/flow.h>
#include <secg/policy.h>

#include "packets.h"

#define RIG_BUCKETS          64           /* of the established table, SECG_WAYS slots each */
#define RIG_OVERFLOW         8            /* entries of the table beside it */
#define RIG_PORTS            16           /* port ids */
#define RIG_COUNTERS         16384        /* rule counters */
#define RIG_RING_BYTES       (256u << 10) /* of records */
#define RIG_TICKS_PER_SECOND 100          /* in which timeouts of a document are counted */

enum rig_hook {
	RIG_XDP,
	RIG_TC_FROM,
	RIG_TC_TO,
	RIG_HOOKS,
};

struct secg; /* the skeleton */
struct generation;

struct rig {
	struct secg *skel;
	struct secg_line *lines;
	uint64_t *selector;
	struct secg_ifindex *ifindex;
	struct secg_slot *slots;
	enum rig_hook from;       /* which hook judges direction from; rig_judge reads it */
	uint64_t generation;      /* its number */
	struct ring_buffer *ring; /* NULL before the first look */
	struct generation *live;  /* as the daemon builds it; without ports before rig_policy */
};

/* Interfaces there are: lo, p1, p2, p3. */
void rig_open(struct rig **ret_rig);
/* Verdicts of fragments cannot be forgotten in favour of others: with four of them the map is full. */
void rig_open_few_fragments(struct rig **ret_rig);
void rig_close(struct rig *rig);

/*
 * The document becomes the live generation: JSON in which ' may stand for ". A port keeps its
 * policy_generation while its rules do not change; sessions and counters stay.
 */
void rig_policy(struct rig *rig, const char *document);
/* Forgets sessions, fragments, counters and the policy. */
void rig_clear(struct rig *rig);

/* The port in the live table, to be bent by a test until the next rig_policy. */
struct secg_port *rig_port(struct rig *rig, const char *port);
uint32_t rig_port_id(struct rig *rig, const char *port);
/* Whether the interface has an Ethernet header. Lasts until the next rig_policy. */
void rig_set_l3(struct rig *rig, const char *interface);

/* The interface's number falls on a slot that another has. Lasts until the next rig_policy. */
void rig_move_ifindex(struct rig *rig, const char *interface);

struct rig_verdict {
	enum secg_reason reason;     /* NONE: it passes */
	struct secg_counter counted; /* what the port's total grew by */
};

/* How a packet arrives; zero: linear, no GSO, on p1. */
struct rig_way {
	const char *interface;
	uint32_t gso_segs;
	uint32_t gso_size;
};

/* Test runs refuse frames too short for an Ethernet header, and at TC IP packets too short for theirs. */
bool rig_takes(enum rig_hook hook, const struct frame *frame);
/* Runs one program on a frame. Verdict, total and reason counter must agree. */
struct rig_verdict rig_run(struct rig *rig, enum rig_hook hook, const struct rig_way *way,
			   const struct frame *frame);
/* The frame of the layers in a direction, at the hook in use. */
struct rig_verdict rig_judge(struct rig *rig, enum secg_direction direction,
			     const struct rig_way *way, const struct layer *layers);

/* Since the last rig_clear. `key` as in "acl/rule". */
struct secg_counter rig_rule(struct rig *rig, const char *port, const char *key);
struct secg_counter rig_infra(struct rig *rig, const char *port, enum secg_infra bit);
uint64_t rig_reason(struct rig *rig, uint32_t port_id, enum secg_reason reason);

/* Makes, or with NULL takes away, what is told under a key of secg_watch. */
void rig_watch(struct rig *rig, uint32_t key, const struct secg_watch *watch);
struct secg_watch rig_watched(struct rig *rig, uint32_t key);
/* The key of a rule of p1: its number. */
uint32_t rig_rule_number(struct rig *rig, const char *port, const char *key);
/* Takes what has been told, at most `max` records; returns how many there were. Of records other than
 * rejects the tail is zero. */
size_t rig_events(struct rig *rig, struct secg_event_reject *ret_events, size_t max);
/* Records of a kind that found no room. */
uint64_t rig_events_lost(struct rig *rig, uint32_t kind);
struct secg_usage rig_usage(struct rig *rig, const char *port);
void rig_set_usage(struct rig *rig, const char *port, struct secg_usage usage);
/* Sessions of a source; -1: the map does not know it. */
int64_t rig_source(struct rig *rig, const char *port, const char *address);
void rig_set_source(struct rig *rig, const char *port, const char *address, uint32_t sessions);

enum rig_where {
	RIG_NEW,
	RIG_ESTABLISHED,
	RIG_OVERFLOWN,
};

struct rig_session {
	enum rig_where where;
	uint32_t slot; /* RIG_ESTABLISHED */
	struct secg_flow_key key;
	struct secg_flow flow;
};

/* Live entries of all three tables, at most `max`; returns how many there are. */
size_t rig_sessions(struct rig *rig, struct rig_session *ret_sessions, size_t max);
/* Writes the value of a session back. */
void rig_session_put(struct rig *rig, const struct rig_session *session);
/* Puts an entry of no bucket into secg_overflow. */
void rig_overflow_put(struct rig *rig, const struct secg_flow_key *key,
		      const struct secg_flow *flow);
/* Makes every session and fragment older. */
void rig_age(struct rig *rig, int32_t ticks);
uint32_t rig_now(struct rig *rig);

/* The key of a packet that opens a session in `direction`. */
struct secg_flow_key rig_key(struct rig *rig, const char *port, enum secg_direction direction,
			     uint8_t proto, const char *src, uint16_t sport, const char *dst,
			     uint16_t dport);
uint32_t rig_bucket(const struct rig *rig, const struct secg_flow_key *key);

#endif
