/* SPDX-License-Identifier: Apache-2.0 */
/* TCP sessions: opening, closing, resets, flags, timers. */
#include "check.h"
#include "flows.h"

/* acl/19: SYN, SYN+ACK, ACK make it established, and give it that timer (test_timers). */
FOR_ALL(test_handshake)
{
	struct rig_session session;

	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 100);
	IS(NEW, NEW);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	IS(NEW, NEW);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	IS(ESTABLISHED, ESTABLISHED);
	BACK_TCP(PASS, ACK | PSH, .seq = 501, .ack = 101);
	assert_int_equal(hits("a/r"), 4);
	session = SESSION();
	assert_int_equal(session.flow.a.packets[SECG_ORIG], 2);
	assert_int_equal(session.flow.a.packets[SECG_REPLY], 2);
	assert_int_equal(session.flow.a.bytes[SECG_ORIG], 2 * (family == 6 ? 74 : 54));
	assert_int_equal(session.flow.a.port, rig_port_id(rig, "p1"));
	assert_int_equal(session.flow.s.state & SECG_FLOW_OPENED_TO,
			 out == SECG_TO ? SECG_FLOW_OPENED_TO : 0);
}

FOR_ALL(test_strangers)
{
	policy(TO_B, "");
	BACK_TCP(DEFAULT, SYN | ACK);
	NO_SESSION();
	handshake();
	BACK(DEFAULT, ETH, BA(), TCP(80, 1001, ACK));
	BACK(DEFAULT, ETH, BA(), TCP(81, 1000, ACK));
	BACK(DEFAULT, ETH, BA(), TCP(1000, 80, ACK));
	BACK(DEFAULT, ETH, IP(C, A), TCP(80, 1000, ACK));
	BACK(DEFAULT, ETH, IP(B, C), TCP(80, 1000, ACK));
	BACK(DEFAULT, ETH, AB(), TCP(1000, 80, ACK));
	BACK(DEFAULT, ETH, BA(), UDP(80, 1000));
	BACK(DEFAULT, ETH, BA(), SCTP(80, 1000));
	/* A reply on the side that opened is no reply. */
	OUT(DEFAULT, ETH, BA(), TCP(80, 1000, ACK));
	IS(ESTABLISHED, ESTABLISHED);
}

/* A flood of SYNs never becomes established, and data alone does not either. */
FOR_ALL(test_half_open_stays_half_open)
{
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 100);
	OUT_TCP(PASS, SYN, .seq = 100);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 1);
	OUT_TCP(PASS, ACK | PSH, .seq = 101, .ack = 1);
	IS(NEW, NEW);
	BACK_TCP(PASS, ACK, .seq = 1, .ack = 1);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 1);
	IS(NEW, NEW);
}

/* ── closing ────────────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_fin_from_both)
{
	policy(TO_B, "");
	handshake();
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	IS(ESTABLISHED, ESTABLISHED);
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	IS(ESTABLISHED, ESTABLISHED);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 102);
	IS(ESTABLISHED, ESTABLISHED);
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 102);
	IS(ESTABLISHED, CLOSING);
	OUT_TCP(PASS, ACK, .seq = 102, .ack = 502);
	IS(ESTABLISHED, CLOSING);
}

FOR_ALL(test_fin_from_the_other_first)
{
	policy(TO_B, "");
	handshake();
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 502);
	IS(ESTABLISHED, CLOSING);
}

/* FINs that pass before the session is established count. */
FOR_ALL(test_fin_early)
{
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 100);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 101);
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 502);
	IS(ESTABLISHED, CLOSING);
	rig_clear(rig);
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 100);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	IS(ESTABLISHED, ESTABLISHED);
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 102);
	IS(ESTABLISHED, CLOSING);
}

/* A connection of which only the end is seen. */
FOR_ALL(test_fin_of_a_pickup)
{
	policy(TO_B, "");
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	IS(NEW, NEW);
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 102);
	IS(ESTABLISHED, CLOSING);
}

