/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Where a packet is judged: port, direction, generation. Resolved once per program run. */
#ifndef SECG_BPF_GUARD_H
#define SECG_BPF_GUARD_H

#include "maps.h"
#include "session.h"
#include "trace.h"

/* What the hook knows of a packet beside its headers, and what the parser said. */
struct arrival {
	__u32 ifindex;
	__u32 port; /* its id; 0: none */
	__u32 direction;
	__u32 length; /* bytes of the frame */
	__u32 is_l3;  /* the device has no Ethernet header */
	__u32 reason; /* the parser's */
};

struct guard {
	const struct secg_port *port; /* its first line only */
	__u32 ports;                  /* line of the port table */
	__u32 id;                     /* of the port */
	__u32 direction;              /* enum secg_direction */
	__u32 now;                    /* tick */
	__u32 ticks_q8;               /* secg_root.ticks_q8 */
};

__inline const struct secg_ifindex *ifindex_find(__u32 ifindex)
{
	__u32 slot = ifindex % SECG_IFINDEX_SLOTS;
	const struct secg_ifindex *entry = bpf_map_lookup_elem(&secg_ifindex, &slot);

	if (entry && entry->ifindex == ifindex)
		return entry;
	return bpf_map_lookup_elem(&secg_ifindex_far, &ifindex);
}

/* The live root: the one read of the selector. NULL: no generation yet. */
__inline const struct secg_root *root_find(void)
{
	__u32 item = SECG_SELECTOR_ROOT, line;
	const __u64 *selector = bpf_map_lookup_elem(&secg_selector, &item);

	line = selector ? (__u32)*selector : 0;
	return line ? table_line(line) : 0;
}

/* 0, or -1 where nothing is known of the port. */
__inline int guard_find(struct guard *g, const struct arrival *arrival)
{
	const struct secg_root *root = root_find();

	g->direction = arrival->direction & 1;
	g->id = 0;
	g->port = 0;
	g->ticks_q8 = 0;
	if (!root || !arrival->port || arrival->port >= root->port_count)
		return -1;
	TRACE(generation, root->generation);
	g->ports = root->ports;
	g->ticks_q8 = root->ticks_q8;
	g->id = arrival->port;
	g->port = port_find(g->ports, g->id);
	return g->port && (g->port->flags & SECG_PORT_VALID) ? 0 : -1;
}

/* The second line of the port, looked up when a packet needs it. NULL cannot happen in a valid table. */
__inline const struct secg_port_rules *guard_rules(const struct guard *g)
{
	return table_line(g->ports + g->id * SECG_PORT_LINES + 1);
}

#endif
