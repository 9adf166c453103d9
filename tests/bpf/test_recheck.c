/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions and a policy that changes under them: kept, cut, judged again. `other` keeps the port
 * stateful, so that sessions are looked up.
 */
#include "check.h"
#include "flows.h"

#define OTHER ", {'id': 'other', 'action': 'allow', 'protocol': 99}"
#define WEB   "{'id': 'web', 'action': 'allow', 'protocol': 'tcp', 'dst_ports': 80}"
#define DNS   "{'id': 'dns', 'action': 'allow', 'protocol': 'udp', 'dst_ports': 53}"
#define NTP   "{'id': 'ntp', 'action': 'allow', 'protocol': 'udp', 'dst_ports': 123}"

FOR_ALL(test_opener_is_cut)
{
	policy(WEB OTHER, "");
	handshake();
	policy(DNS OTHER, "");
	OUT_TCP(POLICY_CHANGE, ACK, .seq = 101, .ack = 501);
	NO_SESSION();
	/* From then on it is a packet like any other. */
	OUT_TCP(DEFAULT, ACK, .seq = 101, .ack = 501);
	BACK_TCP(DEFAULT, ACK, .seq = 501, .ack = 101);
}

FOR_ALL(test_reply_is_cut)
{
	policy(WEB OTHER, "");
	handshake();
	policy("{'id': 'web', 'action': 'drop', 'protocol': 'tcp', 'dst_ports': 80}" OTHER, "");
	BACK_TCP(POLICY_CHANGE, ACK, .seq = 501, .ack = 101);
	NO_SESSION();
	BACK_TCP(DEFAULT, ACK, .seq = 501, .ack = 101);
	OUT_TCP(RULE_DROP, ACK, .seq = 101, .ack = 501);
}

/* A rule that names the tuple's source ports or addresses is found by replies too. */
FOR_ALL(test_reply_is_judged_by_the_swapped_tuple)
{
	policy(WEB OTHER, "");
	handshake();
	policy(DNS ", {'id': 'narrow', 'action': 'allow', 'protocol': 'tcp', 'src_ports': 1000,"
		   " 'dst_ports': 80, 'src': ['10.0.0.1', '2001:db8::1'],"
		   " 'dst': ['10.0.0.2', '2001:db8::2']}",
	       "");
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
	assert_int_equal(hits("a/narrow"), 1);
	policy("{'id': 'wrong', 'action': 'allow', 'protocol': 'tcp', 'src_ports': 80,"
	       " 'dst_ports': 1000}",
	       "");
	BACK_TCP(POLICY_CHANGE, ACK, .seq = 501, .ack = 101);
}

FOR_ALL(test_kept)
{
	struct rig_session session;
	uint32_t before;

	policy(WEB OTHER, "");
	handshake();
	before = SESSION().flow.s.generation;
	policy(DNS "," WEB OTHER, "");
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	session = SESSION();
	assert_int_equal(phase(&session), SECG_FLOW_ESTABLISHED);
	assert_int_not_equal(session.flow.s.generation, before);
	assert_int_equal(session.flow.s.generation, rig_port(rig, "p1")->policy_generation);
	assert_int_equal(hits("a/web"), 4);
	/* Its hits follow to the rule that admits it now. */
	policy("{'id': 'all', 'action': 'allow'}," WEB, "");
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	assert_int_equal(hits("a/web"), 4);
	assert_int_equal(hits("a/all"), 2);
}

