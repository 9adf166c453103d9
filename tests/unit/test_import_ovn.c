/* SPDX-License-Identifier: Apache-2.0 */
/* OVN's match expressions: how they are read, and which rules say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/memory.h"
#include "../../cli/ovn_match.h"

/* The port is vm1 and belongs to pg; the sets are $web and $macs. */
static bool is_port(void *data, const char *value)
{
	(void)data;
	return strcmp(value, "\"vm1\"") == 0 || strcmp(value, "@pg") == 0;
}

static const json_t *members(void *data, const char *set)
{
	return json_object_get(data, set);
}

static char *group(void *data, const char *set)
{
	(void)data;
	return memory_format("@%s", set);
}

static char *group_except(void *data, const json_t *prefixes, const json_t *except, int family)
{
	char *a = prefixes ? json_dumps(prefixes, JSON_COMPACT) : memory_format("any%d", family);
	char *b = json_dumps(except, JSON_COMPACT);
	char *name = memory_format("@%s-%s", a, b);

	(void)data;
	free(a);
	free(b);
	return name;
}

/* The rules as JSON, or "! reason". */
static char *read_as(const char *text, const char *port_field)
{
	json_t *sets = json_pack("{s:[s,s], s:[s]}", "web", "10.0.0.1", "10.0.0.2", "macs",
				 "52:54:00:00:00:01");
	struct ovn_scope scope = {
		.port_field = port_field,
		.is_port = is_port,
		.members = members,
		.group = group,
		.group_except = group_except,
		.data = sets,
		.infrastructure = json_array(),
	};
	struct ovn_matches matches = {0};
	char *why = NULL, *result;
	struct ovn_expr *expr = ovn_expr_parse(text, &why);
	json_t *rules = NULL;

	if (expr && ovn_match_make(&matches, expr, &scope, &why))
		rules = ovn_match_rules(&matches, &scope, &why);
	result = rules ? json_dumps(rules, JSON_COMPACT) : memory_format("! %s", why);
	if (expr)
		ovn_expr_free(expr);
	ovn_matches_fini(&matches);
	json_decref(rules);
	json_decref(scope.infrastructure);
	json_decref(sets);
	free(why);
	return result;
}

struct row {
	const char *text, *rules;
};

static void assert_rows(const struct row *rows, size_t count, const char *port_field)
{
	for (size_t i = 0; i < count; i++) {
		char *shown = read_as(rows[i].text, port_field);

		if (strcmp(shown, rows[i].rules) != 0)
			fail_msg("%s\n  is  %s\n  not %s", rows[i].text, shown, rows[i].rules);
		free(shown);
	}
}

#define ASSERT_ROWS(rows, port_field) \
	assert_rows(rows, sizeof(rows) / sizeof((rows)[0]), port_field)
#define ANY_IP "\"src\":[\"0.0.0.0/0\",\"::/0\"]"

static void fields_bring_what_they_need(void **state)
{
	static const struct row rows[] = {
		{"1", "[{}]"},
		{"0", "[]"},
		{"ip", "[{" ANY_IP "}]"},
		{"ip4", "[{\"family\":\"ipv4\"}]"},
		{"tcp", "[{\"protocol\":[\"tcp\"]}]"},
		{"tcp.dst == 80", "[{\"protocol\":[\"tcp\"],\"dst_ports\":[80]}]"},
		{"80 == tcp.dst", "[{\"protocol\":[\"tcp\"],\"dst_ports\":[80]}]"},
		{"ip6 && udp.src == {53 0x35, 123,}",
		 "[{\"family\":\"ipv6\",\"protocol\":[\"udp\"],\"src_ports\":[53,123]}]"},
		{"icmp4.type == 8",
		 "[{\"family\":\"ipv4\",\"protocol\":[\"icmp\"],\"icmp_type\":[8]}]"},
		{"icmp", "[{\"family\":\"ipv4\",\"protocol\":[\"icmp\"]},"
			 "{\"family\":\"ipv6\",\"protocol\":[\"icmpv6\"]}]"},
		{"ip4.src == 10.1.2.3/255.255.0.0",
		 "[{\"family\":\"ipv4\",\"src\":[\"10.1.0.0/16\"]}]"},
		{"ip6.dst == fe80::/10", "[{\"family\":\"ipv6\",\"dst\":[\"fe80::/10\"]}]"},
		{"eth.type == 0x88cc", "[{\"ethertypes\":[\"0x88cc\"]}]"},
		{"arp", "[{\"ethertypes\":[\"0x0806\"]}]"},
		{"eth.src == 52:54:00:AA:00:01", "[{\"src_mac\":[\"52:54:00:aa:00:01\"]}]"},
		{"eth.dst == $macs", "[{\"dst_mac\":[\"52:54:00:00:00:01\"]}]"},
		{"ip4.src == $web", "[{\"family\":\"ipv4\",\"src\":[\"@web\"]}]"},
		{"ip.dscp == 46", "[{\"dscp\":[46]}]"},
		{"tcp.flags == 0x2/0x12",
		 "[{\"protocol\":[\"tcp\"],\"tcp_flags\":\"syn/syn,ack\"}]"},
		{"ip.is_frag", "[{\"fragment\":true}]"},
		{"vlan.vid == 100", "[{\"vlan\":[100]}]"},
		{"ip.proto == 112", "[{\"protocol\":[\"vrrp\"]}]"},
		{"ip4.mcast", "[{\"family\":\"ipv4\",\"dst\":[\"224.0.0.0/4\"]}]"},
	};

	(void)state;
	ASSERT_ROWS(rows, "outport");
}

