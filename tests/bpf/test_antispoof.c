/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a port lets its senders be: IP sources, ARP, the guards, what is not IP. Every row is judged
 * untagged and behind one and two tags. Neighbour discovery is in test_antispoof_nd.c.
 */
#include "antispoof.h"

#include "../support/rig_trace.h"

/* ── sources of IP packets ──────────────────────────────────────────────────────────────────────── */

static const struct row sources[] = {
	{"a pair", PASSES, {ETH, IP4(A, B), UDP(1, 2)}},
	{"a pair, IPv6", PASSES, {ETH, IP6(A6, B6), UDP(1, 2)}},
	{"of a prefix", PASSES, {ETH, IP4("10.0.1.9", B), UDP(1, 2)}},
	{"of a prefix, IPv6", PASSES, {ETH, IP6("2001:db8:1::9", B6), UDP(1, 2)}},
	{"a virtual router", PASSES, {ETH_OF(VRRP), IP4(V, B), UDP(1, 2)}},
	{"a virtual router, IPv6", PASSES, {ETH_OF(VRRP), IP6(V6, B6), UDP(1, 2)}},
	{"another's MAC", MAC, {ETH_OF(M2), IP4(A, B), UDP(1, 2)}},
	{"another's MAC, IPv6", MAC, {ETH_OF(M2), IP6(A6, B6), UDP(1, 2)}},
	{"a MAC beside the mask", MAC, {ETH_OF("00:00:5e:00:02:01"), IP4(V, B), UDP(1, 2)}},
	{"a group as source", MAC, {ETH_OF("03:00:00:00:00:01"), IP4(A, B), UDP(1, 2)}},
	{"all as source", MAC, {ETH_OF("ff:ff:ff:ff:ff:ff"), IP6(A6, B6), UDP(1, 2)}},
	{"another's address", IPA, {ETH, IP4(B, A), UDP(1, 2)}},
	{"another's address, IPv6", IPA, {ETH, IP6(B6, A6), UDP(1, 2)}},
	{"beside the prefix", IPA, {ETH, IP4("10.0.2.9", B), UDP(1, 2)}},
	{"the router's address with the other MAC", IPA, {ETH, IP4(V, B), UDP(1, 2)}},
	{"the same, IPv6", IPA, {ETH, IP6(V6, B6), UDP(1, 2)}},
	{"the other address with the router's MAC", IPA, {ETH_OF(VRRP), IP4(A, B), UDP(1, 2)}},
	{"the same, IPv6", IPA, {ETH_OF(VRRP), IP6(A6, B6), UDP(1, 2)}},
	{"a MAC without addresses", IPA, {ETH_OF(BARE), IP4(A, B), UDP(1, 2)}},
	{"link-local of its MAC", PASSES, {ETH, IP6(LL1, B6), UDP(1, 2)}},
	{"link-local of the router's MAC", PASSES, {ETH_OF(VRRP), IP6(LLV, B6), UDP(1, 2)}},
	{"link-local of a MAC without addresses", PASSES, {ETH_OF(BARE), IP6(LLB, B6), UDP(1, 2)}},
	{"link-local of another MAC", IPA, {ETH, IP6(LL2, B6), UDP(1, 2)}},
	{"link-local that no MAC makes", IPA, {ETH, IP6("fe80::1", B6), UDP(1, 2)}},
	{"its interface identifier elsewhere",
	 IPA,
	 {ETH, IP6("fe80:0:0:1::ff:fe00:1", B6), UDP(1, 2)}},
	{"link-local of its MAC, which it may not use", MAC, {ETH_OF(M2), IP6(LL2, B6), UDP(1, 2)}},
	{"IP options", IPA, {ETH, IP4(B, A, .options = 8), TCP(1, 2, SYN)}},
	{"extension headers", IPA, {ETH, IP6(B6, A6), EXT(0), EXT(60), AH(), TCP(1, 2, SYN)}},
	{"ESP", IPA, {ETH, IP4(B, A), PROTO(50)}},
	{"a later fragment of a pair", EARLY, {ETH, IP4(A, B, .id = 1, .offset = 9), RAW(8)}},
	{"a later fragment", IPA, {ETH, IP4(B, A, .id = 1, .offset = 9), RAW(8)}},
	{"a later fragment, IPv6", IPA, {ETH, IP6(B6, A6), FRAG6(.id = 1, .offset = 9), RAW(8)}},
	{"a later fragment's MAC", MAC, {ETH_OF(M2), IP4(A, B, .id = 1, .offset = 9), RAW(8)}},
	{"malformed comes first", MALFORMED, {ETH_OF(M2), IP4(B, A), UDP(1, 2), CUT(1)}},
};

