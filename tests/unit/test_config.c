/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that are right: their normal form, and the structs that the compiler and the engine read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "config_rows.h"

/* ── normal form ────────────────────────────────────────────────────────────────────────────────── */

#define RULE(fields) "{'acls':{'w':{'rules':[{'id':'r','action':'drop'," fields "}]}}}"

static const struct normal_row normal_rows[] = {
	{"{'schema':'secg/1'}", "{}"},
	{"{'acls':{},'groups':{},'services':{},'ports':{}}", "{}"},
	{"{'acls':{'w':{}}}", "{'acls':{'w':{}}}"},
	{"{'acls':{'w':{'rules':[{'id':'a','action':'permit+reflect'},{'id':'b',"
	 "'action':'allow-related'},{'id':'c','action':'permit'},{'id':'d','action':'deny'},"
	 "{'id':'e','action':'pass'}]}}}",
	 "{'acls':{'w':{'rules':[{'id':'a','action':'allow'},{'id':'b','action':'allow'},"
	 "{'id':'c','action':'allow-stateless'},{'id':'d','action':'drop'},"
	 "{'id':'e','action':'pass'}]}}}"},
	{RULE("'src':'2001:DB8:0::1','dst':['10.0.0.1/32','10.0.0.0/8','::/0']"),
	 RULE("'src':['2001:db8::1'],'dst':['10.0.0.1','10.0.0.0/8','::/0']")},
	{RULE("'protocol':'any'"), "{'acls':{'w':{'rules':[{'id':'r','action':'drop'}]}}}"},
	{RULE("'protocol':['any'],'service':'ssh'"), RULE("'service':['ssh']")},
	{RULE("'protocol':[6,'17',89,'47','100-102','ping']"),
	 RULE("'protocol':['tcp','udp',89,'gre','100-102','ping']")},
	{RULE("'protocol':'tcp','dst_ports':['443',80,'90-90','8000-8100'],'src_ports':'1-2'"),
	 RULE("'protocol':['tcp'],'dst_ports':[443,80,90,'8000-8100'],'src_ports':['1-2']")},
	{RULE("'protocol':1,'icmp_type':['8',0,'200-210',99]"),
	 RULE("'protocol':['icmp'],'icmp_type':['echo-request','echo-reply','200-210',99]")},
	{RULE("'protocol':'icmpv6','icmp_type':1,'icmp_code':[4,9]"),
	 RULE("'protocol':['icmpv6'],'icmp_type':['destination-unreachable'],"
	      "'icmp_code':['port-unreachable',9]")},
	{RULE("'family':'ipv6','description':'a','labels':{'b':'c'}"),
	 RULE("'family':'ipv6','description':'a','labels':{'b':'c'}")},
	{"{'groups':{'g':{'prefixes':'10.0.0.1/32','except':[],'groups':'h'},'h':{}}}",
	 "{'groups':{'g':{'prefixes':['10.0.0.1'],'except':[],'groups':['h']},'h':{}}}"},
	{"{'services':{'s':[{'protocol':6,'dst_ports':'80'}]}}",
	 "{'services':{'s':[{'protocol':['tcp'],'dst_ports':[80]}]}}"},
	{"{'acls':{'w':{}},'ports':{'Eth@0:':{'interface':'Eth@0.1','from':'w','to':[],"
	 "'side':'host','hook':'auto','tcp':'loose','on_change':'recheck','infrastructure':'arp',"
	 "'timeouts':{'icmp':'5'},'default':{'from':{'action':'drop'},'to':{}}}}}",
	 "{'acls':{'w':{}},'ports':{'Eth@0:':{'interface':'Eth@0.1','from':['w'],'to':[],"
	 "'side':'host','hook':'auto','tcp':'loose','on_change':'recheck','infrastructure':['arp'],"
	 "'timeouts':{'icmp':5},'default':{'from':{'action':'drop'},'to':{}}}}}"},
	{"{'ports':{'p':{'match':{'mac':'52:54:00:AB:00:00/FF:FF:FF:FF:00:00','name':'v[a-c]*'}}},"
	 "'port_templates':{'q':{'match':{'alias':'a b'},'from':[]}}}",
	 "{'ports':{'p':{'match':{'mac':'52:54:00:ab:00:00/ff:ff:ff:ff:00:00','name':'v[a-c]*'}}},"
	 "'port_templates':{'q':{'match':{'alias':'a b'},'from':[]}}}"},
};

