/* SPDX-License-Identifier: Apache-2.0 */
/* The reference of sessions: how flows open, are found and end, and who decides about a packet. */
#include "session_reference.h"

#include <string.h>

/* ── flows ──────────────────────────────────────────────────────────────────────────────────────── */

/* Ports without a rule that tracks look no sessions up; of a domain, none has. */
static bool looks_up(const struct ref *ref, int port)
{
	for (int i = 0; i < REF_PORTS; i++) {
		const struct ref_port *other = &ref->ports[i];

		if (i != port && other->domain == ref->ports[port].domain)
			return true;
	}
	return ref_tracks(&ref->ports[port].list[SECG_FROM]) ||
	       ref_tracks(&ref->ports[port].list[SECG_TO]) ||
	       ref->ports[port].on_change == REF_KEEP;
}

uint32_t ref_ticks(const struct ref *ref, uint32_t seconds)
{
	return seconds * ref->ticks_per_second + 1;
}

static bool is_expired(const struct ref *ref, const struct ref_flow *flow, uint32_t now)
{
	const uint32_t *timeout = ref->ports[flow->port].timeout;
	uint32_t limit = 0;
	bool is_own = false; /* a rule's timeout takes its place */

	switch (flow->opener.proto) {
	case SECG_PROTO_TCP:
		limit = timeout[flow->phase == SECG_FLOW_NEW       ? SECG_TIMEOUT_TCP_HALF_OPEN
				: flow->phase == SECG_FLOW_CLOSING ? SECG_TIMEOUT_TCP_CLOSING
								   : SECG_TIMEOUT_TCP_ESTABLISHED];
		is_own = flow->phase == SECG_FLOW_ESTABLISHED;
		break;
	case SECG_PROTO_UDP:
	case SECG_PROTO_UDPLITE:
		is_own = flow->phase != SECG_FLOW_NEW;
		limit = timeout[is_own ? SECG_TIMEOUT_UDP_TWO_WAY : SECG_TIMEOUT_UDP_ONE_WAY];
		break;
	case SECG_PROTO_ICMP:
	case SECG_PROTO_ICMPV6:
		is_own = true;
		limit = timeout[SECG_TIMEOUT_ICMP];
		break;
	default:
		is_own = true;
		limit = timeout[SECG_TIMEOUT_OTHER];
	}
	if (is_own && flow->timeout)
		limit = flow->timeout;
	return (int32_t)(now - flow->seen) > (int32_t)limit;
}

static struct ref_flow *find(struct ref *ref, int domain, enum secg_direction direction,
			     const struct ref_packet *packet, enum secg_side *ret_side)
{
	struct ref_packet opener;
	bool is_reply = ref_turn_round(&opener, packet);

	for (int i = 0; i < ref->count; i++) {
		struct ref_flow *flow = &ref->flows[i];

		if (flow->domain != domain)
			continue;
		*ret_side = flow->opened == direction ? SECG_ORIG : SECG_REPLY;
		if (*ret_side == SECG_ORIG && ref_opens_same(&flow->opener, packet))
			return flow;
		if (*ret_side == SECG_REPLY && is_reply && ref_opens_same(&flow->opener, &opener))
			return flow;
	}
	return NULL;
}

static void end(struct ref *ref, struct ref_flow *flow)
{
	*flow = ref->flows[--ref->count];
}

uint32_t ref_sessions(const struct ref *ref, int port, int family, int source)
{
	uint32_t count = 0;

	for (int i = 0; i < ref->count; i++)
		count += ref->flows[i].port == port &&
			 (!family || (ref->flows[i].opener.family == family &&
				      ref->flows[i].opener.src == source));
	return count;
}

uint32_t ref_half_open(const struct ref *ref, int port)
{
	uint32_t count = 0;

	for (int i = 0; i < ref->count; i++)
		count += ref->flows[i].port == port &&
			 ref->flows[i].opener.proto == SECG_PROTO_TCP &&
			 ref->flows[i].phase == SECG_FLOW_NEW;
	return count;
}

void ref_age(struct ref *ref, uint32_t ticks)
{
	for (int i = 0; i < ref->count; i++)
		ref->flows[i].seen -= ticks;
	for (int i = 0; i < REF_PORTS; i++)
		ref->ports[i].pickup_until -= ticks;
}