static const struct row unaddressed[] = {
	{"DHCP discover", PASSES, {ETH, IP4("0.0.0.0", "255.255.255.255"), UDP(68, 67), RAW(240)}},
	{"its MAC", MAC, {ETH_OF(M2), IP4("0.0.0.0", "255.255.255.255"), UDP(68, 67), RAW(240)}},
	{"to one host", IPA, {ETH, IP4("0.0.0.0", B), UDP(68, 67), RAW(240)}},
	{"from another port", IPA, {ETH, IP4("0.0.0.0", "255.255.255.255"), UDP(67, 67)}},
	{"to another port", IPA, {ETH, IP4("0.0.0.0", "255.255.255.255"), UDP(68, 69)}},
	{"over another protocol", IPA, {ETH, IP4("0.0.0.0", "255.255.255.255"), UDPLITE(68, 67)}},
	{"in fragments",
	 IPA,
	 {ETH, IP4("0.0.0.0", "255.255.255.255", .more = 1), UDP(68, 67, .length = 99), RAW(64)}},
	{"IGMP", PASSES, {ETH, IP4("0.0.0.0", "224.0.0.22", .options = 4), PROTO(2)}},
	{"IGMP to one host", IPA, {ETH, IP4("0.0.0.0", B), PROTO(2)}},
	{"anything else", IPA, {ETH, IP4("0.0.0.0", "224.0.0.22"), UDP(1, 2)}},
	{"MLD v1 report", PASSES, {ETH, IP6("::", "ff02::16"), EXT(0), ICMP6(131, 0), RAW(16)}},
	{"MLD v1 done", PASSES, {ETH, IP6("::", "ff02::2"), EXT(0), ICMP6(132, 0), RAW(16)}},
	{"MLD v2 report", PASSES, {ETH, IP6("::", "ff02::16"), EXT(0), ICMP6(143, 0), RAW(20)}},
	{"MLD report's MAC", MAC, {ETH_OF(M2), IP6("::", "ff02::16"), ICMP6(143, 0), RAW(20)}},
	{"MLD query", IPA, {ETH, IP6("::", "ff02::1"), ICMP6(130, 0), RAW(16)}},
	{"MLD report to one host", IPA, {ETH, IP6("::", B6), ICMP6(143, 0), RAW(20)}},
	{"UDP from nowhere", IPA, {ETH, IP6("::", "ff02::1:2"), UDP(546, 547)}},
	{"echo from nowhere", IPA, {ETH, IP6("::", "ff02::1"), ICMP6(128, 0)}},
	{"nearly nowhere", IPA, {ETH, IP6("::1:0:0", "ff02::16"), ICMP6(143, 0), RAW(20)}},
};

static void test_sources(void **state)
{
	(void)state;
	port("");
	ROWS(sources);
	ROWS(unaddressed);
}

/* ── ARP ────────────────────────────────────────────────────────────────────────────────────────── */

