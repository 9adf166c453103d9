/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to rejected packets against what scapy makes of the same descriptions: MAC 02:00:00:00:00:0a,
 * 10.0.0.1 or 2001:db8::1, port 1234 sends to ...0b, .2, 443 or 53. acl/42
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/cleanup.h"
#include "engine/answer.h"

/* clang-format off */
/* Ether/IP/TCP(flags="S", seq=0xfffffffe) */
#define SYN4 \
	"02000000000b02000000000a08004500002800070000400666c70a0000010a00000204d201bbfffffffe0000" \
	"00005002200075540000"

/* RST, ACK; ack = seq + 1 */
#define SYN4_ANSWER \
	"02000000000a02000000000b08004500002800004000400626ce0a0000020a00000101bb04d200000000ffff" \
	"ffff5014000095410000"

/* Ether/IP/TCP(flags="PA", seq=1000, ack=5000)/"hello" */
#define DATA4 \
	"02000000000b02000000000a08004500002d00070000400666c20a0000010a00000204d201bb000003e80000" \
	"13885018200019f6000068656c6c6f"

/* RST; seq = ack */
#define DATA4_ANSWER \
	"02000000000a02000000000b08004500002800004000400626ce0a0000020a00000101bb04d2000013880000" \
	"00005004000081c90000"

/* Ether/IPv6/TCP(flags="SF", seq=1000)/"hello" */
#define SYN_FIN6 \
	"02000000000b02000000000a86dd600000000019064020010db800000000000000000000000120010db80000" \
	"0000000000000000000204d201bb000003e80000000050032000e620000068656c6c6f"

/* ack = seq + 5 + SYN + FIN */
#define SYN_FIN6_ANSWER \
	"02000000000a02000000000b86dd600000000014064020010db800000000000000000000000220010db80000" \
	"0000000000000000000101bb04d200000000000003ef5014000049e00000"

/* Ether/IP/UDP/"ab", padded to 60 bytes */
#define UDP4 \
	"02000000000b02000000000a08004500001e00070000401166c60a0000010a00000204d20035000a856e6162" \
	"00000000000000000000000000000000"

/* ICMP(type=3, code=13) about the packet, not its padding */
#define UDP4_ANSWER \
	"02000000000a02000000000b080045c0003a00004000ff0167000a0000020a000001030d1111000000004500" \
	"001e00070000401166c60a0000010a00000204d20035000a856e6162"

/* Ether/IPv6/UDP/"ab" */
#define UDP6 \
	"02000000000b02000000000a86dd60000000000a114020010db800000000000000000000000120010db80000" \
	"0000000000000000000204d20035000a3dfc6162"

/* ICMPv6 type 1 code 1 */
#define UDP6_ANSWER \
	"02000000000a02000000000b86dd6c000000003a3aff20010db800000000000000000000000220010db80000" \
	"00000000000000000001010131e60000000060000000000a114020010db80000000000000000000000012001" \
	"0db800000000000000000000000204d20035000a3dfc6162"

/* Ether/Dot1AD(vlan=100, prio=3)/Dot1Q(vlan=7)/SYN4 */
#define TAGGED4 \
	"02000000000b02000000000a88a860648100000708004500002800070000400666c70a0000010a00000204d2" \
	"01bbfffffffe000000005002200075540000"

/* without the outer tag */
#define INNER4 \
	"02000000000b02000000000a8100000708004500002800070000400666c70a0000010a00000204d201bbfffffffe" \
	"000000005002200075540000"

/* the same tags */
#define TAGGED4_ANSWER \
	"02000000000a02000000000b88a860648100000708004500002800004000400626ce0a0000020a00000101bb" \
	"04d200000000ffffffff5014000095410000"

/* SYN4 with VLAN 9 beside the frame */
#define ASIDE4_ANSWER \
	"02000000000a02000000000b8100000908004500002800004000400626ce0a0000020a00000101bb04d20000" \
	"0000ffffffff5014000095410000"

