/* SPDX-License-Identifier: Apache-2.0 */
/* Which pairs of MAC and address a sender may put into its neighbours' caches. */
#include "antispoof.h"

#define NS        ICMP6(135, 0)
#define NA        ICMP6(136, 0)
#define RS        ICMP6(133, 0)
#define HOP       .ttl = 255
#define SOLICITED "ff02::1:ff00:1"
#define NONCE     OPTION(14, M2)

/* acl/14: nobody advertises another's address. */
static const struct row rows[] = {
	/* Solicitations: the source and its MAC. */
	{"NS", PASSES, {ETH, IP6(A6, SOLICITED, HOP), NS, ADDRESS(B6), OPTION(1, M1)}},
	{"NS without option", PASSES, {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6)}},
	{"NS from link-local",
	 PASSES,
	 {ETH, IP6(LL1, SOLICITED, HOP), NS, ADDRESS(B6), OPTION(1, M1)}},
	{"NS from a prefix",
	 PASSES,
	 {ETH, IP6("2001:db8:1::9", B6, HOP), NS, ADDRESS(B6), OPTION(1, M1)}},
	{"NS with a nonce before",
	 PASSES,
	 {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), NONCE, OPTION(1, M1)}},
	{"NS of the router",
	 PASSES,
	 {ETH_OF(VRRP), IP6(V6, B6, HOP), NS, ADDRESS(B6), OPTION(1, VRRP)}},
	{"NS of the router by its master",
	 IPA,
	 {ETH, IP6(V6, B6, HOP), NS, ADDRESS(B6), OPTION(1, VRRP)}},
	{"NS from another's address", IPA, {ETH, IP6(B6, A6, HOP), NS, ADDRESS(A6), OPTION(1, M1)}},
	{"NS from another's MAC",
	 MAC,
	 {ETH_OF(M2), IP6(A6, B6, HOP), NS, ADDRESS(B6), OPTION(1, M1)}},
	{"NS with another's MAC", ND, {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), OPTION(1, M2)}},
	{"NS with the router's MAC", ND, {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), OPTION(1, VRRP)}},
	{"NS with a group's MAC",
	 ND,
	 {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), OPTION(1, "33:33:00:00:00:01")}},
	{"NS with another's MAC second",
	 ND,
	 {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), OPTION(1, M1), OPTION(1, M2)}},
	{"NS with another's MAC behind a nonce",
	 ND,
	 {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), NONCE, OPTION(1, M2)}},
	{"NS with another's MAC from afar", ND, {ETH, IP6(A6, B6), NS, ADDRESS(B6), OPTION(1, M2)}},
	{"NS with another's MAC behind options",
	 ND,
	 {ETH, IP6(A6, B6), EXT(0), EXT(60), NS, ADDRESS(B6), OPTION(1, M2)}},
	{"NS with an empty option",
	 ND,
	 {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), OPTION(14, M1, .no_length = 1), OPTION(1, M2)}},
	{"NS with a long MAC",
	 ND,
	 {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), OPTION(1, M1, .length = 2, .size = 16)}},
	{"NS with an option past its end",
	 ND,
	 {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), OPTION(14, M1, .length = 2), PAD(8)}},
	{"NS with half an option", ND, {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), RAW(4)}},
	{"NS without target", ND, {ETH, IP6(A6, B6, HOP), NS, RAW(15), PAD(16)}},
	{"NS in a fragment",
	 ND,
	 {ETH, IP6(A6, B6, HOP), FRAG6(.id = 1, .more = 1), NS, ADDRESS(B6), OPTION(1, M1)}},
	{"NS in an atomic fragment",
	 PASSES,
	 {ETH, IP6(A6, B6, HOP), FRAG6(.id = 1), NS, ADDRESS(B6), OPTION(1, M1)}},

	/* Duplicate address detection. */
	{"DAD", PASSES, {ETH, IP6("::", SOLICITED, HOP), NS, ADDRESS(A6)}},
	{"DAD with a nonce", PASSES, {ETH, IP6("::", SOLICITED, HOP), NS, ADDRESS(A6), NONCE}},
	{"DAD of link-local", PASSES, {ETH, IP6("::", SOLICITED, HOP), NS, ADDRESS(LL1)}},
	{"DAD of another's MAC", MAC, {ETH_OF(M2), IP6("::", SOLICITED, HOP), NS, ADDRESS(A6)}},
	{"DAD for another's address", ND, {ETH, IP6("::", "ff02::1:ff00:2", HOP), NS, ADDRESS(B6)}},
	{"DAD for another's link-local", ND, {ETH, IP6("::", SOLICITED, HOP), NS, ADDRESS(LL2)}},
	{"DAD to all", ND, {ETH, IP6("::", "ff02::1", HOP), NS, ADDRESS(A6)}},
	{"DAD with a MAC", ND, {ETH, IP6("::", SOLICITED, HOP), NS, ADDRESS(A6), OPTION(1, M1)}},

	/* Advertisements: the target and its MAC. */
	{"NA", PASSES, {ETH, IP6(A6, B6, HOP), NA, ADDRESS(A6), OPTION(2, M1)}},
	{"NA without option", PASSES, {ETH, IP6(A6, B6, HOP), NA, ADDRESS(A6)}},
	{"NA from link-local",
	 PASSES,
	 {ETH, IP6(LL1, "ff02::1", HOP), NA, ADDRESS(A6), OPTION(2, M1)}},
	{"NA of link-local", PASSES, {ETH, IP6(A6, B6, HOP), NA, ADDRESS(LL1), OPTION(2, M1)}},
	{"NA of the router by its master",
	 PASSES,
	 {ETH, IP6(A6, "ff02::1", HOP), NA, ADDRESS(V6), OPTION(2, VRRP)}},
	{"NA of the router",
	 PASSES,
	 {ETH_OF(VRRP), IP6(V6, B6, HOP), NA, ADDRESS(V6), OPTION(2, VRRP)}},
	{"NA of the router with the other MAC",
	 ND,
	 {ETH, IP6(A6, B6, HOP), NA, ADDRESS(V6), OPTION(2, M1)}},
	{"NA of the router without option", ND, {ETH, IP6(A6, B6, HOP), NA, ADDRESS(V6)}},
	{"NA of another's address", ND, {ETH, IP6(A6, B6, HOP), NA, ADDRESS(B6), OPTION(2, M1)}},
	{"NA of another's without option", ND, {ETH, IP6(A6, B6, HOP), NA, ADDRESS(B6)}},
	{"NA of another's link-local",
	 ND,
	 {ETH, IP6(LL1, B6, HOP), NA, ADDRESS(LL2), OPTION(2, M1)}},
	{"NA with another's MAC", ND, {ETH, IP6(A6, B6, HOP), NA, ADDRESS(A6), OPTION(2, M2)}},
	{"NA with another's MAC second",
	 ND,
	 {ETH, IP6(A6, B6, HOP), NA, ADDRESS(A6), OPTION(2, M1), OPTION(2, M2)}},
	{"NA from nowhere", IPA, {ETH, IP6("::", "ff02::1", HOP), NA, ADDRESS(A6), OPTION(2, M1)}},
	{"NA without target", ND, {ETH, IP6(A6, B6, HOP), NA}},
	{"NA in a fragment",
	 ND,
	 {ETH, IP6(A6, B6, HOP), FRAG6(.id = 1, .more = 1), NA, ADDRESS(A6), OPTION(2, M1)}},

	/* Router solicitations. */
	{"RS", PASSES, {ETH, IP6(LL1, "ff02::2", HOP), RS, OPTION(1, M1)}},
	{"RS without option, as an optimistic address has it",
	 PASSES,
	 {ETH, IP6(A6, "ff02::2", HOP), RS}},
	{"RS from nowhere", PASSES, {ETH, IP6("::", "ff02::2", HOP), RS}},
	{"RS from nowhere with a MAC", ND, {ETH, IP6("::", "ff02::2", HOP), RS, OPTION(1, M1)}},
	{"RS from nowhere to one host", IPA, {ETH, IP6("::", B6, HOP), RS}},
	{"RS with another's MAC", ND, {ETH, IP6(LL1, "ff02::2", HOP), RS, OPTION(1, M2)}},
};