/* acl/17: tagged ARP is checked like untagged. */
static const struct row arp[] = {
	{"a request", PASSES, {ETH, ARP_OF(1, M1, A, B)}},
	{"an answer", PASSES, {ETH, ARP_OF(2, M1, A, B)}},
	{"gratuitous", PASSES, {ETH, ARP_OF(1, M1, A, A)}},
	{"of a prefix", PASSES, {ETH, ARP_OF(1, M1, "10.0.1.77", B)}},
	{"padded", PASSES, {ETH, ARP_OF(1, M1, A, B), PAD(18)}},
	{"a probe", PASSES, {ETH, ARP_OF(1, M1, "0.0.0.0", A)}},
	{"a virtual router's, by its master", PASSES, {ETH, ARP_OF(2, VRRP, V, B)}},
	{"a virtual router's own", PASSES, {ETH_OF(VRRP), ARP_OF(1, VRRP, V, V)}},
	{"from another's MAC", MAC, {ETH_OF(M2), ARP_OF(1, M1, A, B)}},
	{"from all", MAC, {ETH_OF("ff:ff:ff:ff:ff:ff"), ARP_OF(1, M1, A, B)}},
	{"another's address", ARPS, {ETH, ARP_OF(1, M1, B, A)}},
	{"gratuitous, another's", ARPS, {ETH, ARP_OF(2, M1, B, B)}},
	{"another's MAC", ARPS, {ETH, ARP_OF(1, M2, A, B)}},
	{"a pair of two entries", ARPS, {ETH, ARP_OF(1, M1, V, B)}},
	{"the other pair of two entries", ARPS, {ETH, ARP_OF(1, VRRP, A, B)}},
	{"a probe with another's MAC", ARPS, {ETH, ARP_OF(1, M2, "0.0.0.0", A)}},
	{"a group as sender", ARPS, {ETH, ARP_OF(1, "03:00:00:00:00:01", A, B)}},
	{"cut off", ARPS, {ETH, ARP_OF(1, M1, A, B), CUT(1)}},
	{"nothing", ARPS, {ETHERTYPE(0x0806)}},
	{"of IEEE 802", ARPS, {ETHERTYPE(0x0806), BYTES("\0\6\x08\0\6\4\0\1" ARP_BODY)}},
	{"of IPv6", ARPS, {ETHERTYPE(0x0806), BYTES("\0\1\x86\xdd\6\4\0\1" ARP_BODY)}},
	{"of long MACs", ARPS, {ETHERTYPE(0x0806), BYTES("\0\1\x08\0\x8\4\0\1" ARP_BODY)}},
	{"of long addresses", ARPS, {ETHERTYPE(0x0806), BYTES("\0\1\x08\0\6\x10\0\1" ARP_BODY)}},
	{"RARP", PASSES, {ETH, ARP_OF(3, M1, "0.0.0.0", "0.0.0.0", .type = 0x8035)}},
	{"RARP with another's MAC",
	 ARPS,
	 {ETH, ARP_OF(3, M2, "0.0.0.0", "0.0.0.0", .type = 0x8035)}},
	{"RARP's answer of another", ARPS, {ETH, ARP_OF(4, M1, B, A, .type = 0x8035)}},
};

static void test_arp(void **state)
{
	(void)state;
	port("");
	ROWS(arp);
}

/* ── guards ─────────────────────────────────────────────────────────────────────────────────────── */

/* RFC 7113: wherever the message hides. acl/14 */
static const struct row guards[] = {
	{"RA", RA, {ETH, IP6(LL1, "ff02::1", .ttl = 255), ICMP6(134, 0), RAW(8)}},
	{"RA of another", RA, {ETH, IP6(LL2, "ff02::1", .ttl = 255), ICMP6(134, 0), RAW(8)}},
	{"RA to one host", RA, {ETH, IP6(LL1, B6, .ttl = 255), ICMP6(134, 0), RAW(8)}},
	{"RA from afar", RA, {ETH, IP6(A6, "ff02::1", .ttl = 64), ICMP6(134, 0), RAW(8)}},
	{"RA behind options", RA, {ETH, IP6(LL1, "ff02::1"), EXT(60), ICMP6(134, 0), RAW(8)}},
	{"RA behind all there is",
	 RA,
	 {ETH, IP6(LL1, "ff02::1"), EXT(0), EXT(60), EXT(43), AH(), ICMP6(134, 0), RAW(8)}},
	{"RA behind an atomic fragment",
	 RA,
	 {ETH, IP6(LL1, "ff02::1"), FRAG6(.id = 1), ICMP6(134, 0), RAW(8)}},
	{"RA in a first fragment",
	 RA,
	 {ETH, IP6(LL1, "ff02::1"), FRAG6(.id = 1, .more = 1), EXT(60), ICMP6(134, 0), RAW(8)}},
	{"RA behind a first fragment of headers",
	 TINY,
	 {ETH, IP6(LL1, "ff02::1"), FRAG6(.id = 1, .more = 1), EXT(60, .next = 58)}},
	{"redirect", RA, {ETH, IP6(LL1, B6, .ttl = 255), ICMP6(137, 0), RAW(32)}},
	{"DHCP answer", DHCP, {ETH, IP4(A, "255.255.255.255"), UDP(67, 68), RAW(240)}},
	{"DHCP answer from another port", DHCP, {ETH, IP4(A, B), UDP(4011, 68), RAW(240)}},
	{"DHCP answer in fragments",
	 DHCP,
	 {ETH, IP4(A, B, .more = 1), UDP(67, 68, .length = 99), RAW(64)}},
	{"DHCPv6 answer", DHCP, {ETH, IP6(LL1, B6), UDP(547, 546), RAW(20)}},
	{"DHCPv6 answer behind options",
	 DHCP,
	 {ETH, IP6(LL1, B6), EXT(60), UDP(547, 546), RAW(20)}},
	{"DHCP request", PASSES, {ETH, IP4(A, B), UDP(68, 67), RAW(240)}},
	{"DHCPv6 request", PASSES, {ETH, IP6(LL1, "ff02::1:2"), UDP(546, 547), RAW(20)}},
	{"port 68 of IPv6", PASSES, {ETH, IP6(A6, B6), UDP(67, 68)}},
	{"port 546 of IPv4", PASSES, {ETH, IP4(A, B), UDP(547, 546)}},
	{"port 68 of TCP", PASSES, {ETH, IP4(A, B), TCP(67, 68, SYN)}},
	{"ICMP of type 134", PASSES, {ETH, IP4(A, B), ICMP(134, 0)}},
};