static void test_normal_form(void **state)
{
	(void)state;
	CHECK_TABLE(check_normal_row, normal_rows);
}

static void test_objects_are_sorted_by_name(void **state)
{
	_cleanup_(config_freep) struct config *config =
		parse("{'acls':{'b':{},'a':{},'c':{}},'ports':{'z':{'interface':'a'},"
		      "'y':{'interface':'b'}},'groups':{'n':{},'m':{}}}");
	json_auto_t *document = config_document(config);
	_cleanup_free_ char *text = json_dumps(document, JSON_COMPACT);

	(void)state;
	assert_string_equal(config->acls[0].name, "a");
	assert_string_equal(config->ports[1].name, "z");
	assert_string_equal(text, "{\"acls\":{\"a\":{},\"b\":{},\"c\":{}},"
				  "\"groups\":{\"m\":{},\"n\":{}},"
				  "\"ports\":{\"y\":{\"interface\":\"b\"},"
				  "\"z\":{\"interface\":\"a\"}}}");
	assert_ptr_equal(config_find_acl(config, "c"), &config->acls[2]);
	assert_null(config_find_acl(config, "d"));
	assert_null(config_find_port(config, "a"));
}

/* ── transport conditions ───────────────────────────────────────────────────────────────────────── */

/* One alternative as text: "family protocols high low". */
static void describe_ranges(char *text, const struct range_list *list)
{
	if (!list->count)
		strcat(text, " *");
	for (size_t i = 0; i < list->count; i++)
		sprintf(text + strlen(text), "%c%u-%u", i ? ',' : ' ', list->ranges[i].first,
			list->ranges[i].last);
}

static void describe(char *text, const struct l4_match *match)
{
	sprintf(text + strlen(text), "%u", match->family);
	for (unsigned int p = 0; match->has_protocols && p < 256; p++)
		if (match->protocols[p / 64] >> p % 64 & 1)
			sprintf(text + strlen(text), " %u", p);
	strcat(text, " :");
	describe_ranges(text, &match->high);
	describe_ranges(text, &match->low);
	strcat(text, "\n");
}

static const struct {
	const char *document;
	const char *alternatives;
	bool is_ip;
} l4_rows[] = {
	{RULE("'description':'x'"), "", false},
	{RULE("'protocol':'any'"), "", false},
	{RULE("'family':'ipv4'"), "", true},
	{RULE("'protocol':'tcp'"), "0 6 : * *\n", true},
	{RULE("'protocol':['tcp','udp'],'dst_ports':[53,'50-51',52,'1000-2000','1500-2500']"),
	 "0 6 17 : * 50-53,1000-2500\n", true},
	{RULE("'protocol':['sctp','dccp','udplite'],'src_ports':[0,65535]"),
	 "0 33 132 136 : 0-0,65535-65535 *\n", true},
	{RULE("'protocol':['tcp','icmp']"), "4 1 : * *\n0 6 : * *\n", true},
	{RULE("'protocol':['0-255']"), NULL, true},
	{RULE("'protocol':58"), "6 58 : * *\n", true},
	{RULE("'protocol':'ping'"), "4 1 : 8-8 *\n6 58 : 128-128 *\n", true},
	{RULE("'protocol':['ping','icmp','esp']"), "4 1 : * *\n6 58 : 128-128 *\n0 50 : * *\n",
	 true},
	{RULE("'protocol':'icmp','icmp_type':[3,11],'icmp_code':'0-1'"), "4 1 : 3-3,11-11 0-1\n",
	 true},
	{RULE("'protocol':'icmpv6','icmp_code':4"), "6 58 : * 4-4\n", true},
	{RULE("'protocol':['icmp','icmpv6'],'icmp_type':'destination-unreachable',"
	      "'icmp_code':'port-unreachable'"),
	 "4 1 : 3-3 3-3\n6 58 : 1-1 4-4\n", true},
	{RULE("'service':['ssh','dns']"), "0 6 : * 22-22\n0 6 17 : * 53-53\n", true},
	{RULE("'service':'bfd'"), "0 17 : * 3784-3785,4784-4784\n", true},
	{"{'services':{'ssh':[{'protocol':'tcp','dst_ports':2222},{'protocol':'ping'}]},"
	 "'acls':{'w':{'rules':[{'id':'r','action':'drop','service':'ssh'}]}}}",
	 "0 6 : * 2222-2222\n4 1 : 8-8 *\n6 58 : 128-128 *\n", true},
};

