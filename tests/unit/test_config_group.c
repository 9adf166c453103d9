/* SPDX-License-Identifier: Apache-2.0 */
/* Ports as members of groups, and security groups: normal form, structs, mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_rows.h"

/* A security group of one rule with these fields besides its id. */
#define RULE(fields) "{'security_groups':{'s':{'rules':[{'id':'r'," fields "}]}}}"
#define R            "security_groups.s.rules[0]"
/* A port with an address and these fields. */
#define VM(name, ip, fields)                                                                     \
	"'" name "':{'interface':'" name "','addresses':[{'mac':'52:54:00:00:00:01','ips':['" ip \
	"']}]" fields "}"

static const struct normal_row normal_rows[] = {
	{"{'groups':{'g':{'ports':'p','select':{'a':'b','c':'d'}}},'ports':{'p':{'interface':'e'}}}",
	 "{'groups':{'g':{'ports':['p'],'select':{'a':'b','c':'d'}}},'ports':{'p':{'interface':'e'}}}"},
	{"{'groups':{'g':{}},'ports':{'p':{'interface':'e','groups':'g'}}}",
	 "{'groups':{'g':{}},'ports':{'p':{'interface':'e','groups':['g']}}}"},
	{"{'security_groups':{'s':{}}}", "{'security_groups':{'s':{}}}"},
	{"{'security_groups':{'s':{'description':'d','labels':{'a':'b'},'stateful':false,'rules':["
	 "{'id':'a','direction':'to','remote':'@s','service':'ssh','description':'x'},"
	 "{'id':'b','direction':'from','remote':['10.0.0.0/8','@s'],'protocol':6,"
	 "'dst_ports':'80-90'},{'id':'c','direction':'from','protocol':1,'icmp_type':8,"
	 "'icmp_code':0},{'id':'d','direction':'to','family':'ipv6'}]}}}",
	 "{'security_groups':{'s':{'description':'d','labels':{'a':'b'},'stateful':false,'rules':["
	 "{'id':'a','direction':'to','remote':['@s'],'service':['ssh'],'description':'x'},"
	 "{'id':'b','direction':'from','remote':['10.0.0.0/8','@s'],'protocol':['tcp'],"
	 "'dst_ports':['80-90']},{'id':'c','direction':'from','protocol':['icmp'],"
	 "'icmp_type':['echo-request'],'icmp_code':[0]},"
	 "{'id':'d','direction':'to','family':'ipv6'}]}}}"},
	{"{'security_groups':{'s':{}},'ports':{'p':{'interface':'e','security_groups':'s'}}}",
	 "{'security_groups':{'s':{}},'ports':{'p':{'interface':'e','security_groups':['s']}}}"},
};

static void test_normal_form(void **state)
{
	(void)state;
	CHECK_TABLE(check_normal_row, normal_rows);
}

/* ── members ────────────────────────────────────────────────────────────────────────────────────── */

/* Members as text: "a-b " for each range. */
static void check_members(const struct config *config, const char *name, const char *wanted)
{
	const struct group *group = config_find_group(config, name);
	char text[512] = "";

	assert_non_null(group);
	for (int v6 = 0; v6 <= 1; v6++) {
		const struct addr_list *list = v6 ? &group->members.v6 : &group->members.v4;

		for (size_t i = 0; i < list->count; i++) {
			struct prefix first = {v6 ? 6 : 4, v6 ? 128 : 32, list->ranges[i].first};
			struct prefix last = {v6 ? 6 : 4, v6 ? 128 : 32, list->ranges[i].last};

			prefix_format(text + strlen(text), &first);
			if (first.address != last.address) {
				strcat(text, "-");
				prefix_format(text + strlen(text), &last);
			}
			strcat(text, " ");
		}
	}
	assert_string_equal(text, wanted);
}

