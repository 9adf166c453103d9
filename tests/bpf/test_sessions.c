/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of every protocol but TCP's own states, their keys, and where they lie. */
#include <arpa/inet.h>

#include "check.h"
#include "flows.h"

#define SECONDS(count) ((count)*RIG_TICKS_PER_SECOND)

/* ── protocols ──────────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_udp)
{
	struct rig_session session;

	policy(TO_B, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	IS(NEW, NEW);
	BACK(DEFAULT, ETH, BA(), UDP(53, 1001));
	BACK(DEFAULT, ETH, BA(), UDP(54, 1000));
	BACK(DEFAULT, ETH, BA(), UDPLITE(53, 1000));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	IS(ESTABLISHED, ESTABLISHED);
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000), RAW(100));
	assert_int_equal(hits("a/r"), 5);
	session = SESSION();
	assert_int_equal(session.flow.a.packets[SECG_ORIG], 3);
	assert_int_equal(session.flow.a.packets[SECG_REPLY], 2);
}

FOR_ALL(test_other_protocols_with_ports)
{
	policy(TO_B, "");
	OUT(PASS, ETH, AB(), UDPLITE(1000, 53));
	BACK(PASS, ETH, BA(), UDPLITE(53, 1000));
	BACK(DEFAULT, ETH, BA(), UDPLITE(53, 1001));
	OUT(PASS, ETH, AB(), SCTP(1000, 53));
	BACK(PASS, ETH, BA(), SCTP(53, 1000));
	BACK(DEFAULT, ETH, BA(), SCTP(54, 1000));
	OUT(PASS, ETH, AB(), DCCP(1000, 53));
	BACK(PASS, ETH, BA(), DCCP(53, 1000));
	BACK(DEFAULT, ETH, BA(), DCCP(53, 1002));
	assert_int_equal(rig_sessions(rig, NULL, 0), 3);
}

/* Anything else by its pair of addresses. */
FOR_ALL(test_protocols_by_address)
{
	static const uint8_t numbers[] = {2, 4, 47, 50, 89, 103, 112, 253};

	policy(TO_B, ", 'infrastructure': []");
	for (size_t i = 0; i < sizeof(numbers); i++) {
		BACK(DEFAULT, ETH, BA(), PROTO(numbers[i]));
		OUT(PASS, ETH, AB(), PROTO(numbers[i]));
		BACK(PASS, ETH, BA(), PROTO(numbers[i]));
		BACK(DEFAULT, ETH, IP(C, A), PROTO(numbers[i]));
		BACK(DEFAULT, ETH, BA(), PROTO(254));
	}
	assert_int_equal(rig_sessions(rig, NULL, 0), sizeof(numbers));
}

FOR_ALL(test_echo)
{
	policy(TO_B, "");
	BACK(DEFAULT, ETH, BA(), REPLY(7));
	OUT(PASS, ETH, AB(), ECHO(7));
	IS(NEW, NEW);
	BACK(DEFAULT, ETH, BA(), REPLY(8));
	BACK(DEFAULT, ETH, IP(C, A), REPLY(7));
	BACK(DEFAULT, ETH, BA(), ECHO(7));
	BACK(PASS, ETH, BA(), REPLY(7));
	IS(ESTABLISHED, ESTABLISHED);
	/* An answer that nobody asked for is let through by the rule, but opens nothing. */
	OUT(PASS, ETH, AB(), REPLY(9));
	BACK(DEFAULT, ETH, BA(), ECHO(9));
	assert_int_equal(rig_sessions(rig, NULL, 0), 1);
}

/* A query is no answer, also where identifier and type are one number. */
FOR_ALL(test_echo_whose_identifier_is_its_type)
{
	const uint32_t number = family == 6 ? 128 << 8 : 8 << 8;

	policy("{'id': 'r', 'action': 'allow', 'protocol': 'ping'}", "");
	for (int i = 0; i < 2; i++) {
		OUT(PASS, ETH, AB(), ECHO(number));
		BACK(DEFAULT, ETH, BA(), ECHO(number));
		OUT(DEFAULT, ETH, AB(), REPLY(number));
		BACK(DEFAULT, ETH, BA(), UNREACHABLE, AB(), REPLY(number));
		BACK(PASS, ETH, BA(), REPLY(number));
	}
	assert_int_equal(hits("a/r"), 4);
}

