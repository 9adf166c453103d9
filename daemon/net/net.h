/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interfaces of this network namespace, followed through rtnetlink (libmnl). One control thread.
 */
#ifndef SECG_NET_NET_H
#define SECG_NET_NET_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/cleanup.h"

/* Its texts are lent, until the next net_dispatch or net_look. */
struct net_link {
	int ifindex;
	char name[IF_NAMESIZE];
	char kind[16];     /* IFLA_INFO_KIND; "" where the kernel names none (NICs) */
	uint16_t type;     /* ARPHRD_* */
	uint8_t mac[6];    /* zero without one */
	uint32_t mtu;      /* bytes */
	uint32_t flags;    /* IFF_* */
	int master;        /* ifindex; 0 none */
	const char *alias; /* "" without one */
	const char *const *altnames;
	size_t altname_count;
	uint64_t
		version; /* another one whenever something of it, or the name of its master, changes */
};

/* Frames start with an Ethernet header. */
bool net_link_has_ethernet(const struct net_link *link);
/* The data path can judge its frames: Ethernet or IP packets, not CAN, monitors and the like. */
bool net_link_is_guardable(const struct net_link *link);
/* tap or veth (workload side of the host); NIC, bond, bridge, tunnel: false. */
bool net_link_is_workload(const struct net_link *link);

struct nlmsghdr;
/* What a RTM_NEWLINK message says of its link, but for alias, alternative names and version. */
void net_link_parse(struct net_link *ret_link, const struct nlmsghdr *header);

enum net_event {
	NET_LINK_ADDED,
	NET_LINK_CHANGED, /* renamed, other kind, MAC, MTU, flags, master, alias or alternative names */
	NET_LINK_REMOVED, /* deleted or moved to another namespace */
};

struct net;

typedef void (*net_callback)(enum net_event event, const struct net_link *link, void *data);

/* Opens the socket and reads the links that are there (NET_LINK_ADDED for each before it returns). */
int net_open(struct net **ret_net, net_callback callback, void *data);
void net_close(struct net *net);
DEFINE_CLEANUP(struct net *, net_close);
/* Readable when net_dispatch has work. */
int net_fd(const struct net *net);
/* Reads what is there and calls back. After an overrun (ENOBUFS) it reads all links anew and reports the
 * differences. Negative errno when the socket is broken for good. */
int net_dispatch(struct net *net);
/* Reads all links anew and reports the differences: the kernel does not tell when the alias or an
 * alternative name of a link that is down changes. Negative errno: to be tried again. */
int net_look(struct net *net);
/* Lend; NULL. Valid until the next net_dispatch or net_look. */
const struct net_link *net_find_name(const struct net *net, const char *name);
const struct net_link *net_find_ifindex(const struct net *net, int ifindex);
/* All of them, by ifindex. */
size_t net_count(const struct net *net);
const struct net_link *net_at(const struct net *net, size_t index);

#endif
