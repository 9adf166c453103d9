/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on packets: actions, lists, defaults, many of them, counters. */
#include "check.h"
#include "policies.h"

/* ── actions ────────────────────────────────────────────────────────────────────────────────────── */

static void test_actions(void **state)
{
	(void)state;
	rig_policy(
		rig,
		ONE_ACL("{'id': 'allow', 'action': 'allow', 'protocol': 'udp', 'dst_ports': 1},"
			"{'id': 'less', 'action': 'allow-stateless', 'protocol': 'udp',"
			" 'dst_ports': 2},"
			"{'id': 'drop', 'action': 'drop', 'protocol': 'udp', 'dst_ports': 3},"
			"{'id': 'late', 'action': 'allow', 'protocol': 'udp', 'dst_ports': '1-3'}")
			PORT(", 'from': ['a'], 'to': []"));
	FROM(PASS, ETH, IP4(A, B), UDP(9, 1));
	TO(PASS, ETH, IP4(B, A), UDP(1, 9));
	FROM(PASS, ETH, IP4(A, B), UDP(9, 2));
	TO(DEFAULT, ETH, IP4(B, A), UDP(2, 9));
	FROM(RULE_DROP, ETH, IP4(A, B), UDP(9, 3));
	FROM(DEFAULT, ETH, IP4(A, B), UDP(9, 4));
	assert_int_equal(rig_sessions(rig, NULL, 0), 1);
	assert_int_equal(hits("a/allow"), 2);
	assert_int_equal(hits("a/less"), 1);
	assert_int_equal(hits("a/drop"), 1);
	assert_int_equal(hits("a/late"), 0);
	assert_int_equal(rig_rule(rig, "p1", "a/drop").bytes, 42);
}

/* pass ends an ACL, not the list; it is counted where it is met. */
static void test_pass(void **state)
{
	(void)state;
	rig_policy(
		rig,
		"{'acls': {"
		" 'one': {'rules': ["
		"  {'id': 'pass', 'action': 'pass', 'protocol': 'tcp', 'dst_ports': '1-100'},"
		"  {'id': 'drop', 'action': 'drop', 'protocol': 'tcp', 'dst_ports': '1-200'}]},"
		" 'two': {'rules': ["
		"  {'id': 'pass', 'action': 'pass', 'protocol': 'tcp', 'dst_ports': '1-10'},"
		"  {'id': 'less', 'action': 'allow-stateless', 'protocol': 'tcp', 'dst_ports': '1-50'}]},"
		" 'three': {'rules': ["
		"  {'id': 'drop', 'action': 'drop', 'protocol': 'tcp', 'dst_ports': '1-5'},"
		"  {'id': 'pass', 'action': 'pass'}]}}," PORT(
			", 'from': ['one', 'two', 'three'], 'to': ['three', 'one']"));
	FROM(RULE_DROP, ETH, IP4(A, B), TCP(9, 150, SYN));
	FROM(PASS, ETH, IP4(A, B), TCP(9, 50, SYN));
	FROM(DEFAULT, ETH, IP4(A, B), TCP(9, 80, SYN));
	FROM(RULE_DROP, ETH, IP4(A, B), TCP(9, 5, SYN));
	FROM(DEFAULT, ETH, IP4(A, B), TCP(9, 6, SYN));
	assert_int_equal(hits("one/pass"), 4);
	assert_int_equal(hits("one/drop"), 1);
	assert_int_equal(hits("two/pass"), 2);
	assert_int_equal(hits("two/less"), 1);
	assert_int_equal(hits("three/drop"), 1);
	assert_int_equal(hits("three/pass"), 2);
	TO(RULE_DROP, ETH, IP4(A, B), TCP(9, 150, SYN));
	TO(DEFAULT, ETH, IP4(A, B), TCP(9, 50, SYN));
}

/* ── defaults and absent directions ─────────────────────────────────────────────────────────────── */

static void everything(enum secg_direction direction, enum secg_reason reason)
{
	static const struct layer frames[][6] = {
		{ETH, IP4(A, B), TCP(1, 2, SYN), END},
		{ETH, IP6(A6, B6), UDP(1, 2), END},
		{ETH, IP4(A, B), ICMP(8, 0), END},
		{ETH, IP6(A6, B6), PROTO(99), END},
		{ETH, ARP, END},
		{ETHERTYPE(0x88cc), RAW(46), END},
		{ETHERTYPE(0x8847), RAW(46), END},
		{ETH, LLC("\x42\x42\x03"), RAW(43), END},
		{ETH, VLAN(1), VLAN(2), ARP, END},
		{ETH, VLAN(5), IP4(A, B), UDP(1, 2), END},
		{ETHERTYPE(0xffff), RAW(46), END},
	};

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct rig_way way = {0};
		char what[32];

		snprintf(what, sizeof(what), "frame %zu", i);
		expect_same(what, reason, rig_judge(rig, direction, &way, frames[i]).reason,
			    __FILE__, __LINE__);
	}
}

