/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every reason of include/secg/reason.h is given for some packet, at every hook: a reason without a
 * provocation here fails. What exactly deserves each of them is for the other programs to say.
 */
#include "check.h"

/* The hook in use: direction from by the rig's, or to. */
static enum secg_direction direction;

#define SEND(...) judge_layers(LAYERS(__VA_ARGS__))
#define ANSWER(...)                                                    \
	do {                                                           \
		direction = !direction;                                \
		assert_int_equal(SEND(__VA_ARGS__), SECG_REASON_NONE); \
		direction = !direction;                                \
	} while (0)

static enum secg_reason judge_layers(const struct layer *layers)
{
	struct rig_way way = {.interface = interface};

	return rig_judge(rig, direction, &way, layers).reason;
}

/* One list in both directions, `fields` as in ", 'tcp': 'strict'". */
static void guard(const char *rules, const char *fields)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{'acls': {'a': {'rules': [%s]}},"
		 " 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']%s}}}",
		 rules, fields);
	rig_policy(rig, text);
}

#define ALL     "{'id': 'r', 'action': 'allow'}"
#define ONE_MAC ", 'addresses': [{'mac': '02:00:00:00:00:01', 'ips': ['10.0.0.1', '2001:db8::1']}]"
#define OTHERS  ", 'addresses': [{'mac': '02:00:00:00:00:07', 'ips': ['10.0.0.1']}]"

/* ── what a frame is ────────────────────────────────────────────────────────────────────────────── */

static enum secg_reason malformed(void)
{
	guard(ALL, "");
	return SEND(ETH, IP6(A6, B6), TCP(1, 80, SYN), CUT(1));
}

static enum secg_reason tag_depth(void)
{
	guard(ALL, "");
	return SEND(ETH, VLAN(1), VLAN(2), VLAN(3), IP4(A, B), UDP(1, 2));
}

static enum secg_reason ext_depth(void)
{
	guard(ALL, "");
	return SEND(ETH, IP6(A6, B6), EXT(60), EXT(60), EXT(60), EXT(60), EXT(60), EXT(60), EXT(60),
		    EXT(60), EXT(60), UDP(1, 2));
}

static enum secg_reason hop_limit(void)
{
	guard(ALL, "");
	return SEND(ETH, IP6(A6, B6, .ttl = 254), ICMP6(135, 0), RAW(16));
}

static enum secg_reason undecided(void)
{
	guard(ALL, "");
	interface = "p2";
	return SEND(ETH, IP4(A, B), UDP(1, 2));
}

/* ── rules ──────────────────────────────────────────────────────────────────────────────────────── */

static enum secg_reason by_default(void)
{
	guard("{'id': 'r', 'action': 'allow', 'src': '10.9.0.0/16'}", "");
	return SEND(ETH, IP4(A, B), UDP(1, 2));
}

static enum secg_reason rule_drop(void)
{
	guard("{'id': 'r', 'action': 'drop'}", "");
	return SEND(ETH, IP6(A6, B6), UDP(1, 2));
}

static enum secg_reason rule_reject(void)
{
	guard("{'id': 'r', 'action': 'reject'}", "");
	return SEND(ETH, IP4(A, B), UDP(1, 2));
}

static enum secg_reason policy_change(void)
{
	guard(ALL, "");
	SEND(ETH, IP4(A, B), UDP(1, 2));
	guard("{'id': 'r', 'action': 'allow', 'protocol': 'tcp'}", "");
	return SEND(ETH, IP4(A, B), UDP(1, 2));
}

/* ── sessions ───────────────────────────────────────────────────────────────────────────────────── */

static enum secg_reason tcp_not_syn(void)
{
	guard(ALL, ", 'tcp': 'strict'");
	return SEND(ETH, IP4(A, B), TCP(1, 80, ACK));
}

static enum secg_reason tcp_bad_flags(void)
{
	guard(ALL, "");
	return SEND(ETH, IP6(A6, B6), TCP(1, 80, SYN | FIN));
}

static enum secg_reason tcp_rst_window(void)
{
	guard(ALL, "");
	SEND(ETH, IP4(A, B), TCP(1, 80, SYN, .seq = 100));
	ANSWER(ETH, IP4(B, A), TCP(80, 1, SYN | ACK, .seq = 500, .ack = 101));
	SEND(ETH, IP4(A, B), TCP(1, 80, ACK, .seq = 101, .ack = 501));
	return SEND(ETH, IP4(A, B), TCP(1, 80, RST, .seq = 100));
}