FOR_ALL(test_syn_on_closing_opens_anew)
{
	struct rig_session old, session;

	policy(TO_B, "");
	handshake();
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 102);
	old = SESSION();
	OUT_TCP(PASS, SYN, .seq = 9000);
	IS(NEW, NEW);
	session = SESSION();
	assert_int_equal(session.flow.a.packets[SECG_ORIG], 1);
	BACK_TCP(PASS, SYN | ACK, .seq = 77, .ack = 9001);
	OUT_TCP(PASS, ACK, .seq = 9001, .ack = 78);
	IS(ESTABLISHED, ESTABLISHED);
	/* The same slot, another incarnation. */
	session = SESSION();
	assert_int_equal(session.slot, old.slot);
	assert_int_not_equal(session.flow.s.state >> SECG_FLOW_INCARNATION_SHIFT,
			     old.flow.s.state >> SECG_FLOW_INCARNATION_SHIFT);
}

/* The rules have changed meanwhile; on_change keep lets the old session live, not a new one. */
FOR_ALL(test_syn_on_closing_runs_the_rules)
{
	policy(TO_B, ", 'on_change': 'keep'");
	handshake();
	policy("{'id': 'r', 'action': 'drop'}", ", 'on_change': 'keep'");
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 102);
	OUT_TCP(PASS, ACK, .seq = 102, .ack = 502);
	OUT_TCP(RULE_DROP, SYN, .seq = 9000);
	NO_SESSION();
}

/* From the other side a closing session is no way in. */
FOR_ALL(test_syn_back_on_closing)
{
	policy(TO_B, "");
	handshake();
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 102);
	BACK_TCP(DEFAULT, SYN, .seq = 9000);
}

/* acl/22: a live peer answers a SYN with a challenge; the session is as it was. */
FOR_ALL(test_syn_on_established)
{
	policy(TO_B, "");
	handshake();
	OUT_TCP(PASS, SYN, .seq = 2000000000);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
	/* What is not part of it is not believed for it. */
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 2000000001);
	/* The reset that answers the challenge ends the old connection, the next SYN begins anew. */
	OUT_TCP(PASS, RST, .seq = 101);
	IS(ESTABLISHED, CLOSING);
	OUT_TCP(PASS, SYN, .seq = 2000000000);
	IS(NEW, NEW);
}

/* acl/22: it inherits no permission: the rules are asked, which kept the old session. */
FOR_ALL(test_syn_on_established_runs_the_rules)
{
	policy(TO_B, ", 'on_change': 'keep'");
	handshake();
	policy("{'id': 'no', 'action': 'drop'}", ", 'on_change': 'keep'");
	OUT_TCP(RULE_DROP, SYN, .seq = 9000);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	BACK_TCP(DEFAULT, SYN, .seq = 9000);
	IS(ESTABLISHED, ESTABLISHED);
	assert_int_equal(hits("a/no"), 1);
}

/* acl/22: a peer that has forgotten the old connection accepts the new one, which has its own numbers. */
FOR_ALL(test_peer_has_forgotten)
{
	policy(TO_B, "");
	handshake();
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	OUT_TCP(PASS, SYN, .seq = 9000);
	BACK_TCP(PASS, SYN | ACK, .seq = 3000000000, .ack = 9001);
	OUT_TCP(PASS, ACK, .seq = 9001, .ack = 3000000001);
	BACK_TCP(TCP_RST_WINDOW, RST, .seq = 501);
	BACK_TCP(PASS, FIN | ACK, .seq = 3000000001, .ack = 9001);
	IS(ESTABLISHED, ESTABLISHED);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 101);
	OUT_TCP(PASS, RST, .seq = 9001);
	IS(ESTABLISHED, CLOSING);
}

/* Or refuses it, by the number of the SYN and no other. */
FOR_ALL(test_peer_has_forgotten_and_refuses)
{
	policy(TO_B, "");
	handshake();
	BACK_TCP(TCP_RST_WINDOW, RST | ACK, .seq = 0, .ack = 9001);
	OUT_TCP(PASS, SYN, .seq = 9000);
	BACK_TCP(TCP_RST_WINDOW, RST | ACK, .seq = 0, .ack = 9000);
	IS(ESTABLISHED, ESTABLISHED);
	BACK_TCP(PASS, RST | ACK, .seq = 0, .ack = 9001);
	IS(ESTABLISHED, CLOSING);
}

