/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a packet does to its session. TCP is followed by its flags only: enough to know half-open,
 * established and closing apart, and to refuse a reset that no side of the connection can have sent.
 */
#ifndef SECG_BPF_TCP_H
#define SECG_BPF_TCP_H

#include "session.h"

/*
 * A reset is believed from the other side's last acknowledgement up to this many bytes beyond: more
 * than any window in use, a 64th of the sequence space for who has to guess (RFC 5961 §3).
 */
#define RST_WINDOW_BYTES (64u << 20)

enum step {
	STEP_STAY,
	STEP_PROMOTE, /* answered: to the established table */
	STEP_END,     /* the packet passes, the session is over */
	STEP_ANEW,    /* the packet opens a new flow on the same tuple */
	STEP_ASK,     /* a SYN on a live session: passes if the rules let it open */
	STEP_BAD_FLAGS,
	STEP_RST_WINDOW,
};

/* Combinations that a stack sends, PSH, URG, ECE and CWR aside. */
__inline int tcp_flags_are_sane(__u8 flags)
{
	if (flags & TCP_SYN)
		return !(flags & (TCP_FIN | TCP_RST));
	if (flags & TCP_RST)
		return !(flags & TCP_FIN);
	return flags & TCP_ACK;
}

__inline int is_opening_syn(__u8 flags)
{
	return (flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
}

/* Whether side `side` acknowledges the SYN that the other has sent on the live session. */
__inline int answers_again(const struct session *found, const struct packet *p, __u32 side)
{
	__u32 again = side == SECG_REPLY ? SECG_FLOW_SYN_AGAIN_ORIG : SECG_FLOW_SYN_AGAIN_REPLY;

	return (found->word & again) && (p->tcp_flags & TCP_ACK) &&
	       (__u16)p->ack == found->flow->a.syn;
}

/* Nothing is known of the other side but what it was sent. */
__inline int is_unanswered(const struct session *found)
{
	return flow_phase(found->word) == SECG_FLOW_NEW &&
	       !(found->word & (SECG_FLOW_SYN_REPLY | SECG_FLOW_PICKUP));
}

__inline int tcp_rst_is_believed(const struct session *found, const struct packet *p, __u32 side)
{
	/* RFC 9293 §3.10.7.3: in SYN-SENT a reset counts when it acknowledges the SYN. */
	if (is_unanswered(found) && side == SECG_REPLY)
		return (p->tcp_flags & TCP_ACK) &&
		       p->ack - found->flow->a.edge[SECG_REPLY] < RST_WINDOW_BYTES;
	return p->seq - found->flow->a.edge[!side] < RST_WINDOW_BYTES;
}

__inline void tcp_edge(struct session *found, const struct packet *p, __u32 side)
{
	if ((p->tcp_flags & TCP_ACK) && (__s32)(p->ack - found->flow->a.edge[side & 1]) > 0)
		found->flow->a.edge[side & 1] = p->ack;
}

/* The state word with the packet's FIN; closing once both sides have sent theirs. */
__inline __u32 tcp_fins(__u32 word, __u8 flags, __u32 side)
{
	if (flags & TCP_FIN)
		word |= side == SECG_ORIG ? SECG_FLOW_FIN_ORIG : SECG_FLOW_FIN_REPLY;
	if (flow_phase(word) == SECG_FLOW_ESTABLISHED && (word & SECG_FLOW_FIN_ORIG) &&
	    (word & SECG_FLOW_FIN_REPLY))
		word = (word & ~SECG_FLOW_PHASE_MASK) | SECG_FLOW_CLOSING;
	return word;
}

/*
 * A peer that still knows an older connection answers the SYN with a challenge, which the reset answers by
 * its number (RFC 9293 §3.5.1). The SYN will be repeated: the session stays. Until there is an answer the
 * opener has acknowledged nothing, and its edge keeps that number.
 */
__inline int ends_an_older_one(const struct session *found, const struct packet *p, __u32 side)
{
	__u32 challenge = found->flow->a.edge[SECG_ORIG];

	return side == SECG_ORIG && challenge && p->seq == challenge && is_unanswered(found);
}

__inline enum step tcp_half_open(struct session *found, const struct packet *p, __u32 side)
{
	__u8 flags = p->tcp_flags;

	if (flags & TCP_RST) {
		if (ends_an_older_one(found, p, side))
			return STEP_STAY;
		return tcp_rst_is_believed(found, p, side) ? STEP_END : STEP_RST_WINDOW;
	}
	if (side == SECG_ORIG) {
		if (is_opening_syn(flags)) {
			if (found->word &
			    (SECG_FLOW_PICKUP | SECG_FLOW_FIN_ORIG | SECG_FLOW_FIN_REPLY))
				return STEP_ANEW;
			found->flow->a.edge[SECG_REPLY] = p->seq + 1;
			return STEP_STAY;
		}
		tcp_edge(found, p, side);
		if ((flags & TCP_ACK) && (found->word & SECG_FLOW_SYN_REPLY))
			return STEP_PROMOTE;
		session_become(found, tcp_fins(found->word, flags, side));
		return STEP_STAY;
	}
	if (flags & TCP_SYN) {
		/* Of an older SYN, maybe, which the opener then resets there (RFC 9293 §3.5, figure 8). */
		if (flags & TCP_ACK)
			found->flow->a.edge[SECG_REPLY] = p->ack;
		found->flow->a.edge[SECG_ORIG] = p->seq + 1;
		session_become(found, found->word | SECG_FLOW_SYN_REPLY);
		return STEP_STAY;
	}
	if (is_unanswered(found))
		found->flow->a.edge[SECG_ORIG] = p->ack;
	else
		tcp_edge(found, p, side);
	if (found->word & SECG_FLOW_PICKUP)
		return STEP_PROMOTE;
	session_become(found, tcp_fins(found->word, flags, side));
	return STEP_STAY;
}

/*
 * A SYN on a live session changes nothing of it: a live peer answers with a challenge (RFC 5961 §4), and
 * the reset that follows ends it. One that has forgotten the connection accepts the new one, or resets
 * it by the number of that SYN, which therefore is remembered.
 */
__inline enum step tcp_syn_again(struct session *found, const struct packet *p, __u32 side)
{
	__u32 all = SECG_FLOW_SYN_AGAIN_ORIG | SECG_FLOW_SYN_AGAIN_REPLY;
	__u32 mine = side == SECG_ORIG ? SECG_FLOW_SYN_AGAIN_ORIG : SECG_FLOW_SYN_AGAIN_REPLY;

	if (is_opening_syn(p->tcp_flags)) {
		if (flow_phase(found->word) == SECG_FLOW_CLOSING)
			return STEP_ANEW;
		found->flow->a.syn = p->seq + 1;
		session_become(found, (found->word & ~all) | mine);
		return STEP_ASK;
	}
	if (answers_again(found, p, side)) {
		found->flow->a.edge[!side] = p->seq + 1;
		found->flow->a.edge[side & 1] = p->ack;
		session_become(found,
			       (found->word & ~(all | SECG_FLOW_FIN_ORIG | SECG_FLOW_FIN_REPLY |
						SECG_FLOW_PHASE_MASK)) |
				       SECG_FLOW_ESTABLISHED);
	}
	return STEP_STAY;
}

__inline enum step tcp_answered(struct session *found, const struct packet *p, __u32 side)
{
	__u8 flags = p->tcp_flags;
	__u32 word = found->word;

	if (flags & TCP_SYN)
		return tcp_syn_again(found, p, side);
	if (flags & TCP_RST) {
		if (!tcp_rst_is_believed(found, p, side) && !answers_again(found, p, side))
			return STEP_RST_WINDOW;
		word = (word & ~SECG_FLOW_PHASE_MASK) | SECG_FLOW_CLOSING;
	}
	tcp_edge(found, p, side);
	word = tcp_fins(word, flags, side);
	/* Lost to another CPU or to the sweep: the next packet tells again. */
	if (word != found->word)
		session_become(found, word);
	return STEP_STAY;
}

__inline enum step session_step(struct session *found, const struct packet *p, __u32 side)
{
	__u32 is_new = flow_phase(found->word) == SECG_FLOW_NEW;

	if (p->proto != IPPROTO_TCP)
		return is_new && side == SECG_REPLY ? STEP_PROMOTE : STEP_STAY;
	if (!tcp_flags_are_sane(p->tcp_flags))
		return STEP_BAD_FLAGS;
	return is_new ? tcp_half_open(found, p, side) : tcp_answered(found, p, side);
}

#endif
