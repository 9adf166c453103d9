/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser: every shape a frame can have, and every way in which one is cut off or contradicts
 * itself. The rules name ports and ICMP types, so that nothing passes whose header was not read.
 */
#include "check.h"

static const char policy[] =
	"{'acls': {'a': {'rules': ["
	" {'id': 'ports', 'action': 'allow-stateless', 'dst_ports': 80,"
	"  'protocol': ['tcp', 'udp', 'udplite', 'sctp', 'dccp']},"
	" {'id': 'ping', 'action': 'allow-stateless', 'protocol': 'ping'},"
	" {'id': 'esp', 'action': 'allow-stateless', 'protocol': 'esp'},"
	" {'id': 'none', 'action': 'allow-stateless', 'protocol': 59},"
	" {'id': 'odd', 'action': 'allow-stateless', 'protocol': 99}]}},"
	" 'ports': {'p1': {'interface': 'p1', 'infrastructure': [], 'from': ['a'], 'to': ['a']}}}";

/* ── frames cut off at every length ─────────────────────────────────────────────────────────────── */

struct sweep {
	const char *name;
	uint32_t l3;     /* offset of the IP header */
	uint32_t l4;     /* offset of the transport header */
	uint32_t needed; /* bytes up to its end */
	struct layer layers[16];
};

static const struct sweep sweeps[] = {
	{"tcp", 14, 34, 54, {ETH, IP4(A, B), TCP(1, 80, SYN), RAW(9), END}},
	{"tcp with options", 14, 34, 66, {ETH, IP4(A, B), TCP(1, 80, SYN, .options = 12), END}},
	{"ip options", 14, 42, 62, {ETH, IP4(A, B, .options = 8), TCP(1, 80, SYN), RAW(9), END}},
	{"one tag", 18, 38, 58, {ETH, VLAN(1), IP4(A, B), TCP(1, 80, SYN), RAW(1), END}},
	{"two tags", 22, 42, 62, {ETH, VLAN_AD(1), VLAN(2), IP4(A, B), TCP(1, 80, SYN), END}},
	{"udp", 14, 34, 42, {ETH, IP4(A, B), UDP(1, 80), END}},
	{"udplite", 14, 34, 42, {ETH, IP4(A, B), UDPLITE(1, 80), RAW(5), END}},
	{"sctp", 14, 34, 46, {ETH, IP4(A, B), SCTP(1, 80), RAW(5), END}},
	{"dccp", 14, 34, 46, {ETH, IP4(A, B), DCCP(1, 80), RAW(5), END}},
	{"icmp", 14, 34, 42, {ETH, IP4(A, B), ICMP(8, 0), RAW(5), END}},
	{"tcp6", 14, 54, 74, {ETH, IP6(A6, B6), TCP(1, 80, SYN), RAW(9), END}},
	{"udp6", 14, 54, 62, {ETH, IP6(A6, B6), UDP(1, 80), END}},
	{"icmp6", 14, 54, 62, {ETH, IP6(A6, B6), ICMP6(128, 0), RAW(5), END}},
	{"extensions",
	 18,
	 106,
	 126,
	 {ETH, VLAN(1), IP6(A6, B6), EXT(0, .options = 1), EXT(60), AH(.options = 2),
	  TCP(1, 80, SYN), END}},
	{"ipv6 atomic fragment",
	 14,
	 62,
	 82,
	 {ETH, IP6(A6, B6), FRAG6(), TCP(1, 80, SYN), RAW(3), END}},
	{"first fragment", 14, 34, 54, {ETH, IP4(A, B, .more = 1), TCP(1, 80, SYN), RAW(4), END}},
	{"ipv6 first fragment",
	 14,
	 62,
	 82,
	 {ETH, IP6(A6, B6), FRAG6(.more = 1), TCP(1, 80, SYN), RAW(4), END}},
};

/* Makes the IP header believe that the frame was always this short. */
static void shorten(struct frame *frame, uint32_t l3)
{
	uint8_t *ip = frame->data + l3;
	uint32_t length = frame->size - l3;

	if (ip[0] >> 4 == 6)
		length -= 40;
	ip = ip + (ip[0] >> 4 == 6 ? 4 : 2);
	ip[0] = (uint8_t)(length >> 8);
	ip[1] = (uint8_t)length;
}

