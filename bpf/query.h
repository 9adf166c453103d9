/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What is asked of a compiled rule list: about a packet, or about the packet that opened a session. */
#ifndef SECG_BPF_QUERY_H
#define SECG_BPF_QUERY_H

#include <bpf/bpf_endian.h>

#include "packet.h"
#include "tree.h"

/* Dimensions that are looked up: of a packet all that it shows, of a session all that it keeps. */
#define QUERY_COMMON \
	(SECG_DIM_SRC | SECG_DIM_DST | SECG_DIM_PROTO | SECG_DIM_L4_HIGH | SECG_DIM_L4_LOW)
#define QUERY_PACKET  (QUERY_COMMON | SECG_DIM_VLAN | SECG_DIM_ETHERTYPE | SECG_DIM_BYTES)
#define QUERY_SESSION (QUERY_COMMON | SECG_DIM_OWN)

/* Asked of a packet, which goes along; what the packet shows in network order is read from there. */
struct query {
	__u32 policy;   /* line of struct secg_policy; not 0 */
	__u32 counters; /* line of the port's rule words; 0: pass rules are not counted */
	__u32 own;  /* QUERY_SESSION: slot + 1 of the session's rule; 0: it is gone, or shows all */
	__u32 from; /* of classify: first entry not yet looked at */
	/* Of classify: first lines of the vectors of the frequent dimensions; 0, the vector of ones, for
	 * one left out. Here, because the stack is short. */
	__u32 vector[5];
	__u32 slot;      /* answer: slot of the deciding rule */
	__u32 timeout_s; /* answer: of the deciding entry */
	__u16 dims;      /* QUERY_* */
	__u16 high;      /* source port or ICMP type */
	__u16 low;       /* destination port or ICMP code */
	__u8 is_reply;   /* the packet answers what is judged: its endpoints are swapped */
	__u8 entry;      /* answer: SECG_ENTRY_* of the deciding entry */
};

/* The query of a packet, or of its reply. An ICMP reply is judged as the question. */
__inline void query_make(struct query *q, const struct packet *p, __u32 policy, int is_reply)
{
	q->policy = policy;
	q->counters = 0;
	q->from = 0;
	q->dims = QUERY_PACKET;
	q->is_reply = is_reply;
	if (p->l4 == L4_PORTS) {
		q->high = bpf_ntohs(is_reply ? p->dport : p->sport);
		q->low = bpf_ntohs(is_reply ? p->sport : p->dport);
	} else {
		q->high = p->icmp_type;
		q->low = p->icmp_code;
		if (is_reply && p->l4 == L4_ICMP_ANSWER)
			q->high = bpf_ntohs(p->sport) >> 8;
	}
}

/*
 * Makes it the query of the packet that opened a session. `own` is the port's tree of rules that match
 * what a session does not show (secg_port_rules.own), `word` the rule word of the session.
 */
__inline void query_session(struct query *q, __u32 own, __u32 word)
{
	q->dims = QUERY_SESSION;
	q->own = own ? tree_find(0, own, word) : 0;
}

#endif
