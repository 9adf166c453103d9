/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What kernel programs and daemon both know about the maps: names, sizes, the unit of table memory.
 * Included by BPF programs and by userspace; needs nothing but <linux/types.h>. Layout changes bump
 * SECG_LAYOUT, which names the folder of the pins (docs/abi.md).
 */
#ifndef SECG_ABI_H
#define SECG_ABI_H

#include <linux/types.h>

#define SECG_LAYOUT        2
#define SECG_MAGIC         0x73656367u /* "secg" */

#define SECG_MAX_PORTS     4096 /* ports of one daemon; port ids are 1..SECG_MAX_PORTS-1, 0 is none */
#define SECG_MAX_COUNTERS  131072 /* rule counters; index 0 is "no rule" and never counted */
#define SECG_MAX_ENTRIES   10240  /* entries of one policy section: SECG_MAX_VECTOR_LINES * 512 */
#define SECG_MAX_ACLS      16     /* ACLs in one list of a port */
#define SECG_IFINDEX_SLOTS 65536  /* direct-mapped slots; a collision goes to the hash beside it */

/* Directions of a port, as in the API: from enters the host through the port, to leaves through it. */
enum secg_direction {
	SECG_FROM = 0,
	SECG_TO = 1,
	SECG_DIRECTIONS = 2,
};

/*
 * Time in the data path: jiffies >> SECG_TICK_SHIFT, low 32 bits. With HZ 100..1000 a tick is 80..8 ms
 * and wraps after more than a year. The daemon calibrates ticks to seconds when it starts.
 */
#define SECG_TICK_SHIFT 3

/*
 * Unit of table memory: one cache line. Compiled policies, the port table and the root live in one
 * array of lines and refer to each other by line number. The first SECG_ONES_LINES lines are all ones,
 * the vector of a dimension that tells nothing apart; no structure lies there, so in every other
 * reference 0 means "none".
 */
#define SECG_ONES_LINES 20

struct secg_line {
	__u32 w[16];
};
_Static_assert(sizeof(struct secg_line) == 64, "a line is a cache line");

/* Items of the array secg_selector, 64 bits each. */
enum secg_selector_item {
	SECG_SELECTOR_ROOT =
		0, /* line of the live struct secg_root; 0: none yet. Moved by one store */
	SECG_SELECTOR_SEED =
		1, /* seed of secg_flow_hash; random, odd, written once when the map is made */
	SECG_SELECTOR_ITEMS = 2,
};

#define SECG_IFINDEX_L3 0x1u /* secg_ifindex.flags: the device has no Ethernet header */

/* Value of secg_ifindex (slot = ifindex % SECG_IFINDEX_SLOTS) and secg_ifindex_far (key = ifindex). */
struct secg_ifindex {
	__u32 ifindex; /* 0: slot is free */
	__u16 port;    /* port id */
	__u16 flags;   /* SECG_IFINDEX_L3 */
};
_Static_assert(sizeof(struct secg_ifindex) == 8, "no holes");

/* Packets and bytes of the wire: a GSO packet counts as its segments. Host byte order. */
struct secg_counter {
	__u64 packets;
	__u64 bytes;
};
_Static_assert(sizeof(struct secg_counter) == 16, "no holes");

#endif