static void and_or_not_become_rules(void **state)
{
	static const struct row rows[] = {
		{"8000 <= tcp.dst <= 8100",
		 "[{\"protocol\":[\"tcp\"],\"dst_ports\":[\"8000-8100\"]}]"},
		{"8100 > tcp.dst >= 8000",
		 "[{\"protocol\":[\"tcp\"],\"dst_ports\":[\"8000-8099\"]}]"},
		{"tcp.dst < 1024", "[{\"protocol\":[\"tcp\"],\"dst_ports\":[\"0-1023\"]}]"},
		{"tcp.dst != 22",
		 "[{\"protocol\":[\"tcp\"],\"dst_ports\":[\"0-21\",\"23-65535\"]}]"},
		/* what a field needs is not turned round, what a predicate says is */
		{"!(tcp.dst == 22)",
		 "[{\"protocol\":[\"tcp\"],\"dst_ports\":[\"0-21\",\"23-65535\"]}]"},
		{"!(8000 <= tcp.dst <= 8100)",
		 "[{\"protocol\":[\"tcp\"],\"dst_ports\":[\"0-7999\"]},"
		 "{\"protocol\":[\"tcp\"],\"dst_ports\":[\"8101-65535\"]}]"},
		{"ip4 && !tcp", "[{\"family\":\"ipv4\",\"protocol\":[\"0-5\",\"7-255\"]}]"},
		{"ip && !ip4", "[{\"family\":\"ipv6\"}]"},
		{"!tcp", "! asks for all EtherTypes but some"},
		{"!(ip4 || ip6) && arp", "[{\"ethertypes\":[\"0x0806\"]}]"},
		{"!!ip4", "[{\"family\":\"ipv4\"}]"},
		{"tcp && udp", "[]"},
		{"ip4 && ip6.src == ::1", "[]"},
		{"ip4 || arp", "[{\"family\":\"ipv4\"},{\"ethertypes\":[\"0x0806\"]}]"},
		{"eth.type == {0x800, 0x806}",
		 "[{\"family\":\"ipv4\"},{\"ethertypes\":[\"0x0806\"]}]"},
		{"(tcp.dst == 80 || udp.dst == 53) && ip4.src == 10.0.0.0/8",
		 "[{\"family\":\"ipv4\",\"src\":[\"10.0.0.0/8\"],\"protocol\":[\"tcp\"],\"dst_ports\":[80]},"
		 "{\"family\":\"ipv4\",\"src\":[\"10.0.0.0/8\"],\"protocol\":[\"udp\"],\"dst_ports\":[53]}]"},
		{"ip4.src == 10.0.0.0/8 && ip4.src == {10.1.0.0/16, 192.0.2.1}",
		 "[{\"family\":\"ipv4\",\"src\":[\"10.1.0.0/16\"]}]"},
		{"ip4.src == 10.0.0.0/8 && ip4.src == 192.0.2.1", "[]"},
		{"ip4.src != 10.0.0.0/8",
		 "[{\"family\":\"ipv4\",\"src\":[\"@any4-[\\\"10.0.0.0/8\\\"]\"]}]"},
		{"ip4.src == 10.0.0.0/8 && ip4.src != $web",
		 "[{\"family\":\"ipv4\",\"src\":[\"@[\\\"10.0.0.0/8\\\"]-[\\\"10.0.0.1\\\",\\\"10.0.0.2\\\"]\"]}]"},
		{"ip4 == 0 && ip", "[{\"family\":\"ipv6\"}]"},
		{"ip4 /* both */ && tcp // end", "[{\"family\":\"ipv4\",\"protocol\":[\"tcp\"]}]"},
	};

	(void)state;
	ASSERT_ROWS(rows, "outport");
}

