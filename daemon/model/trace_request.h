/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of POST /v1/trace, read and checked: a port, a direction, and a packet as bytes or as its
 * tuple. Pure; whether the port exists is not known here.
 */
#ifndef SECG_MODEL_TRACE_REQUEST_H
#define SECG_MODEL_TRACE_REQUEST_H

#include <jansson.h>

#include <secg/abi.h>

#include "core/error.h"
#include "model/packet.h"

#define TRACE_PACKET_MIN 14u    /* bytes that a test run of the kernel needs */
#define TRACE_PACKET_MAX 65549u /* an IPv4 packet behind an Ethernet header */

struct trace_request {
	char *port;
	enum secg_direction direction;
	uint8_t *bytes; /* the packet as given; NULL: `spec` describes it */
	size_t size;
	struct packet_spec
		spec; /* has_ethernet, and MACs that were not given, are left to fill in */
	bool has_src_mac, has_dst_mac;
};

/* -EINVAL: every mistake is in *reterr; -ENOMEM. Freed by trace_request_fini in either case. */
int trace_request_parse(struct trace_request *ret_request, const json_t *document,
			struct errors *reterr);
void trace_request_fini(struct trace_request *request);

#endif
