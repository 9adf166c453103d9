/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 1122 §3.2.2, RFC 1812 §4.3.2.7, RFC 4443 §2.4 (e), RFC 9293 §3.5.2. */
#include "engine/answerable.h"

#include <netinet/in.h>
#include <string.h>

#define TCP_RST            0x04

#define ICMP_UNREACHABLE   3
#define ICMP_SOURCE_QUENCH 4
#define ICMP_REDIRECT      5
#define ICMP_TIME_EXCEEDED 11
#define ICMP_PARAMETER     12
#define ICMP_KNOWN_MAX     18 /* above, nobody knows whether it is an error */

#define ICMPV6_INFORMATION 128 /* errors are below */
#define ICMPV6_ND_FIRST    133 /* router solicitation … redirect */
#define ICMPV6_ND_LAST     137

#define EXTENSIONS_MAX     8

static bool is_icmp_question(uint8_t type)
{
	return type != ICMP_UNREACHABLE && type != ICMP_SOURCE_QUENCH && type != ICMP_REDIRECT &&
	       type != ICMP_TIME_EXCEEDED && type != ICMP_PARAMETER && type <= ICMP_KNOWN_MAX;
}

static bool is_icmpv6_question(uint8_t type)
{
	return type >= ICMPV6_INFORMATION && (type < ICMPV6_ND_FIRST || type > ICMPV6_ND_LAST);
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

/* One host: not this network, loopback, group, reserved, broadcast. */
static bool is_host4(const uint8_t address[4])
{
	return address[0] != 0 && address[0] != 127 && address[0] < 224;
}

static bool is_host6(const uint8_t address[16])
{
	static const uint8_t loopback[16] = {[15] = 1}, none[16];

	return address[0] != 0xff && memcmp(address, none, 16) != 0 &&
	       memcmp(address, loopback, 16) != 0;
}

/* ── fragments ──────────────────────────────────────────────────────────────────────────────────── */

static bool is_later_fragment4(const uint8_t *ip)
{
	return (ip[6] & 0x1f) || ip[7];
}

/* Walks the extension headers that are there. */
static bool is_later_fragment6(const uint8_t *ip, size_t size)
{
	uint8_t type = ip[6];
	size_t at = 40;

	for (int i = 0; i < EXTENSIONS_MAX && at + 8 <= size; i++) {
		const uint8_t *header = ip + at;

		if (type == IPPROTO_FRAGMENT)
			return header[2] || header[3] & 0xf8;
		if (type != IPPROTO_HOPOPTS && type != IPPROTO_ROUTING && type != IPPROTO_DSTOPTS &&
		    type != IPPROTO_AH)
			return false;
		at += type == IPPROTO_AH ? (header[1] + 2u) * 4 : (header[1] + 1u) * 8;
		type = header[0];
	}
	return false;
}

/* ── packets ────────────────────────────────────────────────────────────────────────────────────── */

static bool is_answerable4(const struct secg_event *event, const uint8_t *ip)
{
	if (!is_host4(ip + 12) || !is_host4(ip + 16) || is_later_fragment4(ip))
		return false;
	return event->proto != IPPROTO_ICMP || is_icmp_question(event->icmp_type);
}

static bool is_answerable6(const struct secg_event *event, const uint8_t *ip, size_t size)
{
	if (!is_host6(ip + 8) || !is_host6(ip + 24) || is_later_fragment6(ip, size))
		return false;
	return event->proto != IPPROTO_ICMPV6 || is_icmpv6_question(event->icmp_type);
}

bool answerable(const struct secg_event_reject *record, const uint8_t *ip, size_t size)
{
	const struct secg_event *event = &record->event;

	/* the lowest bit of the first byte is that of groups, in both addresses */
	if (!(event->flags & SECG_EVENT_L3) && ((record->head[0] | record->head[6]) & 1))
		return false;
	if (event->proto == IPPROTO_TCP && event->tcp_flags & TCP_RST)
		return false;
	switch (ip[0] >> 4) {
	case 4:
		return is_answerable4(event, ip);
	case 6:
		return is_answerable6(event, ip, size);
	default:
		return false;
	}
}
