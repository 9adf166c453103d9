/* SPDX-License-Identifier: Apache-2.0 */
/* What the rarer match fields take and leave: VLAN, EtherType, MAC, TCP flags, DSCP, fragment; and a
 * recheck of sessions, which show none of them. */
#include "check.h"
#include "policies.h"

#define STATELESS(fields) BOTH_WAYS("{'id': 'r', 'action': 'allow-stateless', " fields "}")

static void test_vlan(void **state)
{
	(void)state;
	rig_policy(rig, STATELESS("'vlan': [0, 7, '100-200']"));
	BOTH(PASS, ETH, IP4(A, B), UDP(1, 2));
	BOTH(PASS, ETH, ARP);
	BOTH(PASS, ETH, VLAN(7), IP6(A6, B6), UDP(1, 2));
	BOTH(PASS, ETH, VLAN_AD(100), VLAN(9), IP4(A, B), UDP(1, 2));
	BOTH(PASS, ETH, VLAN(200), ARP);
	BOTH(DEFAULT, ETH, VLAN(201), ARP);
	BOTH(DEFAULT, ETH, VLAN(9), IP4(A, B), UDP(1, 2));
	BOTH(DEFAULT, ETH, VLAN_AD(9), VLAN(7), IP6(A6, B6), UDP(1, 2));
	/* Priority bits are not the VLAN; a tag with priority alone is none. */
	BOTH(PASS, ETH, VLAN(0xf007), IP4(A, B), UDP(1, 2));
	BOTH(PASS, ETH, VLAN(0xe000), IP4(A, B), UDP(1, 2));
	BOTH(PASS, ETH, VLAN(0xe000), VLAN(9), IP4(A, B), UDP(1, 2));
}

static void test_ethertype(void **state)
{
	(void)state;
	rig_policy(rig, STATELESS("'ethertypes': ['0x0806', '0x86dd', '0x88b5', 'llc']"));
	BOTH(PASS, ETH, ARP);
	BOTH(PASS, ETH, VLAN(1), VLAN(2), ARP);
	BOTH(PASS, ETH, IP6(A6, B6), UDP(1, 2));
	BOTH(PASS, ETHERTYPE(0x88b5), RAW(46));
	BOTH(PASS, ETH, LLC("\x42\x42\x03"), RAW(35));
	BOTH(PASS, ETHERTYPE(0x05ff), RAW(46));
	BOTH(DEFAULT, ETHERTYPE(0x0600), RAW(46));
	BOTH(DEFAULT, ETHERTYPE(0x88b6), RAW(46));
	BOTH(DEFAULT, ETH, IP4(A, B), UDP(1, 2));
}

static void test_mac(void **state)
{
	(void)state;
	rig_policy(
		rig,
		STATELESS("'src_mac': ['02:00:00:00:00:01', '02:11:22:00:00:00/ff:ff:ff:00:00:00'],"
			  " 'dst_mac': '01:00:00:00:00:00/01:00:00:00:00:00'"));
	BOTH(PASS, ETH_OF("02:00:00:00:00:01", .to_mac = "ff:ff:ff:ff:ff:ff"), IP4(A, B),
	     UDP(1, 2));
	BOTH(PASS, ETH_OF("02:11:22:33:44:55", .to_mac = "33:33:00:00:00:01"), IP6(A6, B6),
	     UDP(1, 2));
	BOTH(PASS, ETH_OF("02:11:22:33:44:55", .to_mac = "01:00:5e:00:00:01"), VLAN(1), ARP);
	BOTH(DEFAULT, ETH_OF("02:00:00:00:00:02", .to_mac = "ff:ff:ff:ff:ff:ff"), IP4(A, B),
	     UDP(1, 2));
	BOTH(DEFAULT, ETH_OF("02:11:23:33:44:55", .to_mac = "ff:ff:ff:ff:ff:ff"), ARP);
	BOTH(DEFAULT, ETH_OF("02:00:00:33:44:55", .to_mac = "ff:ff:ff:ff:ff:ff"), ARP);
	BOTH(DEFAULT, ETH_OF("02:00:00:00:00:01", .to_mac = "02:00:00:00:00:02"), IP4(A, B),
	     UDP(1, 2));
}

/* A device without Ethernet header: its frames have no MAC, not one of zeros. What stands at offset 12 of the
 * address is what a test run takes for the EtherType. */
static void test_no_mac(void **state)
{
	(void)state;
	if (rig->from == RIG_XDP)
		return;
	rig_policy(rig, STATELESS("'src_mac': '00:00:00:00:00:00/01:00:00:00:00:00'"));
	FROM(PASS, ETH, IP4(A, B), UDP(1, 2));
	rig_set_l3(rig, "p1");
	FROM(DEFAULT, IP4("8.0.0.1", B), UDP(1, 2), RAW(16));
	FROM(DEFAULT, IP6("2001:db8:86dd::1", B6), UDP(1, 2), RAW(16));
}

static void test_tcp_flags(void **state)
{
	(void)state;
	rig_policy(rig, STATELESS("'protocol': 'tcp', 'tcp_flags': 'syn/syn,ack,rst'"));
	BOTH(PASS, ETH, IP4(A, B), TCP(1, 2, SYN));
	BOTH(PASS, ETH, IP6(A6, B6), TCP(1, 2, SYN | PSH | 0xc0));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(1, 2, SYN | ACK));
	BOTH(DEFAULT, ETH, IP6(A6, B6), TCP(1, 2, RST));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(1, 2, 0));
	BOTH(DEFAULT, ETH, IP4(A, B), UDP(1, 2));
	/* What has no flags is left to the rules that ask for none. */
	rig_policy(rig, BOTH_WAYS("{'id': 'udp', 'action': 'allow-stateless', 'protocol': 'udp'},"
				  "{'id': 'no', 'action': 'drop', 'protocol': 'tcp',"
				  " 'tcp_flags': 'none/syn'}"));
	BOTH(PASS, ETH, IP4(A, B), UDP(1, 2));
	BOTH(RULE_DROP, ETH, IP4(A, B), TCP(1, 2, ACK));
	BOTH(DEFAULT, ETH, IP4(A, B), TCP(1, 2, SYN));
}

