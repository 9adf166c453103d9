/* SPDX-License-Identifier: Apache-2.0 */
/* What a port's own fields do to its sessions: domains, picking up, timeouts of rules, failing open. */
#include "check.h"
#include "flows.h"

#define SECONDS(count) ((count)*RIG_TICKS_PER_SECOND)
#define ANY            "{'id': 'r', 'action': 'allow'}"

/* ── domains ────────────────────────────────────────────────────────────────────────────────────── */

/* p1 lets flows to B in, p2 lets nothing out but what it is asked for, p3 nothing at all; in one domain. */
static void shared(const char *p1_rules, const char *p2_rules)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{'acls': {'a': {'rules': [%s]}, 'b': {'rules': [%s]}}, 'ports': {"
		 " 'p1': {'interface': 'p1', 'domain': 'd', 'from': ['a'], 'to': [],"
		 "  'timeouts': {'udp_two_way': 50}},"
		 " 'p2': {'interface': 'p2', 'domain': 'd', 'from': [], 'to': ['b']},"
		 " 'p3': {'interface': 'p3', 'domain': 'd', 'from': [], 'to': []}}}",
		 p1_rules, p2_rules);
	rig_policy(rig, text);
}

static struct rig_verdict at(const char *port, enum secg_direction direction,
			     enum secg_reason reason, const struct layer *layers, int line)
{
	struct rig_verdict verdict;

	interface = port;
	verdict = expect_layers(direction, reason, layers, __FILE__, line);
	interface = NULL;
	return verdict;
}
#define AT(port, direction, reason, ...) \
	at(port, SECG_##direction, SECG_REASON_##reason, LAYERS(__VA_ARGS__), __LINE__)

static void use(int which)
{
	family = which;
	out = SECG_FROM;
	back = SECG_TO;
	rig_clear(rig);
}

/* acl/26: the answer comes by another port of the domain, and belongs to the session all the same. */
static void test_asymmetric(void **state)
{
	(void)state;
	for (int which = 4; which <= 6; which += 2) {
		use(which);
		shared(TO_B, ANY);
		AT("p1", FROM, PASS, ETH, AB(), UDP(1000, 53));
		AT("p3", TO, PASS, ETH, BA(), UDP(53, 1000));
		AT("p3", TO, DEFAULT, ETH, BA(), UDP(53, 1001));
		IS(ESTABLISHED, ESTABLISHED);
		/* Its timeouts are those of the port on which it opened. */
		rig_age(rig, SECONDS(49));
		AT("p3", TO, PASS, ETH, BA(), UDP(53, 1000));
		rig_age(rig, SECONDS(51));
		AT("p3", TO, DEFAULT, ETH, BA(), UDP(53, 1000));
	}
}

/* A packet that crosses two ports of one domain is judged twice. */
static void test_crossing(void **state)
{
	(void)state;
	for (int which = 4; which <= 6; which += 2) {
		use(which);
		shared(TO_B, "{'id': 'no', 'action': 'drop'}");
		AT("p1", FROM, PASS, ETH, AB(), UDP(1000, 53));
		AT("p2", TO, RULE_DROP, ETH, AB(), UDP(1000, 53));
		shared(TO_B, ANY);
		AT("p2", TO, PASS, ETH, AB(), UDP(1000, 53));
		assert_int_equal(rig_sessions(rig, NULL, 0), 2);
		AT("p2", FROM, PASS, ETH, BA(), UDP(53, 1000));
		AT("p1", TO, PASS, ETH, BA(), UDP(53, 1000));
		assert_int_equal(rig_sessions(rig, NULL, 0), 2);
	}
}

/* A change of the port on which it opened cuts it, wherever its packets come; of another one does not. */
static void test_recheck_by_the_owner(void **state)
{
	(void)state;
	use(4);
	shared(TO_B, ANY);
	AT("p1", FROM, PASS, ETH, AB(), UDP(1000, 53));
	AT("p3", TO, PASS, ETH, BA(), UDP(53, 1000));
	shared(TO_B, TO_B);
	AT("p3", TO, PASS, ETH, BA(), UDP(53, 1000));
	shared("{'id': 'other', 'action': 'allow', 'protocol': 99}", TO_B);
	AT("p3", TO, POLICY_CHANGE, ETH, BA(), UDP(53, 1000));
	NO_SESSION();
	/* A port that is gone has no sessions either. */
	shared(TO_B, ANY);
	AT("p1", FROM, PASS, ETH, AB(), UDP(1000, 53));
	rig_port(rig, "p1")->flags |= SECG_PORT_RELEASED;
	AT("p3", TO, POLICY_CHANGE, ETH, BA(), UDP(53, 1000));
}

/* ── picking up ─────────────────────────────────────────────────────────────────────────────────── */

static void picks_up(int32_t seconds)
{
	rig_port(rig, "p1")->flags |= SECG_PORT_PICKUP;
	rig_port(rig, "p1")->pickup_until = rig_now(rig) + (uint32_t)SECONDS(seconds);
}

FOR_ALL(test_pick_up)
{
	struct rig_session session;

	policy(TO_B, ", 'tcp': 'strict'");
	picks_up(60);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	IS(ESTABLISHED, ESTABLISHED);
	session = SESSION();
	assert_int_equal(session.flow.a.packets[SECG_ORIG], 1);
	assert_int_equal(hits("a/r"), 1);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	BACK_TCP(TCP_RST_WINDOW, RST, .seq = 500);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 100);
	BACK_TCP(PASS, RST, .seq = 501);
	IS(ESTABLISHED, CLOSING);
	/* What begins begins as ever; a stray reset opens nothing. */
	OUT(PASS, ETH, AB(), TCP(1001, 80, SYN));
	OUT(PASS, ETH, AB(), TCP(1002, 80, SYN));
	assert_int_equal(rig_sessions(rig, NULL, 0), 3);
	OUT(TCP_BAD_FLAGS, ETH, AB(), TCP(1003, 80, 0));
	BACK(DEFAULT, ETH, IP(C, A), TCP(80, 1000, ACK));
}