/* A first fragment whose headers do not fit is tiny where the IP header at least is whole. */
static enum secg_reason cut_reason(const struct sweep *sweep, uint32_t size, bool is_first)
{
	if (size >= sweep->needed)
		return SECG_REASON_NONE;
	return is_first && size >= sweep->l4 ? SECG_REASON_FRAG_TINY : SECG_REASON_MALFORMED;
}

static void sweep_run(const struct sweep *sweep, enum rig_hook hook)
{
	bool is_first = strstr(sweep->name, "first") != NULL;
	static struct frame whole, cut;
	struct rig_way way = {0};
	char what[64];

	frame_build(&whole, sweep->layers);
	for (uint32_t size = 14; size <= whole.size; size++) {
		cut = whole;
		cut.size = size;
		if (!rig_takes(hook, &cut))
			continue;
		snprintf(what, sizeof(what), "%s cut to %u of %u", sweep->name, size, whole.size);
		expect_same(what, size == whole.size ? SECG_REASON_NONE : SECG_REASON_MALFORMED,
			    rig_run(rig, hook, &way, &cut).reason, __FILE__, __LINE__);
		if (size < sweep->l3 + (cut.data[sweep->l3] >> 4 == 6 ? 40 : 20))
			continue;
		shorten(&cut, sweep->l3);
		snprintf(what, sizeof(what), "%s of %u bytes", sweep->name, size);
		expect_same(what, cut_reason(sweep, size, is_first),
			    rig_run(rig, hook, &way, &cut).reason, __FILE__, __LINE__);
	}
}

static void test_every_length(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	for (size_t i = 0; i < sizeof(sweeps) / sizeof(sweeps[0]); i++) {
		sweep_run(&sweeps[i], rig->from);
		sweep_run(&sweeps[i], RIG_TC_TO);
	}
}

/* The bytes that a cut header would have had are there, behind the IP packet: they are not read. */
static void test_padding_is_not_read(void **state)
{
	static struct frame frame;
	struct rig_way way = {0};

	(void)state;
	rig_policy(rig, policy);
	for (size_t i = 0; i < sizeof(sweeps) / sizeof(sweeps[0]); i++) {
		const struct sweep *sweep = &sweeps[i];
		bool is_first = strstr(sweep->name, "first") != NULL;

		for (uint32_t size = sweep->l4; size < sweep->needed; size++) {
			frame_build(&frame, sweep->layers);
			frame.size = size;
			shorten(&frame, sweep->l3);
			frame.size = sweep->needed;
			expect_same(sweep->name, cut_reason(sweep, size, is_first),
				    rig_run(rig, rig->from, &way, &frame).reason, __FILE__,
				    __LINE__);
		}
	}
}

/* ── IPv4 ───────────────────────────────────────────────────────────────────────────────────────── */

static void test_ipv4(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(PASS, ETH, IP4(A, B), TCP(1, 80, SYN));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(1, 81, SYN));
	BOTH(PASS, ETH, IP4(A, B), TCP(1, 80, SYN), PAD(6));
	BOTH(PASS, ETH, IP4(A, B), UDP(1, 80), PAD(18));
	BOTH(PASS, ETH, IP4(A, B, .options = 40), TCP(1, 80, SYN));
	BOTH(PASS, ETH, IP4(A, B), TCP(1, 80, SYN), RAW(1460));
	BOTH(MALFORMED, ETH, IP4(A, B, .adjust = 1), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP4(A, B, .length = 65535), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP4(A, B, .length = 19), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP4(A, B, .no_length = 1), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP4(A, B, .ihl = 4), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP4(A, B, .ihl = 1), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP4(A, B, .ihl = 4), PROTO(99));
	BOTH(MALFORMED, ETH, IP4(A, B, .ihl = 15), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP4(A, B, .version = 5), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETHERTYPE(0x86dd), IP4(A, B), TCP(1, 80, SYN), RAW(40));
}