static void the_port_is_true_or_false(void **state)
{
	static const struct row rows[] = {
		{"outport == \"vm1\" && ip4", "[{\"family\":\"ipv4\"}]"},
		{"outport == \"vm2\" && ip4", "[]"},
		{"outport == {\"vm2\", \"vm1\"} && ip4", "[{\"family\":\"ipv4\"}]"},
		{"outport == @pg", "[{}]"},
		{"outport == @other", "[]"},
		{"outport != @pg", "[]"},
		{"!(outport == @other)", "[{}]"},
		/* what no rule can ask for does not matter where the port is another one */
		{"outport == \"vm2\" && ct.est", "[]"},
		{"ct.est && outport == \"vm2\"", "[]"},
		{"outport == \"vm1\" && ct.est", "! asks the connection tracker (ct.est)"},
		{"inport == \"vm1\"",
		 "! asks for the inport, which a rule of the outport cannot see"},
	};

	(void)state;
	ASSERT_ROWS(rows, "outport");
}

static void what_no_rule_can_say_is_refused(void **state)
{
	static const struct row rows[] = {
		{"ip.ttl == 1", "! no rule can ask for ip.ttl"},
		{"arp.op == 1", "! no rule can ask for arp.op"},
		{"ip4.src[0..7] == 5", "! asks for some bits of a field: ip4.src[0..7]"},
		{"tcp.dst[0]", "! no rule can ask for tcp.dst[0]"},
		{"ip4.src == $gone", "! no file shows the address set $gone"},
		{"ip4.src == $web && ip4.src == 10.0.0.0/8",
		 "! asks for an address that is in a set and fits another condition too"},
		{"ip4.src == 10.0.0.1/255.0.255.0",
		 "! 10.0.0.1/255.0.255.0 is no address that can be "
		 "compared"},
		{"ip4.src < 10.0.0.1", "! ip4.src can be compared by == and != only"},
		{"eth.src != 52:54:00:00:00:01", "! eth.src can be compared by == only"},
		{"tcp.dst == 70000", "! tcp.dst cannot be compared with 70000"},
		{"is_chassis_resident(\"vm1\") && ip4",
		 "! is_chassis_resident() has no counterpart"},
		{"!ip4.mcast && ip4", "! !ip4.mcast has no counterpart"},
		{"ip4 && icmp6", "[]"},
		{"ip4 && ip.proto == 58", "! asks for the other family's ICMP"},
	};

	(void)state;
	ASSERT_ROWS(rows, "outport");
}

static void mistakes_are_told(void **state)
{
	static const struct row rows[] = {
		{"", "! a value is missing at ''"},
		{"ip4 &&", "! a value is missing at ''"},
		{"(ip4", "! a ) is missing at ''"},
		{"ip4)", "! the expression does not end at ')'"},
		{"ip4 && tcp || udp", "! && and || need parentheses when used together at '||'"},
		{"!tcp.dst == 80", "! ! before a comparison needs parentheses at ''"},
		{"tcp.dst == ", "! a value is missing at ''"},
		{"tcp.dst == {}", "! a set without values at ''"},
		{"80", "! a comparison is missing at ''"},
		{"{80, 81}", "! a comparison is missing at ''"},
		{"1 <= tcp.dst >= 5", "! a range must be ascending or descending at '5'"},
		{"outport == \"vm", "! a string or comment does not end"},
		{"ip4 /* no", "! a string or comment does not end"},
		{"ip4 ? tcp", "! the expression does not end at '?'"},
	};
	char deep[400];

	(void)state;
	ASSERT_ROWS(rows, "outport");
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	char *shown = read_as(deep, "outport");

	assert_non_null(strstr(shown, "too many parentheses"));
	free(shown);
}

/* 2^16 alternatives are refused, not made. */
static void alternatives_are_bounded(void **state)
{
	char text[2000] = "";
	char *shown;

	(void)state;
	for (int i = 0; i < 16; i++) {
		char part[80];

		snprintf(part, sizeof(part), "%s(tcp.dst == %d || tcp.src == %d)", i ? " && " : "",
			 i * 2, i * 2 + 1);
		strcat(text, part);
	}
	shown = read_as(text, "outport");
	assert_true(shown[0] == '!' || strlen(shown) < 100000);
	free(shown);
	text[0] = '\0';
	for (int i = 0; i < 300; i++)
		strcat(text, i ? "||ip4" : "ip4");
	shown = read_as(text, "outport");
	assert_string_equal(shown, "! has more than 256 alternatives");
	free(shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_bring_what_they_need),
		cmocka_unit_test(and_or_not_become_rules),
		cmocka_unit_test(the_port_is_true_or_false),
		cmocka_unit_test(what_no_rule_can_say_is_refused),
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(alternatives_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
