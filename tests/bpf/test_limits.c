/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a port: sessions, half-open ones, sessions of a source. */
#include "check.h"
#include "flows.h"

#define SECONDS(count) ((count)*RIG_TICKS_PER_SECOND)
#define ANY            "{'id': 'r', 'action': 'allow'}"

static void limits(const char *fields)
{
	char text[256];

	snprintf(text, sizeof(text),
		 ", 'limits': {%s}, 'timeouts': {'udp_one_way': 30, 'tcp_half_open': 30}", fields);
	policy(ANY, text);
}

#define USAGE(sessions_, half_open_) usage_is(sessions_, half_open_, __FILE__, __LINE__)
static void usage_is(int32_t sessions, int32_t half_open, const char *file, int line)
{
	struct secg_usage usage = rig_usage(rig, "p1");

	if ((int32_t)usage.sessions == sessions && (int32_t)usage.half_open == half_open)
		return;
	print_error("%d sessions, %d half-open\n", (int32_t)usage.sessions,
		    (int32_t)usage.half_open);
	_fail(file, line);
}

static const char *a_text(void)
{
	return family == 6 ? A6 : A;
}

FOR_ALL(test_sessions_of_a_port)
{
	limits("'sessions': 3");
	for (uint16_t i = 0; i < 3; i++)
		OUT(PASS, ETH, AB(), UDP(1000 + i, 53));
	USAGE(3, 0);
	OUT(LIMIT_PORT, ETH, AB(), UDP(1003, 53));
	OUT(LIMIT_PORT, ETH, IP(C, B), ECHO(9));
	USAGE(3, 0);
	/* Those that are there go on, and answers come. */
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	BACK(PASS, ETH, BA(), UDP(53, 1001));
	USAGE(3, 0);
	assert_int_equal(rig_sessions(rig, NULL, 0), 3);
	/* What is not tracked is not counted. */
	OUT(PASS, ETH, AB(), REPLY(9));
	USAGE(3, 0);
}

FOR_ALL(test_without_limits)
{
	policy(ANY, "");
	for (uint16_t i = 0; i < 5; i++)
		OUT(PASS, ETH, AB(), UDP(1000 + i, 53));
	rig_age(rig, SECONDS(31));
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	USAGE(0, 0);
}

FOR_ALL(test_an_end_makes_room)
{
	limits("'sessions': 1");
	/* By its timer, found by its own packet. */
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	rig_age(rig, SECONDS(31));
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	USAGE(1, 0);
	OUT(LIMIT_PORT, ETH, AB(), UDP(1001, 53));
	rig_age(rig, SECONDS(31));
	BACK(DEFAULT, ETH, BA(), UDP(53, 1000));
	USAGE(0, 0);
	/* By a reset. */
	OUT_TCP(PASS, SYN, .seq = 100);
	USAGE(1, 1);
	BACK_TCP(PASS, RST | ACK, .ack = 101);
	USAGE(0, 0);
	/* By a change of the policy. */
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	policy("{'id': 'r', 'action': 'allow', 'protocol': 'tcp'}", ", 'limits': {'sessions': 1}");
	OUT(POLICY_CHANGE, ETH, AB(), UDP(1000, 53));
	USAGE(0, 0);
}

/* A new connection in the place of one that closed. */
FOR_ALL(test_anew)
{
	limits("'sessions': 1");
	handshake();
	USAGE(1, 0);
	BACK_TCP(PASS, RST, .seq = 501);
	USAGE(1, 0);
	OUT_TCP(PASS, SYN, .seq = 9000);
	USAGE(1, 1);
}

FOR_ALL(test_half_open)
{
	limits("'half_open': 2");
	OUT(PASS, ETH, AB(), TCP(1000, 80, SYN, .seq = 100));
	OUT(PASS, ETH, AB(), TCP(1001, 80, SYN, .seq = 100));
	USAGE(2, 2);
	OUT(LIMIT_HALF_OPEN, ETH, AB(), TCP(1002, 80, SYN));
	/* Other protocols are not half-open. */
	OUT(PASS, ETH, AB(), UDP(1002, 80));
	USAGE(3, 2);
	/* A SYN again is none more. */
	OUT(PASS, ETH, AB(), TCP(1000, 80, SYN, .seq = 100));
	USAGE(3, 2);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	USAGE(3, 2);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	USAGE(3, 1);
	OUT(PASS, ETH, AB(), TCP(1002, 80, SYN));
	OUT(LIMIT_HALF_OPEN, ETH, AB(), TCP(1003, 80, SYN));
	USAGE(4, 2);
}

