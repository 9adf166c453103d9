/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet that answers a rejected one: a TCP reset, or an ICMP error "administratively prohibited";
 * and the resets for both ends of a session that expires. Pure: record in, bytes out. Who sends it where
 * is reject.c's business.
 */
#ifndef SECG_ENGINE_ANSWER_H
#define SECG_ENGINE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <secg/event.h>
#include <secg/flow.h>

#define ANSWER_MAX_SIZE 384

struct answer {
	uint8_t bytes
		[ANSWER_MAX_SIZE]; /* Ethernet, tags and IP; IP alone for devices without Ethernet */
	size_t size;
	size_t ip_at; /* where IP begins */
	uint16_t
		ethertype; /* as a packet socket wants it: of the first header behind the addresses */
};

/*
 * The frame goes back where the rejected one came from: MAC and IP addresses swapped, tags kept. -ENOENT:
 * it must not be answered (RFC 1122 §3.2.2, RFC 4443 §2.4 (e)): a reset, an ICMP error, a later fragment,
 * to or from a group; or it is not IP. -EBADMSG: the record contradicts itself.
 */
int answer_reject(struct answer *ret_answer, const struct secg_event_reject *record);

/*
 * A reset for the end `side` of a TCP session, as if from the other end; its sequence number is what the
 * end has acknowledged last, which is what it expects next (RFC 5961 §3.2). `has_ethernet` false: IP
 * alone. -ENOENT: the end was never heard, or the MAC addresses are not known.
 */
int answer_reset(struct answer *ret_answer, const struct secg_flow_key *key,
		 const struct secg_flow *flow, enum secg_side side, bool has_ethernet);

#endif