/* More answered flows than there are slots: the answer that finds no room is refused. */
static enum secg_reason session_full(void)
{
	enum secg_reason reason = SECG_REASON_NONE;

	guard(ALL, "");
	for (uint16_t port = 1; !reason && port < 2 * RIG_BUCKETS * SECG_WAYS; port++) {
		direction = !direction;
		SEND(ETH, IP4(B, A), UDP(53, port));
		direction = !direction;
		reason = SEND(ETH, IP4(A, B), UDP(port, 53));
	}
	return reason;
}

static enum secg_reason icmp_unrelated(void)
{
	guard(ALL, "");
	return SEND(ETH, IP4(A, B), ICMP(3, 4), IP4(B, A), UDP(1, 2));
}

static enum secg_reason limit_port(void)
{
	guard(ALL, ", 'limits': {'sessions': 1}");
	SEND(ETH, IP4(A, B), UDP(1, 2));
	return SEND(ETH, IP6(A6, B6), UDP(1, 2));
}

static enum secg_reason limit_source(void)
{
	guard(ALL, ", 'limits': {'sessions_per_source': 1}");
	SEND(ETH, IP4(A, B), UDP(1, 2));
	return SEND(ETH, IP4(A, C), UDP(1, 2));
}

static enum secg_reason limit_half_open(void)
{
	guard(ALL, ", 'limits': {'half_open': 1}");
	SEND(ETH, IP4(A, B), TCP(1, 80, SYN));
	return SEND(ETH, IP4(A, B), TCP(2, 80, SYN));
}

/* ── fragments ──────────────────────────────────────────────────────────────────────────────────── */

static enum secg_reason frag_early(void)
{
	guard(ALL, "");
	return SEND(ETH, IP6(A6, B6), FRAG6(.id = 1, .offset = 9, .next = 17), RAW(9));
}

static enum secg_reason frag_tiny(void)
{
	guard(ALL, "");
	return SEND(ETH, IP4(A, B, .more = 1, .next = 6), RAW(16));
}

static enum secg_reason frag_overlap(void)
{
	guard(ALL, "");
	SEND(ETH, IP4(A, B, .id = 1, .more = 1), UDP(1, 2, .length = 200), RAW(72));
	return SEND(ETH, IP4(A, B, .id = 1, .offset = 9, .next = 17), RAW(80));
}

static enum secg_reason frag_verdict(void)
{
	guard("{'id': 'no', 'action': 'drop', 'dst_ports': 2, 'protocol': 'udp'}," ALL, "");
	SEND(ETH, IP4(A, B, .id = 1, .more = 1), UDP(1, 2, .length = 200), RAW(72));
	return SEND(ETH, IP4(A, B, .id = 1, .offset = 10, .next = 17), RAW(80));
}

/* In a rig that cannot forget the verdict of one datagram in favour of another's. */
static enum secg_reason frag_full(void)
{
	enum secg_reason reason = SECG_REASON_NONE;

	guard(ALL, "");
	for (uint16_t id = 1; !reason && id < 100; id++)
		reason = SEND(ETH, IP4(A, B, .id = id, .more = 1), UDP(1, 2, .length = 200),
			      RAW(72));
	return reason;
}

/* ── senders, in direction from ─────────────────────────────────────────────────────────────────── */

static enum secg_reason spoof_mac(void)
{
	guard(ALL, OTHERS);
	return SEND(ETH, IP4(A, B), UDP(1, 2));
}

static enum secg_reason spoof_ip(void)
{
	guard(ALL, ONE_MAC);
	return SEND(ETH, IP4(C, B), UDP(1, 2));
}

static enum secg_reason spoof_arp(void)
{
	guard(ALL, ONE_MAC);
	return SEND(ETHERTYPE(0x0806),
		    BYTES("\0\1\x08\0\6\4\0\1\2\0\0\0\0\1\x0a\0\0\3\0\0\0\0\0\0\x0a\0\0\2"));
}

/* An advertisement of an address that is another's. */
static enum secg_reason spoof_nd(void)
{
	guard(ALL, ONE_MAC);
	return SEND(ETH, IP6(A6, B6, .ttl = 255), ICMP6(136, 0),
		    BYTES("\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\3\2\1\2\0\0\0\0\1"));
}

static enum secg_reason ra_guard(void)
{
	guard(ALL, ONE_MAC);
	return SEND(ETH, IP6("fe80::ff:fe00:1", "ff02::1", .ttl = 255), ICMP6(134, 0), RAW(8));
}

