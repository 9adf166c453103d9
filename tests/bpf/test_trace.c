/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A traced run decides as the real one and changes nothing. Each row is one place that writes: the same
 * packet is traced, which leaves every map as it was, and run, which changes the maps that the row names.
 */
#include "check.h"
#include "flows.h"

#include "../support/rig_trace.h"

#define SECONDS(count) ((count)*RIG_TICKS_PER_SECOND)

/* Maps that a real run of a packet changes beside the port's counters. */
#define RULE        RIG_MAP_RULE_COUNTERS
#define NEW         RIG_MAP_NEW
#define ESTABLISHED RIG_MAP_ESTABLISHED
#define OVERFLOW    RIG_MAP_OVERFLOW
#define FRAGMENTS   RIG_MAP_FRAGMENTS
#define USAGE       RIG_MAP_USAGE
#define SOURCES     RIG_MAP_SOURCES
#define WATCH       RIG_MAP_WATCH
#define LOST        RIG_MAP_EVENTS_LOST
#define EVENTS      RIG_MAP_EVENTS

static struct rig_tracer *tracer; /* opened by the first trace */

static struct secg_trace trace(enum secg_direction direction, const struct layer *layers)
{
	struct rig_way way = {.interface = interface};

	if (!tracer)
		rig_tracer_open(&tracer, rig);
	return rig_trace(tracer, direction, &way, layers);
}

static struct secg_trace trace_then_run(enum secg_direction direction, enum secg_reason reason,
					uint32_t changes, const struct layer *layers, int line)
{
	struct rig_way way = {.interface = interface};
	struct rig_snapshot before = rig_snapshot(rig), after;
	struct secg_trace told = trace(direction, layers);
	struct rig_verdict verdict;

	after = rig_snapshot(rig);
	if (rig_changes(&before, &after)) {
		print_error("the traced run has changed maps %#x\n", rig_changes(&before, &after));
		_fail(__FILE__, line);
	}
	expect_same("traced", reason, told.reason, __FILE__, line);
	verdict = rig_judge(rig, direction, &way, layers);
	expect_same("run", reason, verdict.reason, __FILE__, line);
	after = rig_snapshot(rig);
	changes |= RIG_MAP_PORT_COUNTERS;
	if (rig_changes(&before, &after) != changes) {
		print_error("the run has changed maps %#x, not %#x\n", rig_changes(&before, &after),
			    changes);
		_fail(__FILE__, line);
	}
	return told;
}

#define TRACED(direction, reason, changes, ...) \
	trace_then_run(direction, SECG_REASON_##reason, changes, LAYERS(__VA_ARGS__), __LINE__)
#define TRACED_TCP(way, reason, changes, bits, ...)                                               \
	TRACED(way, reason, changes, ETH, (way == out ? (struct layer)AB() : (struct layer)BA()), \
	       (way == out ? (struct layer)TCP(1000, 80, bits, __VA_ARGS__)                       \
			   : (struct layer)TCP(80, 1000, bits, __VA_ARGS__)))

/* ── counters ───────────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_rules)
{
	struct secg_trace told;

	policy("{'id': 'over', 'action': 'pass', 'protocol': 'sctp'},"
	       "{'id': 'no', 'action': 'drop', 'protocol': 'udp'},"
	       "{'id': 'free', 'action': 'allow-stateless', 'protocol': 'gre'}",
	       "");
	told = TRACED(out, RULE_DROP, RULE, ETH, AB(), UDP(1, 2));
	assert_int_not_equal(told.rule, 0);
	assert_int_equal(told.generation, rig->generation);
	told = TRACED(out, PASS, RULE, ETH, AB(), PROTO(47));
	assert_int_not_equal(told.rule, 0);
	assert_int_equal(told.would_create, 0);
	/* It counts on the way to the default. */
	told = TRACED(out, DEFAULT, RULE, ETH, AB(), SCTP(1, 2));
	assert_int_equal(told.rule, 0);
	TRACED(back, DEFAULT, 0, ETH, BA(), UDP(2, 1));
	TRACED(out, MALFORMED, 0, ETH, AB(), UDP(1, 2), CUT(1));
}

