/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The infrastructure table: every row by side and direction, by default, named, switched off. What is
 * expected is written out here and not taken from the daemon's table.
 */
#include "check.h"

#define STP LLC("\x42\x42\x03")

/* Directions in which a row holds. */
#define F    1 /* from */
#define T    2 /* to */
#define FT   3
#define NONE 0

struct row {
	const char *name; /* in the API */
	enum secg_infra bit;
	bool needs_255;
	int by_default[2]; /* workload, host */
	int named[2];      /* where the row is the only one named */
	struct layer layers[6];
};

static const struct row rows[] = {
	{"arp", SECG_INFRA_ARP, 0, {FT, FT}, {FT, FT}, {ETH, ARP, END}},
	{"arp", SECG_INFRA_ARP, 0, {FT, FT}, {FT, FT}, {ETH, VLAN(3), ARP, END}},
	{"nd",
	 SECG_INFRA_ND,
	 1,
	 {FT, FT},
	 {FT, FT},
	 {ETH, IP6(A6, B6, .ttl = 255), ICMP6(133, 0), END}},
	{"nd",
	 SECG_INFRA_ND,
	 1,
	 {FT, FT},
	 {FT, FT},
	 {ETH, IP6(A6, B6, .ttl = 255), ICMP6(135, 0), RAW(16), END}},
	{"nd",
	 SECG_INFRA_ND,
	 1,
	 {FT, FT},
	 {FT, FT},
	 {ETH, IP6(A6, B6, .ttl = 255), ICMP6(136, 0), RAW(16), END}},
	{"ra",
	 SECG_INFRA_RA,
	 1,
	 {T, F},
	 {T, F},
	 {ETH, IP6(A6, B6, .ttl = 255), ICMP6(134, 0), RAW(8), END}},
	{"ra",
	 SECG_INFRA_RA,
	 1,
	 {T, F},
	 {T, F},
	 {ETH, IP6(A6, B6, .ttl = 255), ICMP6(137, 0), RAW(32), END}},
	{"mld",
	 SECG_INFRA_MLD,
	 0,
	 {FT, FT},
	 {FT, FT},
	 {ETH, IP6(A6, B6, .ttl = 1), EXT(0), ICMP6(130, 0), RAW(16), END}},
	{"mld",
	 SECG_INFRA_MLD,
	 0,
	 {FT, FT},
	 {FT, FT},
	 {ETH, IP6(A6, B6, .ttl = 1), EXT(0), ICMP6(131, 0), RAW(16), END}},
	{"mld",
	 SECG_INFRA_MLD,
	 0,
	 {FT, FT},
	 {FT, FT},
	 {ETH, IP6(A6, B6, .ttl = 1), EXT(0), ICMP6(132, 0), RAW(16), END}},
	{"mld",
	 SECG_INFRA_MLD,
	 0,
	 {FT, FT},
	 {FT, FT},
	 {ETH, IP6(A6, B6, .ttl = 1), EXT(0), ICMP6(143, 0), RAW(8), END}},
	{"igmp",
	 SECG_INFRA_IGMP,
	 0,
	 {FT, FT},
	 {FT, FT},
	 {ETH, IP4(A, B, .ttl = 1, .options = 4), PROTO(2), END}},
	{"dhcp-client",
	 SECG_INFRA_DHCP_CLIENT_REQUEST,
	 0,
	 {F, T},
	 {F, T},
	 {ETH, IP4("0.0.0.0", "255.255.255.255"), UDP(68, 67), RAW(240), END}},
	{"dhcp-client",
	 SECG_INFRA_DHCP_CLIENT_ANSWER,
	 0,
	 {T, F},
	 {T, F},
	 {ETH, IP4(A, B), UDP(67, 68), RAW(240), END}},
	{"dhcp-client",
	 SECG_INFRA_DHCP_CLIENT_REQUEST,
	 0,
	 {F, T},
	 {F, T},
	 {ETH, IP6("fe80::1", "ff02::1:2"), UDP(546, 547), RAW(20), END}},
	{"dhcp-client",
	 SECG_INFRA_DHCP_CLIENT_ANSWER,
	 0,
	 {T, F},
	 {T, F},
	 {ETH, IP6(A6, B6), UDP(547, 546), RAW(20), END}},
	{"dhcp-server",
	 SECG_INFRA_DHCP_SERVER_REQUEST,
	 0,
	 {F, T},
	 {T, F},
	 {ETH, IP4(A, B), UDP(68, 67), RAW(240), END}},
	{"dhcp-server",
	 SECG_INFRA_DHCP_SERVER_ANSWER,
	 0,
	 {T, F},
	 {F, T},
	 {ETH, IP4(A, B), UDP(67, 68), RAW(240), END}},
	{"dhcp-server",
	 SECG_INFRA_DHCP_SERVER_REQUEST,
	 0,
	 {F, T},
	 {T, F},
	 {ETH, IP6(A6, B6), UDP(546, 547), RAW(20), END}},
	{"dhcp-server",
	 SECG_INFRA_DHCP_SERVER_ANSWER,
	 0,
	 {T, F},
	 {F, T},
	 {ETH, IP6(A6, B6), UDP(547, 546), RAW(20), END}},
	{"lacp", SECG_INFRA_LACP, 0, {NONE, FT}, {FT, FT}, {ETHERTYPE(0x8809), RAW(110), END}},
	{"stp", SECG_INFRA_STP, 0, {NONE, FT}, {FT, FT}, {ETH, STP, RAW(35), PAD(8), END}},
	{"lldp", SECG_INFRA_LLDP, 0, {NONE, FT}, {FT, FT}, {ETHERTYPE(0x88cc), RAW(60), END}},
	{"eapol", SECG_INFRA_EAPOL, 0, {NONE, FT}, {FT, FT}, {ETHERTYPE(0x888e), RAW(46), END}},
	{"vrrp",
	 SECG_INFRA_VRRP,
	 1,
	 {NONE, NONE},
	 {FT, FT},
	 {ETH, IP4(A, "224.0.0.18", .ttl = 255), PROTO(112), END}},
	{"vrrp",
	 SECG_INFRA_VRRP,
	 1,
	 {NONE, NONE},
	 {FT, FT},
	 {ETH, IP6(A6, "ff02::12", .ttl = 255), PROTO(112), END}},
	{"ike",
	 SECG_INFRA_IKE,
	 0,
	 {NONE, NONE},
	 {FT, FT},
	 {ETH, IP4(A, B), UDP(500, 500), RAW(28), END}},
	{"ike",
	 SECG_INFRA_IKE,
	 0,
	 {NONE, NONE},
	 {FT, FT},
	 {ETH, IP6(A6, B6), UDP(1024, 500), RAW(28), END}},
	{"ike",
	 SECG_INFRA_IKE,
	 0,
	 {NONE, NONE},
	 {FT, FT},
	 {ETH, IP4(A, B), UDP(4500, 4500), BYTES("\0\0\0\0\1\2"), END}},
	{"ike",
	 SECG_INFRA_IKE,
	 0,
	 {NONE, NONE},
	 {FT, FT},
	 {ETH, IP6(A6, B6), UDP(4500, 1024), BYTES("\0\0\0\0\1\2"), END}},
};