FOR_ALL(test_icmp_queries)
{
	if (family == 6)
		return;
	policy(TO_B, "");
	for (uint8_t type = 13; type <= 17; type += 2) {
		OUT(PASS, ETH, AB(), ICMP(type, 0, .id = type));
		BACK(PASS, ETH, BA(), ICMP((uint8_t)(type + 1), 0, .id = type));
		BACK(DEFAULT, ETH, BA(), ICMP((uint8_t)(type + 1), 0, .id = 99));
	}
	assert_int_equal(rig_sessions(rig, NULL, 0), 3);
}

/* What a rule lets pass by type and code, its session does not let pass with another. */
FOR_ALL(test_icmp_type_and_code)
{
	policy(family == 4
		       ? "{'id': 'r', 'action': 'allow', 'protocol': 'icmp', 'icmp_type': 8, 'icmp_code': 0}"
		       : "{'id': 'r', 'action': 'allow', 'protocol': 'icmpv6', 'icmp_type': 128,"
			 "'icmp_code': 0}",
	       "");
	OUT(PASS, ETH, AB(), ECHO(91));
	BACK(PASS, ETH, BA(), REPLY(91));
	OUT(PASS, ETH, AB(), ECHO(91));
	if (family == 4) {
		OUT(DEFAULT, ETH, AB(), ICMP(13, 0, .id = 91));
		OUT(DEFAULT, ETH, AB(), ICMP(8, 99, .id = 91));
		BACK(DEFAULT, ETH, BA(), ICMP(14, 0, .id = 91));
		BACK(DEFAULT, ETH, BA(), ICMP(0, 9, .id = 91));
	} else {
		OUT(DEFAULT, ETH, AB(), ICMP6(128, 9, .id = 91));
		BACK(DEFAULT, ETH, BA(), ICMP6(129, 9, .id = 91));
	}
	assert_int_equal(rig_sessions(rig, NULL, 0), 1);
}

/* ── keys ───────────────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_key)
{
	struct rig_session session;
	struct secg_flow_key key;
	uint32_t bucket;

	policy(TO_B, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	key = rig_key(rig, "p1", out, 17, family == 6 ? A6 : A, 1000, family == 6 ? B6 : B, 53);
	session = SESSION();
	assert_memory_equal(&session.key, &key, sizeof(key));
	bucket = rig_bucket(rig, &key);
	assert_int_equal(session.slot / SECG_WAYS, bucket);
}

/* The same addresses and ports, opened from either side, are two sessions. */
FOR_ALL(test_both_sides_open)
{
	rig_policy(rig, "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow'}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']}}}");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, AB(), UDP(1000, 53));
	assert_int_equal(rig_sessions(rig, NULL, 0), 2);
	/* Each has its reply. */
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	OUT(PASS, ETH, BA(), UDP(53, 1000));
	assert_int_equal(rig_sessions(rig, NULL, 0), 2);
}

/* Equal 5-tuples at two ports. */
FOR_ALL(test_two_ports)
{
	rig_policy(rig, "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow', 'dst_ports': 53,"
			" 'protocol': 'udp'}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']},"
			" 'p2': {'interface': 'p2', 'from': ['a'], 'to': ['a']}}}");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	interface = "p2";
	BACK(DEFAULT, ETH, BA(), UDP(53, 1000));
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	assert_int_equal(rig_sessions(rig, NULL, 0), 2);
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	interface = "p1";
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	assert_int_equal(rig_sessions(rig, NULL, 0), 2);
	assert_int_equal(hits("a/r"), 2);
	assert_int_equal(rig_rule(rig, "p2", "a/r").packets, 2);
}

/* A packet that enters by one port and leaves by another is judged by both. */
FOR_ALL(test_through_two_ports)
{
	rig_policy(rig,
		   "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow', 'protocol': 'udp'}]}},"
		   " 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': []},"
		   " 'p2': {'interface': 'p2', 'from': [], 'to': []}}}");
	FROM(PASS, ETH, AB(), UDP(1000, 53));
	interface = "p2";
	TO(DEFAULT, ETH, AB(), UDP(1000, 53));
	FROM(DEFAULT, ETH, BA(), UDP(53, 1000));
	interface = "p1";
	TO(PASS, ETH, BA(), UDP(53, 1000));
}

