/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a trace request, one by one; what they must say together is in trace_request.c, the only
 * file that includes this.
 */
#ifndef SECG_MODEL_TRACE_FIELDS_H
#define SECG_MODEL_TRACE_FIELDS_H

#include "model/addrset.h"
#include "model/parse.h"
#include "model/trace_request.h"

#define PING        (-1) /* echo request of the family */
#define NO_PROTOCOL (-2)

/* What was said at all, right or wrong. Bit i is field i of the schema. */
enum given {
	GIVEN_PORT = 1 << 0,
	GIVEN_DIRECTION = 1 << 1,
	GIVEN_PACKET = 1 << 2,
	GIVEN_PROTO = 1 << 3,
	GIVEN_SRC = 1 << 4,
	GIVEN_DST = 1 << 5,
	GIVEN_SPORT = 1 << 6,
	GIVEN_DPORT = 1 << 7,
	GIVEN_TCP_FLAGS = 1 << 8,
	GIVEN_ICMP_TYPE = 1 << 9,
	GIVEN_ICMP_CODE = 1 << 10,
	GIVEN_ICMP_ID = 1 << 11,
	GIVEN_SRC_MAC = 1 << 12,
	GIVEN_DST_MAC = 1 << 13,
	GIVEN_VLAN = 1 << 14,
};
#define GIVEN_ICMP (GIVEN_ICMP_TYPE | GIVEN_ICMP_CODE | GIVEN_ICMP_ID)
#define GIVEN_TUPLE                                                                       \
	((unsigned int)(GIVEN_PROTO | GIVEN_SRC | GIVEN_DST | GIVEN_SPORT | GIVEN_DPORT | \
			GIVEN_TCP_FLAGS | GIVEN_ICMP | GIVEN_SRC_MAC | GIVEN_DST_MAC |    \
			GIVEN_VLAN))

struct trace_draft {
	struct trace_request *request;
	unsigned int given;
	int protocol;            /* PING, NO_PROTOCOL */
	struct prefix src, dst;  /* family 0: not known */
	const json_t *icmp_type; /* read once the family is known */
};

/* Its object is a struct trace_draft. */
extern const struct schema trace_schema;

#endif
