/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that can be asked of the interfaces of this network namespace, at one moment: what stands behind
 * them, what the hardware does by itself. Slow next to net.h; for doctor. Needs no capability.
 */
#ifndef SECG_NET_DEVICE_H
#define SECG_NET_DEVICE_H

#include "net/net.h"

struct net_device {
	struct net_link link;
	int lower; /* ifindex of the device under a VLAN, macvlan …; 0: none in this namespace */
	bool is_passthru;  /* macvlan or macvtap in mode passthru */
	bool has_switch;   /* port of a hardware switch */
	uint32_t vf_count; /* virtual functions that are switched on */
	uint32_t xdp_id;   /* XDP program; 0: none */
};

struct net_devices {
	struct net_device *items; /* by ifindex, ascending */
	size_t count;
};

int net_devices_read(struct net_devices *ret_devices);
void net_devices_fini(struct net_devices *devices);
/* Lends; NULL. */
const struct net_device *net_devices_find(const struct net_devices *devices, int ifindex);

/* What the driver or the hardware does to packets, as far as it matters to hooks. */
#define NET_OFFLOADS(X)                            \
	X(rxvlan, "rx-vlan-hw-parse", "rxvlan")    \
	X(lro, "rx-lro", "lro")                    \
	X(gro, "rx-gro", "gro")                    \
	X(gro_hw, "rx-gro-hw", "rx-gro-hw")        \
	X(tso, "tx-tcp-segmentation", "tso")       \
	X(gso, "tx-generic-segmentation", "gso")   \
	X(hw_tc, "hw-tc-offload", "hw-tc-offload") \
	X(l2_forward, "l2-fwd-offload", "l2-fwd-offload")

struct net_offloads {
#define NET_OFFLOAD_FIELD(field, kernel, ethtool) bool field;
	NET_OFFLOADS(NET_OFFLOAD_FIELD)
#undef NET_OFFLOAD_FIELD
};

/* -EOPNOTSUPP and the like: the driver does not tell. */
int net_offloads_read(struct net_offloads *ret_offloads, const char *interface);

#endif
