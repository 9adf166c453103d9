/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A traced run decides as the attached program does and changes nothing: every write asks is_traced()
 * first. The constant is known when a program is verified, so the attached programs pay nothing for it.
 */
#ifndef SECG_BPF_TRACE_H
#define SECG_BPF_TRACE_H

#include <secg/trace.h>

#include "maps.h"
#include "packet.h"

/* Set by the daemon for the second load. */
const volatile __u32 secg_is_trace __attribute__((weak)) = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct secg_trace);
} secg_trace __weak_map SEC(".maps");

__inline int is_traced(void)
{
	return secg_is_trace;
}

__inline struct secg_trace *trace_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&secg_trace, &zero);
}

/* Notes one field in a traced run. */
#define TRACE(field, value)                                 \
	do {                                                \
		struct secg_trace *_t;                      \
                                                            \
		if (is_traced() && (_t = trace_get()) != 0) \
			_t->field = (value);                \
	} while (0)

#endif
