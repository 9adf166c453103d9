/* SPDX-License-Identifier: Apache-2.0 */
/* Frames from their descriptions: Ethernet, tags, IP, the smallest message that each transport sends. */
#include "model/packet.h"

#include <netinet/in.h>
#include <string.h>

#include "model/checksum.h"
#include "model/l4_names.h"

#define ETHERTYPE_IPV4      0x0800
#define ETHERTYPE_IPV6      0x86dd
#define ETHERTYPE_TAG       0x8100 /* 802.1Q */
#define ETHERTYPE_OUTER_TAG 0x88a8 /* 802.1ad, for the outermost of several */

#define IPV4_HEADER_SIZE    20
#define IPV6_HEADER_SIZE    40
#define TCP_HEADER_SIZE     20
#define OTHER_PAYLOAD_SIZE  8

#define HOP_LIMIT           64
#define HOP_LIMIT_ON_LINK   255
#define PROTOCOL_VRRP       112

/* Where a transport keeps the sum of what. */
struct transport {
	size_t size;
	size_t sum_at;   /* offset of the checksum; 0: none */
	size_t sum_size; /* bytes that it covers */
	bool has_pseudo_header;
};

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static void put_address(uint8_t *at, addr_t address, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(address >> 8 * (size - 1 - i));
}

bool packet_has_icmp(uint8_t family, uint8_t protocol)
{
	return protocol == (family == 4 ? PROTOCOL_ICMP : PROTOCOL_ICMPV6);
}

/* RFC 1112 §6.4, RFC 2464 §7; the broadcast of all networks goes to everybody. */
bool packet_group_mac(uint8_t ret_mac[6], uint8_t family, addr_t dst)
{
	if (family == 6 && dst >> 120 == 0xff) {
		put16(ret_mac, 0x3333);
		put32(ret_mac + 2, (uint32_t)dst);
		return true;
	}
	if (family == 4 && (uint32_t)dst == UINT32_MAX) {
		memset(ret_mac, 0xff, 6);
		return true;
	}
	if (family == 4 && (uint32_t)dst >> 28 == 0xe) {
		put16(ret_mac, 0x0100);
		put32(ret_mac + 2, 0x5e000000 | ((uint32_t)dst & 0x7fffff));
		return true;
	}
	return false;
}

/* ── checksums ──────────────────────────────────────────────────────────────────────────────────── */

/* RFC 9260 appendix A: CRC32c, least significant byte first. */
static void put_crc32c(uint8_t *at, const uint8_t *bytes, size_t size)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	crc = ~crc;
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(crc >> 8 * i);
}

/* `at` is where the transport begins. */
static void put_checksum(uint8_t *at, const struct transport *transport,
			 const struct packet_spec *spec)
{
	size_t size = spec->family == 4 ? 4 : 16;
	uint32_t sum = checksum_add(at, transport->sum_size);
	uint8_t addresses[32];
	uint16_t folded;

	if (transport->has_pseudo_header) {
		put_address(addresses, spec->src, size);
		put_address(addresses + size, spec->dst, size);
		sum += checksum_add(addresses, 2 * size) + spec->protocol +
		       (uint32_t)transport->size;
	}
	folded = checksum_fold(sum);
	/* A zero says "none" to UDP. */
	put16(at + transport->sum_at, folded ? folded : UINT16_MAX);
}

/* ── transports ─────────────────────────────────────────────────────────────────────────────────── */

static struct transport put_tcp(uint8_t *at, const struct packet_spec *spec)
{
	put32(at + 4, 1);
	put32(at + 8, spec->tcp_flags & PACKET_TCP_ACK ? 1 : 0);
	at[12] = TCP_HEADER_SIZE / 4 << 4;
	at[13] = spec->tcp_flags;
	put16(at + 14, UINT16_MAX);
	return (struct transport){TCP_HEADER_SIZE, 16, TCP_HEADER_SIZE, true};
}

/* UDP-Lite has its coverage where UDP has the length: here, all of it (RFC 3828 §3.1). */
static struct transport put_udp(uint8_t *at)
{
	put16(at + 4, 8);
	return (struct transport){8, 6, 8, true};
}

/* The common header and an INIT chunk (RFC 9260 §3.3.2). */
static struct transport put_sctp(uint8_t *at)
{
	at[12] = 1;
	put16(at + 14, 20);
	put32(at + 16, 1);
	put32(at + 20, UINT16_MAX);
	put16(at + 24, 1);
	put16(at + 26, 1);
	put32(at + 28, 1);
	put_crc32c(at + 8, at, 32);
	return (struct transport){.size = 32};
}

/* A DCCP-Request with a long sequence number (RFC 4340 §5.1, §5.2). */
static struct transport put_dccp(uint8_t *at)
{
	at[4] = 5;
	at[8] = 1;
	at[15] = 1;
	return (struct transport){20, 6, 20, true};
}

static struct transport put_icmp(uint8_t *at, const struct packet_spec *spec)
{
	at[0] = spec->icmp_type;
	at[1] = spec->icmp_code;
	put16(at + 4, spec->icmp_id);
	return (struct transport){8, 2, 8, spec->family == 6};
}

static struct transport put_transport(uint8_t *at, const struct packet_spec *spec)
{
	if (packet_has_icmp(spec->family, spec->protocol))
		return put_icmp(at, spec);
	if (!protocol_has_ports(spec->protocol))
		return (struct transport){.size = OTHER_PAYLOAD_SIZE};
	put16(at, spec->sport);
	put16(at + 2, spec->dport);
	switch (spec->protocol) {
	case IPPROTO_TCP:
		return put_tcp(at, spec);
	case IPPROTO_SCTP:
		return put_sctp(at);
	case IPPROTO_DCCP:
		return put_dccp(at);
	default:
		return put_udp(at);
	}
}