static struct ref_flow *in_way(struct ref *ref, uint32_t bucket, int way)
{
	for (int i = 0; i < ref->count; i++)
		if (ref->flows[i].place == REF_SLOT && ref->flows[i].bucket == bucket &&
		    ref->flows[i].way == way)
			return &ref->flows[i];
	return NULL;
}

/*
 * Finds room among the established for *flow, which is in the list or not: the first way of its bucket
 * that is free or has an expired flow, which then is no more; else beside the table. False: no room.
 */
static bool settle(struct ref *ref, struct ref_flow *flow, uint32_t now)
{
	uint32_t bucket = ref->bucket(flow, ref->data);
	int beside = 0;

	for (int way = 0; way < SECG_WAYS; way++) {
		struct ref_flow *old = in_way(ref, bucket, way);

		if (!ref->usable[bucket][way] || (old && !is_expired(ref, old, now)))
			continue;
		flow->place = REF_SLOT;
		flow->bucket = bucket;
		flow->way = way;
		/* Last: the flow itself may move to its place. */
		if (old)
			end(ref, old);
		return true;
	}
	for (int i = 0; i < ref->count; i++)
		beside += ref->flows[i].place == REF_BESIDE;
	if (beside >= ref->room_beside)
		return false;
	flow->place = REF_BESIDE;
	return true;
}

/* ── opening ────────────────────────────────────────────────────────────────────────────────────── */

/* One packet at a port, and what has been found out about it. */
struct judging {
	struct ref *ref;
	int id;
	const struct ref_port *port;
	enum secg_direction direction;
	const struct ref_packet *packet;
	uint32_t now;
	bool is_cut;   /* its session fell to a change of the policy */
	bool is_asked; /* for a live session: nothing opens */
};

static enum secg_reason limit(const struct judging *j, const struct ref_packet *opener,
			      bool is_half_open)
{
	const struct ref_port *port = j->port;

	if (port->limit_sessions && ref_sessions(j->ref, j->id, 0, 0) >= port->limit_sessions)
		return SECG_REASON_LIMIT_PORT;
	if (is_half_open && port->limit_half_open &&
	    ref_half_open(j->ref, j->id) >= port->limit_half_open)
		return SECG_REASON_LIMIT_HALF_OPEN;
	if (port->limit_source &&
	    ref_sessions(j->ref, j->id, opener->family, opener->src) >= port->limit_source)
		return SECG_REASON_LIMIT_SOURCE;
	return SECG_REASON_NONE;
}

static struct ref_flow start(const struct judging *j, const struct ref_packet *opener,
			     enum secg_direction opened, int rule)
{
	const struct ref_list *list = &j->port->list[opened];
	struct ref_flow flow = {
		.opener = *opener,
		.opened = opened,
		.port = j->id,
		.domain = j->port->domain,
		.phase = SECG_FLOW_NEW,
		.again = -1,
		.seen = j->now,
		.generation = j->port->generation,
		.rule = rule,
	};

	flow.opener.inner = NULL;
	flow.packets[opened == j->direction ? SECG_ORIG : SECG_REPLY] = 1;
	if (rule >= 0) {
		flow.birth = list->rules[rule].birth;
		if (list->rules[rule].timeout_s)
			flow.timeout = ref_ticks(j->ref, list->rules[rule].timeout_s);
	}
	return flow;
}

/* In the first seconds of a guard a packet from the middle of a connection is believed. */
static bool is_pickup(const struct judging *j)
{
	return j->port->picks_up && (int32_t)(j->port->pickup_until - j->now) > 0 &&
	       j->packet->proto == SECG_PROTO_TCP && j->packet->kind == REF_WITH_PORTS &&
	       ref_tcp_is_sane(j->packet->flags) && !(j->packet->flags & (REF_SYN | REF_RST));
}

static enum secg_reason pick_up(struct judging *j, const struct ref_packet *opener,
				enum secg_direction opened, int rule)
{
	enum secg_side side = opened == j->direction ? SECG_ORIG : SECG_REPLY;
	struct ref_flow flow = start(j, opener, opened, rule);
	enum secg_reason reason = limit(j, opener, false);