/* A connection that only the peer still knows: its challenge is answered by a reset, and the SYN repeated. */
FOR_ALL(test_peer_has_not_forgotten)
{
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 2000000000);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 100);
	OUT_TCP(PASS, RST, .seq = 101);
	IS(NEW, NEW);
	/* The peer may refuse the SYN itself, which that has not changed. */
	BACK_TCP(TCP_RST_WINDOW, RST | ACK, .seq = 0, .ack = 101);
	OUT_TCP(PASS, SYN, .seq = 2000000000);
	BACK_TCP(PASS, SYN | ACK, .seq = 700, .ack = 2000000001);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 101);
	OUT_TCP(PASS, ACK, .seq = 2000000001, .ack = 701);
	IS(ESTABLISHED, ESTABLISHED);
}

/* Both sides open at once (RFC 9293 §3.5). */
FOR_ALL(test_simultaneous_open)
{
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 100);
	BACK_TCP(PASS, SYN, .seq = 500);
	IS(NEW, NEW);
	OUT_TCP(PASS, SYN | ACK, .seq = 100, .ack = 501);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	BACK_TCP(PASS, RST, .seq = 501);
	IS(ESTABLISHED, CLOSING);
}

/* ── resets ─────────────────────────────────────────────────────────────────────────────────────── */

/* acl/24: a reset leaves the closing timer. */
FOR_ALL(test_rst_in_window)
{
	policy(TO_B, "");
	handshake();
	OUT_TCP(PASS, RST, .seq = 101);
	IS(ESTABLISHED, CLOSING);
	rig_clear(rig);
	policy(TO_B, "");
	handshake();
	BACK_TCP(PASS, RST | ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, CLOSING);
	rig_clear(rig);
	policy(TO_B, "");
	handshake();
	BACK_TCP(PASS, RST, .seq = 501 + 65535);
	IS(ESTABLISHED, CLOSING);
}

/* acl/23 */
FOR_ALL(test_rst_out_of_window)
{
	static const uint32_t seqs[] = {500, 501 + (64u << 20), 501u + (1u << 31), 0xfffffff0u};
	struct rig_session before, after;

	policy(TO_B, "");
	handshake();
	rig_age(rig, 500);
	before = SESSION();
	for (size_t i = 0; i < sizeof(seqs) / sizeof(seqs[0]); i++) {
		BACK_TCP(TCP_RST_WINDOW, RST, .seq = seqs[i]);
		BACK_TCP(TCP_RST_WINDOW, RST | ACK, .seq = seqs[i], .ack = 101);
	}
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 100);
	after = SESSION();
	assert_memory_equal(&before, &after, sizeof(before));
	/* What is acknowledged moves the window. */
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 100501);
	BACK_TCP(TCP_RST_WINDOW, RST, .seq = 501);
	BACK_TCP(PASS, RST, .seq = 100501);
	IS(ESTABLISHED, CLOSING);
}

/* Sequence numbers wrap. */
FOR_ALL(test_rst_around_zero)
{
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 0xfffffff0u);
	BACK_TCP(PASS, SYN | ACK, .seq = 0xffffffffu, .ack = 0xfffffff1u);
	OUT_TCP(PASS, ACK, .seq = 0xfffffff1u, .ack = 0);
	BACK_TCP(PASS, ACK, .seq = 0, .ack = 16);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 0xfffffff1u);
	OUT_TCP(PASS, RST, .seq = 16);
	IS(ESTABLISHED, CLOSING);
}