static void test_transport(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(PASS, ETH, IP4(A, B), TCP(1, 80, SYN, .options = 40));
	BOTH(MALFORMED, ETH, IP4(A, B), TCP(1, 80, SYN, .doff = 4));
	BOTH(MALFORMED, ETH, IP4(A, B), TCP(1, 80, SYN, .doff = 6));
	BOTH(PASS, ETH, IP4(A, B), TCP(1, 80, SYN, .doff = 6), RAW(4));
	BOTH(PASS, ETH, IP4(A, B), UDP(1, 80), RAW(8));
	BOTH(PASS, ETH, IP4(A, B), UDP(1, 80, .length = 8), RAW(8));
	BOTH(MALFORMED, ETH, IP4(A, B), UDP(1, 80, .adjust = 1), RAW(8));
	BOTH(MALFORMED, ETH, IP4(A, B), UDP(1, 80, .length = 7), RAW(8));
	BOTH(MALFORMED, ETH, IP4(A, B), UDP(1, 80, .adjust = 1), PAD(8));
	BOTH(MALFORMED, ETH, IP4(A, B), UDP(1, 80, .no_length = 1), RAW(8));
	BOTH(PASS, ETH, IP4(A, B), UDPLITE(1, 80, .length = 8), RAW(8));
	BOTH(PASS, ETH, IP4(A, B), SCTP(1, 80), RAW(16));
	BOTH(PASS, ETH, IP4(A, B), DCCP(1, 80), RAW(4));
	BOTH(PASS, ETH, IP4(A, B), ICMP(8, 0));
	BOTH(DEFAULT, ETH, IP4(A, B), ICMP6(128, 0));
	BOTH(DEFAULT, ETH, IP6(A6, B6), ICMP(8, 0));
	BOTH(PASS, ETH, IP6(A6, B6), ICMP6(128, 0));
	BOTH(PASS, ETH, IP4(A, B), PROTO(50));
	BOTH(PASS, ETH, IP4(A, B), PROTO(99));
	BOTH(PASS, ETH, IP4(A, B, .next = 99));
	BOTH(DEFAULT, ETH, IP4(A, B), PROTO(98));
}

/* ── tags, other EtherTypes, devices without Ethernet ───────────────────────────────────────────── */

static void test_tags(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(PASS, ETH, VLAN(1), IP4(A, B), TCP(1, 80, SYN));
	BOTH(PASS, ETH, VLAN(0), IP4(A, B), TCP(1, 80, SYN));
	BOTH(PASS, ETH, VLAN_AD(1), IP4(A, B), TCP(1, 80, SYN));
	BOTH(PASS, ETH, VLAN(1), VLAN(2), IP6(A6, B6), TCP(1, 80, SYN));
	BOTH(PASS, ETH, VLAN_AD(1), VLAN(2), IP4(A, B), TCP(1, 80, SYN));
	BOTH(DEFAULT, ETH, VLAN_AD(1), VLAN(2), IP4(A, B), TCP(1, 81, SYN));
	BOTH(TAG_DEPTH, ETH, VLAN(1), VLAN(2), VLAN(3), IP4(A, B), TCP(1, 80, SYN));
	BOTH(TAG_DEPTH, ETH, VLAN_AD(1), VLAN_AD(2), VLAN_AD(3), IP4(A, B), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETHERTYPE(0x8100), RAW(3));
	BOTH(MALFORMED, ETH, VLAN(1), {.kind = LAYER_VLAN, .type = 0x8100}, CUT(1));
}

static void test_other_ethertypes(void **state)
{
	static const uint16_t types[] = {0x0806, 0x8847, 0x8863, 0x8864, 0x88cc,
					 0x9100, 0x88f7, 0xffff, 0x0600};

	(void)state;
	rig_policy(rig, policy);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		BOTH(DEFAULT, ETHERTYPE(types[i]), RAW(46));
		BOTH(DEFAULT, ETH, {.kind = LAYER_VLAN, .type = 0x8100, .next = types[i]}, RAW(46));
	}
	BOTH(DEFAULT, ETH, LLC("\x42\x42\x03"), RAW(43));
	BOTH(DEFAULT, ETH, LLC("\xaa\xaa\x03"), BYTES("\0\0\0\x08\0"), IP4(A, B), TCP(1, 80, SYN));
	/* Nothing at all behind the type. */
	BOTH(DEFAULT, ETHERTYPE(0x88cc));
	BOTH(MALFORMED, ETH, {.kind = LAYER_VLAN, .type = 0x8100, .next = 0x0800});
	BOTH(MALFORMED, ETH, {.kind = LAYER_VLAN, .type = 0x8100, .next = 0x86dd});
}