static void test_ports_bring_their_host_addresses(void **state)
{
	_cleanup_(config_freep) struct config *config = parse(
		"{'groups':{'listed':{'ports':['a','b'],'prefixes':'192.0.2.0/30'},"
		"'selected':{'select':{'tier':'web'}},"
		"'both':{'select':{'tier':'web','zone':'1'}},'none':{'select':{'tier':'x'}},"
		"'named':{},'except':{'groups':['listed'],'except':'10.0.0.2'}},"
		"'ports':{" VM("a", "10.0.0.1", ",'labels':{'tier':'web','zone':'1'}") "," VM(
			"b", "10.0.0.2",
			",'labels':{'tier':'web','zone':'2'},'groups':'named'") "," VM("c",
										       "2001:db8::3",
										       ",'labels':{'zone':'1'},'groups':['named']") ","
																    "'d':{'interface':'d','labels':{'tier':'web'},'groups':'named'}}}");

	(void)state;
	check_members(config, "listed", "10.0.0.1-10.0.0.2 192.0.2.0-192.0.2.3 ");
	check_members(config, "selected", "10.0.0.1-10.0.0.2 ");
	check_members(config, "both", "10.0.0.1 ");
	check_members(config, "none", "");
	check_members(config, "named", "10.0.0.2 2001:db8::3 ");
	check_members(config, "except", "10.0.0.1 192.0.2.0-192.0.2.3 ");
}

/* acl/18: what a port may send from beyond its own hosts opens nothing to others. */
static void test_what_is_never_a_member(void **state)
{
	_cleanup_(config_freep) struct config *config = parse(
		"{'groups':{'g':{'ports':['p']}},"
		"'macip':{'m':{'entries':[{'mac':'52:54:00:00:00:01','prefixes':'10.9.9.9'}]}},"
		"'ports':{'p':{'interface':'e','macip':'m','addresses':[{'ips':['0.0.0.0/0',"
		"'10.0.0.0/31','10.0.0.5','0.0.0.0','169.254.1.1','224.0.0.1','239.1.2.3',"
		"'255.255.255.255']},{'mac':'52:54:00:00:00:01'},{'ips':['::','fe80::1',"
		"'febf::1','ff02::1','2001:db8::/64','::/0','fec0::1','2001:db8::5']}]}}}");

	(void)state;
	check_members(config, "g", "10.0.0.5 2001:db8::5 fec0::1 ");
}

static void test_members_for_a_while(void **state)
{
	static const struct config_member members[] = {
		{"g", {4, 32, 0x0a000001}},
		{"g", {4, 24, 0x0a000100}},
		{"nobody", {4, 32, 0x0a000002}},
		{"s", {4, 32, 0x0a000003}},
	};
	static const struct config_runtime runtime = {.members = members, .member_count = 4};
	json_auto_t *document =
		read_json("{'groups':{'g':{'except':'10.0.1.0/25'},'h':{'groups':['g','s']}},"
			  "'security_groups':{'s':{}}}");
	_cleanup_(config_freep) struct config *config = parse_json(document, &runtime);
	json_auto_t *normal = config_document(config);

	(void)state;
	check_members(config, "g", "10.0.0.1 10.0.1.128-10.0.1.255 ");
	check_members(config, "h", "10.0.0.1 10.0.0.3 10.0.1.128-10.0.1.255 ");
	assert_true(json_equal(normal, document) ||
		    json_object_size(json_object_get(normal, "groups")) == 2);
}

/* acl/36 */
static void test_an_empty_group_is_a_group(void **state)
{
	_cleanup_(config_freep) struct config *config =
		parse("{'groups':{'g':{'ports':[],'groups':[]}},'acls':{'w':{'rules':[{'id':'r',"
		      "'action':'allow','src':'@g','dst':'@s'}]}},'security_groups':{'s':{}}}");
	const struct rule *rule = &config->acls[0].rules[0];

	(void)state;
	assert_true(rule->has_src && rule->has_dst);
	assert_int_equal(addrset_count(&rule->src) + addrset_count(&rule->dst), 0);
}

/* ── security groups ────────────────────────────────────────────────────────────────────────────── */

