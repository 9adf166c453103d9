/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICMP errors: related to a session when they carry one of its packets and go to who sent it. C is a
 * router on the way.
 */
#include "check.h"
#include "flows.h"

/* The first eight bytes of a transport header are all that an error need carry. */
#define TCP8(a, b) PORTS(6, 8, a, b)

/* An error from C to the sender of what is embedded. */
#define ERROR_TO_A(reason, ...) BACK(reason, ETH, IP(C, A), UNREACHABLE, __VA_ARGS__)
#define ERROR_TO_B(reason, ...) OUT(reason, ETH, IP(C, B), UNREACHABLE, __VA_ARGS__)

static void open_udp(void)
{
	policy(TO_B, "");
	OUT(PASS, ETH, AB(), UDP(1000, 53));
}

FOR_ALL(test_related)
{
	struct rig_session before, after;

	open_udp();
	rig_age(rig, 100);
	before = SESSION();
	ERROR_TO_A(PASS, AB(), UDP(1000, 53));
	ERROR_TO_A(PASS, AB(), UDP(1000, 53), RAW(400));
	/* From the other end itself. */
	BACK(PASS, ETH, BA(), UNREACHABLE, AB(), UDP(1000, 53));
	assert_int_equal(hits("a/r"), 4);
	/* It renews nothing. */
	after = SESSION();
	assert_memory_equal(&before, &after, sizeof(before));
}

FOR_ALL(test_unrelated)
{
	open_udp();
	ERROR_TO_A(DEFAULT, AB(), UDP(1001, 53));
	ERROR_TO_A(DEFAULT, AB(), UDP(1000, 54));
	ERROR_TO_A(DEFAULT, AB(), UDPLITE(1000, 53));
	ERROR_TO_A(DEFAULT, AB(), UDP(53, 1000));
	ERROR_TO_A(DEFAULT, IP(A, C), UDP(1000, 53));
	ERROR_TO_A(DEFAULT, BA(), UDP(53, 1000));
	/* Not to who sent the packet. */
	BACK(DEFAULT, ETH, IP(C, B), UNREACHABLE, AB(), UDP(1000, 53));
	BACK(DEFAULT, ETH, IP(B, C), UNREACHABLE, AB(), UDP(1000, 53));
	/* On the side that the packet came from. */
	OUT(DEFAULT, ETH, IP(C, A), UNREACHABLE, AB(), UDP(1000, 53));
	/* No packet, no errors. */
	BACK(DEFAULT, ETH, BA(), ECHO(1000));
	BACK(DEFAULT, ETH, IP(C, A), REPLY(1000), AB(), UDP(1000, 53));
	IS(NEW, NEW);
}

/* ICMP of the other family is a protocol like any other, outside and inside. */
FOR_ALL(test_icmp_of_the_other_family)
{
	policy(TO_B, "");
	OUT(PASS, ETH, AB(), PROTO(family == 6 ? 1 : 58));
	ERROR_TO_A(PASS, AB(), PROTO(family == 6 ? 1 : 58));
}

/* A rule that tracks cannot track an error; one that does not lets it pass. Neither opens anything. */
FOR_ALL(test_unrelated_and_rules)
{
	policy("{'id': 'r', 'action': 'allow'}", "");
	OUT(ICMP_UNRELATED, ETH, IP(C, A), UNREACHABLE, AB(), UDP(1000, 53));
	assert_int_equal(hits("a/r"), 0);
	policy("{'id': 's', 'action': 'allow-stateless', 'protocol': ['icmp', 'icmpv6']},"
	       "{'id': 'r', 'action': 'allow'}",
	       "");
	OUT(PASS, ETH, IP(C, A), UNREACHABLE, AB(), UDP(1000, 53));
	assert_int_equal(hits("a/s"), 1);
	NO_SESSION();
}

/* What would be refused is not dropped for another reason while that is only audited. */
FOR_ALL(test_unrelated_and_audited)
{
	policy("{'id': 'no', 'action': 'drop'}", ", 'audit': true");
	OUT(PASS, ETH, IP(C, A), UNREACHABLE, AB(), UDP(1000, 53));
	assert_int_equal(hits("a/no"), 1);
	BACK(PASS, ETH, IP(C, A), UNREACHABLE, AB(), UDP(1000, 53));
	NO_SESSION();
}

/* An error about a reply goes to who replied. */
FOR_ALL(test_about_a_reply)
{
	open_udp();
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	IS(ESTABLISHED, ESTABLISHED);
	ERROR_TO_B(PASS, BA(), UDP(53, 1000));
	ERROR_TO_A(PASS, AB(), UDP(1000, 53));
	OUT(DEFAULT, ETH, IP(B, C), UNREACHABLE, BA(), UDP(53, 1000));
	/* The rule lets what goes to B pass, but not an error that belongs to nothing. */
	ERROR_TO_B(ICMP_UNRELATED, BA(), UDP(54, 1000));
	assert_int_equal(hits("a/r"), 4);
}

