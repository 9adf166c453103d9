/* SPDX-License-Identifier: Apache-2.0 */
/* What an interface is, judged from what the kernel says of it. Pure. */
#include "net/net.h"

#include <net/if_arp.h>
#include <string.h>

#ifndef ARPHRD_IP6GRE
#define ARPHRD_IP6GRE 823
#endif

bool net_link_has_ethernet(const struct net_link *link)
{
	return link->type == ARPHRD_ETHER || link->type == ARPHRD_LOOPBACK;
}

bool net_link_is_guardable(const struct net_link *link)
{
	switch (link->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE: /* tun, WireGuard */
	case ARPHRD_RAWIP:
	case ARPHRD_PPP:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return true;
	default:
		return false;
	}
}

bool net_link_is_workload(const struct net_link *link)
{
	if (!strcmp(link->kind, "veth"))
		return true;
	/* The kernel calls tap and tun the same kind. */
	return !strcmp(link->kind, "tun") && link->type == ARPHRD_ETHER;
}