static const char *const sides[] = {"workload", "host"};

/* Both directions end in the default drop; `fields` as in ", 'infrastructure': []". */
static void port(int side, const char *fields)
{
	char text[512];

	snprintf(
		text, sizeof(text),
		"{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow', 'protocol': 254}]}},"
		" 'ports': {'p1': {'interface': 'p1', 'side': '%s', 'from': ['a'], 'to': ['a']%s}}}",
		sides[side], fields);
	rig_policy(rig, text);
}

static void row_expect(const struct row *row, int side, int holds, const char *when,
		       const struct layer *layers, enum secg_reason on)
{
	for (int d = 0; d < SECG_DIRECTIONS; d++) {
		enum secg_reason expected =
			holds & (d == SECG_TO ? T : F) ? on : SECG_REASON_DEFAULT;
		struct rig_way way = {0};
		char what[128];

		snprintf(what, sizeof(what), "row %td (%s), %s, %s, %s", row - rows, row->name,
			 sides[side], d == SECG_TO ? "to" : "from", when);
		expect_same(what, expected,
			    rig_judge(rig, (enum secg_direction)d, &way, layers).reason, __FILE__,
			    __LINE__);
	}
}

static int directions(int holds)
{
	return (holds & F ? 1 : 0) + (holds & T ? 1 : 0);
}

static void row_run(const struct row *row, int side)
{
	char fields[64];
	struct secg_counter before, after;

	port(side, "");
	row_expect(row, side, row->by_default[side], "default", row->layers, SECG_REASON_NONE);
	snprintf(fields, sizeof(fields), ", 'infrastructure': ['%s']", row->name);
	port(side, fields);
	before = rig_infra(rig, "p1", row->bit);
	row_expect(row, side, row->named[side], "named", row->layers, SECG_REASON_NONE);
	after = rig_infra(rig, "p1", row->bit);
	assert_int_equal(after.packets - before.packets, directions(row->named[side]));
	assert_int_equal(after.bytes > before.bytes, row->named[side] != 0);
	port(side, ", 'infrastructure': []");
	row_expect(row, side, NONE, "off", row->layers, SECG_REASON_NONE);
	NO_SESSION();
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int side = 0; side < 2; side++)
			row_run(&rows[i], side);
}