	if (reason)
		return reason;
	flow.phase = SECG_FLOW_ESTABLISHED;
	flow.is_picked_up = true;
	flow.acked[side] = j->packet->ack;
	flow.acked[side == SECG_ORIG ? SECG_REPLY : SECG_ORIG] = j->packet->seq;
	ref_tcp_fin(&flow, j->packet, side);
	if (!settle(j->ref, &flow, j->now))
		return j->port->fails_open ? SECG_REASON_NONE : SECG_REASON_SESSION_FULL;
	j->ref->flows[j->ref->count++] = flow;
	return SECG_REASON_NONE;
}

static enum secg_reason open_flow(struct judging *j, int rule)
{
	struct ref_flow flow = start(j, j->packet, j->direction, rule);
	const struct ref_packet *packet = j->packet;
	enum secg_reason reason;

	if (packet->proto == SECG_PROTO_TCP) {
		if (!ref_tcp_is_sane(packet->flags))
			return SECG_REASON_TCP_BAD_FLAGS;
		if (is_pickup(j))
			return pick_up(j, packet, j->direction, rule);
		if (j->port->is_strict && !ref_tcp_opens(packet->flags))
			return SECG_REASON_TCP_NOT_SYN;
		if (packet->flags & REF_RST)
			return SECG_REASON_NONE;
		flow.acked[SECG_REPLY] = packet->seq + (packet->flags & REF_SYN ? 1 : 0);
		if (!ref_tcp_opens(packet->flags)) {
			flow.is_picked_up = true;
			flow.acked[SECG_ORIG] = packet->ack;
			ref_tcp_fin(&flow, packet, SECG_ORIG);
		}
	}
	reason = limit(j, packet, packet->proto == SECG_PROTO_TCP);
	if (!reason)
		j->ref->flows[j->ref->count++] = flow;
	return reason;
}

/* ── judging ────────────────────────────────────────────────────────────────────────────────────── */

static enum secg_reason by_rules(struct judging *j)
{
	const struct ref_list *list = &j->port->list[j->direction];
	int rule = ref_match(list, j->packet);
	enum secg_action action =
		rule >= 0 ? list->rules[rule].action : ref_otherwise(j->port, j->direction);
	enum secg_reason reason;

	if (action == SECG_ACTION_ALLOW_STATELESS)
		return SECG_REASON_NONE;
	if (action != SECG_ACTION_ALLOW) {
		if (rule < 0)
			return SECG_REASON_DEFAULT;
		return action == SECG_ACTION_REJECT ? SECG_REASON_RULE_REJECT
						    : SECG_REASON_RULE_DROP;
	}
	if (j->packet->kind == REF_ERROR && rule >= 0)
		return SECG_REASON_ICMP_UNRELATED;
	if (!ref_is_trackable(j->packet) || j->is_asked)
		return SECG_REASON_NONE;
	reason = open_flow(j, rule);
	/* Where nothing is refused, what no session can follow passes. */
	if (list->count == 0 &&
	    (reason == SECG_REASON_TCP_BAD_FLAGS || reason == SECG_REASON_TCP_NOT_SYN))
		return SECG_REASON_NONE;
	return reason;
}

static bool is_refusal(enum secg_reason reason)
{
	return reason == SECG_REASON_DEFAULT || reason == SECG_REASON_RULE_DROP ||
	       reason == SECG_REASON_RULE_REJECT;
}

/* What the own rules refuse may be a reply that those of the other direction expect. */
static enum secg_reason by_reply(struct judging *j, enum secg_reason reason)
{
	const struct ref_list *list = &j->port->list[!j->direction];
	struct ref_packet opener;
	enum secg_action action;
	int rule;

	if (!is_refusal(reason) || j->is_asked || !is_pickup(j) ||
	    !ref_turn_round(&opener, j->packet))
		return reason;
	rule = ref_match_session(list, &opener, -1, 0);
	action = rule >= 0 ? list->rules[rule].action : ref_otherwise(j->port, !j->direction);
	return action == SECG_ACTION_ALLOW ? pick_up(j, &opener, !j->direction, rule) : reason;
}

/* Judges a flow of an older policy again; false: it is cut. */
static bool recheck(const struct ref *ref, struct ref_flow *flow)
{
	const struct ref_port *owner = &ref->ports[flow->port];
	const struct ref_list *list = &owner->list[flow->opened];
	enum secg_action action;
	int rule;

	if (flow->generation == owner->generation || owner->on_change == REF_KEEP)
		return true;
	if (owner->on_change == REF_CUT)
		return false;
	rule = ref_match_session(list, &flow->opener, flow->rule, flow->birth);
	action = rule >= 0 ? list->rules[rule].action : ref_otherwise(owner, flow->opened);
	if (action != SECG_ACTION_ALLOW)
		return false;
	flow->generation = owner->generation;
	flow->rule = rule;
	flow->birth = rule >= 0 ? list->rules[rule].birth : 0;
	flow->timeout = rule >= 0 && list->rules[rule].timeout_s
				? ref_ticks(ref, list->rules[rule].timeout_s)
				: 0;
	return true;
}