static enum secg_reason dhcp_guard(void)
{
	guard(ALL, ONE_MAC);
	return SEND(ETH, IP4(A, B), UDP(67, 68), RAW(240));
}

/* ── all of them ────────────────────────────────────────────────────────────────────────────────── */

static const struct {
	enum secg_reason (*provoke)(void);
	bool is_of_senders; /* judged in direction from only */
} provocations[SECG_REASON_COUNT] = {
	[SECG_REASON_MALFORMED] = {malformed},
	[SECG_REASON_TAG_DEPTH] = {tag_depth},
	[SECG_REASON_EXT_DEPTH] = {ext_depth},
	[SECG_REASON_HOP_LIMIT] = {hop_limit},
	[SECG_REASON_DEFAULT] = {by_default},
	[SECG_REASON_RULE_DROP] = {rule_drop},
	[SECG_REASON_POLICY_CHANGE] = {policy_change},
	[SECG_REASON_TCP_NOT_SYN] = {tcp_not_syn},
	[SECG_REASON_TCP_BAD_FLAGS] = {tcp_bad_flags},
	[SECG_REASON_TCP_RST_WINDOW] = {tcp_rst_window},
	[SECG_REASON_SESSION_FULL] = {session_full},
	[SECG_REASON_ICMP_UNRELATED] = {icmp_unrelated},
	[SECG_REASON_FRAG_EARLY] = {frag_early},
	[SECG_REASON_FRAG_TINY] = {frag_tiny},
	[SECG_REASON_UNDECIDED] = {undecided},
	[SECG_REASON_FRAG_OVERLAP] = {frag_overlap},
	[SECG_REASON_SPOOF_MAC] = {spoof_mac, .is_of_senders = true},
	[SECG_REASON_SPOOF_IP] = {spoof_ip, .is_of_senders = true},
	[SECG_REASON_SPOOF_ARP] = {spoof_arp, .is_of_senders = true},
	[SECG_REASON_SPOOF_ND] = {spoof_nd, .is_of_senders = true},
	[SECG_REASON_RA_GUARD] = {ra_guard, .is_of_senders = true},
	[SECG_REASON_DHCP_GUARD] = {dhcp_guard, .is_of_senders = true},
	[SECG_REASON_RULE_REJECT] = {rule_reject},
	[SECG_REASON_LIMIT_PORT] = {limit_port},
	[SECG_REASON_LIMIT_SOURCE] = {limit_source},
	[SECG_REASON_LIMIT_HALF_OPEN] = {limit_half_open},
	[SECG_REASON_FRAG_FULL] = {frag_full},
	[SECG_REASON_FRAG_VERDICT] = {frag_verdict},
};

/* Whether the packets of a reason's provocation end with it, at a hook. */
static bool is_given(enum secg_reason reason, enum rig_hook hook)
{
	enum secg_reason given;

	fresh(NULL);
	rig->from = hook == RIG_XDP ? RIG_XDP : RIG_TC_FROM;
	direction = hook == RIG_TC_TO ? SECG_TO : SECG_FROM;
	given = provocations[reason].provoke();
	if (given != reason)
		print_error("hook %d: %s, not %s\n", hook, reason_name(given), reason_name(reason));
	return given == reason;
}

static void test_every_reason(void **state)
{
	int missing = 0;

	(void)state;
	rig_open(&rig);
	for (int reason = SECG_REASON_NONE + 1; reason < SECG_REASON_COUNT; reason++) {
		if (!provocations[reason].provoke) {
			print_error("nothing provokes %s\n", reason_name((enum secg_reason)reason));
			missing++;
			continue;
		}
		for (int hook = 0; reason != SECG_REASON_FRAG_FULL && hook < RIG_HOOKS; hook++)
			if (hook != RIG_TC_TO || !provocations[reason].is_of_senders)
				missing += !is_given((enum secg_reason)reason, (enum rig_hook)hook);
	}
	rig_close(rig);
	assert_int_equal(missing, 0);
}

static void test_fragments_that_cannot_be_remembered(void **state)
{
	(void)state;
	rig_open_few_fragments(&rig);
	for (int hook = 0; hook < RIG_HOOKS; hook++)
		assert_true(is_given(SECG_REASON_FRAG_FULL, (enum rig_hook)hook));
	rig_close(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reason),
		cmocka_unit_test(test_fragments_that_cannot_be_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
