/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Counting: what passed a port, what was dropped and why. Rules are counted in classify.h. */
#ifndef SECG_BPF_ACCOUNT_H
#define SECG_BPF_ACCOUNT_H

#include "maps.h"
#include "packet.h"
#include "trace.h"

/* `reason` 0: it passed. */
__inline void account(__u32 port, __u32 direction, const struct packet *p, __u32 reason)
{
	struct secg_port_counters *counters = bpf_map_lookup_elem(&secg_port_counters, &port);
	struct secg_counter *counter;

	if (!counters || is_traced())
		return;
	counter = reason ? &counters->dropped[direction & 1] : &counters->passed[direction & 1];
	counter->packets += p->packets;
	counter->bytes += p->bytes;
	if (reason)
		counters->reasons[reason & (SECG_REASON_SLOTS - 1)] += p->packets;
}

__inline void account_infra(__u32 port, const struct packet *p, __u32 bit)
{
	struct secg_port_counters *counters = bpf_map_lookup_elem(&secg_port_counters, &port);
	struct secg_counter *counter;

	TRACE(infra, bit + 1);
	if (!counters || is_traced())
		return;
	counter = &counters->infra[bit & (SECG_INFRA_SLOTS - 1)];
	counter->packets += p->packets;
	counter->bytes += p->bytes;
}

#endif