/* The side that answers is heard first: the rules of the other direction are asked about the opener. */
FOR_ALL(test_pick_up_by_a_reply)
{
	struct rig_session session;

	policy(TO_B, ", 'tcp': 'strict'");
	picks_up(60);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
	session = SESSION();
	assert_int_equal(session.flow.a.packets[SECG_REPLY], 1);
	assert_int_equal(session.flow.s.state & SECG_FLOW_OPENED_TO,
			 out == SECG_TO ? SECG_FLOW_OPENED_TO : 0);
	assert_int_equal(hits("a/r"), 1);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 100);
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 102);
	IS(ESTABLISHED, CLOSING);
	BACK(DEFAULT, ETH, BA(), TCP(80, 1001, SYN));
	BACK(DEFAULT, ETH, BA(), TCP(80, 1001, SYN | ACK));
	BACK(DEFAULT, ETH, BA(), UDP(80, 1001));
	BACK(DEFAULT, ETH, IP(C, A), TCP(80, 1001, RST));
}

FOR_ALL(test_pick_up_ends)
{
	policy(TO_B, ", 'tcp': 'strict'");
	picks_up(-1);
	OUT_TCP(TCP_NOT_SYN, ACK, .seq = 101, .ack = 501);
	BACK_TCP(DEFAULT, ACK, .seq = 501, .ack = 101);
	NO_SESSION();
}

/* ── timeouts of rules ──────────────────────────────────────────────────────────────────────────── */

#define FIELDS                                                                      \
	", 'tcp': 'strict', 'timeouts': {'tcp_established': 50, 'tcp_closing': 10," \
	" 'tcp_half_open': 5, 'udp_one_way': 5, 'udp_two_way': 50, 'icmp': 50, 'other': 50}"
#define SLOW "{'id': 'r', 'action': 'allow', 'timeout': 200}"

FOR_ALL(test_rule_timeout)
{
	policy(SLOW, FIELDS);
	handshake();
	rig_age(rig, SECONDS(199));
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	rig_age(rig, SECONDS(202));
	OUT_TCP(TCP_NOT_SYN, ACK, .seq = 101, .ack = 501);
	/* What is half-open or closing keeps to the port's. */
	OUT_TCP(PASS, SYN, .seq = 100);
	rig_age(rig, SECONDS(6));
	BACK_TCP(DEFAULT, SYN | ACK, .seq = 500, .ack = 101);
	handshake();
	BACK_TCP(PASS, RST, .seq = 501);
	rig_age(rig, SECONDS(11));
	BACK_TCP(DEFAULT, ACK, .seq = 501, .ack = 101);
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	rig_age(rig, SECONDS(6));
	BACK(DEFAULT, ETH, BA(), UDP(53, 1000));
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	OUT(PASS, ETH, AB(), ECHO(7));
	OUT(PASS, ETH, AB(), PROTO(47));
	rig_age(rig, SECONDS(199));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	BACK(PASS, ETH, BA(), REPLY(7));
	BACK(PASS, ETH, BA(), PROTO(47));
}

/* A session that goes on under another rule has that rule's timeout. */
FOR_ALL(test_rule_timeout_follows)
{
	policy(SLOW, FIELDS);
	handshake();
	policy("{'id': 'r', 'action': 'allow'}, {'id': 's', 'action': 'drop'}", FIELDS);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	rig_age(rig, SECONDS(51));
	OUT_TCP(TCP_NOT_SYN, ACK, .seq = 101, .ack = 501);
	handshake();
	policy(SLOW, FIELDS);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	rig_age(rig, SECONDS(199));
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
}

/* ── on_change, fail_mode, reset_on_expiry ──────────────────────────────────────────────────────── */

