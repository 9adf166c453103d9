/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to rejected packets, and resets, byte by byte. */
#include "engine/answer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "engine/answerable.h"
#include "model/checksum.h"

#define MAC_SIZE       6
#define ETHERNET_SIZE  14
#define TAG_SIZE       4
#define IPV4_SIZE      20
#define IPV6_SIZE      40
#define TCP_SIZE       20
#define ICMP_SIZE      8

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd

/* An error message must fit where nobody knows the path (RFC 1812 §4.3.2.3, RFC 4443 §2.4 (c)). */
#define QUOTE_MAX_IPV4  (576 - IPV4_SIZE - ICMP_SIZE)
#define QUOTE_MAX_IPV6  (1280 - IPV6_SIZE - ICMP_SIZE)

#define HOP_LIMIT_RESET 64
#define HOP_LIMIT_ERROR 255  /* so that its receiver sees how far away it was made */
#define TOS_ERROR       0xc0 /* precedence of internetwork control: RFC 1812 §4.3.2.5 */
#define DONT_FRAGMENT   0x4000

#define TCP_FIN         0x01
#define TCP_SYN         0x02
#define TCP_RST         0x04
#define TCP_ACK         0x10

#define UNREACHABLE_V4  3
#define PROHIBITED_V4   13
#define UNREACHABLE_V6  1
#define PROHIBITED_V6   1

/* Addresses of a packet, as on the wire. */
struct ends {
	bool is_ipv6;
	const uint8_t *src, *dst;
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

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* ── layers ─────────────────────────────────────────────────────────────────────────────────────── */

/* The header in front of `payload` bytes that are in place already. Bytes of both. */
static size_t put_ip(uint8_t *at, const struct ends *ends, uint8_t protocol, uint8_t hop_limit,
		     uint8_t tos, size_t payload)
{
	if (ends->is_ipv6) {
		put32(at, 6u << 28 | (uint32_t)tos << 20);
		put16(at + 4, (uint32_t)payload);
		at[6] = protocol;
		at[7] = hop_limit;
		memcpy(at + 8, ends->src, 16);
		memcpy(at + 24, ends->dst, 16);
		return IPV6_SIZE + payload;
	}
	memset(at, 0, IPV4_SIZE);
	at[0] = 4 << 4 | IPV4_SIZE / 4;
	at[1] = tos;
	put16(at + 2, (uint32_t)(IPV4_SIZE + payload));
	put16(at + 6, DONT_FRAGMENT);
	at[8] = hop_limit;
	at[9] = protocol;
	memcpy(at + 12, ends->src, 4);
	memcpy(at + 16, ends->dst, 4);
	put16(at + 10, checksum_fold(checksum_add(at, IPV4_SIZE)));
	return IPV4_SIZE + payload;
}

static size_t ip_size(const struct ends *ends)
{
	return ends->is_ipv6 ? IPV6_SIZE : IPV4_SIZE;
}

/* Over message and pseudo header (RFC 9293 §3.1, RFC 8200 §8.1). */
static uint16_t transport_sum(const uint8_t *at, size_t size, const struct ends *ends,
			      uint8_t protocol)
{
	size_t address_size = ends->is_ipv6 ? 16 : 4;
	uint32_t sum = checksum_add(at, size) + checksum_add(ends->src, address_size) +
		       checksum_add(ends->dst, address_size);

	return checksum_fold(sum + protocol + (uint32_t)size);
}

struct reset {
	__be16 sport, dport;
	uint32_t seq, ack;
	uint8_t flags;
};

/* A whole packet at `at`. Its size. */
static size_t put_reset(uint8_t *at, const struct ends *ends, const struct reset *reset)
{
	uint8_t *tcp = at + ip_size(ends);

	memset(tcp, 0, TCP_SIZE);
	memcpy(tcp, &reset->sport, 2);
	memcpy(tcp + 2, &reset->dport, 2);
	put32(tcp + 4, reset->seq);
	put32(tcp + 8, reset->ack);
	tcp[12] = TCP_SIZE / 4 << 4;
	tcp[13] = reset->flags;
	put16(tcp + 16, transport_sum(tcp, TCP_SIZE, ends, IPPROTO_TCP));
	return put_ip(at, ends, IPPROTO_TCP, HOP_LIMIT_RESET, 0, TCP_SIZE);
}

static size_t put_error(uint8_t *at, const struct ends *ends, const uint8_t *quote, size_t size)
{
	uint8_t protocol = ends->is_ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	uint8_t *icmp = at + ip_size(ends);
	size_t max = ends->is_ipv6 ? QUOTE_MAX_IPV6 : QUOTE_MAX_IPV4;

	if (size > max)
		size = max;
	memset(icmp, 0, ICMP_SIZE);
	icmp[0] = ends->is_ipv6 ? UNREACHABLE_V6 : UNREACHABLE_V4;
	icmp[1] = ends->is_ipv6 ? PROHIBITED_V6 : PROHIBITED_V4;
	memcpy(icmp + ICMP_SIZE, quote, size);
	size += ICMP_SIZE;
	put16(icmp + 2, ends->is_ipv6 ? transport_sum(icmp, size, ends, protocol)
				      : checksum_fold(checksum_add(icmp, size)));
	return put_ip(at, ends, protocol, HOP_LIMIT_ERROR, TOS_ERROR, size);
}

/* ── rejects ────────────────────────────────────────────────────────────────────────────────────── */

/* RFC 9293 §3.5.2, group 1: the sender must find it in order. */
static struct reset reset_for(const struct secg_event_reject *record)
{
	const struct secg_event *event = &record->event;
	struct reset reset = {.sport = event->dport, .dport = event->sport};

