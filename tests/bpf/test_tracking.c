/* SPDX-License-Identifier: Apache-2.0 */
/* What is tracked and what is not, and that a rule which tracks changes nothing for others. */
#include "check.h"
#include "flows.h"

#define LESS(id, match) "{'id': '" id "', 'action': 'allow-stateless'" match "}"

/* acl/49.1: what a stateless rule lets pass is neither tracked nor looked up: each way needs its own. */
FOR_ALL(test_stateless_skips_tracking)
{
	policy(LESS("r", ", 'protocol': ['tcp', 'udp']") "," LESS("ping", ", 'protocol': 'ping'"),
	       "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	OUT_TCP(PASS, SYN, .seq = 1);
	OUT(PASS, ETH, AB(), ECHO(7));
	NO_SESSION();
	BACK(DEFAULT, ETH, BA(), UDP(53, 1000));
	BACK_TCP(DEFAULT, SYN | ACK, .seq = 9, .ack = 2);
	BACK(DEFAULT, ETH, BA(), REPLY(7));
	/* Nor are there flags, windows or handshakes that it would mind. */
	OUT_TCP(PASS, RST, .seq = 77);
	OUT_TCP(PASS, SYN | FIN, .seq = 77);
	OUT_TCP(PASS, ACK, .seq = 77, .ack = 77);
	NO_SESSION();
	assert_int_equal(hits("a/r"), 5);
}

/* A SYN that was lost on its way comes after all: the opener resets what the peer makes of it, and the next SYN is
 * the first of a new one (RFC 9293 §3.5, figure 8). */
FOR_ALL(test_answer_to_an_older_syn)
{
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 3000000000);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 2999999000);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 2999998999);
	OUT_TCP(PASS, RST, .seq = 2999999000);
	NO_SESSION();
	OUT_TCP(PASS, SYN, .seq = 3000000000);
	BACK_TCP(PASS, SYN | ACK, .seq = 700, .ack = 3000000001);
	OUT_TCP(PASS, ACK, .seq = 3000000001, .ack = 701);
	IS(ESTABLISHED, ESTABLISHED);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 2999999000);
}

/* Beside a rule that tracks: its packets belong to no session, and open none for the way back. */
FOR_ALL(test_stateless_beside_tracked)
{
	policy(LESS("less", ", 'protocol': 'udp', 'dst_ports': 53") "," TO_B, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	NO_SESSION();
	BACK(DEFAULT, ETH, BA(), UDP(53, 1000));
	OUT(PASS, ETH, AB(), UDP(1000, 54));
	BACK(PASS, ETH, BA(), UDP(54, 1000));
	IS(ESTABLISHED, ESTABLISHED);
	assert_int_equal(hits("a/less"), 1);
	assert_int_equal(hits("a/r"), 2);
}

/* Packets from the middle of everything, for a list that drops what is for port 80. */
static void dropped_all(void)
{
	OUT_TCP(RULE_DROP, SYN, .seq = 1);
	OUT_TCP(RULE_DROP, ACK, .seq = 2, .ack = 10);
	OUT_TCP(RULE_DROP, FIN | ACK, .seq = 2, .ack = 10);
	OUT_TCP(RULE_DROP, RST, .seq = 2);
	OUT_TCP(RULE_DROP, SYN | FIN, .seq = 2);
	OUT(RULE_DROP, ETH, AB(), UDP(1000, 80));
	OUT(RULE_DROP, ETH, AB(), SCTP(1000, 80));
	BACK_TCP(DEFAULT, SYN | ACK, .seq = 9, .ack = 2);
	BACK(DEFAULT, ETH, BA(), UDP(80, 1000));
}

/* acl/35: a plain drop means the same whatever other rules do, before it and behind. */
FOR_ALL(test_no_side_effects_between_rules)
{
	static const char drop[] =
		"{'id': 'no', 'action': 'drop', 'protocol': ['tcp', 'udp', 'sctp'], 'dst_ports': 80}";
	char rules[512];

	policy(drop, "");
	dropped_all();
	snprintf(rules, sizeof(rules), "%s, " TO_B, drop);
	policy(rules, "");
	dropped_all();
	NO_SESSION();
	snprintf(rules, sizeof(rules),
		 "{'id': 'web', 'action': 'allow', 'protocol': 'tcp', 'dst_ports': 443}, %s, " TO_B,
		 drop);
	policy(rules, "");
	OUT(PASS, ETH, AB(), TCP(1000, 443, SYN, .seq = 1));
	BACK(PASS, ETH, BA(), TCP(443, 1000, SYN | ACK, .seq = 9, .ack = 2));
	dropped_all();
	assert_int_equal(rig_sessions(rig, NULL, 0), 1);
	assert_int_equal(hits("a/no"), 3 * 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stateless_skips_tracking),
		TEST(test_answer_to_an_older_syn),
		TEST(test_stateless_beside_tracked),
		TEST(test_no_side_effects_between_rules),
	};

	return RUN("tracking", tests);
}
