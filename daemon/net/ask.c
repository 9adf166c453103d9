/* SPDX-License-Identifier: Apache-2.0 */
/* The one loop of request and answers. */
#include "net/ask.h"

#include "core/cleanup.h"

#define DUMP_SIZE 32768 /* bytes the kernel fills at most in one read of a dump */

static int converse(struct mnl_socket *socket, struct nlmsghdr *request, mnl_cb_t each, void *data)
{
	bool is_dump = request->nlmsg_flags & NLM_F_DUMP;
	unsigned int port;
	char buffer[DUMP_SIZE];
	int r = MNL_CB_OK;

	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return -errno;
	port = mnl_socket_get_portid(socket);
	do {
		ssize_t size = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

		if (size < 0)
			return -errno;
		r = mnl_cb_run(buffer, (size_t)size, request->nlmsg_seq, port, each, data);
		if (r < 0)
			return -errno;
	} while (is_dump && r > MNL_CB_STOP);
	return 0;
}

int net_ask(int bus, struct nlmsghdr *request, mnl_cb_t each, void *data)
{
	struct mnl_socket *socket = mnl_socket_open2(bus, SOCK_CLOEXEC);
	int r;

	if (!socket)
		return -errno;
	request->nlmsg_flags |= NLM_F_REQUEST;
	request->nlmsg_seq = 1;
	r = converse(socket, request, each, data);
	mnl_socket_close(socket);
	return r;
}
