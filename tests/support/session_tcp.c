/* SPDX-License-Identifier: Apache-2.0 */
/* The reference of TCP: what a packet means to its flow (docs/packet-path.md, RFC 9293, RFC 5961). */
#include "session_reference.h"

#define WINDOW (64u << 20)

bool ref_tcp_is_sane(uint8_t flags)
{
	bool fin = flags & REF_FIN, syn = flags & REF_SYN, rst = flags & REF_RST;

	if (fin + syn + rst > 1)
		return false;
	return syn || rst || (flags & REF_ACK);
}

bool ref_tcp_opens(uint8_t flags)
{
	return (flags & REF_SYN) && !(flags & REF_ACK);
}

void ref_tcp_fin(struct ref_flow *flow, const struct ref_packet *packet, enum secg_side side)
{
	if (packet->flags & REF_FIN)
		flow->has_fin[side] = true;
	if (flow->phase == SECG_FLOW_ESTABLISHED && flow->has_fin[SECG_ORIG] &&
	    flow->has_fin[SECG_REPLY])
		flow->phase = SECG_FLOW_CLOSING;
}

/* An acknowledgement that lies behind the last one is old. */
static void acknowledge(struct ref_flow *flow, const struct ref_packet *packet, enum secg_side side)
{
	if ((packet->flags & REF_ACK) && (int32_t)(packet->ack - flow->acked[side]) > 0)
		flow->acked[side] = packet->ack;
}

/* The packet acknowledges the SYN with which the other side began anew. */
static bool answers_again(const struct ref_flow *flow, const struct ref_packet *packet,
			  enum secg_side side)
{
	return flow->again == (side == SECG_ORIG ? SECG_REPLY : SECG_ORIG) &&
	       (packet->flags & REF_ACK) && (uint16_t)packet->ack == flow->again_ack;
}

/* Nothing has come back but what is no SYN. */
static bool is_unanswered(const struct ref_flow *flow)
{
	return flow->phase == SECG_FLOW_NEW && !flow->has_syn_reply && !flow->is_picked_up;
}

static bool reset_is_believed(const struct ref_flow *flow, const struct ref_packet *packet,
			      enum secg_side side)
{
	uint32_t acked = flow->acked[side == SECG_ORIG ? SECG_REPLY : SECG_ORIG];

	/* In answer to a SYN that nobody has answered yet, it names that SYN (RFC 9293 §3.10.7.3). */
	if (is_unanswered(flow) && side == SECG_REPLY)
		return (packet->flags & REF_ACK) && packet->ack - flow->acked[SECG_REPLY] < WINDOW;
	return packet->seq - acked < WINDOW;
}

static enum ref_step half_open(struct ref_flow *flow, const struct ref_packet *packet,
			       enum secg_side side)
{
	/* A peer that knows an older connection only says where that is, and is reset there; the SYN will be
	 * repeated (RFC 9293 §3.5.1, figure 9). */
	bool is_challenge = side == SECG_REPLY && is_unanswered(flow);

	if (packet->flags & REF_RST) {
		if (side == SECG_ORIG && is_unanswered(flow) && flow->acked[SECG_ORIG] &&
		    packet->seq == flow->acked[SECG_ORIG])
			return REF_GOES_ON;
		return reset_is_believed(flow, packet, side) ? REF_OVER : REF_BAD_RESET;
	}
	if (side == SECG_ORIG && ref_tcp_opens(packet->flags)) {
		/* What has data or an end already is another connection. */
		if (flow->is_picked_up || flow->has_fin[SECG_ORIG] || flow->has_fin[SECG_REPLY])
			return REF_ANEW;
		flow->acked[SECG_REPLY] = packet->seq + 1;
		return REF_GOES_ON;
	}
	if (side == SECG_REPLY && (packet->flags & REF_SYN)) {
		/* It may be the answer to an older SYN, and be reset there (figure 8). */
		if (packet->flags & REF_ACK)
			flow->acked[SECG_REPLY] = packet->ack;
		flow->acked[SECG_ORIG] = packet->seq + 1;
		flow->has_syn_reply = true;
		return REF_GOES_ON;
	}
	if (is_challenge)
		flow->acked[SECG_ORIG] = packet->ack;
	else
		acknowledge(flow, packet, side);
	if (side == SECG_ORIG && flow->has_syn_reply && (packet->flags & REF_ACK))
		return REF_ANSWERED;
	if (side == SECG_REPLY && flow->is_picked_up)
		return REF_ANSWERED;
	ref_tcp_fin(flow, packet, side);
	return REF_GOES_ON;
}

static enum ref_step syn_again(struct ref_flow *flow, const struct ref_packet *packet,
			       enum secg_side side)
{
	if (ref_tcp_opens(packet->flags)) {
		if (flow->phase == SECG_FLOW_CLOSING)
			return REF_ANEW;
		flow->again = side;
		flow->again_ack = (uint16_t)(packet->seq + 1);
		return REF_ASKS;
	}
	if (answers_again(flow, packet, side)) {
		flow->phase = SECG_FLOW_ESTABLISHED;
		flow->has_fin[SECG_ORIG] = flow->has_fin[SECG_REPLY] = false;
		flow->acked[side] = packet->ack;
		flow->acked[side == SECG_ORIG ? SECG_REPLY : SECG_ORIG] = packet->seq + 1;
		flow->again = -1;
	}
	return REF_GOES_ON;
}

enum ref_step ref_tcp(struct ref_flow *flow, const struct ref_packet *packet, enum secg_side side)
{
	if (!ref_tcp_is_sane(packet->flags))
		return REF_BAD_FLAGS;
	if (flow->phase == SECG_FLOW_NEW)
		return half_open(flow, packet, side);
	if (packet->flags & REF_SYN)
		return syn_again(flow, packet, side);
	if (packet->flags & REF_RST) {
		if (!reset_is_believed(flow, packet, side) && !answers_again(flow, packet, side))
			return REF_BAD_RESET;
		flow->phase = SECG_FLOW_CLOSING;
	}
	acknowledge(flow, packet, side);
	ref_tcp_fin(flow, packet, side);
	return REF_GOES_ON;
}