/* The bytes that test runs at TC take for the EtherType lie in the source address. */
static void test_l3_device(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	/* TC only: XDP is refused on such a device. */
	rig_set_l3(rig, "p1");
	TO(PASS, IP4("8.0.0.1", B), TCP(1, 80, SYN));
	TO(DEFAULT, IP4("8.0.0.1", B), TCP(1, 81, SYN));
	TO(MALFORMED, IP4("8.0.0.1", B), TCP(1, 80, SYN), CUT(1));
	TO(PASS, IP6("2001:db8:86dd::1", B6), TCP(1, 80, SYN));
	TO(DEFAULT, IP6("2001:db8:86dd::1", B6), TCP(1, 81, SYN));
	TO(MALFORMED, IP4("8.0.0.1", B, .version = 7), TCP(1, 80, SYN));
}

/* ── IPv6 ───────────────────────────────────────────────────────────────────────────────────────── */

static void test_extension_chain(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(PASS, ETH, IP6(A6, B6), EXT(0), EXT(43), EXT(60), EXT(135), EXT(139), EXT(140),
	     EXT(60), AH(.options = 1), TCP(1, 80, SYN));
	BOTH(DEFAULT, ETH, IP6(A6, B6), EXT(0), EXT(43), EXT(60), EXT(135), EXT(139), EXT(140),
	     EXT(60), AH(.options = 1), TCP(1, 81, SYN));
	BOTH(EXT_DEPTH, ETH, IP6(A6, B6), EXT(0), EXT(43), EXT(60), EXT(60), EXT(60), EXT(60),
	     EXT(60), EXT(60), EXT(60), TCP(1, 80, SYN));
	BOTH(PASS, ETH, IP6(A6, B6), EXT(60, .options = 30), TCP(1, 80, SYN));
	BOTH(PASS, ETH, IP6(A6, B6), AH(.options = 1), TCP(1, 80, SYN));
	BOTH(PASS, ETH, IP6(A6, B6), AH(.options = 3), UDP(1, 80));
	BOTH(DEFAULT, ETH, IP6(A6, B6), AH(.options = 3), UDP(1, 81));
	/* ESP and what nobody knows end the walk as the protocol. */
	BOTH(PASS, ETH, IP6(A6, B6), EXT(60), PROTO(50));
	BOTH(PASS, ETH, IP6(A6, B6), EXT(60), PROTO(99));
	BOTH(PASS, ETH, IP6(A6, B6), EXT(60, .next = 59));
	BOTH(DEFAULT, ETH, IP6(A6, B6), EXT(60), PROTO(98));
	/* In IPv4 they are protocols like any other. */
	BOTH(DEFAULT, ETH, IP4(A, B), EXT(60), TCP(1, 80, SYN));
	BOTH(DEFAULT, ETH, IP4(A, B), AH(), TCP(1, 80, SYN));
}

static void test_ipv6(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(PASS, ETH, IP6(A6, B6), TCP(1, 80, SYN));
	BOTH(PASS, ETH, IP6(A6, B6), TCP(1, 80, SYN), PAD(6));
	BOTH(MALFORMED, ETH, IP6(A6, B6, .adjust = 1), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP6(A6, B6, .adjust = -1), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP6(A6, B6, .no_length = 1), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETH, IP6(A6, B6, .version = 4), TCP(1, 80, SYN));
	BOTH(MALFORMED, ETHERTYPE(0x0800), IP6(A6, B6), TCP(1, 80, SYN));
	/* A jumbogram: length 0 and a hop-by-hop option. */
	BOTH(MALFORMED, ETH, IP6(A6, B6, .no_length = 1), EXT(0), TCP(1, 80, SYN));
	/* The extension claims more than the packet holds. */
	BOTH(MALFORMED, ETH, IP6(A6, B6), EXT(60, .next = 6, .options = 2), CUT(1));
	BOTH(MALFORMED, ETH, IP6(A6, B6, .length = 23), EXT(60, .options = 2), TCP(1, 80, SYN));
}

/* ── fragments ──────────────────────────────────────────────────────────────────────────────────── */

