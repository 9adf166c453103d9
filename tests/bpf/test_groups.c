/* SPDX-License-Identifier: Apache-2.0 */
/* Groups in rules, on packets: members that come and go, groups of ports, security groups. */
#include "check.h"

/* p1 wears "db", p2 wears "app" and may use the addresses. */
static void remote_group(const char *addresses)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{'security_groups': {"
		 "  'db': {'rules': [{'id': 'app', 'direction': 'to', 'remote': '@app',"
		 "    'protocol': 'udp', 'dst_ports': 53}]},"
		 "  'app': {'rules': []}},"
		 " 'ports': {'p1': {'interface': 'p1', 'security_groups': 'db'},"
		 "  'p2': {'interface': 'p2', 'security_groups': 'app', 'anti_spoof': false,"
		 "    'addresses': [{'ips': [%s]}]}}}",
		 addresses);
	rig_policy(rig, text);
}

/* acl/50.5: who wears the remote group is let in, by whatever addresses that port has now. */
static void test_remote_group(void **state)
{
	(void)state;
	remote_group("'10.0.0.2', '2001:db8::2'");
	TO(PASS, ETH, IP4(B, A), UDP(9, 53));
	TO(PASS, ETH, IP6(B6, A6), UDP(9, 53));
	TO(DEFAULT, ETH, IP4(C, A), UDP(9, 53));
	TO(DEFAULT, ETH, IP6(C6, A6), UDP(9, 53));
	TO(DEFAULT, ETH, IP4(B, A), UDP(9, 54));
	FROM(PASS, ETH, IP4(A, B), UDP(53, 9));
	FROM(DEFAULT, ETH, IP4(A, B), UDP(9, 53));
	assert_int_equal(hits("sg:db/app"), 3);
	/* The address moves: who had it is cut, who has it now is let in. */
	remote_group("'10.0.0.3', '2001:db8::3'");
	TO(POLICY_CHANGE, ETH, IP4(B, A), UDP(9, 53));
	TO(DEFAULT, ETH, IP4(B, A), UDP(9, 53));
	TO(POLICY_CHANGE, ETH, IP6(B6, A6), UDP(9, 53));
	TO(PASS, ETH, IP4(C, A), UDP(9, 53));
	TO(PASS, ETH, IP6(C6, A6), UDP(9, 53));
	/* What a port may send from beyond its own hosts makes nobody a member. */
	remote_group("'10.0.0.0/24', '::/0'");
	TO(POLICY_CHANGE, ETH, IP4(C, A), UDP(9, 53));
	TO(DEFAULT, ETH, IP6(B6, A6), UDP(9, 53));
}

static void group_of(const char *members)
{
	char text[512];

	snprintf(
		text, sizeof(text),
		"{'groups': {'g': {'prefixes': [%s]}}, 'acls': {'a': {'rules': ["
		"  {'id': 'in', 'action': 'allow', 'src': '@g'},"
		"  {'id': 'out', 'action': 'allow', 'dst': '@g', 'protocol': 'udp', 'dst_ports': 7}]}},"
		" 'ports': {'p1': {'interface': 'p1', 'from': ['a'], 'to': ['a']}}}",
		members);
	rig_policy(rig, text);
}

/* acl/36: an empty set is legal, matches nothing, and is live once it has members. */
static void test_empty_group(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		group_of("");
		BOTH(DEFAULT, ETH, IP4(A, B), UDP(1, 7));
		BOTH(DEFAULT, ETH, IP6(A6, B6), UDP(1, 7));
		BOTH(DEFAULT, ETH, IP4("0.0.0.0", "255.255.255.255"), UDP(1, 7));
		NO_SESSION();
		group_of("'10.0.0.1', '2001:db8::2'");
		FROM(PASS, ETH, IP4(A, B), UDP(1, 8));
		TO(PASS, ETH, IP6(A6, B6), UDP(1, 7));
		FROM(DEFAULT, ETH, IP4(B, A), UDP(1, 9));
		TO(DEFAULT, ETH, IP6(A6, C6), UDP(1, 7));
		group_of("");
		FROM(POLICY_CHANGE, ETH, IP4(A, B), UDP(1, 8));
		TO(POLICY_CHANGE, ETH, IP6(A6, B6), UDP(1, 7));
		NO_SESSION();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_remote_group),
		TEST(test_empty_group),
	};

	return RUN("groups", tests);
}
