/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet, tags, IP, ports. */
#include "packet_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

#define ETHERTYPE_IPV4  0x0800
#define ETHERTYPE_ARP   0x0806
#define ETHERTYPE_IPV6  0x86dd
#define ETHERTYPE_TAG   0x8100
#define ETHERTYPE_QINQ  0x88a8
#define FLAGS_TEXT_SIZE 40

static const struct {
	uint8_t number;
	bool has_ports;
	const char *name;
} protocols[] = {
	{6, true, "tcp"},   {17, true, "udp"},  {136, true, "udplite"}, {132, true, "sctp"},
	{33, true, "dccp"}, {1, false, "icmp"}, {58, false, "icmpv6"},  {2, false, "igmp"},
	{47, false, "gre"}, {50, false, "esp"}, {51, false, "ah"},      {112, false, "vrrp"},
};
#define PROTOCOLS (sizeof(protocols) / sizeof(protocols[0]))

struct view {
	const uint8_t *at;
	size_t size;
};

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static struct view skip(struct view view, size_t size)
{
	if (size > view.size)
		size = view.size;
	return (struct view){view.at + size, view.size - size};
}

static void flags_text(char text[FLAGS_TEXT_SIZE], uint8_t flags)
{
	static const char *const names[] = {"fin", "syn", "rst", "psh", "ack", "urg"};
	size_t size = 0;

	text[0] = '\0';
	for (int i = 0; i < 6; i++)
		if (flags & 1 << i)
			size += (size_t)snprintf(text + size, FLAGS_TEXT_SIZE - size, "%s%s",
						 size ? "," : " ", names[i]);
}

/* What an ICMP message or a TCP segment shows beside its addresses. */
static void detail_text(char text[FLAGS_TEXT_SIZE], uint8_t protocol, struct view l4)
{
	text[0] = '\0';
	if (protocol == 6 && l4.size >= 14)
		flags_text(text, l4.at[13]);
	else if ((protocol == 1 || protocol == 58) && l4.size >= 2)
		snprintf(text, FLAGS_TEXT_SIZE, " type %u code %u", l4.at[0], l4.at[1]);
}

static char *endpoint(int family, const uint8_t *address, const uint8_t *port)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(family, address, text, sizeof(text));
	if (!port)
		return memory_copy(text);
	return family == AF_INET6 ? memory_format("[%s]:%u", text, get16(port))
				  : memory_format("%s:%u", text, get16(port));
}

static char *flow_text(int family, uint8_t protocol, const uint8_t *addresses, struct view l4)
{
	const uint8_t *dst = addresses + (family == AF_INET6 ? 16 : 4);
	_cleanup_free_ char *name = memory_format("protocol %u", protocol);
	_cleanup_free_ char *from = NULL;
	_cleanup_free_ char *to = NULL;
	char detail[FLAGS_TEXT_SIZE];
	bool has_ports = false;

	for (size_t i = 0; i < PROTOCOLS; i++) {
		if (protocols[i].number != protocol)
			continue;
		free(name);
		name = memory_copy(protocols[i].name);
		has_ports = protocols[i].has_ports && l4.size >= 4;
	}
	detail_text(detail, protocol, l4);
	from = endpoint(family, addresses, has_ports ? l4.at : NULL);
	to = endpoint(family, dst, has_ports ? l4.at + 2 : NULL);
	return memory_format("%s %s > %s%s", name, from, to, detail);
}

static char *ip_text(struct view ip, bool is_v6)
{
	if (is_v6)
		return ip.size < 40 ? memory_copy("IPv6, cut off")
				    : flow_text(AF_INET6, ip.at[6], ip.at + 8, skip(ip, 40));
	if (ip.size < 20)
		return memory_copy("IPv4, cut off");
	if (get16(ip.at + 6) & 0x1fff) {
		_cleanup_free_ char *text =
			flow_text(AF_INET, ip.at[9], ip.at + 12, (struct view){NULL, 0});

		return memory_format("%s, later fragment", text);
	}
	return flow_text(AF_INET, ip.at[9], ip.at + 12, skip(ip, (ip.at[0] & 0xf) * 4u));
}

char *packet_text(const uint8_t *bytes, size_t size, bool is_raw)
{
	struct view view = {bytes, size};
	uint32_t type;

	if (is_raw)
		return size ? ip_text(view, bytes[0] >> 4 == 6) : memory_copy("empty");
	if (size < 14)
		return memory_format("%zu bytes", size);
	type = get16(bytes + 12);
	view = skip(view, 14);
	while ((type == ETHERTYPE_TAG || type == ETHERTYPE_QINQ) && view.size >= 4) {
		type = get16(view.at + 2);
		view = skip(view, 4);
	}
	if (type == ETHERTYPE_IPV4 || type == ETHERTYPE_IPV6)
		return ip_text(view, type == ETHERTYPE_IPV6);
	if (type == ETHERTYPE_ARP)
		return memory_copy("arp");
	return memory_format("EtherType 0x%04x", type);
}