/* Whoever opens is the source, on either side; others are not counted with it. */
FOR_ALL(test_sessions_of_a_source)
{
	limits("'sessions_per_source': 2");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	OUT(PASS, ETH, AB(), UDP(1001, 53));
	assert_int_equal(rig_source(rig, "p1", a_text()), 2);
	OUT(LIMIT_SOURCE, ETH, AB(), UDP(1002, 53));
	OUT(LIMIT_SOURCE, ETH, AB(), TCP(1002, 80, SYN));
	USAGE(2, 0);
	OUT(PASS, ETH, BA(), UDP(1002, 53));
	OUT(PASS, ETH, IP(C, B), UDP(1002, 53));
	USAGE(4, 0);
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	assert_int_equal(rig_source(rig, "p1", family == 6 ? B6 : B), 1);
	rig_age(rig, SECONDS(31));
	OUT(PASS, ETH, AB(), UDP(1001, 53));
	assert_int_equal(rig_source(rig, "p1", a_text()), 2);
}

/* What was not counted as it opened makes the count negative as it ends, not huge. */
FOR_ALL(test_below_zero)
{
	limits("'sessions': 1, 'half_open': 1");
	OUT_TCP(PASS, SYN, .seq = 100);
	rig_set_usage(rig, "p1", (struct secg_usage){0});
	BACK_TCP(PASS, RST | ACK, .ack = 101);
	USAGE(-1, -1);
	OUT_TCP(PASS, SYN, .seq = 100);
	OUT(PASS, ETH, AB(), TCP(1001, 80, SYN));
	OUT(LIMIT_PORT, ETH, AB(), TCP(1002, 80, SYN));
}

/* An expired session whose slot is taken has ended, and is counted as that once. */
FOR_ALL(test_a_slot_is_taken)
{
	struct rig_session session;

	limits("'sessions': 9");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	session = SESSION();
	rig_age(rig, SECONDS(181));
	for (uint16_t port = 1001; port < 9000; port++) {
		struct secg_flow_key key =
			rig_key(rig, "p1", out, 17, a_text(), port, family == 6 ? B6 : B, 53);

		if (rig_bucket(rig, &key) != session.slot / SECG_WAYS)
			continue;
		OUT(PASS, ETH, AB(), UDP(port, 53));
		USAGE(2, 0);
		BACK(PASS, ETH, BA(), UDP(53, port));
		USAGE(1, 0);
		return;
	}
	fail();
}

/* Each port has its own. */
FOR_ALL(test_two_ports)
{
	rig_policy(rig, "{'acls': {'a': {'rules': [" ANY "]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a'],"
			" 'limits': {'sessions': 1}},"
			" 'p2': {'interface': 'p2', 'from': ['a'], 'to': ['a'],"
			" 'limits': {'sessions': 1, 'sessions_per_source': 1}}}}");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	OUT(LIMIT_PORT, ETH, AB(), UDP(1001, 53));
	interface = "p2";
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	OUT(LIMIT_PORT, ETH, AB(), UDP(1001, 53));
	interface = "p1";
	USAGE(1, 0);
	assert_int_equal(rig_usage(rig, "p2").sessions, 1);
	assert_int_equal(rig_source(rig, "p1", a_text()), -1);
	assert_int_equal(rig_source(rig, "p2", a_text()), 1);
}

/* A direction without rules passes everything, but for what the limits of its port refuse. */
FOR_ALL(test_absent_direction)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "{'acls': {'a': {'rules': [" ANY "]}}, 'ports': {'p1': {'interface': 'p1',"
		 " '%s': ['a'], 'limits': {'sessions': 1}}}}",
		 out == SECG_FROM ? "from" : "to");
	rig_policy(rig, text);
	BACK(PASS, ETH, BA(), UDP(1000, 53));
	BACK(LIMIT_PORT, ETH, BA(), UDP(1001, 53));
	BACK_TCP(PASS, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sessions_of_a_port), TEST(test_without_limits),
		TEST(test_an_end_makes_room),  TEST(test_anew),
		TEST(test_half_open),          TEST(test_sessions_of_a_source),
		TEST(test_below_zero),         TEST(test_a_slot_is_taken),
		TEST(test_two_ports),          TEST(test_absent_direction),
	};

	return RUN("limits", tests);
}
