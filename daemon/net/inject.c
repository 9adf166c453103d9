/* SPDX-License-Identifier: Apache-2.0 */
/* A packet socket and two raw ones, which only send. */
#include "net/inject.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#ifndef IPV6_HDRINCL
#define IPV6_HDRINCL 36 /* linux/in6.h */
#endif

struct inject {
	int frames; /* AF_PACKET */
	int ipv4;
	int ipv6; /* -1: none */
};

static int open_socket(int family, int protocol)
{
	int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	return fd < 0 ? -errno : fd;
}

static int set(int fd, int level, int option)
{
	static const int on = 1;

	return setsockopt(fd, level, option, &on, sizeof(on)) < 0 ? -errno : 0;
}

int inject_open(struct inject **ret_inject)
{
	_cleanup_(inject_closep) struct inject *inject = calloc(1, sizeof(*inject));
	int r;

	if (!inject)
		return -ENOMEM;
	inject->ipv4 = inject->ipv6 = -1;
	/* protocol 0: it receives nothing */
	inject->frames = open_socket(AF_PACKET, 0);
	if (inject->frames < 0)
		return inject->frames;
	r = set(inject->frames, SOL_PACKET, PACKET_QDISC_BYPASS);
	if (r < 0)
		return r;
	/* IPPROTO_RAW: the header is ours */
	inject->ipv4 = open_socket(AF_INET, IPPROTO_RAW);
	if (inject->ipv4 < 0)
		return inject->ipv4;
	inject->ipv6 = open_socket(AF_INET6, IPPROTO_RAW);
	if (inject->ipv6 < 0 && inject->ipv6 != -EAFNOSUPPORT)
		return inject->ipv6;
	r = inject->ipv6 < 0 ? 0 : set(inject->ipv6, IPPROTO_IPV6, IPV6_HDRINCL);
	if (r < 0)
		return r;
	*ret_inject = TAKE_PTR(inject);
	return 0;
}

void inject_close(struct inject *inject)
{
	closep(&inject->frames);
	closep(&inject->ipv4);
	closep(&inject->ipv6);
	free(inject);
}

static int send_to(int fd, const void *bytes, size_t size, const void *address, size_t address_size)
{
	ssize_t sent = sendto(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, address,
			      (socklen_t)address_size);

	if (sent < 0)
		return -errno;
	return (size_t)sent == size ? 0 : -EIO;
}

int inject_frame(const struct inject *inject, int ifindex, uint16_t ethertype, const void *bytes,
		 size_t size)
{
	const struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ethertype),
		.sll_ifindex = ifindex,
	};

	return send_to(inject->frames, bytes, size, &to, sizeof(to));
}

int inject_packet(const struct inject *inject, int ifindex, const void *bytes, size_t size)
{
	const uint8_t *header = bytes;
	struct sockaddr_in to4 = {.sin_family = AF_INET};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6};

	if (header[0] >> 4 == 4) {
		memcpy(&to4.sin_addr, header + 16, sizeof(to4.sin_addr));
		return send_to(inject->ipv4, bytes, size, &to4, sizeof(to4));
	}
	if (inject->ipv6 < 0)
		return -EAFNOSUPPORT;
	memcpy(&to6.sin6_addr, header + 24, sizeof(to6.sin6_addr));
	if (IN6_IS_ADDR_LINKLOCAL(&to6.sin6_addr))
		to6.sin6_scope_id = (uint32_t)ifindex;
	return send_to(inject->ipv6, bytes, size, &to6, sizeof(to6));
}