static void test_transport_conditions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(l4_rows); i++) {
		_cleanup_(config_freep) struct config *config = parse(l4_rows[i].document);
		const struct rule *rule = &config->acls[0].rules[0];
		char text[4096] = "";

		assert_int_equal(rule->is_ip, l4_rows[i].is_ip);
		if (!l4_rows[i].alternatives) {
			assert_int_equal(rule->l4_count, 3);
			continue;
		}
		for (size_t j = 0; j < rule->l4_count; j++)
			describe(text, &rule->l4[j]);
		if (strcmp(text, l4_rows[i].alternatives))
			fail_msg("%s\ngot:\n%s", l4_rows[i].document, text);
	}
}

static void test_shipped_services(void **state)
{
	static const char *const names[] = {"ssh",      "http",  "https", "dns",    "ntp",
					    "smtp",     "imaps", "ldap",  "ldaps",  "mysql",
					    "postgres", "rdp",   "snmp",  "syslog", "bgp"};
	_cleanup_(config_freep) struct config *config = parse("{}");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct service *service = config_find_service(config, names[i]);

		assert_non_null(service);
		assert_null(service->json);
		assert_true(service->l4_count && service->l4[0].low.count);
	}
	for (size_t i = 1; i < config->service_count; i++)
		assert_true(strcmp(config->services[i - 1].name, config->services[i].name) < 0);
}

