/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets judged without consequences. Each program is loaded a second time with secg_is_trace set, at
 * its first trace, on the same maps, and run through BPF_PROG_TEST_RUN: they decide as the attached ones
 * do and write nothing but what they tell. Called by the engine.
 */
#ifndef SECG_DP_TRACE_H
#define SECG_DP_TRACE_H

#include <secg/trace.h>

#include "dp/dp.h"

/* Longest packet that every kernel takes for a test run: one page less its head and tail room. */
#define DP_TRACE_MAX_SIZE 3400u

struct dp_trace {
	struct secg_trace told; /* `reason` is final */
	char prog_tag[DP_TAG_SIZE];
};

/*
 * Judges a packet as if it came by interface `ifindex`, where `is_xdp` says which hook judges direction
 * from. -EMSGSIZE: longer than DP_TRACE_MAX_SIZE; -EINVAL: the kernel makes no test run of this packet,
 * it is too short for what it says it is; others: see `message`.
 */
int dp_trace(struct dp *dp, int ifindex, enum secg_direction direction, bool is_xdp,
	     const void *packet, size_t size, struct dp_trace *ret_trace,
	     char message[DP_MESSAGE_SIZE]);

#endif