/* What has crossed a router is no neighbour's message; where the row is off, rules decide. */
static void test_hop_limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct layer layers[6];
		char fields[64];

		if (!rows[i].needs_255)
			continue;
		memcpy(layers, rows[i].layers, sizeof(layers));
		layers[1].ttl = 254;
		snprintf(fields, sizeof(fields), ", 'infrastructure': ['%s']", rows[i].name);
		for (int side = 0; side < 2; side++) {
			port(side, fields);
			row_expect(&rows[i], side, rows[i].named[side], "254 hops", layers,
				   SECG_REASON_HOP_LIMIT);
			port(side, ", 'infrastructure': []");
			row_expect(&rows[i], side, NONE, "254 hops, off", layers, SECG_REASON_NONE);
		}
	}
}

/* Alike, but not it. */
static void test_others(void **state)
{
	static const struct layer others[][6] = {
		{ETHERTYPE(0x8035), RAW(28), END},
		{ETH, LLC("\x42\x42\x02"), RAW(35), END},
		{ETH, LLC("\xaa\xaa\x03"), RAW(35), END},
		{ETH, IP4(A, B), UDP(68, 68), END},
		{ETH, IP4(A, B), UDP(67, 67), END},
		{ETH, IP4(A, B), UDP(546, 547), END},
		{ETH, IP6(A6, B6), UDP(68, 67), END},
		{ETH, IP4(A, B), UDPLITE(68, 67), END},
		{ETH, IP4(A, B), TCP(500, 500, SYN), END},
		{ETH, IP4(A, B), UDP(4500, 4500), BYTES("\0\0\0\1\0\0"), END},
		{ETH, IP4(A, B), UDP(4500, 4500), BYTES("\xff"), END},
		{ETH, IP4(A, B), UDP(4501, 4501), BYTES("\0\0\0\0\0\0"), END},
		{ETH, IP6(A6, B6), PROTO(2), END},
		{ETH, IP4(A, B, .ttl = 255), ICMP6(135, 0), END},
		{ETH, IP6(A6, B6, .ttl = 255), ICMP6(138, 0), END},
		{ETH, IP6(A6, B6, .ttl = 255), ICMP6(128, 0), END},
		{ETH, IP4(A, B, .more = 1), PROTO(2), END},
		{ETH, IP4(A, B, .more = 1), UDP(500, 500), RAW(32), END},
		{ETH, IP6(A6, B6, .ttl = 255), FRAG6(.more = 1), ICMP6(135, 0), RAW(16), END},
	};

	(void)state;
	port(1, ", 'infrastructure': ['arp', 'nd', 'ra', 'mld', 'igmp', 'dhcp-client',"
		" 'dhcp-server', 'lacp', 'stp', 'lldp', 'eapol', 'vrrp', 'ike']");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct rig_way way = {0};
		char what[32];

		snprintf(what, sizeof(what), "other %zu", i);
		for (int d = 0; d < SECG_DIRECTIONS; d++)
			expect_same(what, SECG_REASON_DEFAULT,
				    rig_judge(rig, (enum secg_direction)d, &way, others[i]).reason,
				    __FILE__, __LINE__);
	}
}

/* A marker that is only padding is none: the payload has a single byte, or none. */
static void test_ike_marker_is_payload(void **state)
{
	(void)state;
	port(1, ", 'infrastructure': ['ike']");
	FROM(DEFAULT, ETH, IP4(A, B), UDP(4500, 4500), PAD(18));
	TO(DEFAULT, ETH, IP4(A, B), UDP(4500, 4500), BYTES("\0\0\0"), PAD(15));
	FROM(DEFAULT, ETH, IP4(A, B), UDP(4500, 4500), CUT(0));
}

/* Infrastructure stands before rules, also where a rule would drop it. */
static void test_before_rules(void **state)
{
	(void)state;
	rig_policy(rig, "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'drop'}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']}}}");
	FROM(PASS, ETH, ARP);
	TO(PASS, ETH, ARP);
	assert_int_equal(hits("a/r"), 0);
	assert_int_equal(rig_infra(rig, "p1", SECG_INFRA_ARP).packets, 2);
	rig_policy(rig, "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'drop'}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'infrastructure': [], 'from': ['a'],"
			" 'to': ['a']}}}");
	FROM(RULE_DROP, ETH, ARP);
	assert_int_equal(hits("a/r"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rows),         TEST(test_hop_limit),
		TEST(test_others),       TEST(test_ike_marker_is_payload),
		TEST(test_before_rules),
	};

	return RUN("infra", tests);
}