/* Ether/IP(options=NOPs)/ICMP echo request */
#define PING4 \
	"02000000000b02000000000a08004600002000070000400163d20a0000010a000002010101010800f7f90005" \
	"0001"

/* ICMP(type=3, code=13), the options quoted */
#define PING4_ANSWER \
	"02000000000a02000000000b080045c0003c00004000ff0166fe0a0000020a000001030dfcf2000000004600" \
	"002000070000400163d20a0000010a000002010101010800f7f900050001"

/* Ether/IP/UDP/"x" * 1000, the first 256 bytes */
#define BIG4_HEAD \
	"02000000000b02000000000a08004500040400070000401162e00a0000010a00000204d2003503f093b97878" \
	"7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878" \
	"7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878" \
	"7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878" \
	"7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878" \
	"787878787878787878787878787878787878787878787878787878787878787878787878"

/* ICMP about what there is of it */
#define BIG4_ANSWER \
	"02000000000a02000000000b080045c0010e00004000ff01662c0a0000020a000001030d05e8000000004500" \
	"040400070000401162e00a0000010a00000204d2003503f093b9787878787878787878787878787878787878" \
	"7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878" \
	"7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878" \
	"7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878" \
	"7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878" \
	"7878787878787878787878787878787878787878"

/* IP(10.0.0.2 > 10.0.0.1)/TCP(443 > 1234, "R", seq=5000) */
#define RESET4 \
	"02000000000a02000000000b08004500002800004000400626ce0a0000020a00000101bb04d2000013880000" \
	"00005004000081c90000"

/* IP(10.0.0.1 > 10.0.0.2)/TCP(1234 > 443, "R", seq=1005) */
#define RESET4_OTHER \
	"02000000000b02000000000a08004500002800004000400626ce0a0000010a00000204d201bb000003ed0000" \
	"00005004000091640000"

/* IPv6(2001:db8::2 > 2001:db8::1)/TCP(443 > 1234, "R", seq=5000), no Ethernet */
#define RESET6 \
	"600000000014064020010db800000000000000000000000220010db800000000000000000000000101bb04d2" \
	"0000138800000000500400003a570000"

/* clang-format on */

static size_t unhex(uint8_t *ret_bytes, const char *hex)
{
	size_t size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++)
		assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &ret_bytes[i]), 1);
	return size;
}

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
	return get16(at) << 16 | get16(at + 2);
}

/* What the data path notes of the transport. */
static void note_l4(struct secg_event_reject *record, const uint8_t *l4, size_t size)
{
	struct secg_event *event = &record->event;

	memcpy(&event->sport, l4, 2);
	memcpy(&event->dport, l4 + 2, 2);
	if (event->proto == IPPROTO_TCP) {
		event->tcp_flags = l4[13];
		record->seq = get32(l4 + 4);
		record->ack = get32(l4 + 8);
		record->payload = (uint32_t)(size - (l4[12] >> 4) * 4u);
	}
	if (event->proto == IPPROTO_ICMP || event->proto == IPPROTO_ICMPV6) {
		event->icmp_type = l4[0];
		event->icmp_code = l4[1];
	}
}

/* The record of a frame; at 0 the network header, where there is no Ethernet. */
static struct secg_event_reject record_of(const char *hex, bool is_l3)
{
	struct secg_event_reject record = {0};
	struct secg_event *event = &record.event;
	const uint8_t *ip;
	size_t header;

	record.head_size = (uint16_t)unhex(record.head, hex);
	event->flags = is_l3 ? SECG_EVENT_L3 : 0;
	if (!is_l3) {
		event->l3_offset = 14;
		while (get16(record.head + event->l3_offset - 2) == 0x8100 ||
		       get16(record.head + event->l3_offset - 2) == 0x88a8)
			event->l3_offset += 4;
	}
	ip = record.head + event->l3_offset;
	event->proto = ip[0] >> 4 == 6 ? ip[6] : ip[9];
	header = ip[0] >> 4 == 6 ? 40 : (ip[0] & 15u) * 4;
	note_l4(&record, ip + header,
		(ip[0] >> 4 == 6 ? 40 + get16(ip + 4) : get16(ip + 2)) - header);
	return record;
}

