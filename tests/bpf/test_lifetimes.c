/* SPDX-License-Identifier: Apache-2.0 */
/* How long flows live beside each other: what keeps one alive, what ends it, what is left of it. */
#include "check.h"
#include "flows.h"

#define SECONDS(count) ((count)*RIG_TICKS_PER_SECOND)
#define TIMEOUTS                                                                      \
	", 'tcp': 'strict', 'timeouts': {'tcp_half_open': 5, 'tcp_established': 500," \
	" 'tcp_closing': 10, 'udp_one_way': 5, 'udp_two_way': 60, 'icmp': 8, 'other': 40}"

static void udp_flow(uint16_t port)
{
	OUT(PASS, ETH, AB(), UDP(port, 53));
	BACK(PASS, ETH, BA(), UDP(53, port));
}

/* acl/46.1: packets of either side keep it; once both are silent for its time, its answers are strangers. */
FOR_ALL(test_udp_is_kept_alive_then_idles_out)
{
	policy(TO_B, TIMEOUTS);
	udp_flow(1000);
	for (int i = 0; i < 6; i++) {
		rig_age(rig, SECONDS(55));
		if (i % 2)
			OUT(PASS, ETH, AB(), UDP(1000, 53));
		else
			BACK(PASS, ETH, BA(), UDP(53, 1000));
	}
	rig_age(rig, SECONDS(61));
	BACK(DEFAULT, ETH, BA(), UDP(53, 1000));
	NO_SESSION();
	/* The opener may begin again. */
	udp_flow(1000);
	IS(ESTABLISHED, ESTABLISHED);
}

/* acl/46.2: an active flow keeps no idle one, of the same ends or of others. */
FOR_ALL(test_active_flow_keeps_no_idle_one)
{
	policy("{'id': 'r', 'action': 'allow'}", TIMEOUTS);
	udp_flow(1000);
	udp_flow(1001);
	OUT(PASS, ETH, IP(A, C), UDP(1000, 53));
	BACK(PASS, ETH, IP(C, A), UDP(53, 1000));
	OUT(PASS, ETH, AB(), ECHO(7));
	BACK(PASS, ETH, BA(), REPLY(7));
	for (int i = 0; i < 8; i++) {
		rig_age(rig, SECONDS(10));
		udp_flow(1000);
	}
	BACK(DEFAULT, ETH, BA(), UDP(53, 1001));
	BACK(DEFAULT, ETH, IP(C, A), UDP(53, 1000));
	BACK(DEFAULT, ETH, BA(), REPLY(7));
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	IS(ESTABLISHED, ESTABLISHED);
}

/* acl/46.3: at its timer a half-open connection is gone, an established one of the same age is not. */
FOR_ALL(test_half_open_dies_established_lives)
{
	policy(TO_B, TIMEOUTS);
	handshake();
	OUT(PASS, ETH, AB(), TCP(1001, 80, SYN, .seq = 100));
	BACK(PASS, ETH, BA(), TCP(80, 1001, SYN | ACK, .seq = 500, .ack = 101));
	OUT(PASS, ETH, AB(), TCP(1002, 80, SYN, .seq = 100));
	rig_age(rig, SECONDS(6));
	OUT(TCP_NOT_SYN, ETH, AB(), TCP(1001, 80, ACK, .seq = 101, .ack = 501));
	BACK(DEFAULT, ETH, BA(), TCP(80, 1002, SYN | ACK, .seq = 500, .ack = 101));
	BACK_TCP(PASS, ACK | PSH, .seq = 501, .ack = 101);
	rig_age(rig, SECONDS(499));
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 502);
	IS(ESTABLISHED, ESTABLISHED);
	rig_age(rig, SECONDS(501));
	OUT_TCP(TCP_NOT_SYN, ACK, .seq = 101, .ack = 502);
	NO_SESSION();
}

/* acl/46.4: the FINs of both sides take it from the long timer to the short one; one FIN does not. */
FOR_ALL(test_fin_returns_to_closing)
{
	policy(TO_B, TIMEOUTS);
	handshake();
	OUT_TCP(PASS, FIN | ACK, .seq = 101, .ack = 501);
	rig_age(rig, SECONDS(100));
	BACK_TCP(PASS, ACK | PSH, .seq = 501, .ack = 102);
	BACK_TCP(PASS, FIN | ACK, .seq = 502, .ack = 102);
	IS(ESTABLISHED, CLOSING);
	rig_age(rig, SECONDS(9));
	OUT_TCP(PASS, ACK, .seq = 102, .ack = 503);
	rig_age(rig, SECONDS(11));
	BACK_TCP(DEFAULT, ACK, .seq = 503, .ack = 102);
	NO_SESSION();
}

/* acl/46.5: allow on one side of the port lets answers back through the other, and nothing else. */
FOR_ALL(test_reflect_on_either_side)
{
	policy(TO_B, TIMEOUTS);
	handshake();
	udp_flow(1000);
	OUT(PASS, ETH, AB(), ECHO(7));
	BACK(PASS, ETH, BA(), REPLY(7));
	assert_int_equal(rig_sessions(rig, NULL, 0), 3);
	BACK(DEFAULT, ETH, BA(), TCP(2000, 80, SYN));
	BACK(DEFAULT, ETH, BA(), UDP(53, 1001));
	BACK(DEFAULT, ETH, BA(), ECHO(7));
	BACK(DEFAULT, ETH, AB(), UDP(1000, 53));
	OUT(DEFAULT, ETH, BA(), UDP(53, 1000));
	assert_int_equal(rig_sessions(rig, NULL, 0), 3);
}

/* acl/28: many times more flows than there is room for, one crowd after the other: nothing is left over. */
FOR_ALL(test_crowds_come_and_go)
{
	const uint16_t crowd = RIG_BUCKETS * SECG_WAYS / 4;

	policy(TO_B, TIMEOUTS);
	for (int round = 0; round < 20; round++) {
		for (uint16_t i = 0; i < crowd; i++)
			udp_flow((uint16_t)(1024 + round * crowd + i));
		assert_int_equal(rig_sessions(rig, NULL, 0), crowd);
		rig_age(rig, SECONDS(61));
		/* Whoever looks for one that has expired takes it away. */
		for (uint16_t i = 0; i < crowd; i++)
			BACK(DEFAULT, ETH, BA(), UDP(53, (uint16_t)(1024 + round * crowd + i)));
		NO_SESSION();
	}
	for (uint32_t slot = 0; slot < RIG_BUCKETS * SECG_WAYS; slot += SECG_WAYS)
		assert_int_equal(rig->slots[slot].overflow, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_udp_is_kept_alive_then_idles_out),
		TEST(test_active_flow_keeps_no_idle_one),
		TEST(test_half_open_dies_established_lives),
		TEST(test_fin_returns_to_closing),
		TEST(test_reflect_on_either_side),
		TEST(test_crowds_come_and_go),
	};

	return RUN("lifetimes", tests);
}