FOR_ALL(test_rst_on_half_open)
{
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 100);
	BACK_TCP(TCP_RST_WINDOW, RST, .seq = 0);
	BACK_TCP(TCP_RST_WINDOW, RST | ACK, .seq = 0, .ack = 100);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 100);
	IS(NEW, NEW);
	BACK_TCP(PASS, RST | ACK, .seq = 0, .ack = 101);
	NO_SESSION();
	BACK_TCP(DEFAULT, RST | ACK, .seq = 0, .ack = 101);
	OUT_TCP(PASS, SYN, .seq = 100);
	OUT_TCP(PASS, RST, .seq = 101);
	NO_SESSION();
	/* A retransmitted SYN may have chosen another number. */
	OUT_TCP(PASS, SYN, .seq = 100);
	OUT_TCP(PASS, SYN, .seq = 70000);
	BACK_TCP(TCP_RST_WINDOW, RST | ACK, .ack = 101);
	BACK_TCP(PASS, RST | ACK, .ack = 70001);
	NO_SESSION();
	OUT_TCP(PASS, SYN, .seq = 100);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	BACK_TCP(TCP_RST_WINDOW, RST, .seq = 500);
	BACK_TCP(PASS, RST, .seq = 501);
	NO_SESSION();
}

/* ── loose, strict, flags ───────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_loose)
{
	struct rig_session session;

	policy(TO_B, "");
	BACK_TCP(DEFAULT, ACK, .seq = 501, .ack = 101);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	IS(NEW, NEW);
	session = SESSION();
	assert_true(session.flow.s.state & SECG_FLOW_PICKUP);
	OUT_TCP(PASS, ACK, .seq = 201, .ack = 501);
	IS(NEW, NEW);
	BACK_TCP(PASS, ACK, .seq = 501, .ack = 201);
	IS(ESTABLISHED, ESTABLISHED);
	BACK_TCP(TCP_RST_WINDOW, RST, .seq = 500);
	OUT_TCP(TCP_RST_WINDOW, RST, .seq = 200);
	BACK_TCP(PASS, RST, .seq = 501);
	IS(ESTABLISHED, CLOSING);
}

/* A SYN after a packet that was picked up is a new connection. */
FOR_ALL(test_loose_then_syn)
{
	struct rig_session session;

	policy(TO_B, "");
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	OUT_TCP(PASS, SYN, .seq = 9000);
	session = SESSION();
	assert_false(session.flow.s.state & SECG_FLOW_PICKUP);
	assert_int_equal(session.flow.a.packets[SECG_ORIG], 1);
}

/* As it is after a FIN, whose side may not take part in the new one's end. */
FOR_ALL(test_half_open_fin_then_syn)
{
	policy(TO_B, "");
	OUT_TCP(PASS, SYN, .seq = 100);
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 1);
	handshake();
	BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 101);
	IS(ESTABLISHED, ESTABLISHED);
}

/* The rules let a lone reset pass; there is nothing left to follow. */
FOR_ALL(test_loose_rst)
{
	policy(TO_B, "");
	OUT_TCP(PASS, RST, .seq = 101);
	OUT_TCP(PASS, RST | ACK, .seq = 101, .ack = 501);
	NO_SESSION();
}

FOR_ALL(test_strict)
{
	policy(TO_B, ", 'tcp': 'strict'");
	OUT_TCP(TCP_NOT_SYN, ACK, .seq = 101, .ack = 501);
	OUT_TCP(TCP_NOT_SYN, SYN | ACK, .seq = 101, .ack = 501);
	OUT_TCP(TCP_NOT_SYN, RST, .seq = 101);
	OUT_TCP(TCP_NOT_SYN, FIN | ACK, .seq = 101, .ack = 501);
	NO_SESSION();
	assert_int_equal(hits("a/r"), 0);
	handshake();
	IS(ESTABLISHED, ESTABLISHED);
	OUT(PASS, ETH, AB(), UDP(1000, 80));
}