static void test_a_security_group_becomes_two_acls(void **state)
{
	_cleanup_(config_freep) struct config *config =
		parse("{'security_groups':{'db':{'rules':[{'id':'app','direction':'to',"
		      "'remote':['@db','192.0.2.9'],'service':'postgres'},"
		      "{'id':'out','direction':'from','remote':'198.51.100.0/24'},"
		      "{'id':'any','direction':'from'}]}},'ports':{" VM(
			      "a", "10.0.0.1", ",'security_groups':['db']") "}}");
	const struct security_group *group = config_find_security_group(config, "db");
	const struct acl *to = &group->rules[SECG_TO], *from = &group->rules[SECG_FROM];
	const struct port *port = &config->ports[0];

	(void)state;
	assert_true(group->is_stateful);
	assert_string_equal(to->name, "sg:db");
	assert_string_equal(from->name, "sg:db");
	assert_null(to->json);
	assert_int_equal(to->rule_count, 1);
	assert_string_equal(to->rules[0].id, "app");
	assert_int_equal(to->rules[0].action, SECG_ACTION_ALLOW);
	assert_true(to->rules[0].has_src && !to->rules[0].has_dst);
	assert_true(addrset_has(&to->rules[0].src, 4, 0x0a000001));
	assert_true(addrset_has(&to->rules[0].src, 4, 0xc0000209));
	assert_int_equal(to->rules[0].l4[0].low.ranges[0].first, 5432);
	assert_int_equal(from->rule_count, 2);
	assert_true(from->rules[0].has_dst && !from->rules[0].has_src && from->rules[0].is_ip);
	assert_int_equal(from->rules[1].fragment, FRAGMENT_ANY);
	assert_false(from->rules[1].is_ip);
	for (int d = 0; d < SECG_DIRECTIONS; d++) {
		assert_true(port->list[d].is_given);
		assert_int_equal(port->list[d].acl_count, 1);
		assert_ptr_equal(port->list[d].acls[0], &group->rules[d]);
	}
}

static void test_groups_stand_behind_the_acls_stateful_ones_first(void **state)
{
	static const char *const wanted[SECG_DIRECTIONS][4] = {{"w", "sg:b", "sg:a", "sg:c"},
							       {"sg:b", "sg:a", "sg:c"}};
	_cleanup_(config_freep) struct config *config = parse(
		"{'acls':{'w':{}},'security_groups':{'a':{'stateful':false,'rules':[{'id':'r',"
		"'direction':'to'}]},'b':{},'c':{'stateful':false}},"
		"'ports':{'p':{'interface':'e','security_groups':['a','c','b'],'from':['w'],"
		"'default':{'to':{'action':'reject'}}},'q':{'interface':'f',"
		"'security_groups':[]}}}");
	const struct port *port = config_find_port(config, "p");

	(void)state;
	for (int d = 0; d < SECG_DIRECTIONS; d++) {
		assert_int_equal(port->list[d].acl_count, d == SECG_FROM ? 4 : 3);
		for (size_t i = 0; i < port->list[d].acl_count; i++)
			assert_string_equal(port->list[d].acls[i]->name, wanted[d][i]);
	}
	assert_int_equal(port->security_group_count, 3);
	assert_string_equal(port->security_groups[0]->name, "a");
	assert_int_equal(port->list[SECG_TO].otherwise, SECG_ACTION_REJECT);
	assert_int_equal(config_find_security_group(config, "a")->rules[SECG_TO].rules[0].action,
			 SECG_ACTION_ALLOW_STATELESS);
	assert_false(config_find_port(config, "q")->list[SECG_TO].is_given);
}

/* The group that a security group is has no object of its own. */
static void test_a_security_group_is_no_object_of_groups(void **state)
{
	_cleanup_(config_freep) struct config *config =
		parse("{'security_groups':{'s':{}},'groups':{'g':{'groups':'s'}}}");
	json_auto_t *groups = config_collection(config, OBJECT_GROUP);

	(void)state;
	assert_non_null(config_find_group(config, "s"));
	assert_null(config_object(config, OBJECT_GROUP, "s"));
	assert_non_null(config_object(config, OBJECT_SECURITY_GROUP, "s"));
	assert_int_equal(json_object_size(groups), 1);
}