static void test_default_drop(void **state)
{
	(void)state;
	rig_policy(rig, "{" PORT(", 'from': [], 'to': []"));
	everything(SECG_FROM, SECG_REASON_DEFAULT);
	everything(SECG_TO, SECG_REASON_DEFAULT);
	/* An ACL without rules is a list without rules. */
	rig_policy(rig, ONE_ACL("") PORT(", 'from': ['a'], 'to': ['a']"));
	everything(SECG_FROM, SECG_REASON_DEFAULT);
	everything(SECG_TO, SECG_REASON_DEFAULT);
}

static void test_default_allow(void **state)
{
	(void)state;
	rig_policy(
		rig,
		ONE_ACL("{'id': 'no', 'action': 'drop', 'protocol': 'udp', 'dst_ports': 7}") PORT(
			", 'from': ['a'], 'to': [], 'default': {'from': {'action': 'allow'}}"));
	FROM(RULE_DROP, ETH, IP4(A, B), UDP(9, 7));
	everything(SECG_FROM, SECG_REASON_NONE);
	/* It tracks as the rule of that name does. */
	TO(PASS, ETH, IP4(B, A), TCP(2, 1, SYN | ACK));
	everything(SECG_TO, SECG_REASON_DEFAULT);
}

static void test_both_absent(void **state)
{
	(void)state;
	rig_policy(rig, "{" PORT(""));
	everything(SECG_FROM, SECG_REASON_NONE);
	everything(SECG_TO, SECG_REASON_NONE);
	FROM(PASS, ETH, IP4(A, B), TCP(1, 2, 0));
	FROM(PASS, ETH, IP4(A, B, .offset = 9), RAW(9));
	FROM(MALFORMED, ETH, IP4(A, B, .ihl = 3), TCP(1, 2, SYN));
	assert_int_equal(rig_sessions(rig, NULL, 0), 0);
}

/* An absent direction tracks while the other one needs its replies. */
static void test_one_absent(void **state)
{
	(void)state;
	rig_policy(rig,
		   ONE_ACL("{'id': 'r', 'action': 'allow', 'protocol': 99}") PORT(", 'to': ['a']"));
	TO(DEFAULT, ETH, IP4(B, A), UDP(2, 1));
	everything(SECG_FROM, SECG_REASON_NONE);
	TO(PASS, ETH, IP4(B, A), TCP(2, 1, SYN | ACK));
	TO(PASS, ETH, IP4(B, A), UDP(2, 1));
	TO(PASS, ETH, IP6(B6, A6), UDP(2, 1));
	TO(DEFAULT, ETH, IP4(B, A), UDP(2, 3));
	FROM(PASS, ETH, IP4(A, B, .offset = 9), RAW(9));
	/* What no session can follow passes too: flags that no stack sends. */
	FROM(PASS, ETH, IP4(A, B), TCP(7, 8, 0));
	FROM(PASS, ETH, IP4(A, B), TCP(7, 8, SYN | FIN));
}

static void test_one_absent_untracked(void **state)
{
	(void)state;
	rig_policy(rig, ONE_ACL("{'id': 'r', 'action': 'allow-stateless', 'protocol': 99}")
				PORT(", 'from': ['a']"));
	everything(SECG_TO, SECG_REASON_NONE);
	assert_int_equal(rig_sessions(rig, NULL, 0), 0);
	FROM(DEFAULT, ETH, IP4(B, A), UDP(2, 1));
	FROM(PASS, ETH, IP4(B, A), PROTO(99));
	rig_policy(rig, "{" PORT(", 'from': []"));
	everything(SECG_TO, SECG_REASON_NONE);
	FROM(DEFAULT, ETH, IP4(B, A), UDP(2, 1));
	assert_int_equal(rig_sessions(rig, NULL, 0), 0);
}

/* While the daemon takes a port back, everything passes and nothing is counted. */
static void test_released(void **state)
{
	struct rig_verdict verdict;

	(void)state;
	rig_policy(rig, "{" PORT(", 'from': [], 'to': []"));
	rig_port(rig, "p1")->flags |= SECG_PORT_RELEASED;
	verdict = FROM(PASS, ETH, IP4(A, B), UDP(1, 2));
	assert_int_equal(verdict.counted.packets, 0);
	verdict = TO(PASS, ETH, IP4(A, B, .ihl = 3), UDP(1, 2));
	assert_int_equal(verdict.counted.packets, 0);
}

/* ── frames and families ────────────────────────────────────────────────────────────────────────── */