static void test_a_service_takes_the_place_of_a_shipped_one(void **state)
{
	_cleanup_(config_freep) struct config *plain = parse("{}");
	_cleanup_(config_freep) struct config *config =
		parse("{'services':{'ssh':[{'protocol':'tcp','dst_ports':2222}],"
		      "'own':[{'protocol':'gre'}]}}");
	const struct service *ssh = config_find_service(config, "ssh");

	(void)state;
	assert_int_equal(config->service_count, plain->service_count + 1);
	assert_non_null(ssh->json);
	assert_int_equal(ssh->l4[0].low.ranges[0].first, 2222);
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

static bool has(const struct addrset *set, const char *address)
{
	struct prefix prefix;

	assert_int_equal(prefix_parse(&prefix, address), 0);
	return addrset_has(set, prefix.family, prefix.address);
}

static void test_groups_nest_and_except(void **state)
{
	_cleanup_(config_freep) struct config *config =
		parse("{'groups':{'top':{'prefixes':['10.9.0.0/16'],'groups':['mid','z'],"
		      "'except':['10.0.0.0/30','10.9.9.9']},"
		      "'mid':{'groups':'leaf','except':'10.0.0.128/25'},"
		      "'leaf':{'prefixes':['10.0.0.0/24','2001:db8::/32']},'z':{}}}");
	const struct group *top = config_find_group(config, "top");
	const struct group *leaf = config_find_group(config, "leaf");

	(void)state;
	assert_true(has(&leaf->members, "10.0.0.200") && has(&leaf->members, "10.0.0.1"));
	assert_false(has(&config_find_group(config, "mid")->members, "10.0.0.200"));
	assert_true(has(&top->members, "10.0.0.100") && has(&top->members, "2001:db8::9"));
	assert_true(has(&top->members, "10.9.0.1") && !has(&top->members, "10.9.9.9"));
	assert_false(has(&top->members, "10.0.0.1") || has(&top->members, "10.0.0.200"));
	assert_int_equal(config_find_group(config, "z")->members.v4.count, 0);
}

static void test_rules_take_groups(void **state)
{
	_cleanup_(config_freep) struct config *config = parse(
		"{'groups':{'g':{'prefixes':['10.0.0.0/24','2001:db8::/32']},'e':{}},"
		"'acls':{'w':{'rules':["
		"{'id':'a','action':'drop','src':'@g','dst':['@g','10.0.1.0/24']},"
		"{'id':'b','action':'drop','src':'@e','protocol':'icmpv6'},"
		"{'id':'c','action':'drop','src':'@g','dst':'192.0.2.1','family':'ipv4'}]}}}");
	const struct rule *rules = config->acls[0].rules;

	(void)state;
	assert_true(rules[0].has_src && has(&rules[0].src, "10.0.0.7"));
	assert_true(rules[0].has_dst && has(&rules[0].dst, "2001:db8::1"));
	assert_int_equal(rules[0].dst.v4.count, 1);
	assert_true(rules[1].has_src && !rules[1].has_dst && rules[1].is_ip);
	assert_int_equal(rules[1].src.v4.count + rules[1].src.v6.count, 0);
	assert_int_equal(rules[2].family, 4);
}

static void test_all_of_ipv4_is_not_any(void **state)
{
	_cleanup_(config_freep) struct config *config = parse(RULE("'src':'0.0.0.0/0'"));
	const struct rule *rule = &config->acls[0].rules[0];

	(void)state;
	assert_true(rule->has_src && rule->is_ip);
	assert_int_equal(rule->src.v4.count, 1);
	assert_int_equal(rule->src.v6.count, 0);
}

/* A deep chain of groups is walked without recursion. */
static void test_a_chain_of_groups(void **state)
{
	json_auto_t *document = json_pack("{s:{}}", "groups");
	_cleanup_(config_freep) struct config *config = NULL;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		json_t *group = json_object();
		char name[16];

		snprintf(name, sizeof(name), "g%d", i);
		json_object_set_new(json_object_get(document, "groups"), name, group);
		snprintf(name, sizeof(name), "g%d", i + 1);
		json_object_set_new(group, i < 19999 ? "groups" : "prefixes",
				    json_string(i < 19999 ? name : "192.0.2.1"));
	}
	config = parse_json(document, NULL);
	assert_true(has(&config_find_group(config, "g0")->members, "192.0.2.1"));
}

/* Groups that hold each other's members multiply: refused before memory runs out. */
static void test_address_ranges_have_a_limit(void **state)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	json_auto_t *document = json_pack("{s:{s:{s:[]}}}", "groups", "g", "prefixes");
	json_t *groups = json_object_get(document, "groups");
	json_t *prefixes = json_object_get(json_object_get(groups, "g"), "prefixes");
	struct config *config = NULL;

	(void)state;
	for (int i = 0; i < 16384; i++) {
		char text[32];

		snprintf(text, sizeof(text), "10.%d.%d.0", i >> 8, i & 255);
		json_array_append_new(prefixes, json_string(text));
	}
	for (int i = 0; i < 600; i++) {
		char name[16];

		snprintf(name, sizeof(name), "h%d", i);
		json_object_set_new(groups, name, json_pack("{s:[s]}", "groups", "g"));
	}
	assert_int_equal(config_parse(&config, document, NULL, &errors), -EINVAL);
	assert_int_equal(errors.items[0].code, ERROR_LIMIT);
}