static void test_infrastructure(void **state)
{
	struct secg_trace told;

	(void)state;
	rig_policy(rig, "{'ports': {'p1': {'interface': 'p1', 'from': [], 'to': []}}}");
	told = TRACED(SECG_FROM, PASS, 0, ETH, ARP);
	assert_int_equal(told.infra, SECG_INFRA_ARP + 1);
	told = TRACED(SECG_TO, HOP_LIMIT, 0, ETH, IP6(A6, B6), ICMP6(135, 0));
	assert_int_equal(told.infra, 0);
}

/* A port that is not known, and one that is let go. */
static void test_nobody(void **state)
{
	struct secg_trace told;

	(void)state;
	rig_policy(rig, "{'ports': {'p1': {'interface': 'p1', 'from': []}}}");
	interface = "p3";
	TRACED(SECG_FROM, UNDECIDED, 0, ETH, IP4(A, B), UDP(1, 2));
	interface = "p1";
	rig_port(rig, "p1")->flags |= SECG_PORT_RELEASED;
	told = trace(SECG_FROM, LAYERS(ETH, IP4(A, B), UDP(1, 2)));
	assert_int_equal(told.reason, SECG_REASON_NONE);
	assert_int_equal(told.is_released, 1);
}

FOR_ALL(test_fragments)
{
	struct layer first = IP(A, B, .id = 7, .more = 1),
		     later = IP(A, B, .next = 17, .id = 7, .offset = 1);

	if (family == 6)
		return;
	policy(TO_B, "");
	TRACED(out, FRAG_EARLY, 0, ETH, later, RAW(8));
	TRACED(out, PASS, RULE | NEW | FRAGMENTS, ETH, first, UDP(1, 2));
	TRACED(out, PASS, RULE, ETH, later, RAW(8));
}

/* ── sessions ───────────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_udp)
{
	struct secg_trace told;

	policy(TO_B, "");
	told = TRACED(out, PASS, RULE | NEW, ETH, AB(), UDP(1000, 53));
	assert_int_equal(told.session, SECG_TRACE_SESSION_NONE);
	assert_int_equal(told.would_create, 1);
	told = TRACED(out, PASS, RULE | NEW, ETH, AB(), UDP(1000, 53));
	assert_int_equal(told.session, SECG_TRACE_SESSION_FOUND);
	assert_int_equal(told.would_create, 0);
	/* Promoted. */
	told = TRACED(back, PASS, RULE | NEW | ESTABLISHED, ETH, BA(), UDP(53, 1000));
	assert_int_equal(told.session, SECG_TRACE_SESSION_FOUND);
	assert_int_equal(told.needs_overflow, 0);
	TRACED(out, PASS, RULE | ESTABLISHED, ETH, AB(), UDP(1000, 53));
	told = TRACED(back, PASS, RULE, ETH, IP(C, A), UNREACHABLE, AB(), UDP(1000, 53));
	assert_int_equal(told.session, SECG_TRACE_SESSION_RELATED);
	TRACED(back, DEFAULT, 0, ETH, IP(C, A), UNREACHABLE, AB(), UDP(1001, 53));
}

FOR_ALL(test_tcp)
{
	policy(TO_B, "");
	TRACED_TCP(out, PASS, RULE | NEW, SYN, .seq = 100);
	TRACED_TCP(out, PASS, RULE | NEW, SYN, .seq = 100);
	TRACED_TCP(back, PASS, RULE | NEW, SYN | ACK, .seq = 500, .ack = 101);
	TRACED_TCP(out, PASS, RULE | NEW | ESTABLISHED, ACK, .seq = 101, .ack = 501);
	TRACED_TCP(back, PASS, RULE | ESTABLISHED, ACK, .seq = 501, .ack = 102);
	TRACED_TCP(back, TCP_RST_WINDOW, 0, RST, .seq = 1u << 30);
	TRACED_TCP(out, TCP_BAD_FLAGS, 0, SYN | FIN);
	TRACED_TCP(out, PASS, RULE | ESTABLISHED, FIN | ACK, .seq = 102, .ack = 501);
	TRACED_TCP(back, PASS, RULE | ESTABLISHED, FIN | ACK, .seq = 501, .ack = 103);
	/* Anew on the closing tuple. */
	TRACED_TCP(out, PASS, RULE | NEW | ESTABLISHED, SYN, .seq = 900);
	/* Refused: the session is over. */
	TRACED_TCP(back, PASS, RULE | NEW, RST | ACK, .ack = 901);
	NO_SESSION();
	/* Rules let it pass, but there is nothing to follow. */
	TRACED_TCP(out, PASS, RULE, RST);
	policy(TO_B, ", 'tcp': 'strict'");
	TRACED_TCP(out, TCP_NOT_SYN, 0, ACK);
}