/* An interface whose number falls on another's slot is in the hash beside it. */
static void test_far_ifindex(void **state)
{
	(void)state;
	family = 4;
	out = SECG_FROM;
	back = SECG_TO;
	policy(TO_B, "");
	FROM(PASS, ETH, AB(), UDP(1000, 53));
	rig_move_ifindex(rig, "p1");
	TO(PASS, ETH, BA(), UDP(53, 1000));
	FROM(PASS, ETH, AB(), UDP(1000, 53));
	assert_int_equal(hits("a/r"), 3);
}

/* ── timers ─────────────────────────────────────────────────────────────────────────────────────── */

struct timer {
	const char *what;
	int32_t one_way, two_way;
	struct layer request, reply;
};

static void timer_run(const struct timer *timer)
{
	OUT(PASS, ETH, AB(), timer->request);
	rig_age(rig, timer->one_way - 20);
	OUT(PASS, ETH, AB(), timer->request);
	rig_age(rig, timer->one_way + 20);
	BACK(DEFAULT, ETH, BA(), timer->reply);
	NO_SESSION();
	OUT(PASS, ETH, AB(), timer->request);
	BACK(PASS, ETH, BA(), timer->reply);
	rig_age(rig, timer->two_way - 20);
	BACK(PASS, ETH, BA(), timer->reply);
	rig_age(rig, timer->two_way + 20);
	BACK(DEFAULT, ETH, BA(), timer->reply);
	NO_SESSION();
}

FOR_ALL(test_timers)
{
	const struct timer timers[] = {
		{"udp", SECONDS(3), SECONDS(20), UDP(1000, 53), UDP(53, 1000)},
		{"udplite", SECONDS(3), SECONDS(20), UDPLITE(1000, 53), UDPLITE(53, 1000)},
		{"echo", SECONDS(7), SECONDS(7), ECHO(7), REPLY(7)},
		{"sctp", SECONDS(90), SECONDS(90), SCTP(1000, 53), SCTP(53, 1000)},
		{"gre", SECONDS(90), SECONDS(90), PROTO(47), PROTO(47)},
	};

	for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
		policy(TO_B, ", 'timeouts': {'udp_one_way': 3, 'udp_two_way': 20, 'icmp': 7,"
			     " 'other': 90}");
		timer_run(&timers[i]);
	}
}