static void assert_answer(const struct answer *answer, const char *hex)
{
	uint8_t expected[ANSWER_MAX_SIZE];
	size_t size = unhex(expected, hex);

	assert_int_equal(answer->size, size);
	assert_memory_equal(answer->bytes, expected, size);
}

static void assert_answered(const char *packet, const char *expected)
{
	struct secg_event_reject record = record_of(packet, false);
	struct answer answer;

	assert_int_equal(answer_reject(&answer, &record), 0);
	assert_answer(&answer, expected);
}

/* acl/42 */
static void test_a_tcp_packet_gets_a_reset_with_the_right_numbers(void **state)
{
	(void)state;
	assert_answered(SYN4, SYN4_ANSWER);
	assert_answered(DATA4, DATA4_ANSWER);
	assert_answered(SYN_FIN6, SYN_FIN6_ANSWER);
}

static void test_another_packet_gets_an_icmp_error_that_quotes_it(void **state)
{
	(void)state;
	assert_answered(UDP4, UDP4_ANSWER);
	assert_answered(UDP6, UDP6_ANSWER);
	assert_answered(PING4, PING4_ANSWER);
	assert_answered(BIG4_HEAD, BIG4_ANSWER);
}

static void test_tags_are_kept(void **state)
{
	struct secg_event_reject record = record_of(SYN4, false);
	struct answer answer;

	(void)state;
	assert_answered(TAGGED4, TAGGED4_ANSWER);
	/* one that the device keeps beside the frame goes back in front */
	record.event.tag_type = 0x8100;
	record.event.tag = 9;
	assert_int_equal(answer_reject(&answer, &record), 0);
	assert_answer(&answer, ASIDE4_ANSWER);
	assert_int_equal(answer.ethertype, 0x8100);
	/* whatever there is in the frame */
	record = record_of(INNER4, false);
	record.event.tag_type = 0x88a8;
	record.event.tag = 3 << 13 | 100;
	assert_int_equal(answer_reject(&answer, &record), 0);
	assert_answer(&answer, TAGGED4_ANSWER);
	assert_int_equal(answer.ethertype, 0x88a8);
}

static void test_a_device_without_ethernet_gets_ip_alone(void **state)
{
	struct secg_event_reject record = record_of(SYN4 + 28, true);
	struct answer answer;

	(void)state;
	assert_int_equal(answer_reject(&answer, &record), 0);
	assert_answer(&answer, SYN4_ANSWER + 28);
	assert_int_equal(answer.ethertype, 0x0800);
	record = record_of(SYN_FIN6 + 28, true);
	assert_int_equal(answer_reject(&answer, &record), 0);
	assert_answer(&answer, SYN_FIN6_ANSWER + 28);
	assert_int_equal(answer.ethertype, 0x86dd);
}

/* ── what is not answered ───────────────────────────────────────────────────────────────────────── */

static void assert_not_answered(const struct secg_event_reject *record)
{
	struct answer answer;

	assert_int_equal(answer_reject(&answer, record), -ENOENT);
}

static void assert_silent_with(const char *packet, size_t at, uint8_t value)
{
	struct secg_event_reject record = record_of(packet, false);
	struct answer answer;

	assert_int_equal(answer_reject(&answer, &record), 0);
	record.head[at] = value;
	assert_not_answered(&record);
}

/* acl/42, acl/49 */
static void test_no_answer_to_an_answer(void **state)
{
	static const uint8_t errors4[] = {3, 4, 5, 11, 12, 19, 255};
	static const uint8_t errors6[] = {1, 2, 3, 4, 127, 133, 134, 135, 136, 137};
	struct secg_event_reject record;
	struct answer answer;

	(void)state;
	record = record_of(SYN4_ANSWER, false);
	assert_not_answered(&record);
	record = record_of(UDP4_ANSWER, false);
	assert_not_answered(&record);
	record = record_of(UDP6_ANSWER, false);
	assert_not_answered(&record);
	record = record_of(PING4, false);
	for (size_t i = 0; i < sizeof(errors4); i++) {
		record.event.icmp_type = errors4[i];
		assert_not_answered(&record);
	}
	record = record_of(UDP6_ANSWER, false);
	for (size_t i = 0; i < sizeof(errors6); i++) {
		record.event.icmp_type = errors6[i];
		assert_not_answered(&record);
	}
	record.event.icmp_type = 128;
	assert_int_equal(answer_reject(&answer, &record), 0);
	record.event.icmp_type = 138;
	assert_int_equal(answer_reject(&answer, &record), 0);
}

