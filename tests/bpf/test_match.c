/* SPDX-License-Identifier: Apache-2.0 */
/* What each match field of a rule takes and what it leaves: addresses, protocols, ports, ICMP. */
#include "check.h"
#include "policies.h"

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

static void test_addresses(void **state)
{
	(void)state;
	rig_policy(
		rig,
		BOTH_WAYS(
			"{'id': 's4', 'action': 'allow-stateless', 'src': '10.1.0.0/16',"
			" 'dst': ['10.2.3.4', '10.9.0.0/31']},"
			"{'id': 's6', 'action': 'allow-stateless', 'src': '2001:db8:1::/48',"
			" 'dst': ['2001:db8:2::4', '2001:db8:3:4:5::/80', '2001:db8:8000::/33']}"));
	BOTH(PASS, ETH, IP4("10.1.0.0", "10.2.3.4"), UDP(1, 2));
	BOTH(PASS, ETH, IP4("10.1.255.255", "10.9.0.1"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP4("10.0.255.255", "10.2.3.4"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP4("10.2.0.0", "10.2.3.4"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP4("10.1.0.0", "10.2.3.3"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP4("10.1.0.0", "10.2.3.5"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP4("10.1.0.0", "10.9.0.2"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP4("10.2.3.4", "10.1.0.0"), UDP(1, 2));
	BOTH(PASS, ETH, IP6("2001:db8:1::", "2001:db8:2::4"), UDP(1, 2));
	BOTH(PASS, ETH, IP6("2001:db8:1:ffff:ffff:ffff:ffff:ffff", "2001:db8:3:4:5::1"), UDP(1, 2));
	BOTH(PASS, ETH, IP6("2001:db8:1::", "2001:db8:ffff::1"), UDP(1, 2));
	BOTH(PASS, ETH, IP6("2001:db8:1::", "2001:db8:8000::"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6("2001:db8:1::", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"),
	     UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6("2001:db8:0:ffff:ffff:ffff:ffff:ffff", "2001:db8:2::4"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6("2001:db8:2::", "2001:db8:2::4"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6("2001:db8:1::", "2001:db8:2::5"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6("2001:db8:1::", "2001:db8:2:0:0:0:1:4"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6("2001:db8:1::", "2001:db8:3:4:6::"), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6("2001:db8:1::", "2001:db9:2::4"), UDP(1, 2));
}

/* A group that is empty is legal and matches nothing. */
static void test_groups(void **state)
{
	(void)state;
	rig_policy(rig, "{'groups': {'none': {'prefixes': []}, 'some': {'prefixes': ['10.0.0.0/8'],"
			" 'except': ['10.0.0.2']}},"
			" 'acls': {'a': {'rules': ["
			"  {'id': 'none', 'action': 'drop', 'src': '@none'},"
			"  {'id': 'some', 'action': 'allow-stateless', 'src': '@some'}]}}," PORT(
				", 'from': ['a'], 'to': ['a']"));
	BOTH(PASS, ETH, IP4(A, B), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP4(B, A), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6(A6, B6), UDP(1, 2));
}

/* ── protocols, ports, ICMP ─────────────────────────────────────────────────────────────────────── */

/* Forty bytes that are a whole header of every protocol with one. */
#define ANY_HEADER                                                                       \
	"\0\x10\0\x20\0\x28\0\0\0\0\0\0\x50\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" \
	"\0\0\0\0\0\0"

/* Headers that are walked and no protocol of IPv6. */
static bool is_walked(int number)
{
	return number == 0 || number == 43 || number == 44 || number == 51 || number == 60 ||
	       number == 135 || number == 139 || number == 140;
}

static void protocol_is(int number, int other, enum secg_reason reason)
{
	struct rig_way way = {0};
	struct layer header = {
		.kind = LAYER_RAW, .type = (uint16_t)other, .size = 40, .bytes = ANY_HEADER};
	char what[64];

	snprintf(what, sizeof(what), "protocol %d, a rule for %d", other, number);
	/* Type 0 means "no type" to the builder and is what the field says anyway. */
	expect_same(what, reason,
		    rig_judge(rig, SECG_FROM, &way, LAYERS(ETH, IP4(A, B), header)).reason,
		    __FILE__, __LINE__);
	if (!is_walked(other))
		expect_same(
			what, reason,
			rig_judge(rig, SECG_FROM, &way, LAYERS(ETH, IP6(A6, B6), header)).reason,
			__FILE__, __LINE__);
}

static void test_protocols(void **state)
{
	(void)state;
	for (int number = 0; number < 256; number++) {
		char text[256];

		/* The ICMPs belong to one family each. */
		if (number == 1 || number == 58)
			continue;
		snprintf(text, sizeof(text),
			 BOTH_WAYS("{'id': 'r', 'action': 'allow-stateless', 'protocol': %d}"),
			 number);
		rig_policy(rig, text);
		protocol_is(number, number, SECG_REASON_NONE);
		protocol_is(number, (number + 1) % 256, SECG_REASON_DEFAULT);
		protocol_is(number, (number + 128) % 256, SECG_REASON_DEFAULT);
	}
}

/* acl/37: messages that have the form of an extension header with nothing behind it. */
static void test_messages_in_the_form_of_extensions(void **state)
{
	static const uint8_t numbers[] = {135, 139, 140};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers); i++) {
		const uint16_t number = numbers[i];
		char text[256];

		snprintf(
			text, sizeof(text),
			"{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow', 'protocol': %d}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': []}}}",
			number);
		rig_clear(rig);
		rig_policy(rig, text);
		FROM(PASS, ETH, IP6(A6, B6), EXT(number, .next = 59, .options = 2));
		TO(PASS, ETH, IP6(B6, A6), EXT(60), EXT(number, .next = 59));
		TO(PASS, ETH, IP6(C6, A6), ICMP6(1, 0), IP6(A6, B6), EXT(number, .next = 59));
		/* Something behind it is what counts, and so is nothing behind another one. */
		FROM(DEFAULT, ETH, IP6(A6, B6), EXT(number), TCP(1, 2, SYN));
		FROM(DEFAULT, ETH, IP6(A6, B6), EXT(60, .next = 59));
		FROM(MALFORMED, ETH, IP6(A6, B6), EXT(number, .next = 59), CUT(1));
	}
}

static void test_ports(void **state)
{
	(void)state;
	rig_policy(
		rig,
		BOTH_WAYS("{'id': 'r', 'action': 'allow-stateless', 'protocol': ['tcp', 'udp'],"
			  " 'src_ports': '1000-2000', 'dst_ports': [0, 443, '8000-8100', 65535]}"));
	BOTH(PASS, ETH, IP4(A, B), TCP(1000, 443, SYN));
	BOTH(PASS, ETH, IP6(A6, B6), UDP(2000, 8000));
	BOTH(PASS, ETH, IP4(A, B), UDP(1500, 8100));
	BOTH(PASS, ETH, IP4(A, B), UDP(1500, 0));
	BOTH(PASS, ETH, IP4(A, B), UDP(1500, 65535));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(999, 443, SYN));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(2001, 443, SYN));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(1000, 444, SYN));
	BOTH(DEFAULT, ETH, IP6(A6, B6), TCP(1000, 7999, SYN));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(1000, 8101, SYN));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(443, 1000, SYN));
	BOTH(DEFAULT, ETH, IP4(A, B), SCTP(1000, 443));
}

/* What has no ports matches no port, what is no ICMP no type, whatever its bytes say. */
static void test_no_ports(void **state)
{
	(void)state;
	rig_policy(rig, BOTH_WAYS("{'id': 'tcp', 'action': 'allow-stateless', 'protocol': 'tcp',"
				  " 'src_ports': [0, 8], 'dst_ports': 0}"));
	BOTH(PASS, ETH, IP4(A, B), TCP(8, 0, SYN));
	BOTH(DEFAULT, ETH, IP4(A, B), ICMP(8, 0));
	BOTH(DEFAULT, ETH, IP6(A6, B6), ICMP6(8, 0));
	BOTH(DEFAULT, ETH, IP4(A, B), PROTO(47));
	BOTH(DEFAULT, ETH, IP4(A, B), PROTO(50));
	rig_policy(rig,
		   BOTH_WAYS("{'id': 'all', 'action': 'drop', 'protocol': ['tcp', 'udp', 'udplite',"
			     " 'sctp', 'dccp'], 'dst_ports': '0-65535'},"
			     "{'id': 'rest', 'action': 'allow-stateless', 'protocol': 99},"
			     "{'id': 'icmp', 'action': 'allow-stateless', 'protocol': 'icmp',"
			     " 'icmp_type': 8}"));
	BOTH(RULE_DROP, ETH, IP4(A, B), TCP(8, 0, SYN));
	BOTH(RULE_DROP, ETH, IP4(A, B), UDP(8, 0));
	BOTH(PASS, ETH, IP4(A, B), PROTO(99));
	BOTH(PASS, ETH, IP4(A, B), ICMP(8, 0));
	BOTH(DEFAULT, ETH, IP6(A6, B6), ICMP(8, 0));
}

static void icmp_is(uint8_t type, uint8_t code, bool four, bool six)
{
	struct rig_way way = {0};
	char what[64];

	snprintf(what, sizeof(what), "type %u, code %u", type, code);
	expect_same(
		what, four ? SECG_REASON_NONE : SECG_REASON_DEFAULT,
		rig_judge(rig, SECG_FROM, &way, LAYERS(ETH, IP4(A, B), ICMP(type, code))).reason,
		__FILE__, __LINE__);
	expect_same(
		what, six ? SECG_REASON_NONE : SECG_REASON_DEFAULT,
		rig_judge(rig, SECG_FROM, &way, LAYERS(ETH, IP6(A6, B6), ICMP6(type, code))).reason,
		__FILE__, __LINE__);
}

static void test_icmp(void **state)
{
	(void)state;
	rig_policy(rig,
		   BOTH_WAYS("{'id': 'mtu', 'action': 'allow-stateless', 'protocol': 'icmp',"
			     " 'icmp_type': 3, 'icmp_code': 4},"
			     "{'id': 'range', 'action': 'allow-stateless', 'protocol': 'icmp',"
			     " 'icmp_type': '40-43'},"
			     "{'id': 'big', 'action': 'allow-stateless', 'protocol': 'icmpv6',"
			     " 'icmp_type': 2, 'icmp_code': 0},"
			     "{'id': 'echo', 'action': 'allow-stateless', 'protocol': 'icmpv6',"
			     " 'icmp_type': 'echo-request'}"));
	for (int type = 0; type < 256; type++) {
		for (int code = 0; code < 8; code++)
			icmp_is((uint8_t)type, (uint8_t)code,
				(type == 3 && code == 4) || (type >= 40 && type <= 43),
				(type == 2 && code == 0) || type == 128);
		icmp_is((uint8_t)type, 255, type >= 40 && type <= 43, type == 128);
	}
}

static void test_ping(void **state)
{
	(void)state;
	rig_policy(rig,
		   BOTH_WAYS("{'id': 'ping', 'action': 'allow-stateless', 'protocol': 'ping'}"));
	BOTH(PASS, ETH, IP4(A, B), ICMP(8, 0));
	BOTH(PASS, ETH, IP6(A6, B6), ICMP6(128, 0));
	BOTH(DEFAULT, ETH, IP4(A, B), ICMP(0, 0));
	BOTH(DEFAULT, ETH, IP6(A6, B6), ICMP6(129, 0));
	BOTH(DEFAULT, ETH, IP4(A, B), ICMP(128, 0));
	BOTH(DEFAULT, ETH, IP6(A6, B6), ICMP6(8, 0));
	assert_int_equal(hits("a/ping"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_addresses), TEST(test_groups),
		TEST(test_protocols), TEST(test_messages_in_the_form_of_extensions),
		TEST(test_ports),     TEST(test_no_ports),
		TEST(test_icmp),      TEST(test_ping),
	};

	return RUN("match", tests);
}