FOR_ALL(test_expired)
{
	policy(TO_B, ", 'timeouts': {'udp_one_way': 3, 'udp_two_way': 20}");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	rig_age(rig, SECONDS(4));
	TRACED(back, DEFAULT, NEW, ETH, BA(), UDP(53, 1000));
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	rig_age(rig, SECONDS(21));
	TRACED(back, DEFAULT, ESTABLISHED, ETH, BA(), UDP(53, 1000));
	NO_SESSION();
}

/* The policy has changed below the session. */
FOR_ALL(test_recheck)
{
	struct secg_trace told;

	policy(TO_B, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	OUT(PASS, ETH, AB(), UDP(1001, 53));
	policy("{'id': 'other', 'action': 'allow', 'protocol': 'udp'}", "");
	told = TRACED(back, PASS, RULE | ESTABLISHED, ETH, BA(), UDP(53, 1000));
	assert_int_equal(told.session, SECG_TRACE_SESSION_FOUND);
	TRACED(out, PASS, RULE | NEW, ETH, AB(), UDP(1001, 53));
	policy("{'id': 'none', 'action': 'allow', 'protocol': 'tcp'}", "");
	told = TRACED(back, POLICY_CHANGE, ESTABLISHED, ETH, BA(), UDP(53, 1000));
	assert_int_equal(told.session, SECG_TRACE_SESSION_CUT);
	told = TRACED(out, POLICY_CHANGE, NEW, ETH, AB(), UDP(1001, 53));
	assert_int_equal(told.session, SECG_TRACE_SESSION_CUT);
	NO_SESSION();
}

/* ── a full bucket ──────────────────────────────────────────────────────────────────────────────── */

#define FLOWS (SECG_WAYS + 2)

/* Source ports of flows in one bucket. */
static void find_ports(uint16_t ports[FLOWS])
{
	const char *a = family == 6 ? A6 : A, *b = family == 6 ? B6 : B;
	uint32_t bucket = 0;
	int found = 0;

	for (uint16_t port = 1; found < FLOWS; port++) {
		struct secg_flow_key key = rig_key(rig, "p1", out, 17, a, port, b, 53);

		if (!found)
			bucket = rig_bucket(rig, &key);
		if (rig_bucket(rig, &key) == bucket)
			ports[found++] = port;
	}
}

FOR_ALL(test_overflow)
{
	uint16_t ports[FLOWS];
	struct secg_trace told;

	policy(TO_B, ", 'timeouts': {'udp_two_way': 20}");
	find_ports(ports);
	for (int i = 0; i < SECG_WAYS; i++) {
		OUT(PASS, ETH, AB(), UDP(ports[i], 53));
		BACK(PASS, ETH, BA(), UDP(53, ports[i]));
	}
	OUT(PASS, ETH, AB(), UDP(ports[SECG_WAYS], 53));
	told = TRACED(back, PASS, RULE | NEW | OVERFLOW | ESTABLISHED, ETH, BA(),
		      UDP(53, ports[SECG_WAYS]));
	assert_int_equal(told.needs_overflow, 1);
	told = TRACED(back, PASS, RULE | OVERFLOW, ETH, BA(), UDP(53, ports[SECG_WAYS]));
	assert_int_equal(told.session, SECG_TRACE_SESSION_FOUND);
	rig_age(rig, SECONDS(21));
	/* Deleted, and taken out of the bucket's count. */
	TRACED(back, DEFAULT, OVERFLOW | ESTABLISHED, ETH, BA(), UDP(53, ports[SECG_WAYS]));
	/* An expired way is room. */
	OUT(PASS, ETH, AB(), UDP(ports[SECG_WAYS + 1], 53));
	told = TRACED(back, PASS, RULE | NEW | ESTABLISHED, ETH, BA(),
		      UDP(53, ports[SECG_WAYS + 1]));
	assert_int_equal(told.needs_overflow, 0);
}

/* ── limits ─────────────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_limits)
{
	policy(TO_B, ", 'limits': {'sessions': 2, 'sessions_per_source': 2, 'half_open': 1}");
	/* A source that is not known yet, and one that is. */
	TRACED_TCP(out, PASS, RULE | NEW | USAGE | SOURCES, SYN, .seq = 100);
	TRACED(out, PASS, RULE | NEW | USAGE | SOURCES, ETH, AB(), UDP(1000, 53));
	TRACED(out, LIMIT_PORT, 0, ETH, AB(), UDP(1001, 53));
	/* Taken out again at its end, and where it is not half-open any more. */
	TRACED_TCP(back, PASS, RULE | NEW | USAGE | SOURCES, RST | ACK, .ack = 101);
	TRACED_TCP(out, PASS, RULE | NEW | USAGE | SOURCES, SYN, .seq = 100);
	TRACED_TCP(back, PASS, RULE | NEW, SYN | ACK, .seq = 500, .ack = 101);
	TRACED_TCP(out, PASS, RULE | NEW | ESTABLISHED | USAGE, ACK, .seq = 101, .ack = 501);
	/* What one limit has taken another gives back. */
	policy(TO_B, ", 'limits': {'sessions': 9, 'half_open': 9, 'sessions_per_source': 2}");
	TRACED(out, LIMIT_SOURCE, 0, ETH, AB(), TCP(1001, 80, SYN));
}