/* ── headers ────────────────────────────────────────────────────────────────────────────────────── */

/* RFC 4861 §6, §7 and RFC 9568 §5.1.1.3: what must not have crossed a router. */
static uint8_t hop_limit(const struct packet_spec *spec)
{
	bool is_nd = spec->family == 6 && spec->protocol == PROTOCOL_ICMPV6 &&
		     spec->icmp_type >= 133 && spec->icmp_type <= 137;

	return is_nd || spec->protocol == PROTOCOL_VRRP ? HOP_LIMIT_ON_LINK : HOP_LIMIT;
}

static void put_ipv4(uint8_t *at, const struct packet_spec *spec, size_t payload)
{
	at[0] = 0x40 | IPV4_HEADER_SIZE / 4;
	put16(at + 2, (uint32_t)(IPV4_HEADER_SIZE + payload));
	put16(at + 6, 0x4000); /* do not fragment */
	at[8] = hop_limit(spec);
	at[9] = spec->protocol;
	put_address(at + 12, spec->src, 4);
	put_address(at + 16, spec->dst, 4);
	put16(at + 10, checksum_fold(checksum_add(at, IPV4_HEADER_SIZE)));
}

static void put_ipv6(uint8_t *at, const struct packet_spec *spec, size_t payload)
{
	at[0] = 0x60;
	put16(at + 4, (uint32_t)payload);
	at[6] = spec->protocol;
	at[7] = hop_limit(spec);
	put_address(at + 8, spec->src, 16);
	put_address(at + 24, spec->dst, 16);
}

static size_t put_ethernet(uint8_t *at, const struct packet_spec *spec)
{
	size_t size = 12;

	memcpy(at, spec->dst_mac, 6);
	memcpy(at + 6, spec->src_mac, 6);
	for (size_t i = 0; i < spec->vlan_count; i++, size += 4) {
		put16(at + size,
		      i == 0 && spec->vlan_count > 1 ? ETHERTYPE_OUTER_TAG : ETHERTYPE_TAG);
		put16(at + size + 2, spec->vlan[i]);
	}
	put16(at + size, spec->family == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
	return size + 2;
}

size_t packet_build(uint8_t ret_bytes[PACKET_MAX_SIZE], const struct packet_spec *spec)
{
	size_t ip = 0, header = spec->family == 4 ? IPV4_HEADER_SIZE : IPV6_HEADER_SIZE;
	struct transport transport;
	uint8_t *at;

	memset(ret_bytes, 0, PACKET_MAX_SIZE);
	if (spec->has_ethernet)
		ip = put_ethernet(ret_bytes, spec);
	at = ret_bytes + ip + header;
	transport = put_transport(at, spec);
	if (transport.sum_at)
		put_checksum(at, &transport, spec);
	if (spec->family == 4)
		put_ipv4(ret_bytes + ip, spec, transport.size);
	else
		put_ipv6(ret_bytes + ip, spec, transport.size);
	return ip + header + transport.size;
}

/* ── shortening ─────────────────────────────────────────────────────────────────────────────────── */

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* Offset and EtherType of what follows Ethernet and tags. */
static size_t find_ip(const uint8_t *bytes, bool has_ethernet, uint32_t *ret_type)
{
	size_t at = 14;

	if (!has_ethernet) {
		*ret_type = bytes[0] >> 4 == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4;
		return 0;
	}
	*ret_type = get16(bytes + 12);
	for (int i = 0; i < PACKET_MAX_TAGS; i++, at += 4) {
		if (*ret_type != ETHERTYPE_TAG && *ret_type != ETHERTYPE_OUTER_TAG)
			break;
		*ret_type = get16(bytes + at + 2);
	}
	return at;
}

/* `room` bytes of IP payload are left of `old_room`. */
static void shorten_udp(uint8_t *at, size_t old_room, size_t room)
{
	uint32_t length = get16(at + 4);

	if (length > room && length <= old_room)
		put16(at + 4, (uint32_t)room);
}

static void shorten_ip(uint8_t *at, size_t size, size_t limit, bool is_v6)
{
	size_t header = is_v6 ? IPV6_HEADER_SIZE : (at[0] & 0xf) * 4u;
	size_t end = is_v6 ? IPV6_HEADER_SIZE + get16(at + 4) : get16(at + 2);
	uint8_t protocol = is_v6 ? at[6] : at[9];
	bool is_later = !is_v6 && (get16(at + 6) & 0x1fff);

	if (end > size || end <= limit || header < IPV4_HEADER_SIZE)
		return;
	if (is_v6)
		put16(at + 4, (uint32_t)(limit - IPV6_HEADER_SIZE));
	else
		put16(at + 2, (uint32_t)limit);
	if (protocol == IPPROTO_UDP && !is_later)
		shorten_udp(at + header, end - header, limit - header);
}

size_t packet_shorten(uint8_t *bytes, size_t size, size_t limit, bool has_ethernet)
{
	uint32_t type;
	size_t ip;

	if (size <= limit)
		return size;
	ip = find_ip(bytes, has_ethernet, &type);
	if (type == ETHERTYPE_IPV4 || type == ETHERTYPE_IPV6)
		shorten_ip(bytes + ip, size - ip, limit - ip, type == ETHERTYPE_IPV6);
	return limit;
}
