/* SPDX-License-Identifier: Apache-2.0 */
/* Packets made from descriptions, shortened, and asked for in a trace request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/cleanup.h"
#include "model/packet.h"
#include "model/trace_request.h"

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* RFC 1071: over header and checksum it is all ones. */
static uint32_t sum(const uint8_t *bytes, size_t size, uint32_t start)
{
	for (size_t i = 0; i < size; i++)
		start += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (start >> 16)
		start = (start & 0xffff) + (start >> 16);
	return start;
}

static struct packet_spec spec_of(uint8_t family, uint8_t protocol)
{
	return (struct packet_spec){
		.has_ethernet = true,
		.src_mac = {2, 0, 0, 0, 0, 1},
		.dst_mac = {2, 0, 0, 0, 0, 2},
		.family = family,
		.src = family == 4 ? 0x0a000001 : (addr_t)0x20010db8 << 96 | 1,
		.dst = family == 4 ? 0x0a0000fe : (addr_t)0x20010db8 << 96 | 0xfffe,
		.protocol = protocol,
		.sport = 1234,
		.dport = 443,
		.tcp_flags = PACKET_TCP_SYN,
		.icmp_type = 8,
		.icmp_id = 7,
	};
}

static void test_lengths_and_checksums(void **state)
{
	static const uint8_t protocols[] = {6, 17, 136, 33, 1, 58, 132, 47, 112};
	uint8_t bytes[PACKET_MAX_SIZE];

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(protocols); i++) {
		uint8_t family = i % 2 ? 6 : 4, protocol = protocols[i / 2];
		struct packet_spec spec = spec_of(family, protocol);
		size_t size = packet_build(bytes, &spec), header = family == 4 ? 20 : 40;
		const uint8_t *ip = bytes + 14, *l4 = ip + header;
		uint32_t room = (uint32_t)(size - 14 - header), pseudo;

		assert_int_equal(get16(bytes + 12), family == 4 ? 0x0800 : 0x86dd);
		assert_int_equal(get16(ip + (family == 4 ? 2 : 4)), family == 4 ? size - 14 : room);
		assert_int_equal(ip[family == 4 ? 9 : 6], protocol);
		assert_int_equal(ip[family == 4 ? 8 : 7], protocol == 112 ? 255 : 64);
		if (family == 4)
			assert_int_equal(sum(ip, 20, 0), 0xffff);
		pseudo = family == 4 ? sum(ip + 12, 8, protocol + room)
				     : sum(ip + 8, 32, protocol + room);
		if (protocol == (family == 4 ? 1 : 58))
			assert_int_equal(sum(l4, room, family == 4 ? 0 : pseudo), 0xffff);
		else if (protocol == 6 || protocol == 17 || protocol == 136 || protocol == 33)
			assert_int_equal(sum(l4, room, pseudo), 0xffff);
	}
}

/* As scapy makes it: SCTP(sport=1234, dport=443)/SCTPChunkInit(init_tag=1, a_rwnd=65535, n_out_streams=1,
 * n_in_streams=1, init_tsn=1). */
static void test_sctp_checksum(void **state)
{
	static const uint8_t expected[] = {
		0x04, 0xd2, 0x01, 0xbb, 0, 0, 0,   0,   0, 0, 0, 0, 1, 0, 0, 0x14,
		0,    0,    0,    1,    0, 0, 255, 255, 0, 1, 0, 1, 0, 0, 0, 1,
	};
	struct packet_spec spec = spec_of(4, 132);
	uint8_t bytes[PACKET_MAX_SIZE];
	uint8_t *l4 = bytes + 34;

	(void)state;
	assert_int_equal(packet_build(bytes, &spec), 66);
	assert_int_equal(0xf3b1acbc, (uint32_t)l4[8] << 24 | l4[9] << 16 | l4[10] << 8 | l4[11]);
	memset(l4 + 8, 0, 4);
	assert_memory_equal(l4, expected, sizeof(expected));
}