static void test_fragments(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(FRAG_EARLY, ETH, IP4(A, B, .id = 7, .offset = 10), RAW(40));
	BOTH(PASS, ETH, IP4(A, B, .id = 7, .more = 1), UDP(1, 80, .length = 120), RAW(72));
	BOTH(PASS, ETH, IP4(A, B, .id = 7, .offset = 10, .more = 1, .next = 17), RAW(24));
	BOTH(PASS, ETH, IP4(A, B, .id = 7, .offset = 13, .next = 17), RAW(1));
	assert_int_equal(hits("a/ports"), 2 * 3);
}

static void test_fragments_of_others(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	FROM(PASS, ETH, IP4(A, B, .id = 7, .more = 1), UDP(1, 80, .length = 120), RAW(72));
	/* Another datagram, pair, protocol, direction. */
	FROM(FRAG_EARLY, ETH, IP4(A, B, .id = 8, .offset = 10, .next = 17), RAW(40));
	FROM(FRAG_EARLY, ETH, IP4(A, C, .id = 7, .offset = 10, .next = 17), RAW(40));
	FROM(FRAG_EARLY, ETH, IP4(B, A, .id = 7, .offset = 10, .next = 17), RAW(40));
	FROM(FRAG_EARLY, ETH, IP4(A, B, .id = 7, .offset = 10, .next = 6), RAW(40));
	TO(FRAG_EARLY, ETH, IP4(A, B, .id = 7, .offset = 10, .next = 17), RAW(40));
	FROM(PASS, ETH, IP4(A, B, .id = 7, .offset = 10, .next = 17), RAW(40));
}

/* A later fragment whose bytes look like the right ports is not judged by them. */
static void test_fragments_have_no_ports(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(DEFAULT, ETH, IP4(A, B, .id = 9, .more = 1), UDP(1, 81, .length = 120), RAW(72));
	BOTH(FRAG_VERDICT, ETH, IP4(A, B, .id = 9, .offset = 10), UDP(1, 80), RAW(32));
	BOTH(FRAG_EARLY, ETH, IP4(A, B, .id = 9, .offset = 10), TCP(1, 80, SYN), RAW(32));
	BOTH(FRAG_EARLY, ETH, IP6(A6, B6), FRAG6(.id = 9, .offset = 10), UDP(1, 80));
	BOTH(FRAG_EARLY, ETH, IP4(A, B, .id = 9, .offset = 10), PROTO(50));
}

static void test_fragments_ipv6(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(FRAG_EARLY, ETH, IP6(A6, B6), FRAG6(.id = 7, .offset = 10, .next = 17), RAW(40));
	BOTH(PASS, ETH, IP6(A6, B6), EXT(0), FRAG6(.id = 7, .more = 1), UDP(1, 80, .length = 120),
	     RAW(72));
	BOTH(PASS, ETH, IP6(A6, B6), EXT(0), FRAG6(.id = 7, .offset = 10, .more = 1, .next = 17),
	     RAW(24));
	BOTH(PASS, ETH, IP6(A6, B6), FRAG6(.id = 7, .offset = 13, .next = 17), RAW(1));
	/* Only the first fragment of IPv6 says what the datagram is. */
	BOTH(PASS, ETH, IP6(A6, B6), FRAG6(.id = 7, .offset = 13, .next = 60), RAW(9));
	BOTH(FRAG_EARLY, ETH, IP6(A6, B6), FRAG6(.id = 8, .offset = 13, .next = 17), RAW(9));
	/* Extension headers may follow the fragment header. */
	BOTH(PASS, ETH, IP6(A6, B6), FRAG6(.id = 9, .more = 1), EXT(60), TCP(1, 80, SYN), RAW(4));
	BOTH(DEFAULT, ETH, IP6(A6, B6), FRAG6(.id = 10, .more = 1), EXT(60), TCP(1, 81, SYN),
	     RAW(4));
	BOTH(FRAG_TINY, ETH, IP6(A6, B6), FRAG6(.id = 11, .more = 1), EXT(60, .next = 6));
	BOTH(FRAG_TINY, ETH, IP6(A6, B6), FRAG6(.id = 11, .more = 1, .next = 60));
	BOTH(PASS, ETH, IP6(A6, B6), FRAG6(.id = 12), TCP(1, 80, SYN));
	BOTH(FRAG_EARLY, ETH, IP6(A6, B6), FRAG6(.id = 12, .offset = 3, .next = 6), RAW(8));
}