/* What they let through is still the sender's own. */
static const struct row lifted[] = {
	{"RA",
	 PASSES,
	 {ETH, IP6(LL1, "ff02::1", .ttl = 255), ICMP6(134, 0), RAW(8), OPTION(1, M1)}},
	{"RA of another", IPA, {ETH, IP6(LL2, "ff02::1", .ttl = 255), ICMP6(134, 0), RAW(8)}},
	{"RA with another's MAC",
	 ND,
	 {ETH, IP6(LL1, "ff02::1", .ttl = 255), ICMP6(134, 0), RAW(8), OPTION(1, M2)}},
	{"redirect to another",
	 PASSES,
	 {ETH, IP6(LL1, B6, .ttl = 255), ICMP6(137, 0), ADDRESS(C6), ADDRESS(C6), OPTION(2, M2)}},
	{"DHCP answer", PASSES, {ETH, IP4(A, "255.255.255.255"), UDP(67, 68), RAW(240)}},
	{"DHCPv6 answer", PASSES, {ETH, IP6(LL1, B6), UDP(547, 546), RAW(20)}},
};

static void test_guards(void **state)
{
	(void)state;
	port("");
	ROWS(guards);
	port(", 'allow_ra': true, 'allow_dhcp_server': true");
	ROWS(lifted);
}

/* ── the rest ───────────────────────────────────────────────────────────────────────────────────── */

static const struct row others[] = {
	{"an EtherType", PASSES, {ETHERTYPE(0x88b5), RAW(46)}},
	{"an EtherType of a MAC without addresses",
	 PASSES,
	 {ETH_OF(BARE, .next = 0x88b5), RAW(46)}},
	{"an EtherType of the router's MAC", PASSES, {ETH_OF(VRRP, .next = 0x88b5), RAW(46)}},
	{"an EtherType of another's MAC", MAC, {ETH_OF(M2, .next = 0x88b5), RAW(46)}},
	{"an EtherType of a group", MAC, {ETH_OF("01:80:c2:00:00:00", .next = 0x88b5), RAW(46)}},
	{"LLC", PASSES, {ETH, LLC("\x42\x42\x03"), RAW(35)}},
	{"LLC of another's MAC", MAC, {ETH_OF(M2), LLC("\x42\x42\x03"), RAW(35)}},
};

static void test_others(void **state)
{
	(void)state;
	port("");
	ROWS(others);
}

/* What is delivered to the port is not its own. */
static void test_direction_to_is_not_checked(void **state)
{
	(void)state;
	port("");
	TO(PASS, ETH_OF(M2), IP4(B, A), UDP(1, 2));
	TO(PASS, ETH_OF(M2), ARP_OF(2, M2, B, A));
	TO(PASS, ETH_OF(M2), IP6(LL2, "ff02::1", .ttl = 255), ICMP6(134, 0), RAW(8));
	TO(PASS, ETH_OF(M2), IP4(B, A), UDP(67, 68), RAW(240));
}