/* Instances of templates are members too, by what their template says. */
static void test_instances_are_members(void **state)
{
	static const struct config_instance instances[] = {{"tap1", "t"}, {"tap2", "gone"}};
	static const struct config_runtime runtime = {.instances = instances, .instance_count = 2};
	_cleanup_(errors_fini) struct errors errors = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	json_auto_t *document =
		read_json("{'groups':{'g':{'select':{'a':'b'}},'h':{'ports':['tap1']}},"
			  "'port_templates':{'t':{'match':{'name':'tap*'},'labels':{'a':'b'},"
			  "'addresses':[{'ips':['10.0.0.1']}]}}}");

	(void)state;
	/* No port of the document has the name. */
	assert_int_equal(config_parse(&config, document, &runtime, &errors), -EINVAL);
	assert_string_equal(errors.items[errors.count - 1].field, "groups.h.ports[0]");
}

/* ── mistakes ───────────────────────────────────────────────────────────────────────────────────── */

static const struct row error_rows[] = {
	{"{'groups':{'g':{'ports':['vm1',5,null],'select':[]}},'ports':{'vm2':{'interface':'e'}}}",
	 "not_found groups.g.ports[0]\nbad_type groups.g.ports[1]\nbad_type groups.g.ports[2]\n"
	 "bad_type groups.g.select\n",
	 "did you mean \"vm2\"?"},
	{"{'groups':{'g':{'select':{}},'h':{'select':{'a':1,'b':null}}}}",
	 "bad_value groups.g.select\nbad_type groups.h.select.a\nbad_type groups.h.select.b\n",
	 "at least one label"},
	{"{'security_groups':{'s':{}},'ports':{'p':{'interface':'e','groups':['g','s',5]}}}",
	 "not_found ports.p.groups[0]\nbad_value ports.p.groups[1]\nbad_type ports.p.groups[2]\n",
	 NULL},
	{"{'security_groups':{'s':{}},'groups':{'s':{}}}", "conflict security_groups.s\n",
	 "\"@s\" would mean both"},
	{"{'security_groups':[]}", "bad_type security_groups\n", NULL},
	{"{'security_groups':{'infra':{},'S':{},'a':5,'b':{'rules':5,'x':1,'stateful':'no'}}}",
	 "bad_value security_groups.infra\nbad_value security_groups.S\n"
	 "bad_type security_groups.a\nunknown_field security_groups.b.x\n"
	 "bad_type security_groups.b.stateful\nbad_type security_groups.b.rules\n",
	 NULL},
	{"{'security_groups':{'s':{'rules':[{},5,{'id':'a','direction':'to'},"
	 "{'id':'a','direction':'from'}]}}}",
	 "bad_value security_groups.s.rules[0].id\n"
	 "bad_value security_groups.s.rules[0].direction\nbad_type security_groups.s.rules[1]\n"
	 "bad_value security_groups.s.rules[3].id\n",
	 NULL},
	{RULE("'direction':'ingress'"), "bad_value " R ".direction\n", "write `from`"},
	{RULE("'direction':'to','ingress':1"), "unknown_field " R ".ingress\n", "write `from`"},
	{RULE("'direction':'to','action':'allow','src':'10.0.0.0/8','src_ports':5"),
	 "unknown_field " R ".action\nunknown_field " R ".src\nunknown_field " R ".src_ports\n",
	 NULL},
	{RULE("'direction':'to','remote':[]"), "bad_value " R ".remote\n", "empty"},
	{RULE("'direction':'to','remote':['@nobody','10.0.0.1/8']"),
	 "not_found " R ".remote[0]\nbad_value " R ".remote[1]\n", "no group \"nobody\""},
	{RULE("'direction':'to','remote':'s'"), "bad_value " R ".remote\n", "write \"@s\""},
	{RULE("'direction':'to','family':'ipv6','remote':'10.0.0.0/8'"), "bad_value " R ".remote\n",
	 "`family` is IPv6 only"},
	{RULE("'direction':'to','remote':'10.0.0.0/8','protocol':'icmpv6'"),
	 "bad_value " R ".protocol\n", "`remote` is IPv4 only"},
	{RULE("'direction':'to','dst_ports':5"), "bad_value " R ".dst_ports\n", "`protocol`"},
	{"{'security_groups':{'s':{}},'ports':{'p':{'interface':'e','security_groups':"
	 "['s','t','s',5]}}}",
	 "not_found ports.p.security_groups[1]\nbad_value ports.p.security_groups[2]\n"
	 "bad_type ports.p.security_groups[3]\n",
	 "no security group \"t\""},
};