/* ── what is told ───────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_events)
{
	struct secg_watch watch = {.rate = UINT32_MAX};
	uint64_t before = rig_events_lost(rig, SECG_EVENT_LOG);
	int told = 0;

	policy("{'id': 'r', 'action': 'drop', 'protocol': 'udp', 'log': true}", "");
	rig_watch(rig, rig_rule_number(rig, "p1", "a/r"), &watch);
	rig_watch(rig, SECG_WATCH_REASON | SECG_REASON_MALFORMED, &watch);
	TRACED(out, RULE_DROP, RULE | WATCH | EVENTS, ETH, AB(), UDP(1, 2));
	TRACED(out, MALFORMED, WATCH | EVENTS, ETH, AB(), UDP(1, 2), CUT(1));
	while (rig_events_lost(rig, SECG_EVENT_LOG) == before && told++ < 20000)
		OUT(RULE_DROP, ETH, AB(), UDP(1, 2));
	TRACED(out, RULE_DROP, RULE | WATCH | LOST, ETH, AB(), UDP(1, 2));
}

/* Without Ethernet header, whatever the test run takes for the EtherType. XDP knows no such device. */
static void test_l3_device(void **state)
{
	(void)state;
	rig_policy(rig, "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow', 'dst_ports': 80,"
			" 'protocol': 'tcp'}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']}}}");
	rig_set_l3(rig, "p1");
	for (int direction = SECG_FROM; direction <= SECG_TO; direction++) {
		enum secg_direction d = (enum secg_direction)direction;

		if (d == SECG_FROM && rig->from == RIG_XDP)
			continue;
		assert_int_equal(trace(d, LAYERS(IP4(A, B), TCP(1, 80, SYN))).reason,
				 SECG_REASON_NONE);
		assert_int_equal(trace(d, LAYERS(IP4(A, B), TCP(1, 81, SYN))).reason,
				 SECG_REASON_DEFAULT);
		assert_int_equal(trace(d, LAYERS(IP6(A6, B6), TCP(1, 80, SYN))).reason,
				 SECG_REASON_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rules),    TEST(test_infrastructure),
		TEST(test_nobody),   TEST(test_fragments),
		TEST(test_udp),      TEST(test_tcp),
		TEST(test_expired),  TEST(test_recheck),
		TEST(test_overflow), TEST(test_l3_device),
		TEST(test_limits),   TEST(test_events),
	};
	int failed = RUN("trace", tests);

	rig_tracer_close(tracer);
	return failed;
}
