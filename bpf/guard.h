/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Where a packet is judged: port, direction, generation. Resolved once per program run. */
#ifndef SECG_BPF_GUARD_H
#define SECG_BPF_GUARD_H

#include "classify.h"
#include "maps.h"
#include "scratch.h"
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

/* Numbers only, so that global functions can take it. */
struct guard {
	__u32 ports;     /* line of the port table */
	__u32 count;     /* ports in it */
	__u32 id;        /* of the port; 0: none */
	__u32 direction; /* enum secg_direction */
	__u32 now;       /* tick */
	__u32 ticks_q8;  /* secg_root.ticks_q8 */
	__u32 is_l3;
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

/* First line of a port; NULL where the table has none of the id. */
__inline const struct secg_port *guard_port(const struct guard *g, __u32 id)
{
	return id < g->count ? table_line(g->ports + id * SECG_PORT_LINES) : 0;
}

/* Second line: what a packet without a session needs. */
__inline const struct secg_port_rules *guard_rules(const struct guard *g, __u32 id)
{
	return id < g->count ? table_line(g->ports + id * SECG_PORT_LINES + 1) : 0;
}

/* The port; NULL where nothing is known of it. */
__inline const struct secg_port *guard_find(struct guard *g, const struct arrival *arrival)
{
	const struct secg_root *root = root_find();
	const struct secg_port *port;

	*g = (struct guard){.direction = arrival->direction & 1, .is_l3 = arrival->is_l3};
	if (!root || !arrival->port || arrival->port >= root->port_count)
		return 0;
	TRACE(generation, root->generation);
	g->ports = root->ports;
	g->count = root->port_count;
	g->ticks_q8 = root->ticks_q8;
	g->id = arrival->port;
	port = guard_port(g, g->id);
	return port && (port->flags & (SECG_PORT_VALID | SECG_PORT_FAIL_OPEN)) ? port : 0;
}

#endif