static void test_layers(void **state)
{
	static const uint8_t tagged[] = {2, 0,    0,    0, 0, 2,    2,    0, 0, 0,    0,
					 1, 0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 6, 0x08, 0x00};
	struct packet_spec spec = spec_of(4, 6);
	uint8_t bytes[PACKET_MAX_SIZE];

	(void)state;
	spec.vlan[0] = 5;
	spec.vlan[1] = 6;
	spec.vlan_count = 2;
	assert_int_equal(packet_build(bytes, &spec), sizeof(tagged) + 40);
	assert_memory_equal(bytes, tagged, sizeof(tagged));
	spec.vlan_count = 1;
	packet_build(bytes, &spec);
	assert_int_equal(get16(bytes + 12), 0x8100);
	spec.has_ethernet = false;
	assert_int_equal(packet_build(bytes, &spec), 40);
	assert_int_equal(bytes[0], 0x45);
	assert_int_equal(get16(bytes + 20), 1234);
	assert_int_equal(get16(bytes + 22), 443);
	assert_int_equal(bytes[33], PACKET_TCP_SYN);
	spec = spec_of(6, 58);
	spec.icmp_type = 135;
	packet_build(bytes, &spec);
	assert_int_equal(bytes[14 + 7], 255);
	for (spec.vlan_count = 0; spec.vlan_count <= PACKET_MAX_TAGS; spec.vlan_count++)
		assert_in_range(packet_build(bytes, &spec), 1, PACKET_MAX_SIZE);
}

static void test_group_macs(void **state)
{
	static const uint8_t v4[] = {1, 0, 0x5e, 0x7f, 0, 1}, v6[] = {0x33, 0x33, 0xff, 0, 0, 2};
	static const uint8_t all[] = {255, 255, 255, 255, 255, 255};
	uint8_t mac[6];

	(void)state;
	assert_true(packet_group_mac(mac, 4, 0xefff0001));
	assert_memory_equal(mac, v4, 6);
	assert_true(packet_group_mac(mac, 6, (addr_t)0xff02 << 112 | 0xff000002));
	assert_memory_equal(mac, v6, 6);
	assert_true(packet_group_mac(mac, 4, 0xffffffff));
	assert_memory_equal(mac, all, 6);
	assert_false(packet_group_mac(mac, 4, 0x0a000001));
	assert_false(packet_group_mac(mac, 6, (addr_t)0xfe80 << 112 | 1));
}

/* ── shortening ─────────────────────────────────────────────────────────────────────────────────── */

/* A frame of `size` bytes whose IP packet ends where it says, `lie` bytes off. */
static void make_long(uint8_t *bytes, size_t size, const struct packet_spec *spec, int lie)
{
	size_t ip = spec->has_ethernet ? 14 + 4 * spec->vlan_count : 0;
	size_t header = spec->family == 4 ? 20 : 40;
	uint32_t length = (uint32_t)((int)(size - ip - (spec->family == 4 ? 0 : 40)) + lie);
	uint8_t *at = bytes + ip + (spec->family == 4 ? 2 : 4);
	uint8_t built[PACKET_MAX_SIZE];

	memset(bytes, 0, size);
	packet_build(built, spec);
	memcpy(bytes, built, sizeof(built));
	at[0] = (uint8_t)(length >> 8);
	at[1] = (uint8_t)length;
	if (spec->protocol == 17) {
		uint32_t udp = (uint32_t)(size - ip - header);

		bytes[ip + header + 4] = (uint8_t)(udp >> 8);
		bytes[ip + header + 5] = (uint8_t)udp;
	}
}

static void test_shorten(void **state)
{
	static uint8_t bytes[60000];

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct packet_spec spec = spec_of(i & 1 ? 6 : 4, i & 2 ? 17 : 6);
		size_t ip, header = i & 1 ? 40 : 20;

		spec.has_ethernet = !(i & 4);
		spec.vlan_count = spec.has_ethernet ? 1 : 0;
		ip = spec.has_ethernet ? 18 : 0;
		make_long(bytes, sizeof(bytes), &spec, 0);
		assert_int_equal(packet_shorten(bytes, 100, 1000, spec.has_ethernet), 100);
		assert_int_equal(packet_shorten(bytes, sizeof(bytes), 1000, spec.has_ethernet),
				 1000);
		assert_int_equal(get16(bytes + ip + (i & 1 ? 4 : 2)),
				 i & 1 ? 1000 - ip - 40 : 1000 - ip);
		if (spec.protocol == 17)
			assert_int_equal(get16(bytes + ip + header + 4), 1000 - ip - header);
		/* One that is cut off still is. */
		make_long(bytes, sizeof(bytes), &spec, 1);
		packet_shorten(bytes, sizeof(bytes), 1000, spec.has_ethernet);
		assert_int_equal(get16(bytes + ip + (i & 1 ? 4 : 2)),
				 sizeof(bytes) - ip + 1 - (i & 1 ? 40 : 0));
	}
}