/* A later fragment must not put other ports in the place of those that were judged. */
static void test_overlapping_fragments(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(PASS, ETH, IP4(A, B, .id = 7, .more = 1), UDP(1, 80, .length = 120), RAW(24));
	BOTH(FRAG_OVERLAP, ETH, IP4(A, B, .id = 7, .offset = 1, .more = 1, .next = 17), RAW(64));
	BOTH(FRAG_OVERLAP, ETH, IP4(A, B, .id = 7, .offset = 3, .next = 17), RAW(64));
	BOTH(PASS, ETH, IP4(A, B, .id = 7, .offset = 4, .next = 17), RAW(64));
	BOTH(PASS, ETH, IP6(A6, B6), FRAG6(.id = 7, .more = 1), TCP(1, 80, SYN), RAW(4));
	BOTH(FRAG_OVERLAP, ETH, IP6(A6, B6), FRAG6(.id = 7, .offset = 1, .next = 6), RAW(16));
	BOTH(PASS, ETH, IP6(A6, B6), FRAG6(.id = 7, .offset = 3, .next = 6), RAW(16));
	BOTH(PASS, ETH, IP6(A6, B6), EXT(0), FRAG6(.id = 8, .more = 1), EXT(60), TCP(1, 80, SYN),
	     RAW(4));
	BOTH(FRAG_OVERLAP, ETH, IP6(A6, B6), FRAG6(.id = 8, .offset = 1, .next = 60),
	     TCP(1, 22, SYN));
	BOTH(FRAG_OVERLAP, ETH, IP6(A6, B6), FRAG6(.id = 8, .offset = 3, .next = 60), RAW(16));
	BOTH(PASS, ETH, IP6(A6, B6), FRAG6(.id = 8, .offset = 4, .next = 60), RAW(16));
}

static void test_tiny_fragments(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(FRAG_TINY, ETH, IP4(A, B, .more = 1, .next = 6), RAW(8));
	BOTH(FRAG_TINY, ETH, IP4(A, B, .more = 1, .next = 6), RAW(16), PAD(22));
	BOTH(FRAG_TINY, ETH, IP4(A, B, .more = 1), TCP(1, 80, SYN, .doff = 8), RAW(4));
	BOTH(FRAG_TINY, ETH, IP4(A, B, .more = 1, .next = 17));
	BOTH(FRAG_TINY, ETH, IP4(A, B, .offset = 1, .next = 6), RAW(24));
	BOTH(PASS, ETH, IP4(A, B, .id = 3, .more = 1), UDP(1, 80, .length = 40));
	BOTH(PASS, ETH, IP4(A, B, .id = 3, .offset = 1, .next = 17), RAW(24));
}

/* The verdict is remembered for as long as a receiver would wait, and past clocks that differ a tick. */
static void test_fragment_memory(void **state)
{
	(void)state;
	rig_policy(rig, policy);
	BOTH(PASS, ETH, IP4(A, B, .id = 7, .more = 1), UDP(1, 80, .length = 120), RAW(72));
	rig_age(rig, 7400);
	BOTH(PASS, ETH, IP4(A, B, .id = 7, .offset = 10, .next = 17), RAW(40));
	rig_age(rig, 200);
	BOTH(FRAG_EARLY, ETH, IP4(A, B, .id = 7, .offset = 10, .next = 17), RAW(40));
	rig_age(rig, -7600 - 10);
	BOTH(PASS, ETH, IP4(A, B, .id = 7, .offset = 10, .next = 17), RAW(40));
}

/* ── counting, ports that are not there ─────────────────────────────────────────────────────────── */

static void test_unknown_port(void **state)
{
	struct rig_way way = {.interface = "p2"};
	uint64_t before;

	(void)state;
	before = rig_reason(rig, 0, SECG_REASON_UNDECIDED);
	FROM(UNDECIDED, ETH, IP4(A, B), TCP(1, 80, SYN));
	rig_policy(rig, policy);
	assert_int_equal(
		rig_judge(rig, SECG_TO, &way, LAYERS(ETH, IP4(A, B), TCP(1, 80, SYN))).reason,
		SECG_REASON_UNDECIDED);
	assert_int_equal(rig_reason(rig, 0, SECG_REASON_UNDECIDED), before + 2);
	rig_port(rig, "p1")->flags = 0;
	BOTH(UNDECIDED, ETH, IP4(A, B), TCP(1, 80, SYN));
}