/* A rule without match fields takes every frame, one with an IP or L4 field only IP. */
static void test_empty_match(void **state)
{
	(void)state;
	rig_policy(rig, BOTH_WAYS("{'id': 'r', 'action': 'allow-stateless'}"));
	everything(SECG_FROM, SECG_REASON_NONE);
	everything(SECG_TO, SECG_REASON_NONE);
	rig_policy(rig, BOTH_WAYS("{'id': 'r', 'action': 'allow-stateless', 'family': 'ipv4'}"));
	BOTH(PASS, ETH, IP4(A, B), UDP(1, 2));
	BOTH(PASS, ETH, VLAN(5), IP4(A, B), PROTO(99));
	BOTH(DEFAULT, ETH, IP6(A6, B6), UDP(1, 2));
	BOTH(DEFAULT, ETH, ARP);
	rig_policy(
		rig,
		BOTH_WAYS(
			"{'id': 'r', 'action': 'allow-stateless', 'src': ['0.0.0.0/0', '::/0']}"));
	BOTH(PASS, ETH, IP4(A, B), UDP(1, 2));
	BOTH(PASS, ETH, IP6(A6, B6), UDP(1, 2));
	BOTH(DEFAULT, ETH, ARP);
	BOTH(DEFAULT, ETHERTYPE(0x8847), RAW(46));
}

/* ── many rules ─────────────────────────────────────────────────────────────────────────────────── */

#define RULES 1000

static char *many_rules(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fputs("{'acls': {'a': {'rules': [", out);
	for (int i = 0; i < RULES; i++)
		fprintf(out,
			"%s{'id': 'r%d', 'action': '%s', 'protocol': '%s', 'dst_ports': '%d-%d',"
			" 'dst': ['10.%d.%d.0/24', '2001:db8:%x::/48']}",
			i ? "," : "", i, i % 3 ? "allow-stateless" : "drop", i % 2 ? "udp" : "tcp",
			1000 + i, 1001 + i, i / 256, i % 256, i + 1);
	fputs("]}}, 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']}}}", out);
	fclose(out);
	return text;
}

/* Packet `i` fits rule `i` alone; with the wrong port or protocol, none. */
static void many_packet(int i, int port, bool is_udp, enum secg_reason reason)
{
	struct layer header = is_udp ? (struct layer)UDP(9, (uint16_t)port)
				     : (struct layer)TCP(9, (uint16_t)port, SYN);
	struct rig_way way = {0};
	char four[32], six[64], what[64];

	snprintf(four, sizeof(four), "10.%d.%d.77", i / 256, i % 256);
	snprintf(six, sizeof(six), "2001:db8:%x::77", i + 1);
	snprintf(what, sizeof(what), "rule %d, port %d, %s", i, port, is_udp ? "udp" : "tcp");
	expect_same(what, reason,
		    rig_judge(rig, SECG_FROM, &way, LAYERS(ETH, IP4(A, four), header)).reason,
		    __FILE__, __LINE__);
	expect_same(what, reason,
		    rig_judge(rig, SECG_TO, &way, LAYERS(ETH, IP6(A6, six), header)).reason,
		    __FILE__, __LINE__);
}

static void test_many_rules(void **state)
{
	char *text = many_rules();

	(void)state;
	rig_policy(rig, text);
	free(text);
	for (int i = 0; i < RULES; i++) {
		enum secg_reason reason = i % 3 ? SECG_REASON_NONE : SECG_REASON_RULE_DROP;
		char key[16];

		many_packet(i, 1000 + i, i % 2, reason);
		many_packet(i, 1001 + i, i % 2, reason);
		many_packet(i, 999 + i, i % 2, SECG_REASON_DEFAULT);
		many_packet(i, 1002 + i, i % 2, SECG_REASON_DEFAULT);
		many_packet(i, 1000 + i, !(i % 2), SECG_REASON_DEFAULT);
		snprintf(key, sizeof(key), "a/r%d", i);
		assert_int_equal(hits(key), 4);
	}
}

/* ── counters ───────────────────────────────────────────────────────────────────────────────────── */

/* They follow the rule's id, not its place, and do not start again. */
static void test_counters_survive(void **state)
{
	(void)state;
	rig_policy(rig, BOTH_WAYS("{'id': 'x', 'action': 'allow-stateless', 'protocol': 'tcp'},"
				  "{'id': 'y', 'action': 'allow-stateless', 'protocol': 'udp'}"));
	FROM(PASS, ETH, IP4(A, B), TCP(1, 2, SYN));
	FROM(PASS, ETH, IP4(A, B), UDP(1, 2));
	TO(PASS, ETH, IP4(A, B), UDP(1, 2));
	rig_policy(rig, BOTH_WAYS("{'id': 'new', 'action': 'drop', 'protocol': 99},"
				  "{'id': 'y', 'action': 'allow-stateless', 'protocol': 'udp'},"
				  "{'id': 'x', 'action': 'allow-stateless', 'protocol': 'tcp'}"));
	TO(PASS, ETH, IP4(A, B), UDP(1, 2));
	assert_int_equal(hits("a/x"), 1);
	assert_int_equal(hits("a/y"), 3);
	assert_int_equal(hits("a/new"), 0);
	assert_int_equal(rig_rule(rig, "p1", "a/y").bytes, 3 * 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_actions),
		TEST(test_pass),
		TEST(test_default_drop),
		TEST(test_default_allow),
		TEST(test_both_absent),
		TEST(test_one_absent),
		TEST(test_one_absent_untracked),
		TEST(test_released),
		TEST(test_empty_match),
		TEST(test_many_rules),
		TEST(test_counters_survive),
	};

	return RUN("rules", tests);
}
