/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session tests run for both families and both sides that can open: OUT is the direction in which A
 * opens to B, BACK the other. Included after check.h.
 */
#ifndef SECG_TESTS_FLOWS_H
#define SECG_TESTS_FLOWS_H

static int family;
static enum secg_direction out, back;

#define OUT(reason, ...)  EXPECT(out, reason, __VA_ARGS__)
#define BACK(reason, ...) EXPECT(back, reason, __VA_ARGS__)

#define IP(a, b, ...)                                                                       \
	{                                                                                   \
		.kind = family == 6 ? LAYER_IP6 : LAYER_IP4, .src = family == 6 ? a##6 : a, \
		.dst = family == 6 ? b##6 : b, __VA_ARGS__                                  \
	}
#define AB(...) IP(A, B, __VA_ARGS__)
#define BA(...) IP(B, A, __VA_ARGS__)

/* ICMP of the family: an echo and its answer, an error. */
#define ICMP_OF(type4, type6, code, ...)                                                       \
	{                                                                                      \
		.kind = LAYER_ICMP, .type = family == 6 ? 58 : 1,                              \
		.icmp_type = family == 6 ? (type6) : (type4), .icmp_code = (code), __VA_ARGS__ \
	}
#define ECHO(number)  ICMP_OF(8, 128, 0, .id = (number))
#define REPLY(number) ICMP_OF(0, 129, 0, .id = (number))
#define UNREACHABLE   ICMP_OF(3, 1, 1)

/* The TCP connection of most tests. */
#define OUT_TCP(reason, bits, ...)  OUT(reason, ETH, AB(), TCP(1000, 80, bits, __VA_ARGS__))
#define BACK_TCP(reason, bits, ...) BACK(reason, ETH, BA(), TCP(80, 1000, bits, __VA_ARGS__))

/*
 * p1 with `rules` where A opens, and no rules on the way back; `fields` as in ", 'tcp': 'strict'". Old
 * sessions stay.
 */
static inline void policy(const char *rules, const char *fields)
{
	char *text;

	if (asprintf(&text,
		     "{'acls': {'a': {'rules': [%s]}},"
		     " 'ports': {'p1': {'interface': 'p1', '%s': ['a'], '%s': []%s}}}",
		     rules, out == SECG_FROM ? "from" : "to", out == SECG_FROM ? "to" : "from",
		     fields) < 0)
		abort();
	rig_policy(rig, text);
	free(text);
}

#define TO_B "{'id': 'r', 'action': 'allow', 'dst': ['10.0.0.2', '2001:db8::2']}"

/* The scenario, for every family and opening side, each time on an empty rig. */
static inline void for_all(void (*scenario)(void))
{
	for (int i = 0; i < 4; i++) {
		family = i & 1 ? 6 : 4;
		out = i & 2 ? SECG_TO : SECG_FROM;
		back = i & 2 ? SECG_FROM : SECG_TO;
		rig_clear(rig);
		scenario();
	}
}

/* Defines the test `name` that runs the scenario below it for all. */
#define FOR_ALL(name)                      \
	static void scenario_##name(void); \
	static void name(void **state)     \
	{                                  \
		(void)state;               \
		for_all(scenario_##name);  \
	}                                  \
	static void scenario_##name(void)

static inline void handshake(void)
{
	OUT_TCP(PASS, SYN, .seq = 100);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
}

#endif