static void test_no_answer_to_or_from_a_group(void **state)
{
	struct secg_event_reject record;

	(void)state;
	assert_silent_with(SYN4, 0, 0x01);       /* to a group of the link */
	assert_silent_with(SYN4, 6, 0x01);       /* from one */
	assert_silent_with(SYN4, 14 + 12, 224);  /* from a group */
	assert_silent_with(SYN4, 14 + 12, 0);    /* from nobody */
	assert_silent_with(SYN4, 14 + 12, 127);  /* from the sender itself */
	assert_silent_with(SYN4, 14 + 12, 255);  /* from everybody */
	assert_silent_with(SYN4, 14 + 16, 239);  /* to a group */
	assert_silent_with(SYN4, 14 + 16, 255);  /* to everybody */
	assert_silent_with(UDP6, 14 + 24, 0xff); /* to a group */
	assert_silent_with(UDP6, 14 + 8, 0xff);  /* from one */
	record = record_of(UDP6, false);
	memset(record.head + 14 + 8, 0, 16);
	assert_not_answered(&record);
}

static void test_no_answer_to_a_later_fragment(void **state)
{
	static const uint8_t extensions[] = {
		44, 0, 0, 0, 0, 0, 0, 0, /* hop-by-hop, then a fragment */
		17, 0, 0, 8, 0, 0, 0, 1};
	struct secg_event_reject record = record_of(UDP6, false);
	struct answer answer;

	(void)state;
	assert_silent_with(UDP4, 14 + 7, 1);
	assert_silent_with(UDP4, 14 + 6, 0x01);
	memcpy(record.head + 54, extensions, sizeof(extensions));
	record.head[14 + 6] = 0;
	record.head_size = 54 + sizeof(extensions);
	assert_not_answered(&record);
	record.head[54 + 8 + 2] = 1;
	record.head[54 + 8 + 3] = 0;
	assert_not_answered(&record);
	record.head[54 + 8 + 2] = 0;
	record.head[54 + 8 + 3] = 1; /* the first: more follow, offset 0 */
	assert_int_equal(answer_reject(&answer, &record), 0);
}

static void test_a_record_that_contradicts_itself_is_refused(void **state)
{
	struct secg_event_reject record = record_of(SYN4, false);
	struct answer answer;

	(void)state;
	record.head_size = SECG_EVENT_HEAD + 1;
	assert_int_equal(answer_reject(&answer, &record), -EBADMSG);
	record = record_of(SYN4, false);
	record.event.l3_offset = 40;
	assert_int_equal(answer_reject(&answer, &record), -EBADMSG);
	record = record_of(SYN4, false);
	record.head_size = 33;
	assert_int_equal(answer_reject(&answer, &record), -EBADMSG);
	record = record_of(UDP6, false);
	record.head_size = 53;
	assert_int_equal(answer_reject(&answer, &record), -EBADMSG);
	record = record_of(SYN4, false);
	record.head[14] = 0x55; /* no IP */
	assert_int_equal(answer_reject(&answer, &record), -ENOENT);
}

/* ── sessions ───────────────────────────────────────────────────────────────────────────────────── */

