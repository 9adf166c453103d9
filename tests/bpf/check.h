/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How BPF tests are written: one line says direction, verdict and packet. Every test runs once with XDP
 * and once with TC in direction from. Included once by each test program.
 *
 *   FROM(PASS, ETH, IP4("10.0.0.1", "10.0.0.2"), TCP(1000, 80, SYN));
 *   TO(DEFAULT, ETH, IP4("10.0.0.2", "10.0.0.3"), TCP(80, 1000, SYN | ACK));
 */
#ifndef SECG_TESTS_CHECK_H
#define SECG_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/rig.h"

#define A  "10.0.0.1"
#define B  "10.0.0.2"
#define C  "10.0.0.3"
#define A6 "2001:db8::1"
#define B6 "2001:db8::2"
#define C6 "2001:db8::3"

static struct rig *rig;
/* Where packets arrive; NULL: p1. Reset before each test. */
static const char *interface;

#define SECG_REASON_PASS SECG_REASON_NONE

#define LAYERS(...)      ((const struct layer[]){__VA_ARGS__, END})
#define EXPECT(direction, reason, ...) \
	expect_layers(direction, SECG_REASON_##reason, LAYERS(__VA_ARGS__), __FILE__, __LINE__)
#define FROM(reason, ...) EXPECT(SECG_FROM, reason, __VA_ARGS__)
#define TO(reason, ...)   EXPECT(SECG_TO, reason, __VA_ARGS__)

#define BOTH(reason, ...)                  \
	do {                               \
		FROM(reason, __VA_ARGS__); \
		TO(reason, __VA_ARGS__);   \
	} while (0)

static const char *reason_name(enum secg_reason reason)
{
	static const char *const names[SECG_REASON_COUNT] = {[SECG_REASON_NONE] = "pass",
#define NAME(name, label, text) [SECG_REASON_##name] = label,
							     SECG_REASONS(NAME)
#undef NAME
	};

	return reason < SECG_REASON_COUNT ? names[reason] : "a reason without a name";
}

/* For tables of rows: `what` names the row. */
static inline void expect_same(const char *what, enum secg_reason expected, enum secg_reason actual,
			       const char *file, int line)
{
	if (expected == actual)
		return;
	print_error("%s: %s, not %s\n", what, reason_name(actual), reason_name(expected));
	_fail(file, line);
}

static inline struct rig_verdict expect_layers(enum secg_direction direction,
					       enum secg_reason reason, const struct layer *layers,
					       const char *file, int line)
{
	struct rig_way way = {.interface = interface};
	struct rig_verdict verdict = rig_judge(rig, direction, &way, layers);

	expect_same(direction == SECG_TO ? "to" : "from", reason, verdict.reason, file, line);
	return verdict;
}

/* Packets that a rule of p1 has counted. */
static inline uint64_t hits(const char *key)
{
	return rig_rule(rig, "p1", key).packets;
}

/* The sessions, of which there are `count`. */
#define SESSIONS(list, count) sessions_are(list, count, __FILE__, __LINE__)
static inline void sessions_are(struct rig_session *list, size_t count, const char *file, int line)
{
	size_t actual = rig_sessions(rig, list, count);

	if (actual == count)
		return;
	print_error("%zu sessions, not %zu\n", actual, count);
	_fail(file, line);
}

/* The only session. */
#define SESSION() only_session(__FILE__, __LINE__)
static inline struct rig_session only_session(const char *file, int line)
{
	struct rig_session session;

	sessions_are(&session, 1, file, line);
	return session;
}

static inline uint32_t phase(const struct rig_session *session)
{
	return session->flow.s.state & SECG_FLOW_PHASE_MASK;
}

#define NO_SESSION() assert_int_equal(rig_sessions(rig, NULL, 0), 0)
#define IS(place, state)                                               \
	do {                                                           \
		struct rig_session _session = SESSION();               \
		assert_int_equal(_session.where, RIG_##place);         \
		assert_int_equal(phase(&_session), SECG_FLOW_##state); \
	} while (0)

static int fresh(void **state)
{
	(void)state;
	interface = NULL;
	rig_clear(rig);
	return 0;
}
#define TEST(function) cmocka_unit_test_setup(function, fresh)

/* Every test at both hooks. */
#define RUN(name, tests)          RUN_IN(name, tests, rig_open)
#define RUN_IN(name, tests, open) run_hooks(name, tests, sizeof(tests) / sizeof((tests)[0]), open)
static inline int run_hooks(const char *name, const struct CMUnitTest *tests, size_t count,
			    void (*open)(struct rig **ret_rig))
{
	static const char *const hooks[] = {[RIG_XDP] = "xdp", [RIG_TC_FROM] = "tc"};
	int failed = 0;

	open(&rig);
	for (int hook = RIG_XDP; hook <= RIG_TC_FROM; hook++) {
		char group[64];

		snprintf(group, sizeof(group), "%s, %s", name, hooks[hook]);
		print_message("%s\n", group);
		rig->from = (enum rig_hook)hook;
		failed += _cmocka_run_group_tests(group, tests, count, NULL, NULL);
	}
	rig_close(rig);
	return failed != 0;
}

#endif