static void test_mistakes(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, error_rows);
}

/* ── limits ─────────────────────────────────────────────────────────────────────────────────────── */

static void test_a_port_wears_sixteen_at_most(void **state)
{
	(void)state;
	for (int acls = 0; acls <= 1; acls++) {
		for (int groups = 16 - acls; groups <= 17; groups++) {
			_cleanup_(errors_fini) struct errors errors = {0};
			_cleanup_(config_freep) struct config *config = NULL;
			json_auto_t *document =
				json_pack("{s:{s:{}},s:{},s:{s:{s:s,s:[],s:[]}}}", "acls", "w",
					  "security_groups", "ports", "p", "interface", "e",
					  "security_groups", "to");
			json_t *port = json_object_get(json_object_get(document, "ports"), "p");
			bool is_right = groups + acls <= 16;

			for (int i = 0; i < groups; i++) {
				char name[16];

				snprintf(name, sizeof(name), "s%d", i);
				json_object_set_new(json_object_get(document, "security_groups"),
						    name, json_object());
				json_array_append_new(json_object_get(port, "security_groups"),
						      json_string(name));
			}
			if (acls)
				json_array_append_new(json_object_get(port, "to"),
						      json_string("w"));
			assert_int_equal(config_parse(&config, document, NULL, &errors),
					 is_right ? 0 : -EINVAL);
			if (!is_right)
				assert_string_equal(errors.items[0].field,
						    "ports.p.security_groups");
		}
	}
}

/* Many groups that select the same many ports: refused before memory or time runs out. */
static void test_selected_members_have_a_limit(void **state)
{
	(void)state;
	for (int has_second = 0; has_second <= 1; has_second++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		json_auto_t *document = json_pack("{s:{},s:{}}", "groups", "ports");
		struct config *config = NULL;

		for (int i = 0; i < 4000; i++) {
			char name[16], ip[32];

			snprintf(name, sizeof(name), "p%d", i);
			snprintf(ip, sizeof(ip), "10.0.%d.%d", i >> 7, i % 128 * 2);
			json_object_set_new(json_object_get(document, "ports"), name,
					    json_pack("{s:s,s:{s:s,s:s},s:[{s:s}]}", "interface",
						      name, "labels", "a", "b", "c", "d",
						      "addresses", "ips", ip));
		}
		for (int i = 0; i < 3000; i++) {
			char name[16];

			snprintf(name, sizeof(name), "g%d", i);
			json_object_set_new(
				json_object_get(document, "groups"), name,
				has_second
					? json_pack("{s:{s:s,s:s}}", "select", "a", "b", "c", "d")
					: json_pack("{s:{s:s}}", "select", "a", "b"));
		}
		assert_int_equal(config_parse(&config, document, NULL, &errors), -EINVAL);
		assert_int_equal(errors.items[0].code, ERROR_LIMIT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_form),
		cmocka_unit_test(test_ports_bring_their_host_addresses),
		cmocka_unit_test(test_what_is_never_a_member),
		cmocka_unit_test(test_members_for_a_while),
		cmocka_unit_test(test_an_empty_group_is_a_group),
		cmocka_unit_test(test_a_security_group_becomes_two_acls),
		cmocka_unit_test(test_groups_stand_behind_the_acls_stateful_ones_first),
		cmocka_unit_test(test_a_security_group_is_no_object_of_groups),
		cmocka_unit_test(test_instances_are_members),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_a_port_wears_sixteen_at_most),
		cmocka_unit_test(test_selected_members_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
