/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a traced run tells. The programs are loaded a second time with secg_is_trace set: they read the
 * same maps and decide by the same code, but write here instead of anywhere else.
 */
#ifndef SECG_TRACE_H
#define SECG_TRACE_H

#include <linux/types.h>

enum secg_trace_session {
	SECG_TRACE_SESSION_NONE,
	SECG_TRACE_SESSION_FOUND,   /* the packet belongs to a live session, which decided */
	SECG_TRACE_SESSION_RELATED, /* an ICMP error about a live session */
	SECG_TRACE_SESSION_CUT,     /* its session would fall to the present policy */
};

enum secg_trace_antispoof {
	SECG_TRACE_ANTISPOOF_OFF,
	SECG_TRACE_ANTISPOOF_PASS,
	SECG_TRACE_ANTISPOOF_FAIL,
};

/* Value of the array secg_trace, entry 0. Host byte order. */
struct secg_trace {
	__u64 generation;
	__u32 reason;  /* enum secg_reason; 0: the packet passes */
	__u32 rule;    /* index of the counter of the rule that decided; 0: none */
	__u32 infra;   /* 1 + enum secg_infra of the infrastructure rule that decided; 0: none */
	__u32 session; /* enum secg_trace_session */
	__u32 would_create; /* 1: the packet would open a session */
	__u32 is_released;  /* 1: the port is being detached, everything passes */
	__u32 needs_overflow; /* 1: it answers a session whose bucket is full: session_full if secg_overflow is */
	__u32 antispoof; /* enum secg_trace_antispoof */
};
_Static_assert(sizeof(struct secg_trace) == 40, "no holes");

#endif