/* Every packet of either side starts the timer again. */
FOR_ALL(test_kept_alive)
{
	policy(TO_B, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	for (int i = 0; i < 4; i++) {
		rig_age(rig, SECONDS(170));
		if (i % 2)
			OUT(PASS, ETH, AB(), UDP(1000, 53));
		else
			BACK(PASS, ETH, BA(), UDP(53, 1000));
	}
	IS(ESTABLISHED, ESTABLISHED);
	/* An active flow keeps no idle one. */
	OUT(PASS, ETH, AB(), UDP(1001, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1001));
	rig_age(rig, SECONDS(170));
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	rig_age(rig, SECONDS(20));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	BACK(DEFAULT, ETH, BA(), UDP(53, 1001));
}

/* A clock that is a tick behind the entry's is no expiry. */
FOR_ALL(test_clock_behind)
{
	policy(TO_B, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	rig_age(rig, -5);
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	rig_age(rig, -5);
	BACK(PASS, ETH, BA(), UDP(53, 1000));
}

/* ── full buckets ───────────────────────────────────────────────────────────────────────────────── */

#define FLOWS (SECG_WAYS + RIG_OVERFLOW + 1)

static uint16_t ports[FLOWS];

/* Source ports whose flows to B fall into the bucket of the first. */
static uint32_t find_ports(void)
{
	uint32_t bucket = 0;
	size_t count = 0;

	for (uint16_t port = 1024; count < FLOWS; port++) {
		struct secg_flow_key key = rig_key(rig, "p1", out, 17, family == 6 ? A6 : A, port,
						   family == 6 ? B6 : B, 53);

		assert_int_not_equal(port, 0);
		if (count == 0)
			bucket = rig_bucket(rig, &key);
		if (rig_bucket(rig, &key) == bucket)
			ports[count++] = port;
	}
	return bucket;
}

static size_t count_in(enum rig_where where)
{
	struct rig_session list[64];
	size_t count = 0, all = rig_sessions(rig, list, 64);

	for (size_t i = 0; i < all; i++)
		count += list[i].where == where;
	return count;
}

FOR_ALL(test_overflow)
{
	const struct secg_slot *first;

	policy(TO_B, "");
	first = &rig->slots[find_ports() * SECG_WAYS];
	for (int i = 0; i < FLOWS - 1; i++) {
		OUT(PASS, ETH, AB(), UDP(ports[i], 53));
		BACK(PASS, ETH, BA(), UDP(53, ports[i]));
	}
	assert_int_equal(count_in(RIG_ESTABLISHED), SECG_WAYS);
	assert_int_equal(count_in(RIG_OVERFLOWN), RIG_OVERFLOW);
	assert_int_equal(count_in(RIG_NEW), 0);
	assert_int_equal(first->overflow, RIG_OVERFLOW);
	for (int i = 0; i < FLOWS - 1; i++) {
		OUT(PASS, ETH, AB(), UDP(ports[i], 53));
		BACK(PASS, ETH, BA(), UDP(53, ports[i]));
	}
	assert_int_equal(hits("a/r"), 4 * (FLOWS - 1));
	/* No room: the newcomer's reply is dropped, everybody else lives on. */
	OUT(PASS, ETH, AB(), UDP(ports[FLOWS - 1], 53));
	BACK(SESSION_FULL, ETH, BA(), UDP(53, ports[FLOWS - 1]));
	assert_int_equal(count_in(RIG_NEW), 1);
	for (int i = 0; i < FLOWS - 1; i++)
		BACK(PASS, ETH, BA(), UDP(53, ports[i]));
	assert_int_equal(first->overflow, RIG_OVERFLOW);
}

/* Whoever expired makes room: a way for the newcomer, an entry of the overflow when it is found. */
FOR_ALL(test_overflow_expires)
{
	const struct secg_slot *first;

	policy(TO_B, "");
	first = &rig->slots[find_ports() * SECG_WAYS];
	for (int i = 0; i < FLOWS - 1; i++) {
		OUT(PASS, ETH, AB(), UDP(ports[i], 53));
		BACK(PASS, ETH, BA(), UDP(53, ports[i]));
	}
	rig_age(rig, SECONDS(200));
	OUT(PASS, ETH, AB(), UDP(ports[FLOWS - 1], 53));
	BACK(PASS, ETH, BA(), UDP(53, ports[FLOWS - 1]));
	assert_int_equal(first->key.port[0] == htons(ports[FLOWS - 1]) ||
				 first->key.port[1] == htons(ports[FLOWS - 1]),
			 1);
	for (int i = SECG_WAYS; i < FLOWS - 1; i++)
		BACK(DEFAULT, ETH, BA(), UDP(53, ports[i]));
	assert_int_equal(count_in(RIG_OVERFLOWN), 0);
	assert_int_equal(first->overflow, 0);
	BACK(PASS, ETH, BA(), UDP(53, ports[FLOWS - 1]));
}

/* A slot that somebody is filling is nobody's, and not taken. */
FOR_ALL(test_slot_being_filled)
{
	struct secg_slot *first;

	policy(TO_B, "");
	first = &rig->slots[find_ports() * SECG_WAYS];
	first->version = 1;
	OUT(PASS, ETH, AB(), UDP(ports[0], 53));
	BACK(PASS, ETH, BA(), UDP(53, ports[0]));
	assert_int_equal(first->version, 1);
	assert_int_equal(first[1].version, 2);
	assert_int_equal(SESSION().slot % SECG_WAYS, 1);
	first[1].version++;
	BACK(DEFAULT, ETH, BA(), UDP(53, ports[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_udp),
		TEST(test_other_protocols_with_ports),
		TEST(test_protocols_by_address),
		TEST(test_echo),
		TEST(test_echo_whose_identifier_is_its_type),
		TEST(test_icmp_queries),
		TEST(test_icmp_type_and_code),
		TEST(test_key),
		TEST(test_both_sides_open),
		TEST(test_two_ports),
		TEST(test_through_two_ports),
		TEST(test_far_ifindex),
		TEST(test_timers),
		TEST(test_kept_alive),
		TEST(test_clock_behind),
		TEST(test_overflow),
		TEST(test_overflow_expires),
		TEST(test_slot_being_filled),
	};

	return RUN("sessions", tests);
}