/* ── ports ──────────────────────────────────────────────────────────────────────────────────────── */

static void test_port_defaults(void **state)
{
	_cleanup_(config_freep) struct config *config = parse("{'ports':{'p':{'interface':'e'}}}");
	const struct port *port = &config->ports[0];

	(void)state;
	assert_string_equal(port->interface, "e");
	assert_int_equal(port->side, PORT_SIDE_AUTO);
	assert_int_equal(port->hook, PORT_HOOK_AUTO);
	assert_false(port->list[SECG_FROM].is_given || port->list[SECG_TO].is_given);
	assert_int_equal(port->list[SECG_TO].otherwise, SECG_ACTION_DROP);
	assert_false(port->has_infrastructure || port->is_tcp_strict ||
		     port->on_change != ON_CHANGE_RECHECK);
	assert_int_equal(port->timeout_s[SECG_TIMEOUT_ICMP], 0);
	assert_int_equal(timeout_default_s[SECG_TIMEOUT_TCP_ESTABLISHED], 86400);
}

static void test_port_fields(void **state)
{
	_cleanup_(config_freep) struct config *config =
		parse("{'acls':{'b':{},'a':{}},'ports':{'p':{'interface':'e','side':'workload',"
		      "'hook':'xdp','from':['b','a'],'to':[],'default':{'to':{'action':'allow'}},"
		      "'infrastructure':[],'tcp':'strict','on_change':'keep',"
		      "'timeouts':{'tcp_closing':'7','other':7776000}}}}");
	const struct port *port = &config->ports[0];

	(void)state;
	assert_int_equal(port->side, PORT_SIDE_WORKLOAD);
	assert_int_equal(port->hook, PORT_HOOK_XDP);
	assert_int_equal(port->list[SECG_FROM].acl_count, 2);
	assert_ptr_equal(port->list[SECG_FROM].acls[0], config_find_acl(config, "b"));
	assert_ptr_equal(port->list[SECG_FROM].acls[1], config_find_acl(config, "a"));
	assert_int_equal(port->list[SECG_FROM].otherwise, SECG_ACTION_DROP);
	assert_true(port->list[SECG_TO].is_given && !port->list[SECG_TO].acl_count);
	assert_int_equal(port->list[SECG_TO].otherwise, SECG_ACTION_ALLOW);
	assert_true(port->has_infrastructure && !port->infrastructure);
	assert_true(port->is_tcp_strict && port->on_change == ON_CHANGE_KEEP);
	assert_int_equal(port->timeout_s[SECG_TIMEOUT_TCP_CLOSING], 7);
	assert_int_equal(port->timeout_s[SECG_TIMEOUT_OTHER], 7776000);
}

#define BIT(name) (1u << SECG_INFRA_##name)
#define ALWAYS    (BIT(ARP) | BIT(ND) | BIT(MLD) | BIT(IGMP))
#define LINK      (BIT(LACP) | BIT(STP) | BIT(LLDP) | BIT(EAPOL))

