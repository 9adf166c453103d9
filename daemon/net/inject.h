/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of our own sent into the network: whole frames out of an interface, or IP packets where the
 * kernel's routes lead. Opening takes CAP_NET_RAW, sending does not: opened before privileges are dropped.
 */
#ifndef SECG_NET_INJECT_H
#define SECG_NET_INJECT_H

#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"

struct inject;

/* -EPERM: CAP_NET_RAW is missing. */
int inject_open(struct inject **ret_inject);
void inject_close(struct inject *inject);
DEFINE_CLEANUP(struct inject *, inject_close);

/*
 * Sends a frame as it is, past queueing disciplines and TC programs; on an interface without Ethernet
 * header it begins with IP. `ethertype` says what it carries, in host order. Negative errno.
 */
int inject_frame(const struct inject *inject, int ifindex, uint16_t ethertype, const void *bytes,
		 size_t size);
/*
 * Sends an IP packet with its header, whatever its source, by route; to this host itself too. `ifindex` is
 * where a link-local destination is. -EAFNOSUPPORT: the kernel has no IPv6.
 */
int inject_packet(const struct inject *inject, int ifindex, const void *bytes, size_t size);

#endif