static void test_bytes(void **state)
{
	struct rig_verdict verdict;

	(void)state;
	rig_policy(rig, policy);
	verdict = FROM(PASS, ETH, VLAN(1), IP4(A, B), TCP(1, 80, SYN), RAW(100), PAD(3));
	assert_int_equal(verdict.counted.packets, 1);
	assert_int_equal(verdict.counted.bytes, 14 + 4 + 20 + 20 + 100 + 3);
	verdict = TO(DEFAULT, ETH, IP4(A, B), TCP(1, 81, SYN));
	assert_int_equal(verdict.counted.bytes, 54);
}

/* Frames of several buffers, which test runs take at XDP only. */
static void test_jumbo(void **state)
{
	struct layer jumbo[] = {ETH, IP4(A, B), TCP(1, 80, ACK), RAW(8946), END};
	struct rig_way way = {0};
	struct rig_verdict verdict;
	static struct frame frame;

	(void)state;
	rig_policy(rig, policy);
	frame_build(&frame, jumbo);
	verdict = rig_run(rig, RIG_XDP, &way, &frame);
	assert_int_equal(verdict.reason, SECG_REASON_NONE);
	assert_int_equal(verdict.counted.bytes, 9000);
	jumbo[1].adjust = 1;
	frame_build(&frame, jumbo);
	assert_int_equal(rig_run(rig, RIG_XDP, &way, &frame).reason, SECG_REASON_MALFORMED);
}

/* A GSO packet is its segments; each after the first repeats the headers. */
static void test_gso(void **state)
{
	struct rig_way way = {.gso_segs = 3, .gso_size = 1000};
	struct rig_verdict verdict;
	uint64_t before;

	(void)state;
	rig_policy(rig, policy);
	before = hits("a/ports");
	verdict = rig_judge(rig, SECG_TO, &way,
			    LAYERS(ETH, IP4(A, B), TCP(1, 80, ACK, .options = 12), RAW(2500)));
	assert_int_equal(verdict.reason, SECG_REASON_NONE);
	assert_int_equal(verdict.counted.packets, 3);
	assert_int_equal(verdict.counted.bytes, 66 + 2500 + 2 * 66);
	assert_int_equal(hits("a/ports"), before + 3);
	verdict = rig_judge(rig, SECG_TO, &way, LAYERS(ETH, IP6(A6, B6), UDP(1, 81), RAW(2500)));
	assert_int_equal(verdict.reason, SECG_REASON_DEFAULT);
	assert_int_equal(verdict.counted.packets, 3);
	assert_int_equal(verdict.counted.bytes, 62 + 2500 + 2 * 62);
	/* Some drivers leave the number of segments to be computed. */
	way.gso_segs = 0;
	verdict = rig_judge(rig, SECG_TO, &way, LAYERS(ETH, IP4(A, B), TCP(1, 80, ACK), RAW(2500)));
	assert_int_equal(verdict.counted.packets, 3);
	/* Headers are in every segment, not in what is cut into segments. */
	way.gso_size = 1448;
	verdict = rig_judge(rig, SECG_TO, &way,
			    LAYERS(ETH, IP4(A, B), TCP(1, 80, ACK, .options = 12), RAW(2 * 1448)));
	assert_int_equal(verdict.counted.packets, 2);
	assert_int_equal(verdict.counted.bytes, 2 * (66 + 1448));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_length),
		TEST(test_padding_is_not_read),
		TEST(test_ipv4),
		TEST(test_transport),
		TEST(test_tags),
		TEST(test_other_ethertypes),
		TEST(test_l3_device),
		TEST(test_extension_chain),
		TEST(test_ipv6),
		TEST(test_fragments),
		TEST(test_fragments_of_others),
		TEST(test_fragments_have_no_ports),
		TEST(test_fragments_ipv6),
		TEST(test_overlapping_fragments),
		TEST(test_tiny_fragments),
		TEST(test_fragment_memory),
		TEST(test_unknown_port),
		TEST(test_bytes),
		TEST(test_jumbo),
		TEST(test_gso),
	};

	return RUN("parse", tests);
}