/* New flows are judged again as answered ones are. */
FOR_ALL(test_new_flows)
{
	policy(DNS "," NTP, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	OUT(PASS, ETH, AB(), UDP(1000, 123));
	policy(NTP OTHER, "");
	BACK(POLICY_CHANGE, ETH, BA(), UDP(53, 1000));
	BACK(PASS, ETH, BA(), UDP(123, 1000));
	OUT(DEFAULT, ETH, AB(), UDP(1000, 53));
	IS(ESTABLISHED, ESTABLISHED);
}

/* A reply to an echo is judged as the question was. */
FOR_ALL(test_echo)
{
	policy("{'id': 'all', 'action': 'allow'}", "");
	OUT(PASS, ETH, AB(), ECHO(7));
	policy("{'id': 'ping', 'action': 'allow', 'protocol': 'ping'}", "");
	BACK(PASS, ETH, BA(), REPLY(7));
	assert_int_equal(hits("a/ping"), 1);
	policy("{'id': 'pong', 'action': 'allow', 'protocol': 'icmp', 'icmp_type': 'echo-reply'},"
	       "{'id': 'pong6', 'action': 'allow', 'protocol': 'icmpv6', 'icmp_type': 'echo-reply'}",
	       "");
	BACK(POLICY_CHANGE, ETH, BA(), REPLY(7));
}

FOR_ALL(test_timestamp)
{
	if (family == 6)
		return;
	policy("{'id': 'all', 'action': 'allow'}", "");
	OUT(PASS, ETH, AB(), ICMP(13, 0, .id = 7));
	policy("{'id': 'time', 'action': 'allow', 'protocol': 'icmp', 'icmp_type': 13}", "");
	BACK(PASS, ETH, BA(), ICMP(14, 0, .id = 7));
	assert_int_equal(hits("a/time"), 1);
}

FOR_ALL(test_allowed_again)
{
	policy(WEB OTHER, "");
	handshake();
	policy(DNS OTHER, "");
	OUT_TCP(POLICY_CHANGE, ACK, .seq = 101, .ack = 501);
	policy(WEB OTHER, "");
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
}

/* Cut and allowed again before a packet came: nothing happened. */
FOR_ALL(test_there_and_back)
{
	policy(WEB OTHER, "");
	handshake();
	policy(DNS OTHER, "");
	policy(WEB OTHER, "");
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
}

FOR_ALL(test_allow_becomes_stateless)
{
	policy(WEB OTHER, "");
	handshake();
	policy("{'id': 'web', 'action': 'allow-stateless', 'protocol': 'tcp', 'dst_ports': 80}" OTHER,
	       "");
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	NO_SESSION();
	BACK_TCP(DEFAULT, ACK, .seq = 501, .ack = 101);
}

FOR_ALL(test_keep)
{
	policy(WEB OTHER, ", 'on_change': 'keep'");
	handshake();
	policy(DNS OTHER, ", 'on_change': 'keep'");
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	/* Not even a stateful rule need be left. */
	policy("{'id': 'none', 'action': 'drop'}", ", 'on_change': 'keep'");
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	OUT(RULE_DROP, ETH, AB(), TCP(1001, 80, SYN));
	policy(DNS OTHER, "");
	OUT_TCP(POLICY_CHANGE, ACK, .seq = 101, .ack = 501);
}

/* Another port's change, or one that changes nothing here, is no reason to look again. */
FOR_ALL(test_others_are_not_judged)
{
	uint32_t before;

	rig_policy(rig, "{'acls': {'a': {'rules': [" WEB "]}, 'b': {'rules': [" DNS "]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']},"
			" 'p2': {'interface': 'p2', 'from': ['b']}}}");
	handshake();
	before = rig_port(rig, "p1")->policy_generation;
	rig_policy(rig, "{'acls': {'a': {'rules': [" WEB "]}, 'b': {'rules': [" NTP "]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']},"
			" 'p2': {'interface': 'p2', 'from': ['b']}}}");
	assert_int_equal(rig_port(rig, "p1")->policy_generation, before);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
}

/* Sessions that no rule opened: the default, or a direction that says nothing. */
FOR_ALL(test_sessions_of_the_default)
{
	policy("{'id': 'no', 'action': 'drop', 'protocol': 99}",
	       out == SECG_FROM ? ", 'default': {'from': {'action': 'allow'}}"
				: ", 'default': {'to': {'action': 'allow'}}");
	handshake();
	assert_int_equal(SESSION().flow.s.rule, 0);
	policy("{'id': 'no', 'action': 'drop', 'protocol': 98}",
	       out == SECG_FROM ? ", 'default': {'from': {'action': 'allow'}}"
				: ", 'default': {'to': {'action': 'allow'}}");
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	policy(DNS, "");
	BACK_TCP(POLICY_CHANGE, ACK, .seq = 501, .ack = 101);
}

/* What the packet may do by a rule of its own direction it may still do. */
FOR_ALL(test_own_rule_of_the_reply)
{
	rig_policy(rig, "{'acls': {'a': {'rules': [" WEB "]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']}}}");
	handshake();
	rig_policy(rig, "{'acls': {'a': {'rules': [" DNS ", {'id': 'back', 'action': 'allow',"
			" 'protocol': 'tcp', 'src_ports': 80}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']}}}");
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	IS(NEW, NEW);
	assert_int_equal(hits("a/back"), 1);
}

#define OPENING(flags) \
	"{'id': 'syn', 'action': 'allow', 'protocol': 'tcp', 'tcp_flags': '" flags "'}"

/* What a session does not show is held neither against it nor for it, but by the rule that it has. */
FOR_ALL(test_hidden_fields)
{
	policy(WEB, "");
	handshake();
	policy("{'id': 'no', 'action': 'drop', 'protocol': 'tcp', 'tcp_flags': 'syn/syn,ack'}," WEB,
	       "");
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	policy(OPENING("syn/syn,ack"), "");
	BACK_TCP(POLICY_CHANGE, ACK, .seq = 501, .ack = 101);
	handshake();
	policy(DNS "," OPENING("syn/syn,ack"), "");
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	IS(ESTABLISHED, ESTABLISHED);
	policy(OPENING("syn/syn,ack,fin"), "");
	BACK_TCP(POLICY_CHANGE, ACK, .seq = 501, .ack = 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_opener_is_cut),
		TEST(test_reply_is_cut),
		TEST(test_reply_is_judged_by_the_swapped_tuple),
		TEST(test_kept),
		TEST(test_new_flows),
		TEST(test_echo),
		TEST(test_timestamp),
		TEST(test_allowed_again),
		TEST(test_there_and_back),
		TEST(test_allow_becomes_stateless),
		TEST(test_keep),
		TEST(test_others_are_not_judged),
		TEST(test_sessions_of_the_default),
		TEST(test_own_rule_of_the_reply),
		TEST(test_hidden_fields),
	};

	return RUN("recheck", tests);
}
