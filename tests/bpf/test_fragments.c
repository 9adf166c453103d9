/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams in pieces: what becomes of the first becomes of the rest. Room for the verdicts of four. */
#include "check.h"
#include "flows.h"

#define WEB "{'id': 'r', 'action': 'allow', 'protocol': 'udp', 'dst_ports': 80}"

/* The first and a later fragment of datagram `number`, of A to B. */
static void first_is(enum secg_reason reason, uint32_t number, uint16_t dport, int line)
{
	if (family == 6)
		expect_layers(out, reason,
			      LAYERS(ETH, IP6(A6, B6), FRAG6(.id = number, .more = 1),
				     UDP(1, dport, .length = 120), RAW(72)),
			      __FILE__, line);
	else
		expect_layers(out, reason,
			      LAYERS(ETH, IP4(A, B, .id = number, .more = 1),
				     UDP(1, dport, .length = 120), RAW(72)),
			      __FILE__, line);
}

static void later_is(enum secg_reason reason, uint32_t number, uint16_t offset, uint16_t size,
		     int line)
{
	if (family == 6)
		expect_layers(out, reason,
			      LAYERS(ETH, IP6(A6, B6),
				     FRAG6(.id = number, .offset = offset, .next = 17), RAW(size)),
			      __FILE__, line);
	else
		expect_layers(out, reason,
			      LAYERS(ETH, IP4(A, B, .id = number, .offset = offset, .next = 17),
				     RAW(size)),
			      __FILE__, line);
}

#define FIRST(reason, number, dport) first_is(SECG_REASON_##reason, number, dport, __LINE__)
#define LATER(reason, number, ...)   later_is(SECG_REASON_##reason, number, __VA_ARGS__, __LINE__)

/* acl/01, acl/04: later ones pass, however short. */
FOR_ALL(test_allowed)
{
	policy(WEB, "");
	LATER(FRAG_EARLY, 7, 10, 40);
	FIRST(PASS, 7, 80);
	for (uint16_t size = 1; size <= 40; size++)
		LATER(PASS, 7, 10, size);
	LATER(FRAG_OVERLAP, 7, 9, 40);
	assert_int_equal(hits("a/r"), 41);
}

/* acl/02: refused with the first, by whichever reason that was. */
FOR_ALL(test_refused)
{
	policy("{'id': 'no', 'action': 'drop', 'protocol': 'udp', 'dst_ports': 90}," WEB, "");
	FIRST(RULE_DROP, 7, 90);
	LATER(FRAG_VERDICT, 7, 10, 40);
	LATER(FRAG_VERDICT, 7, 15, 8);
	FIRST(DEFAULT, 8, 81);
	LATER(FRAG_VERDICT, 8, 10, 40);
	LATER(FRAG_EARLY, 9, 10, 40);
	assert_int_equal(hits("a/no"), 1);
	/* The number is used again. */
	FIRST(PASS, 7, 80);
	LATER(PASS, 7, 10, 40);
	FIRST(DEFAULT, 7, 81);
	LATER(FRAG_VERDICT, 7, 10, 40);
	rig_age(rig, 7501);
	LATER(FRAG_EARLY, 7, 10, 40);
}

FOR_ALL(test_no_room)
{
	policy(WEB, "");
	for (uint32_t number = 1; number <= 4; number++)
		FIRST(PASS, number, 80);
	FIRST(FRAG_FULL, 5, 80);
	assert_int_equal(hits("a/r"), 4);
	FIRST(DEFAULT, 6, 81);
	LATER(FRAG_EARLY, 5, 10, 40);
	LATER(PASS, 4, 10, 40);
	FIRST(PASS, 1, 80);
}

FOR_ALL(test_no_room_and_open)
{
	policy(WEB, ", 'fail_mode': 'open'");
	for (uint32_t number = 1; number <= 5; number++)
		FIRST(PASS, number, 80);
	assert_int_equal(hits("a/r"), 5);
	FIRST(DEFAULT, 6, 81);
}

/* Where nothing is refused nothing has to be remembered. */
FOR_ALL(test_absent_direction)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{'acls': {'a': {'rules': [" WEB "]}}, 'ports': {'p1': {'interface': 'p1',"
		 " '%s': ['a']}}}",
		 out == SECG_FROM ? "to" : "from");
	rig_policy(rig, text);
	for (uint32_t number = 1; number <= 6; number++) {
		FIRST(PASS, number, 81);
		LATER(PASS, number, 10, 40);
	}
	LATER(PASS, 99, 10, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_allowed),          TEST(test_refused),          TEST(test_no_room),
		TEST(test_no_room_and_open), TEST(test_absent_direction),
	};

	return RUN_IN("fragments", tests, rig_open_few_fragments);
}