static void test_claims(void **state)
{
	(void)state;
	port("");
	ROWS(rows);
}

/* A walk that does not come to its end has seen nothing. */
static void test_options_without_end(void **state)
{
	struct layer layers[] = {ETH, IP6(A6, B6, HOP), NS, ADDRESS(B6), RAW(32 * 8), END};
	struct rig_way way = {0};
	char options[33 * 8];

	(void)state;
	port("");
	for (size_t i = 0; i < sizeof(options); i++)
		options[i] = (char)(i % 8 == 0 ? 14 : i % 8 == 1);
	layers[4].bytes = options;
	assert_int_equal(rig_judge(rig, SECG_FROM, &way, layers).reason, SECG_REASON_NONE);
	layers[4].size += 8;
	assert_int_equal(rig_judge(rig, SECG_FROM, &way, layers).reason, SECG_REASON_SPOOF_ND);
}

/* ── kinds of entries: acl/48 ───────────────────────────────────────────────────────────────────── */

static const struct {
	const char *text, *inside, *outside;
} macs[] = {
	{"02:00:00:00:00:01", "02:00:00:00:00:01", "02:00:00:00:00:02"},
	{"02:11:22:00:00:00/ff:ff:ff:00:00:00", "02:11:22:33:44:55", "02:11:23:33:44:55"},
	{"00:00:00:00:00:00/00:00:00:00:00:00", "02:ee:dd:cc:bb:aa", "03:ee:dd:cc:bb:aa"},
};
static const struct {
	const char *v4, *inside4, *outside4, *v6, *inside6, *outside6;
} addresses[] = {
	{A, A, B, A6, A6, B6},
	{"10.1.0.0/16", "10.1.255.255", "10.2.0.0", "2001:db8:1::/48",
	 "2001:db8:1:ffff::", "2001:db8:2::"},
	{"0.0.0.0/0", "192.0.2.1", NULL, "::/0", "fe80::1", NULL},
};