/* It has its answer; a flow for which there is no room among the established stays as it was. */
static enum secg_reason answered(struct judging *j, struct ref_flow *flow, enum secg_side side)
{
	struct ref_flow before = *flow, moved = *flow;
	bool has_room;

	moved.phase = SECG_FLOW_ESTABLISHED;
	if (moved.opener.proto == SECG_PROTO_TCP)
		ref_tcp_fin(&moved, j->packet, side);
	end(j->ref, flow);
	has_room = settle(j->ref, &moved, j->now);
	j->ref->flows[j->ref->count++] = has_room ? moved : before;
	return has_room || j->port->fails_open ? SECG_REASON_NONE : SECG_REASON_SESSION_FULL;
}

/* True where the flow decides about the packet. */
static bool by_flow(struct judging *j, struct ref_flow *flow, enum secg_side side,
		    enum secg_reason *ret_reason)
{
	enum ref_step step = REF_GOES_ON;

	if (is_expired(j->ref, flow, j->now)) {
		end(j->ref, flow);
		return false;
	}
	if (!recheck(j->ref, flow)) {
		end(j->ref, flow);
		j->is_cut = true;
		return false;
	}
	if (flow->opener.proto == SECG_PROTO_TCP)
		step = ref_tcp(flow, j->packet, side);
	else if (flow->phase == SECG_FLOW_NEW && side == SECG_REPLY)
		step = REF_ANSWERED;
	if (step == REF_ANEW)
		end(j->ref, flow);
	j->is_asked = step == REF_ASKS;
	if (step == REF_ANEW || step == REF_ASKS)
		return false;
	*ret_reason = step == REF_BAD_FLAGS   ? SECG_REASON_TCP_BAD_FLAGS
		      : step == REF_BAD_RESET ? SECG_REASON_TCP_RST_WINDOW
					      : SECG_REASON_NONE;
	if (*ret_reason)
		return true;
	flow->seen = j->now;
	flow->packets[side]++;
	if (step == REF_OVER)
		end(j->ref, flow);
	else if (step == REF_ANSWERED)
		*ret_reason = answered(j, flow, side);
	return true;
}

/* An error belongs to who sent the packet that it carries, if that has a live session. */
static bool is_related(struct judging *j)
{
	const struct ref_packet *inner = j->packet->inner;
	const struct ref_flow *flow;
	const struct ref_port *owner;
	enum secg_side side;

	if (!inner || inner->src != j->packet->dst ||
	    !(ref_is_trackable(inner) || inner->kind == REF_ANSWER))
		return false;
	flow = find(j->ref, j->port->domain, !j->direction, inner, &side);
	if (!flow || is_expired(j->ref, flow, j->now))
		return false;
	owner = &j->ref->ports[flow->port];
	return flow->generation == owner->generation || owner->on_change == REF_KEEP;
}

enum secg_reason ref_judge(struct ref *ref, int port, enum secg_direction direction,
			   const struct ref_packet *packet, uint32_t now)
{
	struct judging j = {
		.ref = ref,
		.id = port,
		.port = &ref->ports[port],
		.direction = direction,
		.packet = packet,
		.now = now,
	};
	struct ref_flow *flow = NULL;
	enum secg_reason reason;
	enum secg_side side;

	if (looks_up(ref, port)) {
		if (packet->kind == REF_ERROR && is_related(&j))
			return SECG_REASON_NONE;
		if (ref_is_trackable(packet) || packet->kind == REF_ANSWER)
			flow = find(ref, j.port->domain, direction, packet, &side);
		if (flow && by_flow(&j, flow, side, &reason))
			return reason;
	}
	reason = by_reply(&j, by_rules(&j));
	if (j.is_cut && (is_refusal(reason) || reason == SECG_REASON_TCP_NOT_SYN))
		return SECG_REASON_POLICY_CHANGE;
	return reason;
}