/* Whatever the bytes, it stays within them. */
static void test_shorten_anything(void **state)
{
	static uint8_t bytes[4000];
	uint32_t random = 1;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		for (size_t i = 0; i < 80; i++) {
			random = random * 1103515245 + 12345;
			bytes[i] = (uint8_t)(random >> 16);
		}
		if (round % 2) {
			bytes[12] = 0x08;
			bytes[13] = 0;
		}
		assert_int_equal(packet_shorten(bytes, sizeof(bytes), 3400, round % 3), 3400);
	}
}

/* ── requests ───────────────────────────────────────────────────────────────────────────────────── */

/* ' stands for ". */
static int parse(struct trace_request *request, const char *text, struct errors *errors)
{
	_cleanup_free_ char *copy = strdup(text);
	json_auto_t *document = NULL;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	document = json_loads(copy, 0, NULL);
	assert_non_null(document);
	return trace_request_parse(request, document, errors);
}

#define AT "'port': 'vm1', 'direction': 'from'"

static void test_request_of_a_tuple(void **state)
{
	_cleanup_(trace_request_fini) struct trace_request request = {0};
	_cleanup_(errors_fini) struct errors errors = {0};

	(void)state;
	assert_int_equal(parse(&request,
			       "{'port': 'vm1', 'direction': 'to', 'proto': 'tcp', 'src':"
			       " '10.0.0.1', 'dst': '10.0.0.2', 'dport': '22', 'tcp_flags':"
			       " ['syn,ack', 'ece'], 'vlan': [5, '6'], 'src_mac':"
			       " '52:54:00:aA:bb:0c'}",
			       &errors),
			 0);
	assert_string_equal(request.port, "vm1");
	assert_int_equal(request.direction, SECG_TO);
	assert_null(request.bytes);
	assert_int_equal(request.spec.family, 4);
	assert_int_equal(request.spec.protocol, 6);
	assert_true(request.spec.src == 0x0a000001 && request.spec.dst == 0x0a000002);
	assert_int_equal(request.spec.sport, 49152);
	assert_int_equal(request.spec.dport, 22);
	assert_int_equal(request.spec.tcp_flags, 0x52);
	assert_int_equal(request.spec.vlan_count, 2);
	assert_int_equal(request.spec.vlan[1], 6);
	assert_true(request.has_src_mac && !request.has_dst_mac);
	assert_memory_equal(request.spec.src_mac, "\x52\x54\x00\xaa\xbb\x0c", 6);
}

