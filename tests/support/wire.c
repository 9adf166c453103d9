/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for tests. */
#include "wire.h"

#include <netinet/in.h>
#include <string.h>

#define ETHERTYPE_VLAN  0x8100
#define PROTOCOL_DCCP   33
#define PROTOCOL_LITE   136
#define OPTIONS_SIZE    8 /* of the IPv6 header; IPv4 takes four bytes */
#define FRAGMENT_SIZE   8 /* of the IPv6 header; IPv4 has its own fields */
#define HEADERS_MAX     128
#define PAYLOAD_MAX     (WIRE_MAX_SIZE - HEADERS_MAX)
#define TTL             64
#define TCP_HEADER_SIZE 20

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

static uint32_t sum16(const uint8_t *bytes, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

bool wire_has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == PROTOCOL_LITE ||
	       protocol == IPPROTO_SCTP || protocol == PROTOCOL_DCCP;
}

bool wire_has_icmp(uint8_t family, uint8_t protocol)
{
	return (family == 4 && protocol == IPPROTO_ICMP) ||
	       (family == 6 && protocol == IPPROTO_ICMPV6);
}

/* Header of the transport, checksum still zero. Returns its size; *ret_sum_at is where the checksum goes,
 * 0 where there is none that covers the whole. */
static size_t put_transport(uint8_t *at, const struct wire *wire, size_t *ret_sum_at)
{
	*ret_sum_at = 0;
	if (wire_has_icmp(wire->family, wire->protocol)) {
		at[0] = wire->icmp_type;
		at[1] = wire->icmp_code;
		put16(at + 4, wire->icmp_id);
		*ret_sum_at = 2;
		return 8;
	}
	if (!wire_has_ports(wire->protocol))
		return 0;
	put16(at, wire->sport);
	put16(at + 2, wire->dport);
	switch (wire->protocol) {
	case IPPROTO_TCP:
		put32(at + 4, wire->seq);
		put32(at + 8, wire->ack);
		at[12] = TCP_HEADER_SIZE / 4 << 4;
		at[13] = wire->tcp_flags;
		put16(at + 14, UINT16_MAX);
		*ret_sum_at = 16;
		return TCP_HEADER_SIZE;
	case IPPROTO_UDP:
	case PROTOCOL_LITE:
		put16(at + 4, (uint32_t)(8 + wire->payload_size));
		*ret_sum_at = 6;
		return 8;
	default:
		return 12;
	}
}

/* `ip` is where the IP header begins, `at` where the transport does. */
static void put_checksum(uint8_t *ip, uint8_t *at, size_t size, size_t sum_at,
			 const struct wire *wire)
{
	uint32_t sum = sum16(at, size);
	uint16_t folded;

	if (wire->family == 6 || wire->protocol != IPPROTO_ICMP) {
		sum += wire->protocol + (uint32_t)size;
		sum += wire->family == 4 ? sum16(ip + 12, 8) : sum16(ip + 8, 32);
	}
	folded = fold(sum);
	put16(at + sum_at, folded ? folded : UINT16_MAX);
}

static size_t put_ipv4(uint8_t *at, const struct wire *wire, size_t payload)
{
	size_t size = wire->has_options ? 24 : 20;

	at[0] = (uint8_t)(0x40 | size / 4);
	at[1] = (uint8_t)(wire->dscp << 2);
	put16(at + 2, (uint32_t)(size + payload));
	if (wire->is_first_fragment)
		put16(at + 6, 0x2000);
	at[8] = TTL;
	at[9] = wire->protocol;
	put_address(at + 12, wire->src, 4);
	put_address(at + 16, wire->dst, 4);
	if (wire->has_options)
		memset(at + 20, 1, 4); /* no operation */
	put16(at + 10, fold(sum16(at, size)));
	return size;
}

static size_t put_ipv6(uint8_t *at, const struct wire *wire, size_t payload)
{
	size_t options = wire->has_options ? OPTIONS_SIZE : 0;
	size_t fragment = wire->is_first_fragment ? FRAGMENT_SIZE : 0;
	uint8_t behind = fragment ? IPPROTO_FRAGMENT : wire->protocol;

	put16(at, 0x6000u | (uint32_t)wire->dscp << 6);
	put16(at + 4, (uint32_t)(options + fragment + payload));
	at[6] = options ? IPPROTO_DSTOPTS : behind;
	at[7] = TTL;
	put_address(at + 8, wire->src, 16);
	put_address(at + 24, wire->dst, 16);
	if (options) {
		at[40] = behind;
		at[42] = 1; /* PadN, four bytes */
		at[43] = 4;
	}
	if (fragment) {
		at[40 + options] = wire->protocol;
		at[40 + options + 3] = 1; /* more follow */
	}
	return 40 + options + fragment;
}

static size_t put_packet(uint8_t *at, const struct wire *wire)
{
	size_t ip = wire->family == 4 ? (wire->has_options ? 24 : 20)
				      : (wire->has_options ? 40 + OPTIONS_SIZE : 40) +
						(wire->is_first_fragment ? FRAGMENT_SIZE : 0);
	size_t sum_at, size = put_transport(at + ip, wire, &sum_at);

	if (wire->payload_size)
		memcpy(at + ip + size, wire->payload, wire->payload_size);
	size += wire->payload_size;
	if (wire->family == 4)
		put_ipv4(at, wire, size);
	else
		put_ipv6(at, wire, size);
	if (sum_at)
		put_checksum(at, at + ip, size, sum_at, wire);
	return ip + size;
}

size_t wire_build(uint8_t bytes[WIRE_MAX_SIZE], const struct wire *wire)
{
	struct wire fitted = *wire;
	size_t size = 12;

	memset(bytes, 0, WIRE_MAX_SIZE);
	if (fitted.payload_size > PAYLOAD_MAX)
		fitted.payload_size = PAYLOAD_MAX;
	memcpy(bytes, wire->dst_mac, 6);
	memcpy(bytes + 6, wire->src_mac, 6);
	for (unsigned int i = 0; i < wire->tags; i++, size += 4) {
		put16(bytes + size, ETHERTYPE_VLAN);
		put16(bytes + size + 2, i ? 100 + i : wire->vlan);
	}
	put16(bytes + size, wire->family == 4   ? 0x0800
			    : wire->family == 6 ? 0x86dd
						: wire->ethertype);
	size += 2;
	if (wire->family)
		size += put_packet(bytes + size, &fitted);
	if (size < wire->min_size)
		size = wire->min_size < WIRE_MAX_SIZE ? wire->min_size : WIRE_MAX_SIZE;
	return size;
}