	if (event->tcp_flags & TCP_ACK) {
		reset.seq = record->ack;
		reset.flags = TCP_RST;
		return reset;
	}
	reset.ack = record->seq + record->payload + !!(event->tcp_flags & TCP_SYN) +
		    !!(event->tcp_flags & TCP_FIN);
	reset.flags = TCP_RST | TCP_ACK;
	return reset;
}

/* Addresses swapped, tags as they were. A tag that the device keeps beside the frame is put back into it. */
static void put_link(struct answer *answer, const struct secg_event_reject *record)
{
	const struct secg_event *event = &record->event;
	size_t rest = event->l3_offset - 2 * MAC_SIZE; /* tags and EtherType */
	uint8_t *at = answer->bytes + 2 * MAC_SIZE;

	memcpy(answer->bytes, record->head + MAC_SIZE, MAC_SIZE);
	memcpy(answer->bytes + MAC_SIZE, record->head, MAC_SIZE);
	if (event->tag_type) {
		put16(at, event->tag_type);
		put16(at + 2, event->tag);
		at += TAG_SIZE;
	}
	memcpy(at, record->head + 2 * MAC_SIZE, rest);
	answer->ip_at = (size_t)(at - answer->bytes) + rest;
	answer->ethertype = (uint16_t)get16(answer->bytes + 2 * MAC_SIZE);
}

static bool has_room(const struct secg_event_reject *record)
{
	size_t link = record->event.l3_offset;

	if (record->head_size > SECG_EVENT_HEAD || link + IPV4_SIZE > record->head_size)
		return false;
	if (record->event.flags & SECG_EVENT_L3)
		return link == 0;
	return link >= ETHERNET_SIZE && link <= ETHERNET_SIZE + 2 * TAG_SIZE;
}

/* Bytes of the packet that there are; a short frame is padded behind it. */
static size_t quote_size(const struct secg_event_reject *record, const uint8_t *ip, bool is_ipv6)
{
	size_t there = (size_t)record->head_size - record->event.l3_offset;
	size_t size = is_ipv6 ? IPV6_SIZE + get16(ip + 4) : get16(ip + 2);

	return size < there ? size : there;
}

int answer_reject(struct answer *ret_answer, const struct secg_event_reject *record)
{
	const struct secg_event *event = &record->event;
	const uint8_t *ip = record->head + event->l3_offset;
	struct answer answer = {0};
	struct reset reset;
	struct ends ends;

	if (!has_room(record))
		return -EBADMSG;
	ends.is_ipv6 = ip[0] >> 4 == 6;
	if (ends.is_ipv6 && event->l3_offset + IPV6_SIZE > record->head_size)
		return -EBADMSG;
	if (!answerable(record, ip, (size_t)record->head_size - event->l3_offset))
		return -ENOENT;
	ends.src = ip + (ends.is_ipv6 ? 24 : 16);
	ends.dst = ip + (ends.is_ipv6 ? 8 : 12);
	answer.ethertype = ends.is_ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4;
	if (!(event->flags & SECG_EVENT_L3))
		put_link(&answer, record);
	answer.size = answer.ip_at;
	if (event->proto == IPPROTO_TCP) {
		reset = reset_for(record);
		answer.size += put_reset(answer.bytes + answer.ip_at, &ends, &reset);
	} else {
		answer.size += put_error(answer.bytes + answer.ip_at, &ends, ip,
					 quote_size(record, ip, ends.is_ipv6));
	}
	*ret_answer = answer;
	return 0;
}

/* ── sessions ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_zero(const uint8_t mac[MAC_SIZE])
{
	static const uint8_t zero[MAC_SIZE];

	return !memcmp(mac, zero, MAC_SIZE);
}

static int put_session_link(struct answer *answer, const struct secg_flow *flow,
			    enum secg_side side, uint16_t ethertype)
{
	if (is_zero(flow->a.mac[side]) || is_zero(flow->a.mac[!side]))
		return -ENOENT;
	memcpy(answer->bytes, flow->a.mac[side], MAC_SIZE);
	memcpy(answer->bytes + MAC_SIZE, flow->a.mac[!side], MAC_SIZE);
	put16(answer->bytes + 2 * MAC_SIZE, ethertype);
	answer->ip_at = ETHERNET_SIZE;
	return 0;
}

int answer_reset(struct answer *ret_answer, const struct secg_flow_key *key,
		 const struct secg_flow *flow, enum secg_side side, bool has_ethernet)
{
	bool is_opened_to = flow->s.state & SECG_FLOW_OPENED_TO;
	/* parity = direction XOR endpoint of the opener (include/secg/flow.h) */
	int opener = ((key->flags & SECG_KEY_PARITY) != 0) ^ is_opened_to;
	int end = side == SECG_ORIG ? opener : !opener;
	const struct ends ends = {
		.is_ipv6 = key->flags & SECG_KEY_IPV6,
		.src = (const uint8_t *)key->addr[!end],
		.dst = (const uint8_t *)key->addr[end],
	};
	const struct reset reset = {
		.sport = key->port[!end],
		.dport = key->port[end],
		.seq = flow->a.edge[side],
		.flags = TCP_RST,
	};
	struct answer answer = {0};
	int r = 0;

	if (!reset.seq)
		return -ENOENT;
	answer.ethertype = ends.is_ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4;
	if (has_ethernet)
		r = put_session_link(&answer, flow, side, answer.ethertype);
	if (r < 0)
		return r;
	answer.size = answer.ip_at + put_reset(answer.bytes + answer.ip_at, &ends, &reset);
	*ret_answer = answer;
	return 0;
}