/* The table of the design, row by row. */
static const struct {
	const char *names; /* NULL: the field is absent */
	enum port_side side;
	uint16_t from, to;
} infra_rows[] = {
	{NULL, PORT_SIDE_WORKLOAD, ALWAYS | BIT(DHCP_CLIENT_REQUEST),
	 ALWAYS | BIT(RA) | BIT(DHCP_CLIENT_ANSWER)},
	{NULL, PORT_SIDE_HOST, ALWAYS | LINK | BIT(RA) | BIT(DHCP_CLIENT_ANSWER),
	 ALWAYS | LINK | BIT(DHCP_CLIENT_REQUEST)},
	{"[]", PORT_SIDE_WORKLOAD, 0, 0},
	{"[]", PORT_SIDE_HOST, 0, 0},
	{"['arp','ra']", PORT_SIDE_WORKLOAD, BIT(ARP), BIT(ARP) | BIT(RA)},
	{"['dhcp-server']", PORT_SIDE_WORKLOAD, BIT(DHCP_SERVER_ANSWER), BIT(DHCP_SERVER_REQUEST)},
	{"['dhcp-server']", PORT_SIDE_HOST, BIT(DHCP_SERVER_REQUEST), BIT(DHCP_SERVER_ANSWER)},
	{"['lacp','vrrp','ike']", PORT_SIDE_WORKLOAD, BIT(LACP) | BIT(VRRP) | BIT(IKE),
	 BIT(LACP) | BIT(VRRP) | BIT(IKE)},
	{"['nd','mld','igmp','stp','lldp','eapol']", PORT_SIDE_HOST,
	 BIT(ND) | BIT(MLD) | BIT(IGMP) | BIT(STP) | BIT(LLDP) | BIT(EAPOL),
	 BIT(ND) | BIT(MLD) | BIT(IGMP) | BIT(STP) | BIT(LLDP) | BIT(EAPOL)},
};

static void test_infrastructure(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(infra_rows); i++) {
		_cleanup_(config_freep) struct config *config = NULL;
		uint16_t masks[SECG_DIRECTIONS];
		char text[256];

		snprintf(text, sizeof(text), "{'ports':{'p':{'interface':'e'%s%s}}}",
			 infra_rows[i].names ? ",'infrastructure':" : "",
			 infra_rows[i].names ? infra_rows[i].names : "");
		config = parse(text);
		port_infra_masks(masks, &config->ports[0], infra_rows[i].side);
		assert_int_equal(masks[SECG_FROM], infra_rows[i].from);
		assert_int_equal(masks[SECG_TO], infra_rows[i].to);
	}
}

/* ── size ───────────────────────────────────────────────────────────────────────────────────────── */

static void test_ten_thousand_rules_are_read_at_once(void **state)
{
	json_auto_t *document = json_pack("{s:{s:{s:[]}}}", "acls", "w", "rules");
	json_t *rules =
		json_object_get(json_object_get(json_object_get(document, "acls"), "w"), "rules");
	_cleanup_(config_freep) struct config *config = NULL;
	clock_t start;
	double ms;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		char id[16], prefix[32];

		snprintf(id, sizeof(id), "r%d", i);
		snprintf(prefix, sizeof(prefix), "10.%d.%d.0/24", i >> 8, i & 255);
		json_array_append_new(rules, json_pack("{s:s,s:s,s:[s],s:s,s:[i,s]}", "id", id,
						       "action", "allow", "src", prefix, "protocol",
						       "tcp", "dst_ports", i, "20000-30000"));
	}
	start = clock();
	config = parse_json(document, NULL);
	ms = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
	assert_int_equal(config->acls[0].rule_count, 10000);
	print_message("10 000 rules parsed in %.1f ms\n", ms);
	/* Quadratic work would take seconds; the margin is for sanitizers and busy machines. */
	assert_true(ms < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_form),
		cmocka_unit_test(test_objects_are_sorted_by_name),
		cmocka_unit_test(test_transport_conditions),
		cmocka_unit_test(test_shipped_services),
		cmocka_unit_test(test_a_service_takes_the_place_of_a_shipped_one),
		cmocka_unit_test(test_groups_nest_and_except),
		cmocka_unit_test(test_rules_take_groups),
		cmocka_unit_test(test_all_of_ipv4_is_not_any),
		cmocka_unit_test(test_a_chain_of_groups),
		cmocka_unit_test(test_address_ranges_have_a_limit),
		cmocka_unit_test(test_port_defaults),
		cmocka_unit_test(test_port_fields),
		cmocka_unit_test(test_infrastructure),
		cmocka_unit_test(test_ten_thousand_rules_are_read_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