FOR_ALL(test_cut)
{
	policy(TO_B, ", 'on_change': 'cut'");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	policy(TO_B ", {'id': 's', 'action': 'drop'}", ", 'on_change': 'cut'");
	BACK(POLICY_CHANGE, ETH, BA(), UDP(53, 1000));
	NO_SESSION();
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
}

/* Nor is it for being no SYN that a packet of a session that was cut is dropped. */
FOR_ALL(test_cut_strict)
{
	policy(TO_B, ", 'on_change': 'cut', 'tcp': 'strict'");
	handshake();
	policy(TO_B ", {'id': 's', 'action': 'drop'}", ", 'on_change': 'cut', 'tcp': 'strict'");
	OUT_TCP(POLICY_CHANGE, ACK, .seq = 101, .ack = 501);
	OUT_TCP(TCP_NOT_SYN, ACK, .seq = 101, .ack = 501);
	handshake();
}

/* What replies to a flow that opened in a direction without lists comes by way of an allowing default. */
FOR_ALL(test_absent_beside_a_default)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{'ports': {'p1': {'interface': 'p1', '%s': [], 'tcp': 'strict',"
		 " 'default': {'%s': {'action': 'allow'}}}}}",
		 back == SECG_FROM ? "from" : "to", back == SECG_FROM ? "from" : "to");
	rig_policy(rig, text);
	handshake();
	IS(ESTABLISHED, ESTABLISHED);
}

/* Room for nobody: every way of the bucket is being filled, and the overflow is full. */
static void fill_up(void)
{
	static const struct secg_flow flow = {.s.state = SECG_FLOW_ESTABLISHED};
	struct secg_flow_key key = {.domain = 9999};

	for (uint32_t i = 0; i < RIG_BUCKETS * SECG_WAYS; i++)
		rig->slots[i].version = 1;
	for (key.proto = 1; key.proto <= RIG_OVERFLOW; key.proto++)
		rig_overflow_put(rig, &key, &flow);
}

FOR_ALL(test_fail_open)
{
	policy(TO_B, ", 'fail_mode': 'open'");
	fill_up();
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	BACK(DEFAULT, ETH, BA(), UDP(53, 1001));
	OUT(MALFORMED, ETH, AB(), UDP(1, 2, .length = 4));
	policy(TO_B, "");
	BACK(SESSION_FULL, ETH, BA(), UDP(53, 1000));
	picks_up(60);
	OUT_TCP(SESSION_FULL, ACK, .seq = 101, .ack = 501);
}

/* A port of which nothing is known but that. */
FOR_ALL(test_fail_open_undecided)
{
	policy(TO_B, "");
	rig_port(rig, "p1")->flags = SECG_PORT_FAIL_OPEN;
	OUT(PASS, ETH, BA(), UDP(1, 2));
	rig_port(rig, "p1")->flags = 0;
	OUT(UNDECIDED, ETH, BA(), UDP(1, 2));
}

FOR_ALL(test_macs_are_noted)
{
	static const uint8_t none[6];
	struct rig_session session;

	policy(TO_B, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	session = SESSION();
	assert_memory_equal(session.flow.a.mac[SECG_ORIG], none, 6);
	rig_clear(rig);
	policy(TO_B, ", 'reset_on_expiry': true");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	session = SESSION();
	assert_memory_not_equal(session.flow.a.mac[SECG_ORIG], none, 6);
	assert_memory_not_equal(session.flow.a.mac[SECG_REPLY], none, 6);
	assert_memory_not_equal(session.flow.a.mac[SECG_ORIG], session.flow.a.mac[SECG_REPLY], 6);
	/* The answer's frame is the same way round in the rig: who sends is the replying side now. */
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	assert_memory_equal(SESSION().flow.a.mac[SECG_REPLY], session.flow.a.mac[SECG_ORIG], 6);
}

/* A session does not know its VLAN, in which the ends would have to be told. */
FOR_ALL(test_macs_in_a_vlan_are_not_noted)
{
	static const uint8_t none[2][6];

	policy(TO_B, ", 'reset_on_expiry': true");
	OUT(PASS, ETH, VLAN(5), AB(), UDP(1000, 53));
	assert_memory_equal(SESSION().flow.a.mac, none, sizeof(none));
	BACK(PASS, ETH, VLAN_AD(5), BA(), UDP(53, 1000));
	assert_memory_equal(SESSION().flow.a.mac, none, sizeof(none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_asymmetric),
		TEST(test_crossing),
		TEST(test_recheck_by_the_owner),
		TEST(test_pick_up),
		TEST(test_pick_up_by_a_reply),
		TEST(test_pick_up_ends),
		TEST(test_rule_timeout),
		TEST(test_rule_timeout_follows),
		TEST(test_cut),
		TEST(test_cut_strict),
		TEST(test_absent_beside_a_default),
		TEST(test_fail_open),
		TEST(test_fail_open_undecided),
		TEST(test_macs_are_noted),
		TEST(test_macs_in_a_vlan_are_not_noted),
	};

	return RUN("ports", tests);
}