static void test_dscp_and_fragment(void **state)
{
	(void)state;
	rig_policy(rig, STATELESS("'dscp': [0, 46]"));
	BOTH(PASS, ETH, IP4(A, B, .tos = 46 << 2), UDP(1, 2));
	BOTH(PASS, ETH, IP6(A6, B6, .tos = 46 << 2 | 3), UDP(1, 2));
	BOTH(PASS, ETH, IP4(A, B, .tos = 3), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP4(A, B, .tos = 45 << 2), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6(A6, B6, .tos = 1 << 2), UDP(1, 2));
	BOTH(PASS, ETH, IP4(A, B, .id = 1, .more = 1), UDP(1, 2, .length = 99), RAW(64));
	rig_policy(rig, STATELESS("'fragment': true"));
	BOTH(PASS, ETH, IP4(A, B, .id = 2, .more = 1), UDP(1, 2, .length = 99), RAW(64));
	BOTH(PASS, ETH, IP6(A6, B6), FRAG6(.id = 2, .more = 1), UDP(1, 2, .length = 99), RAW(64));
	BOTH(DEFAULT, ETH, IP4(A, B), UDP(1, 2));
	BOTH(DEFAULT, ETH, IP6(A6, B6), FRAG6(.id = 3), UDP(1, 2));
	rig_policy(rig, STATELESS("'fragment': false"));
	BOTH(DEFAULT, ETH, IP4(A, B, .id = 4, .more = 1), UDP(1, 2, .length = 99), RAW(64));
	BOTH(PASS, ETH, IP6(A6, B6, .tos = 0xb8), UDP(1, 2));
}

/* More rules than one line of a vector has bits, each with a VLAN and a MAC of its own. */
static void test_rare_fields_of_many_rules(void **state)
{
	char *text = malloc(200 * 1024), *at = text;

	(void)state;
	at += sprintf(at, "{'acls': {'a': {'rules': [");
	for (int i = 0; i < 1200; i++)
		at += sprintf(
			at,
			"%s{'id': 'r%d', 'action': '%s', 'vlan': %d, 'src_mac': '02:00:00:00:%02x:%02x'}",
			i ? "," : "", i, i % 2 ? "drop" : "allow-stateless", i % 1000 + 1, i / 256,
			i % 256);
	sprintf(at, "]}}," PORT(", 'from': ['a'], 'to': ['a']"));
	rig_policy(rig, text);
	free(text);
	for (int i = 0; i < 1200; i += 11) {
		char mac[32];

		snprintf(mac, sizeof(mac), "02:00:00:00:%02x:%02x", i / 256, i % 256);
		if (i % 2)
			BOTH(RULE_DROP, ETH_OF(mac), VLAN((uint16_t)(i % 1000 + 1)), IP4(A, B),
			     UDP(1, 2));
		else
			BOTH(PASS, ETH_OF(mac), VLAN((uint16_t)(i % 1000 + 1)), IP4(A, B),
			     UDP(1, 2));
		BOTH(DEFAULT, ETH_OF(mac), VLAN((uint16_t)(i % 1000 + 2)), IP4(A, B), UDP(1, 2));
	}
}

/* A session does not show its MAC: it stays while its own rule does, and another rule's MAC is no match. */
static void test_recheck_of_hidden_fields(void **state)
{
#define OWN(id, more)                                                                    \
	ONE_ACL("{'id': '" id                                                            \
		"', 'action': 'allow', 'src_mac': '02:00:00:00:00:01', 'vlan': 0}" more) \
	PORT(", 'from': ['a'], 'to': []")
	(void)state;
	rig_policy(rig, OWN("r", ""));
	FROM(PASS, ETH, IP4(A, B), UDP(1, 2));
	TO(PASS, ETH, IP4(B, A), UDP(2, 1));
	rig_policy(rig, OWN("r", ",{'id': 's', 'action': 'allow', 'src': '10.9.0.0/16'}"));
	TO(PASS, ETH, IP4(B, A), UDP(2, 1));
	rig_policy(rig, OWN("other", ""));
	TO(POLICY_CHANGE, ETH, IP4(B, A), UDP(2, 1));
	FROM(PASS, ETH, IP4(A, B), UDP(1, 2));
	TO(PASS, ETH, IP4(B, A), UDP(2, 1));
	/* A rule of hidden fields before the session's is no reason to cut it. */
	rig_policy(
		rig,
		ONE_ACL("{'id': 'no', 'action': 'drop', 'dscp': 46},"
			"{'id': 'other', 'action': 'allow', 'src_mac': '02:00:00:00:00:01', 'vlan': 0}")
			PORT(", 'from': ['a'], 'to': []"));
	TO(PASS, ETH, IP4(B, A), UDP(2, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_vlan),
		TEST(test_ethertype),
		TEST(test_mac),
		TEST(test_no_mac),
		TEST(test_tcp_flags),
		TEST(test_dscp_and_fragment),
		TEST(test_rare_fields_of_many_rules),
		TEST(test_recheck_of_hidden_fields),
	};

	return RUN("match_rare", tests);
}
