/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP connections of this network namespace, and by which interface their packets go. Needs no capability.
 */
#ifndef SECG_NET_TCP_H
#define SECG_NET_TCP_H

#include "model/addrset.h"

struct net_tcp {
	uint8_t family; /* 4, 6; IPv4 mapped into IPv6 is 4 */
	addr_t local, peer;
	uint16_t local_port, peer_port; /* host order */
	int ifindex;                    /* bound to an interface; 0: by route */
};

/*
 * Established connections to a local port, at most `max` of them: *ret_count may be larger than what is
 * in `ret_connections`. -ENOENT: the kernel has no INET_DIAG.
 */
int net_tcp_established(uint16_t local_port, struct net_tcp *ret_connections, size_t max,
			size_t *ret_count);
/* Interface by which the peer is reached, and from which, by symmetry, its packets come. */
int net_tcp_interface(const struct net_tcp *connection, int *ret_ifindex);

#endif