/* acl/18: what one port may use is no other port's. */
static void test_scope_is_the_port(void **state)
{
	(void)state;
	rig_policy(rig, "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow-stateless'}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'from': ['a'],"
			"   'addresses': [{'mac': '02:00:00:00:00:01', 'ips': ['0.0.0.0/0']}]},"
			"  'p2': {'interface': 'p2', 'from': ['a'],"
			"   'addresses': [{'mac': '02:00:00:00:00:07', 'ips': ['10.0.0.2']}]}}}");
	FROM(PASS, ETH, IP4(B, A), UDP(1, 2));
	FROM(SPOOF_MAC, ETH_OF(M2), IP4(B, A), UDP(1, 2));
	interface = "p2";
	FROM(PASS, ETH_OF(M2), IP4(B, A), UDP(1, 2));
	FROM(SPOOF_IP, ETH_OF(M2), IP4(A, B), UDP(1, 2));
	FROM(SPOOF_MAC, ETH, IP4(B, A), UDP(1, 2));
}

/*
 * A device without Ethernet header shows IP only; TC alone sees such. A test run takes for its protocol what
 * lies where Ethernet has it, so the sources here begin with 8.0 and have 86dd as their third group.
 */
static void test_l3_device(void **state)
{
	(void)state;
	if (rig->from == RIG_XDP)
		return;
	rig_policy(rig, "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow-stateless'}]}},"
			" 'ports': {'p1': {'interface': 'p1', 'infrastructure': [], 'from': ['a'],"
			"   'addresses': [{'mac': '02:00:00:00:00:01', 'ips': ['8.0.0.1',"
			"   '2001:db8:86dd::1', '8.0.1.0/24', '2001:db8:86dd:1::/64']}]}}}");
	rig_set_l3(rig, "p1");
	FROM(PASS, IP4("8.0.0.1", B), UDP(1, 2), RAW(16));
	FROM(PASS, IP6("2001:db8:86dd::1", B6), UDP(1, 2), RAW(16));
	FROM(PASS, IP4("8.0.1.9", B), UDP(1, 2), RAW(16));
	FROM(PASS, IP6("2001:db8:86dd:1::9", B6), UDP(1, 2), RAW(16));
	FROM(SPOOF_IP, IP4("8.0.0.2", B), UDP(1, 2), RAW(16));
	FROM(SPOOF_IP, IP6("2001:db8:86dd::2", B6), UDP(1, 2), RAW(16));
	FROM(SPOOF_IP, IP6("fe80:0:86dd::ff:fe00:1", B6), UDP(1, 2), RAW(16));
	FROM(RA_GUARD, IP6("2001:db8:86dd::1", "ff02::1"), ICMP6(134, 0), RAW(8));
	FROM(SPOOF_ND, IP6("2001:db8:86dd::1", B6), ICMP6(136, 0), ADDRESS(B6));
	FROM(PASS, IP6("2001:db8:86dd::1", B6), ICMP6(136, 0), ADDRESS("2001:db8:86dd::1"));
}

static void test_trace_tells(void **state)
{
	const struct rig_way way = {0};
	struct rig_tracer *tracer;
	struct secg_trace told;

	(void)state;
	rig_tracer_open(&tracer, rig);
	port("");
	told = rig_trace(tracer, SECG_FROM, &way, LAYERS(ETH, IP4(A, B), UDP(1, 2)));
	assert_int_equal(told.antispoof, SECG_TRACE_ANTISPOOF_PASS);
	told = rig_trace(tracer, SECG_FROM, &way, LAYERS(ETH, IP4(B, A), UDP(1, 2)));
	assert_int_equal(told.antispoof, SECG_TRACE_ANTISPOOF_FAIL);
	assert_int_equal(told.reason, SECG_REASON_SPOOF_IP);
	told = rig_trace(tracer, SECG_TO, &way, LAYERS(ETH, IP4(B, A), UDP(1, 2)));
	assert_int_equal(told.antispoof, SECG_TRACE_ANTISPOOF_OFF);
	rig_tracer_close(tracer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sources),
		TEST(test_arp),
		TEST(test_guards),
		TEST(test_others),
		TEST(test_direction_to_is_not_checked),
		TEST(test_scope_is_the_port),
		TEST(test_l3_device),
		TEST(test_trace_tells),
	};

	return RUN("antispoof", tests);
}