FOR_ALL(test_every_type)
{
	static const uint8_t types4[] = {3, 4, 11, 12}, types6[] = {1, 2, 3, 4};

	open_udp();
	for (size_t i = 0; family == 4 && i < sizeof(types4); i++) {
		BACK(PASS, ETH, IP(C, A), ICMP(types4[i], 0), AB(), UDP(1000, 53));
		BACK(PASS, ETH, IP(C, A), ICMP(types4[i], 4), AB(), UDP(1000, 53));
		BACK(DEFAULT, ETH, IP(C, A), ICMP(types4[i], 0), AB(), UDP(1000, 54));
	}
	for (size_t i = 0; family == 6 && i < sizeof(types6); i++) {
		BACK(PASS, ETH, IP(C, A), ICMP6(types6[i], 0), AB(), UDP(1000, 53));
		BACK(DEFAULT, ETH, IP(C, A), ICMP6(types6[i], 0), AB(), UDP(1000, 54));
	}
	BACK(DEFAULT, ETH, IP(C, A), ICMP_OF(10, 150, 0), AB(), UDP(1000, 53));
	/* A redirect changes routes; a type that nobody has assigned says nothing. */
	BACK(DEFAULT, ETH, IP(C, A), ICMP_OF(5, 100, 0), AB(), UDP(1000, 53));
}

FOR_ALL(test_every_protocol)
{
	policy(TO_B, ", 'infrastructure': []");
	OUT_TCP(PASS, SYN, .seq = 100);
	ERROR_TO_A(PASS, AB(), TCP(1000, 80, SYN, .seq = 100));
	ERROR_TO_A(PASS, AB(.adjust = 500), TCP8(1000, 80));
	ERROR_TO_A(DEFAULT, AB(), TCP8(1001, 80));
	OUT(PASS, ETH, AB(), SCTP(1000, 80));
	ERROR_TO_A(PASS, AB(), PORTS(132, 8, 1000, 80));
	OUT(PASS, ETH, AB(), DCCP(1000, 80));
	ERROR_TO_A(PASS, AB(), PORTS(33, 8, 1000, 80));
	OUT(PASS, ETH, AB(), PROTO(47));
	ERROR_TO_A(PASS, AB(), PROTO(47));
	ERROR_TO_A(PASS, AB(.next = 47));
	ERROR_TO_A(DEFAULT, AB(), PROTO(50));
	OUT(PASS, ETH, AB(), ECHO(7));
	ERROR_TO_A(PASS, AB(), ECHO(7));
	ERROR_TO_A(DEFAULT, AB(), ECHO(8));
	ERROR_TO_A(DEFAULT, AB(), REPLY(7));
	BACK(PASS, ETH, BA(), REPLY(7));
	ERROR_TO_B(PASS, BA(), REPLY(7));
	/* No error about an error. */
	ERROR_TO_A(DEFAULT, AB(), UNREACHABLE);
}

/* An error about a query is none about an answer, also where identifier and type are one number. */
FOR_ALL(test_about_an_echo_whose_identifier_is_its_type)
{
	const uint32_t number = family == 6 ? 128 << 8 : 8 << 8;

	policy(TO_B, "");
	OUT(PASS, ETH, AB(), ECHO(number));
	BACK(PASS, ETH, BA(), REPLY(number));
	ERROR_TO_A(DEFAULT, AB(), REPLY(number));
	ERROR_TO_B(ICMP_UNRELATED, BA(), ECHO(number));
	ERROR_TO_A(PASS, AB(), ECHO(number));
	ERROR_TO_B(PASS, BA(), REPLY(number));
}

/* Eight bytes of the transport header, no less. What is not there is not read. */
FOR_ALL(test_cut_off)
{
	open_udp();
	for (uint16_t cut = 1; cut <= 8; cut++) {
		uint32_t length = 8u + (family == 6 ? 40u : 20u) + 8u - cut;

		ERROR_TO_A(DEFAULT, AB(.adjust = cut),
			   {.kind = LAYER_RAW,
			    .type = 17,
			    .size = (uint16_t)(8 - cut),
			    .bytes = "\x03\xe8\x00\x35\x00\x08\x00\x00"});
		/* The bytes are there, but behind the end of the IP packet. */
		BACK(DEFAULT, ETH, IP(C, A, .length = (uint16_t)(length + (family == 6 ? 0 : 20))),
		     UNREACHABLE, AB(), UDP(1000, 53));
	}
	ERROR_TO_A(PASS, AB(.adjust = 8),
		   {.kind = LAYER_RAW,
		    .type = 17,
		    .size = 8,
		    .bytes = "\x03\xe8\x00\x35\x00\x08\x00\x00"});
	for (uint16_t size = 0; size < (family == 6 ? 40 : 20); size++)
		ERROR_TO_A(DEFAULT,
			   {.kind = LAYER_RAW,
			    .size = size,
			    .bytes = "\x45\0\0\0\0\0\0\0\0\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"});
}