/* 10.0.0.1:1234 is the lower end and opened it in direction from. */
static void make_session(struct secg_flow_key *key, struct secg_flow *flow, bool is_ipv6)
{
	*key = (struct secg_flow_key){.proto = IPPROTO_TCP,
				      .port = {htons(1234), htons(443)},
				      .flags = is_ipv6 ? SECG_KEY_IPV6 : 0};
	for (int end = 0; end < 2; end++) {
		key->addr[end][0] = htonl(is_ipv6 ? 0x20010db8 : 0x0a000001 + (uint32_t)end);
		if (is_ipv6)
			key->addr[end][3] = htonl(1 + (uint32_t)end);
	}
	*flow = (struct secg_flow){
		.s.state = SECG_FLOW_ESTABLISHED,
		.a.edge = {[SECG_ORIG] = 5000, [SECG_REPLY] = 1005},
		.a.mac = {
			[SECG_ORIG] = {2, 0, 0, 0, 0, 0x0a}, [SECG_REPLY] = {2, 0, 0, 0, 0, 0x0b}}};
}

/* acl/25 */
static void test_both_ends_of_a_session_are_reset(void **state)
{
	struct secg_flow_key key;
	struct secg_flow flow;
	struct answer answer;

	(void)state;
	make_session(&key, &flow, false);
	assert_int_equal(answer_reset(&answer, &key, &flow, SECG_ORIG, true), 0);
	assert_answer(&answer, RESET4);
	assert_int_equal(answer_reset(&answer, &key, &flow, SECG_REPLY, true), 0);
	assert_answer(&answer, RESET4_OTHER);
	make_session(&key, &flow, true);
	assert_int_equal(answer_reset(&answer, &key, &flow, SECG_ORIG, false), 0);
	assert_answer(&answer, RESET6);
	assert_int_equal(answer.ip_at, 0);
	/* the same flow, opened by the same end in the other direction */
	make_session(&key, &flow, false);
	flow.s.state |= SECG_FLOW_OPENED_TO;
	key.flags |= SECG_KEY_PARITY;
	assert_int_equal(answer_reset(&answer, &key, &flow, SECG_ORIG, true), 0);
	assert_answer(&answer, RESET4);
	/* opened by the higher end: the sides change places */
	key.flags &= (uint8_t)~SECG_KEY_PARITY;
	flow.a.edge[SECG_ORIG] = 1005;
	flow.a.edge[SECG_REPLY] = 5000;
	memcpy(flow.a.mac[SECG_ORIG], (uint8_t[]){2, 0, 0, 0, 0, 0x0b}, 6);
	memcpy(flow.a.mac[SECG_REPLY], (uint8_t[]){2, 0, 0, 0, 0, 0x0a}, 6);
	assert_int_equal(answer_reset(&answer, &key, &flow, SECG_ORIG, true), 0);
	assert_answer(&answer, RESET4_OTHER);
}

static void test_an_end_that_was_not_heard_is_not_reset(void **state)
{
	struct secg_flow_key key;
	struct secg_flow flow;
	struct answer answer;

	(void)state;
	make_session(&key, &flow, false);
	flow.a.edge[SECG_ORIG] = 0;
	assert_int_equal(answer_reset(&answer, &key, &flow, SECG_ORIG, true), -ENOENT);
	make_session(&key, &flow, false);
	memset(flow.a.mac[SECG_REPLY], 0, 6);
	assert_int_equal(answer_reset(&answer, &key, &flow, SECG_ORIG, true), -ENOENT);
	assert_int_equal(answer_reset(&answer, &key, &flow, SECG_ORIG, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_tcp_packet_gets_a_reset_with_the_right_numbers),
		cmocka_unit_test(test_another_packet_gets_an_icmp_error_that_quotes_it),
		cmocka_unit_test(test_tags_are_kept),
		cmocka_unit_test(test_a_device_without_ethernet_gets_ip_alone),
		cmocka_unit_test(test_no_answer_to_an_answer),
		cmocka_unit_test(test_no_answer_to_or_from_a_group),
		cmocka_unit_test(test_no_answer_to_a_later_fragment),
		cmocka_unit_test(test_a_record_that_contradicts_itself_is_refused),
		cmocka_unit_test(test_both_ends_of_a_session_are_reset),
		cmocka_unit_test(test_an_end_that_was_not_heard_is_not_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