static void kind_is(int mac, int address)
{
	const char *in = macs[mac].inside, *out = macs[mac].outside;

	FROM(PASS, ETH_OF(in), IP4(addresses[address].inside4, B), UDP(1, 2));
	FROM(PASS, ETH_OF(in), IP6(addresses[address].inside6, B6), UDP(1, 2));
	FROM(PASS, ETH_OF(in), VLAN(1), ARP_OF(1, in, addresses[address].inside4, B));
	FROM(SPOOF_MAC, ETH_OF(out), IP4(addresses[address].inside4, B), UDP(1, 2));
	FROM(SPOOF_MAC, ETH_OF(out), VLAN(1), VLAN(2), IP6(addresses[address].inside6, B6),
	     UDP(1, 2));
	FROM(SPOOF_ARP, ETH_OF(in), ARP_OF(1, out, addresses[address].inside4, B));
	if (!addresses[address].outside4)
		return;
	FROM(SPOOF_IP, ETH_OF(in), VLAN(1), IP4(addresses[address].outside4, B), UDP(1, 2));
	FROM(SPOOF_IP, ETH_OF(in), IP6(addresses[address].outside6, B6), UDP(1, 2));
	FROM(SPOOF_ARP, ETH_OF(in), ARP_OF(1, in, addresses[address].outside4, B));
}

static void test_kinds_of_entries(void **state)
{
	(void)state;
	for (int mac = 0; mac < 3; mac++)
		for (int address = 0; address < 3; address++) {
			char text[512];

			snprintf(text, sizeof(text),
				 "{'acls': {'a': {'rules': [{'id': 'r', 'action':"
				 " 'allow-stateless'}]}}, 'ports': {'p1': {'interface': 'p1',"
				 " 'from': ['a'], 'addresses': [{'mac': '%s', 'ips': ['%s',"
				 " '%s']}]}}}",
				 macs[mac].text, addresses[address].v4, addresses[address].v6);
			rig_policy(rig, text);
			kind_is(mac, address);
		}
}

/* Each of a thousand senders has its own address, and no other's. */
static void test_a_thousand_entries(void **state)
{
	char *text = malloc(256 * 1024), *at = text;

	(void)state;
	at += sprintf(at, "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow-stateless'}]}},"
			  " 'macip': {'m': {'entries': [");
	for (int i = 0; i < 1000; i++)
		at += sprintf(at, "%s{'mac': '02:00:00:00:%02x:%02x', 'prefixes': ['10.%d.%d.1']}",
			      i ? "," : "", i / 256, i % 256, i / 256, i % 256);
	sprintf(at, "]}}, 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'macip': 'm'}}}");
	rig_policy(rig, text);
	free(text);
	for (int i = 0; i < 1000; i += 7) {
		char mac[32], own[32], next[32];

		snprintf(mac, sizeof(mac), "02:00:00:00:%02x:%02x", i / 256, i % 256);
		snprintf(own, sizeof(own), "10.%d.%d.1", i / 256, i % 256);
		snprintf(next, sizeof(next), "10.%d.%d.1", (i + 1) / 256, (i + 1) % 256);
		FROM(PASS, ETH_OF(mac), IP4(own, B), UDP(1, 2));
		FROM(SPOOF_IP, ETH_OF(mac), IP4(next, B), UDP(1, 2));
		FROM(PASS, ETH_OF(mac), ARP_OF(1, mac, own, B));
		FROM(SPOOF_ARP, ETH_OF(mac), ARP_OF(1, mac, next, B));
	}
	FROM(SPOOF_MAC, ETH_OF("02:00:00:00:04:00"), IP4("10.0.0.1", B), UDP(1, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_claims),
		TEST(test_options_without_end),
		TEST(test_kinds_of_entries),
		TEST(test_a_thousand_entries),
	};

	return RUN("antispoof_nd", tests);
}
