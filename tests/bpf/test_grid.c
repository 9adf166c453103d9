/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of rule against every kind of packet: action, protocol, family, direction, ports or types
 * that it names, names not, names among others. Then what was counted of them.
 */
#include "check.h"
#include "flows.h"

enum protocol {
	OF_TCP,
	OF_UDP,
	OF_ICMP,
	PROTOCOLS,
};

/* Which numbers the rule names: ports, or the type of an ICMP message. */
enum numbers {
	ANY,
	SINGLE,
	RANGE,
	SEVERAL,
	OTHER_SINGLE,
	OTHER_RANGE,
	NUMBERS,
};

static const struct {
	const char *name;
	enum secg_reason reason;
	bool is_tracked;
} actions[] = {
	{"allow", SECG_REASON_NONE, true},
	{"allow-stateless", SECG_REASON_NONE, false},
	{"drop", SECG_REASON_RULE_DROP, false},
	{"reject", SECG_REASON_RULE_REJECT, false},
};

static const char *const port_fields[NUMBERS] = {
	[ANY] = "",
	[SINGLE] = ", 'src_ports': 1000, 'dst_ports': 80",
	[RANGE] = ", 'src_ports': '1000-2000', 'dst_ports': '1-80'",
	[SEVERAL] = ", 'dst_ports': [7, 80, '90-99']",
	[OTHER_SINGLE] = ", 'dst_ports': 1000",
	[OTHER_RANGE] = ", 'dst_ports': ['1-79', '81-65535']",
};
static const char *const type_fields[NUMBERS] = {
	[ANY] = "",
	[SINGLE] = ", 'icmp_type': 'echo-request', 'icmp_code': 0",
	[RANGE] = ", 'icmp_type': '8-128'",
	[SEVERAL] = ", 'icmp_type': [3, 8, '100-140']",
	[OTHER_SINGLE] = ", 'icmp_type': 'echo-request', 'icmp_code': 1",
	[OTHER_RANGE] = ", 'icmp_type': ['0-7', '9-127', '129-255']",
};

static struct layer request(enum protocol protocol)
{
	const struct layer layers[PROTOCOLS] = {
		[OF_TCP] = TCP(1000, 80, SYN, .seq = 1),
		[OF_UDP] = UDP(1000, 80),
		[OF_ICMP] = ECHO(7),
	};

	return layers[protocol];
}

static struct layer answer(enum protocol protocol)
{
	const struct layer layers[PROTOCOLS] = {
		[OF_TCP] = TCP(80, 1000, SYN | ACK, .seq = 9, .ack = 2),
		[OF_UDP] = UDP(80, 1000),
		[OF_ICMP] = REPLY(7),
	};

	return layers[protocol];
}

static const char *protocol_name(enum protocol protocol)
{
	if (protocol == OF_ICMP)
		return family == 6 ? "icmpv6" : "icmp";
	return protocol == OF_TCP ? "tcp" : "udp";
}

static void apply(size_t action, enum protocol protocol, enum numbers numbers)
{
	char rule[512];

	snprintf(rule, sizeof(rule),
		 "{'id': 'r', 'action': '%s', 'protocol': '%s', 'src': '%s', 'dst': '%s'%s}",
		 actions[action].name, protocol_name(protocol),
		 family == 6 ? "2001:db8::/120" : "10.0.0.0/24", family == 6 ? B6 : B,
		 protocol == OF_ICMP ? type_fields[numbers] : port_fields[numbers]);
	policy(rule, "");
}

static void cell(size_t action, enum protocol protocol, enum numbers numbers)
{
	bool is_meant = numbers < OTHER_SINGLE;
	enum secg_reason reason = is_meant ? actions[action].reason : SECG_REASON_DEFAULT;
	struct rig_way way = {0};
	char what[128];

	rig_clear(rig);
	apply(action, protocol, numbers);
	snprintf(what, sizeof(what), "%s %s, IPv%d, numbers %d, %s", actions[action].name,
		 protocol_name(protocol), family, numbers, out == SECG_FROM ? "from" : "to");
	expect_same(what, reason,
		    rig_judge(rig, out, &way, LAYERS(ETH, AB(), request(protocol))).reason,
		    __FILE__, __LINE__);
	expect_same(what,
		    is_meant && actions[action].is_tracked ? SECG_REASON_NONE : SECG_REASON_DEFAULT,
		    rig_judge(rig, back, &way, LAYERS(ETH, BA(), answer(protocol))).reason,
		    __FILE__, __LINE__);
	/* Neither another pair of addresses, nor the pair the other way round, nor another protocol. */
	OUT(DEFAULT, ETH, IP(A, C), request(protocol));
	OUT(DEFAULT, ETH, BA(), request(protocol));
	OUT(DEFAULT, ETH, AB(), request((protocol + 1) % PROTOCOLS));
}