FOR_ALL(test_embedded_headers)
{
	open_udp();
	if (family == 4) {
		ERROR_TO_A(PASS, AB(.options = 4), UDP(1000, 53));
		ERROR_TO_A(PASS, AB(.options = 40), UDP(1000, 53));
		ERROR_TO_A(DEFAULT, AB(.options = 40), UDP(1000, 54));
		ERROR_TO_A(DEFAULT, AB(.ihl = 4), UDP(1000, 53));
		ERROR_TO_A(DEFAULT, AB(.version = 6), UDP(1000, 53));
		ERROR_TO_A(PASS, AB(.more = 1), UDP(1000, 53));
		ERROR_TO_A(DEFAULT, AB(.offset = 3), UDP(1000, 53));
		return;
	}
	ERROR_TO_A(PASS, AB(), EXT(0), UDP(1000, 53));
	ERROR_TO_A(PASS, AB(), EXT(0), EXT(43, .options = 2), AH(.options = 2), EXT(60),
		   UDP(1000, 53));
	ERROR_TO_A(DEFAULT, AB(), EXT(0), EXT(60), UDP(1000, 54));
	ERROR_TO_A(PASS, AB(), FRAG6(), UDP(1000, 53));
	ERROR_TO_A(PASS, AB(), FRAG6(.more = 1), UDP(1000, 53));
	ERROR_TO_A(DEFAULT, AB(), FRAG6(.offset = 3), UDP(1000, 53));
	ERROR_TO_A(DEFAULT, AB(.version = 4), UDP(1000, 53));
	ERROR_TO_A(DEFAULT, AB(), EXT(0), EXT(60), EXT(60), EXT(60), EXT(60), EXT(60), EXT(60),
		   EXT(60), EXT(60), UDP(1000, 53));
}

FOR_ALL(test_outer_headers)
{
	open_udp();
	if (family == 4) {
		BACK(PASS, ETH, VLAN(7), IP(C, A, .options = 12), UNREACHABLE, AB(), UDP(1000, 53));
		return;
	}
	BACK(PASS, ETH, VLAN(7), IP(C, A), EXT(0), EXT(60), UNREACHABLE, AB(), EXT(60),
	     UDP(1000, 53));
	BACK(DEFAULT, ETH, VLAN(7), IP(C, A), EXT(0), UNREACHABLE, AB(), EXT(60), UDP(1000, 54));
}

/* The other family's error says nothing. */
FOR_ALL(test_other_family)
{
	open_udp();
	if (family == 4)
		BACK(DEFAULT, ETH, IP4(C, A), ICMP6(1, 0), AB(), UDP(1000, 53));
	else
		BACK(DEFAULT, ETH, IP6(C6, A6), ICMP(3, 1), AB(), UDP(1000, 53));
}

FOR_ALL(test_expired)
{
	open_udp();
	rig_age(rig, 31 * RIG_TICKS_PER_SECOND);
	ERROR_TO_A(DEFAULT, AB(), UDP(1000, 53));
}

/* A session waits for a packet of its own to be judged again. */
FOR_ALL(test_policy_change)
{
	open_udp();
	policy(TO_B ", {'id': 'more', 'action': 'allow', 'protocol': 99}", "");
	ERROR_TO_A(DEFAULT, AB(), UDP(1000, 53));
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	ERROR_TO_A(PASS, AB(), UDP(1000, 53));
	policy("{'id': 'more', 'action': 'allow', 'protocol': 99}", "");
	ERROR_TO_A(DEFAULT, AB(), UDP(1000, 53));
	policy(TO_B, ", 'on_change': 'keep'");
	ERROR_TO_A(PASS, AB(), UDP(1000, 53));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_related),
		TEST(test_unrelated),
		TEST(test_icmp_of_the_other_family),
		TEST(test_unrelated_and_rules),
		TEST(test_unrelated_and_audited),
		TEST(test_about_a_reply),
		TEST(test_every_type),
		TEST(test_every_protocol),
		TEST(test_about_an_echo_whose_identifier_is_its_type),
		TEST(test_cut_off),
		TEST(test_embedded_headers),
		TEST(test_outer_headers),
		TEST(test_other_family),
		TEST(test_expired),
		TEST(test_policy_change),
	};

	return RUN("related", tests);
}