FOR_ALL(test_bad_flags)
{
	static const uint8_t bad[] = {0,
				      FIN,
				      PSH,
				      URG,
				      FIN | PSH | URG,
				      SYN | FIN,
				      SYN | RST,
				      SYN | FIN | ACK,
				      RST | FIN,
				      RST | FIN | ACK,
				      0x3f};
	struct rig_session before, after;

	policy(TO_B, "");
	for (size_t i = 0; i < sizeof(bad); i++)
		OUT_TCP(TCP_BAD_FLAGS, bad[i], .seq = 1);
	NO_SESSION();
	OUT_TCP(PASS, SYN, .seq = 100);
	for (size_t i = 0; i < sizeof(bad); i++)
		BACK_TCP(TCP_BAD_FLAGS, bad[i], .seq = 1);
	IS(NEW, NEW);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	rig_age(rig, 500);
	before = SESSION();
	for (size_t i = 0; i < sizeof(bad); i++) {
		BACK_TCP(TCP_BAD_FLAGS, bad[i], .seq = 501, .ack = 101);
		OUT_TCP(TCP_BAD_FLAGS, bad[i], .seq = 101, .ack = 501);
	}
	after = SESSION();
	assert_memory_equal(&before, &after, sizeof(before));
}

/* ── timers ─────────────────────────────────────────────────────────────────────────────────────── */

#define SECONDS(count) ((count)*RIG_TICKS_PER_SECOND)
#define TIMEOUTS \
	", 'timeouts': {'tcp_half_open': 5, 'tcp_established': 50, 'tcp_closing': 10}, 'tcp': 'strict'"

/* A timer runs out in both directions; the packet that finds the entry says so. */
static void expires(int32_t ticks, bool from_opener)
{
	rig_age(rig, ticks - 20);
	if (from_opener)
		OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	else
		BACK_TCP(PASS, ACK, .seq = 501, .ack = 101);
	rig_age(rig, ticks + 20);
	if (from_opener)
		OUT_TCP(TCP_NOT_SYN, ACK, .seq = 101, .ack = 501);
	else
		BACK_TCP(DEFAULT, ACK, .seq = 501, .ack = 101);
	NO_SESSION();
}

FOR_ALL(test_timers)
{
	for (int from_opener = 0; from_opener < 2; from_opener++) {
		policy(TO_B, TIMEOUTS);
		OUT_TCP(PASS, SYN, .seq = 100);
		expires(SECONDS(5), from_opener);
		OUT_TCP(PASS, SYN, .seq = 100);
		BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
		if (!from_opener)
			expires(SECONDS(5), from_opener);
		rig_clear(rig);
		policy(TO_B, TIMEOUTS);
		handshake();
		expires(SECONDS(50), from_opener);
		handshake();
		BACK_TCP(PASS, RST, .seq = 501);
		expires(SECONDS(10), from_opener);
		handshake();
		BACK_TCP(PASS, FIN | ACK, .seq = 501, .ack = 101);
		OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 502);
		expires(SECONDS(10), from_opener);
	}
}

/* What is expired is opened anew, whatever it was. */
FOR_ALL(test_syn_after_expiry)
{
	policy(TO_B, TIMEOUTS);
	handshake();
	rig_age(rig, SECONDS(51));
	OUT_TCP(PASS, SYN, .seq = 9000);
	IS(NEW, NEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_handshake),
		TEST(test_strangers),
		TEST(test_half_open_stays_half_open),
		TEST(test_fin_from_both),
		TEST(test_fin_from_the_other_first),
		TEST(test_fin_early),
		TEST(test_fin_of_a_pickup),
		TEST(test_syn_on_closing_opens_anew),
		TEST(test_syn_on_closing_runs_the_rules),
		TEST(test_syn_back_on_closing),
		TEST(test_syn_on_established),
		TEST(test_syn_on_established_runs_the_rules),
		TEST(test_peer_has_forgotten),
		TEST(test_peer_has_forgotten_and_refuses),
		TEST(test_peer_has_not_forgotten),
		TEST(test_simultaneous_open),
		TEST(test_rst_in_window),
		TEST(test_rst_out_of_window),
		TEST(test_rst_around_zero),
		TEST(test_rst_on_half_open),
		TEST(test_loose),
		TEST(test_loose_then_syn),
		TEST(test_half_open_fin_then_syn),
		TEST(test_loose_rst),
		TEST(test_strict),
		TEST(test_bad_flags),
		TEST(test_timers),
		TEST(test_syn_after_expiry),
	};

	return RUN("tcp", tests);
}
