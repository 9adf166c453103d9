/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets by NETLINK_SOCK_DIAG, the route to a peer by rtnetlink. */
#include "net/tcp.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>

#include "net/ask.h"

#define MAPPED ((addr_t)0xffff << 32) /* ::ffff:0:0/96 */

static addr_t address_of(const __be32 words[4], uint8_t family)
{
	addr_t address = 0;

	if (family == AF_INET)
		return ntohl(words[0]);
	for (int i = 0; i < 4; i++)
		address = address << 32 | ntohl(words[i]);
	return address;
}

static bool is_mapped(addr_t address)
{
	return address >> 32 == MAPPED >> 32;
}

/* ── sockets ────────────────────────────────────────────────────────────────────────────────────── */

struct listing {
	struct net_tcp *connections;
	size_t max, count;
};

static int see_socket(const struct nlmsghdr *header, void *data)
{
	const struct inet_diag_msg *message = mnl_nlmsg_get_payload(header);
	const struct inet_diag_sockid *id = &message->id;
	struct listing *listing = data;
	struct net_tcp *connection;

	if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY || listing->count++ >= listing->max)
		return MNL_CB_OK;
	connection = &listing->connections[listing->count - 1];
	*connection = (struct net_tcp){
		.family = message->idiag_family == AF_INET ? 4 : 6,
		.local = address_of(id->idiag_src, message->idiag_family),
		.peer = address_of(id->idiag_dst, message->idiag_family),
		.local_port = ntohs(id->idiag_sport),
		.peer_port = ntohs(id->idiag_dport),
		.ifindex = (int)id->idiag_if,
	};
	if (connection->family == 6 && is_mapped(connection->peer)) {
		connection->family = 4;
		connection->local = (uint32_t)connection->local;
		connection->peer = (uint32_t)connection->peer;
	}
	return MNL_CB_OK;
}

/*
 * The kernel compares ports, so that a host with a million other connections sends none of them. Each test
 * takes two operations, the second of which holds the port; a `no` of more than what is left refuses.
 */
static void put_filter(struct nlmsghdr *request, uint16_t local_port)
{
	const struct inet_diag_bc_op code[] = {
		{.code = INET_DIAG_BC_S_GE, .yes = 2 * sizeof(code[0]), .no = 5 * sizeof(code[0])},
		{.no = local_port},
		{.code = INET_DIAG_BC_S_LE, .yes = 2 * sizeof(code[0]), .no = 3 * sizeof(code[0])},
		{.no = local_port},
	};

	mnl_attr_put(request, INET_DIAG_REQ_BYTECODE, sizeof(code), code);
}

static int list_family(struct listing *listing, uint8_t family, uint16_t local_port)
{
	char buffer[NET_ASK_SIZE];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct inet_diag_req_v2 *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));

	request->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	request->nlmsg_flags = NLM_F_DUMP;
	message->sdiag_family = family;
	message->sdiag_protocol = IPPROTO_TCP;
	message->idiag_states = 1u << TCP_ESTABLISHED;
	put_filter(request, local_port);
	return net_ask(NETLINK_SOCK_DIAG, request, see_socket, listing);
}

int net_tcp_established(uint16_t local_port, struct net_tcp *ret_connections, size_t max,
			size_t *ret_count)
{
	struct listing listing = {.connections = ret_connections, .max = max};
	int r = list_family(&listing, AF_INET, local_port);

	if (r >= 0)
		r = list_family(&listing, AF_INET6, local_port);
	if (r < 0)
		return r;
	*ret_count = listing.count;
	return 0;
}

/* ── routes ─────────────────────────────────────────────────────────────────────────────────────── */

static void put_address(struct nlmsghdr *request, uint16_t type, uint8_t family, addr_t address)
{
	__be32 words[4];

	if (family == 4) {
		mnl_attr_put_u32(request, type, htonl((uint32_t)address));
		return;
	}
	for (int i = 3; i >= 0; i--, address >>= 32)
		words[i] = htonl((uint32_t)address);
	mnl_attr_put(request, type, sizeof(words), words);
}

static int see_route(const struct nlmsghdr *header, void *data)
{
	const struct nlattr *attribute;
	int *ifindex = data;

	if (header->nlmsg_type != RTM_NEWROUTE)
		return MNL_CB_OK;
	mnl_attr_for_each(attribute, header, sizeof(struct rtmsg))
	{
		if (mnl_attr_get_type(attribute) == RTA_OIF)
			*ifindex = (int)mnl_attr_get_u32(attribute);
	}
	return MNL_CB_OK;
}

int net_tcp_interface(const struct net_tcp *connection, int *ret_ifindex)
{
	char buffer[NET_ASK_SIZE];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct rtmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	uint8_t bits = connection->family == 4 ? 32 : 128;
	int ifindex = connection->ifindex;
	int r;

	if (ifindex == 0) {
		request->nlmsg_type = RTM_GETROUTE;
		message->rtm_family = connection->family == 4 ? AF_INET : AF_INET6;
		message->rtm_dst_len = bits;
		message->rtm_src_len = bits;
		put_address(request, RTA_DST, connection->family, connection->peer);
		put_address(request, RTA_SRC, connection->family, connection->local);
		r = net_ask(NETLINK_ROUTE, request, see_route, &ifindex);
		if (r < 0)
			return r;
	}
	if (ifindex == 0)
		return -ENOENT;
	*ret_ifindex = ifindex;
	return 0;
}