static void test_request_defaults(void **state)
{
	static const struct {
		const char *fields;
		uint8_t protocol, flags, type, code;
		uint16_t id;
	} rows[] = {
		{"'proto': 6, 'src': '::1', 'dst': '::2', 'dport': 1", 6, 2, 0, 0, 1},
		{"'proto': 'ping', 'src': '::1', 'dst': '::2'", 58, 0, 128, 0, 1},
		{"'proto': 'ping', 'src': '1.1.1.1', 'dst': '1.1.1.2', 'icmp_id': 9", 1, 0, 8, 0,
		 9},
		{"'proto': 'icmp', 'src': '1.1.1.1', 'dst': '1.1.1.2', 'icmp_type': "
		 "'destination-unreachable', 'icmp_code': 3",
		 1, 0, 3, 3, 1},
		{"'proto': 'icmpv6', 'src': '::1', 'dst': '::2', 'icmp_type': 2", 58, 0, 2, 0, 1},
		{"'proto': '47', 'src': '::1', 'dst': '::2'", 47, 0, 0, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(trace_request_fini) struct trace_request request = {0};
		_cleanup_(errors_fini) struct errors errors = {0};
		char text[512];

		snprintf(text, sizeof(text), "{" AT ", %s}", rows[i].fields);
		assert_int_equal(parse(&request, text, &errors), 0);
		assert_int_equal(request.spec.protocol, rows[i].protocol);
		assert_int_equal(request.spec.tcp_flags, rows[i].flags);
		assert_int_equal(request.spec.icmp_type, rows[i].type);
		assert_int_equal(request.spec.icmp_code, rows[i].code);
		assert_int_equal(request.spec.icmp_id, rows[i].id);
	}
}

static void test_request_of_bytes(void **state)
{
	_cleanup_(trace_request_fini) struct trace_request request = {0};
	_cleanup_(errors_fini) struct errors errors = {0};

	(void)state;
	assert_int_equal(
		parse(&request, "{" AT ", 'packet': '000102030405060708090a0B0c0D'}", &errors), 0);
	assert_int_equal(request.size, 14);
	for (uint8_t i = 0; i < 14; i++)
		assert_int_equal(request.bytes[i], i);
}

/* Each mistake under the path of its field, and all of them at once. */
static void test_request_mistakes(void **state)
{
#define HOSTS "'src': '10.0.0.1', 'dst': '10.0.0.2'"
	static const struct {
		const char *text, *field, *code;
	} rows[] = {
		{"{'direction': 'from', 'packet': '000102030405060708090a0b0c0d'}", "port",
		 "bad_value"},
		{"{'port': 1, 'direction': 'from', 'packet': '000102030405060708090a0b0c0d'}",
		 "port", "bad_type"},
		{"{'port': 'a', 'packet': '000102030405060708090a0b0c0d'}", "direction",
		 "bad_value"},
		{"{'port': 'a', 'direction': 'ingress', 'packet': '000102030405060708090a0b0c0d'}",
		 "direction", "bad_value"},
		{"{" AT "}", "packet", "bad_value"},
		{"{" AT ", 'packet': 1}", "packet", "bad_type"},
		{"{" AT ", 'packet': '000102030405060708090a0b0c0'}", "packet", "bad_value"},
		{"{" AT ", 'packet': '000102030405060708090a0b0c'}", "packet", "bad_value"},
		{"{" AT ", 'packet': '000102030405060708090a0b0c0g'}", "packet", "bad_value"},
		{"{" AT ", 'packet': '000102030405060708090a0b0c0d', 'dport': 1}", "dport",
		 "bad_value"},
		{"{" AT ", 'bogus': 1, 'proto': 'ping', " HOSTS "}", "bogus", "unknown_field"},
		{"{" AT ", " HOSTS "}", "proto", "bad_value"},
		{"{" AT ", 'proto': 'tpc', " HOSTS "}", "proto", "bad_value"},
		{"{" AT ", 'proto': 256, " HOSTS "}", "proto", "bad_value"},
		{"{" AT ", 'proto': null, " HOSTS "}", "proto", "bad_type"},
		{"{" AT ", 'proto': 'icmpv6', " HOSTS "}", "proto", "bad_value"},
		{"{" AT ", 'proto': 'icmp', 'src': '::1', 'dst': '::2'}", "proto", "bad_value"},
		{"{" AT ", 'proto': 'gre', 'dst': '10.0.0.2'}", "src", "bad_value"},
		{"{" AT ", 'proto': 'gre', 'src': '10.0.0.2'}", "dst", "bad_value"},
		{"{" AT ", 'proto': 'gre', 'src': '10.0.0.0/8', 'dst': '10.0.0.2'}", "src",
		 "bad_value"},
		{"{" AT ", 'proto': 'gre', 'src': '10.0.0.1', 'dst': '::1'}", "dst", "bad_value"},
		{"{" AT ", 'proto': 'gre', 'src': 1, 'dst': '::1'}", "src", "bad_type"},
		{"{" AT ", 'proto': 'tcp', " HOSTS "}", "dport", "bad_value"},
		{"{" AT ", 'proto': 'tcp', 'dport': 65536, " HOSTS "}", "dport", "bad_value"},
		{"{" AT ", 'proto': 'tcp', 'dport': 1, 'sport': 'x', " HOSTS "}", "sport",
		 "bad_value"},
		{"{" AT ", 'proto': 'gre', 'sport': 1, " HOSTS "}", "sport", "bad_value"},
		{"{" AT ", 'proto': 'udp', 'dport': 1, 'tcp_flags': 'syn', " HOSTS "}", "tcp_flags",
		 "bad_value"},
		{"{" AT ", 'proto': 'tcp', 'dport': 1, 'tcp_flags': 'syn,nak', " HOSTS "}",
		 "tcp_flags", "bad_value"},
		{"{" AT ", 'proto': 'tcp', 'dport': 1, 'tcp_flags': ['syn', 2], " HOSTS "}",
		 "tcp_flags[1]", "bad_type"},
		{"{" AT ", 'proto': 'gre', 'icmp_type': 1, " HOSTS "}", "icmp_type", "bad_value"},
		{"{" AT ", 'proto': 'icmp', 'icmp_type': 'packet-too-big', " HOSTS "}", "icmp_type",
		 "bad_value"},
		{"{" AT ", 'proto': 'icmp', 'icmp_type': 256, " HOSTS "}", "icmp_type",
		 "bad_value"},
		{"{" AT ", 'proto': 'icmp', 'icmp_code': -1, " HOSTS "}", "icmp_code", "bad_value"},
		{"{" AT ", 'proto': 'ping', 'icmp_code': 1, " HOSTS "}", "icmp_code", "bad_value"},
		{"{" AT ", 'proto': 'ping', 'icmp_id': 65536, " HOSTS "}", "icmp_id", "bad_value"},
		{"{" AT ", 'proto': 'ping', 'src_mac': '52:54:00:00:00', " HOSTS "}", "src_mac",
		 "bad_value"},
		{"{" AT ", 'proto': 'ping', 'dst_mac': '52:54:00:00:00:0x', " HOSTS "}", "dst_mac",
		 "bad_value"},
		{"{" AT ", 'proto': 'ping', 'dst_mac': '52:54:00:00:00:01:02', " HOSTS "}",
		 "dst_mac", "bad_value"},
		{"{" AT ", 'proto': 'ping', 'vlan': 4096, " HOSTS "}", "vlan", "bad_value"},
		{"{" AT ", 'proto': 'ping', 'vlan': [1, 'x'], " HOSTS "}", "vlan[1]", "bad_value"},
		{"{" AT ", 'proto': 'ping', 'vlan': [1,2,3,4,5,6,7,8,9], " HOSTS "}", "vlan",
		 "limit"},
		{"[]", "", "bad_type"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(trace_request_fini) struct trace_request request = {0};
		_cleanup_(errors_fini) struct errors errors = {0};

		assert_int_equal(parse(&request, rows[i].text, &errors), -EINVAL);
		if (errors.count != 1 || strcmp(errors.items[0].field, rows[i].field) ||
		    strcmp(error_code_name(errors.items[0].code), rows[i].code))
			fail_msg("%s: %zu errors, first %s %s", rows[i].text, errors.count,
				 error_code_name(errors.items[0].code), errors.items[0].field);
	}
}

static void test_request_all_mistakes(void **state)
{
	_cleanup_(trace_request_fini) struct trace_request request = {0};
	_cleanup_(errors_fini) struct errors errors = {0};

	(void)state;
	assert_int_equal(parse(&request,
			       "{'direction': 'x', 'proto': 'y', 'src': 'z', 'vlan': 'v', 'w': 1}",
			       &errors),
			 -EINVAL);
	/* w, direction, proto, src, vlan, port and dst that are missing. */
	assert_int_equal(errors.count, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths_and_checksums),
		cmocka_unit_test(test_sctp_checksum),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_group_macs),
		cmocka_unit_test(test_shorten),
		cmocka_unit_test(test_shorten_anything),
		cmocka_unit_test(test_request_of_a_tuple),
		cmocka_unit_test(test_request_defaults),
		cmocka_unit_test(test_request_of_bytes),
		cmocka_unit_test(test_request_mistakes),
		cmocka_unit_test(test_request_all_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