/* acl/45.4: deny and permit × protocol × family × direction × any, single, many and other ports. */
FOR_ALL(test_every_cell)
{
	for (size_t action = 0; action < sizeof(actions) / sizeof(actions[0]); action++)
		for (int protocol = 0; protocol < PROTOCOLS; protocol++)
			for (int numbers = 0; numbers < NUMBERS; numbers++)
				cell(action, protocol, numbers);
}

/* acl/45.5: what rules and ports count is what was sent, packets and bytes. */
FOR_ALL(test_counters_equal_packets)
{
	uint32_t head = family == 6 ? 54 : 34, total = 0;
	struct rig_verdict verdict;

	policy("{'id': 'yes', 'action': 'allow', 'protocol': 'udp', 'dst_ports': 80},"
	       "{'id': 'less', 'action': 'allow-stateless', 'protocol': 'udp', 'dst_ports': 81},"
	       "{'id': 'no', 'action': 'drop', 'protocol': 'udp', 'dst_ports': 82}",
	       "");
	for (uint16_t i = 1; i <= 12; i++) {
		OUT(PASS, ETH, AB(), UDP(1000, 80), RAW(i));
		OUT(PASS, ETH, AB(), UDP(1000, 81), RAW(i));
		OUT(RULE_DROP, ETH, AB(), UDP(1000, 82), RAW(i));
		verdict = OUT(DEFAULT, ETH, AB(), UDP(1000, 83), RAW(i));
		assert_int_equal(verdict.counted.packets, 1);
		assert_int_equal(verdict.counted.bytes, head + 8 + i);
		total += head + 8 + i;
	}
	BACK(PASS, ETH, BA(), UDP(80, 1000));
	assert_int_equal(hits("a/yes"), 13);
	assert_int_equal(rig_rule(rig, "p1", "a/yes").bytes, total + head + 8);
	assert_int_equal(hits("a/less"), 12);
	assert_int_equal(hits("a/no"), 12);
	assert_int_equal(rig_rule(rig, "p1", "a/no").bytes, total);
	assert_int_equal(rig_reason(rig, rig_port_id(rig, "p1"), SECG_REASON_RULE_DROP), 12);
	assert_int_equal(rig_reason(rig, rig_port_id(rig, "p1"), SECG_REASON_DEFAULT), 12);
}

/* acl/45.6: several lists at one port: the first match over all of them decides, each counts its own. */
FOR_ALL(test_several_lists)
{
	static const char *const names[SECG_DIRECTIONS] = {"from", "to"};
	char text[1024];

	snprintf(
		text, sizeof(text),
		"{'acls': {"
		" 'one': {'rules': [{'id': 'r', 'action': 'drop', 'protocol': 'udp', 'dst_ports': 1}]},"
		" 'two': {'rules': [{'id': 'r', 'action': 'allow', 'protocol': 'udp',"
		"  'dst_ports': '1-2'}]},"
		" 'three': {'rules': [{'id': 'r', 'action': 'drop', 'protocol': 'udp',"
		"  'dst_ports': '1-3'}]},"
		" 'other': {'rules': [{'id': 'r', 'action': 'allow', 'protocol': 'udp'}]}},"
		" 'ports': {'p1': {'interface': 'p1', '%s': ['one', 'two', 'three'], '%s': []},"
		"  'p2': {'interface': 'p2', 'from': ['other'], 'to': ['other']}}}",
		names[out], names[back]);
	rig_policy(rig, text);
	OUT(RULE_DROP, ETH, AB(), UDP(9, 1));
	OUT(PASS, ETH, AB(), UDP(9, 2));
	OUT(RULE_DROP, ETH, AB(), UDP(9, 3));
	OUT(DEFAULT, ETH, AB(), UDP(9, 4));
	BACK(PASS, ETH, BA(), UDP(2, 9));
	assert_int_equal(hits("one/r"), 1);
	assert_int_equal(hits("two/r"), 2);
	assert_int_equal(hits("three/r"), 1);
	interface = "p2";
	OUT(PASS, ETH, AB(), UDP(9, 1));
	OUT(PASS, ETH, AB(), UDP(9, 4));
	interface = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_cell),
		TEST(test_counters_equal_packets),
		TEST(test_several_lists),
	};

	return RUN("grid", tests);
}
