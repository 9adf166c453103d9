/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every mistake of a policy document: the code, the field, and what the sentence says. A row is one
 * document and all the errors it gets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_rows.h"

/* A document of one rule with these fields besides id and action. */
#define RULE(fields) "{'acls':{'w':{'rules':[{'id':'r','action':'allow'," fields "}]}}}"
#define R            "acls.w.rules[0]"
/* A document of one port with these fields besides its interface. */
#define PORT(fields) "{'acls':{'w':{}},'ports':{'p':{'interface':'eth0'," fields "}}}"
#define DIRECTION    "write `from` for packets that enter the host through the port, `to` for those"

static const struct row document_rows[] = {
	{"[]", "bad_type \n", "must be an object"},
	{"null", "bad_type \n", "null"},
	{"5", "bad_type \n", NULL},
	{"{'schema':'secg/2'}", "bad_value schema\n", "secg/1"},
	{"{'schema':1}", "bad_type schema\n", NULL},
	{"{'wibble':{}}", "unknown_field wibble\n", "acls, security_groups"},
	{"{'ingress':{}}", "unknown_field ingress\n", DIRECTION},
	{"{'acls':[],'groups':5,'services':'x','ports':null}",
	 "bad_type services\nbad_type groups\nbad_type acls\nbad_type ports\n", NULL},
	{"{'acls':{'w':null},'groups':{'g':[]},'services':{'s':{}},'ports':{'p':1}}",
	 "bad_type services.s\nbad_type groups.g\nbad_type acls.w\nbad_type ports.p\n", NULL},
	{"{'tunnels':{}}", "unsupported tunnels\n", "not supported"},
	{"{'acls':{'W':{},'':{},'a b':{},'infra':{}}}",
	 "bad_value acls.W\nbad_value acls.\nbad_value acls.a b\nbad_value acls.infra\n", "a-z"},
	{"{'groups':{'infra':{},'G':{}},'services':{'S':[{'protocol':1}]}}",
	 "bad_value services.S\nbad_value groups.infra\nbad_value groups.G\n", NULL},
	{"{'acls':{'w':{'rules':{},'x':1,'audit':1,'labels':[],'description':5}}}",
	 "unknown_field acls.w.x\nbad_type acls.w.description\n"
	 "bad_type acls.w.labels\nbad_type acls.w.rules\nbad_type acls.w.audit\n",
	 NULL},
	{"{'acls':{'w':{'labels':{'a':1,'b':null,'ingress':'ok'}}}}",
	 "bad_type acls.w.labels.a\nbad_type acls.w.labels.b\n", "must be a string"},
};

/* One mistake each of what people type who know another tool, and what they are told to type. */
static const struct row advice_rows[] = {
	{"{'acls':{'w':{'rules':[{'id':'r','action':'alow'}]}}}", "bad_value " R ".action\n",
	 "must be one of allow, allow-stateless, drop, reject, pass, not \"alow\": did you mean allow?"},
	{"{'acls':{'w':{'rules':[{'id':'r','action':'ACCEPT'}]}}}", "bad_value " R ".action\n",
	 "did you mean allow?"},
	{"{'acls':{'w':{'rules':[{'id':'r','action':'block'}]}}}", "bad_value " R ".action\n",
	 "did you mean drop?"},
	{"{'acls':{'w':{'rules':[{'id':'r','action':'rejct'}]}}}", "bad_value " R ".action\n",
	 "did you mean reject?"},
	{PORT("'from':[],'default':'drop'"), "bad_type ports.p.default\n",
	 "{from: {action: drop}}"},
	{PORT("'from':[],'default':{'from':'drop'}"), "bad_type ports.p.default.from\n",
	 "as in {action: drop}"},
	{RULE("'ports':80"), "unknown_field " R ".ports\n", "did you mean dst_ports?"},
	{RULE("'sport':80"), "unknown_field " R ".sport\n", "did you mean src_ports?"},
	{RULE("'protocol':'ICMP'"), "bad_value " R ".protocol\n", "did you mean icmp?"},
	{RULE("'protocol':'all'"), "bad_value " R ".protocol\n", "did you mean any?"},
	{RULE("'protocol':'ipv6-icmp'"), "bad_value " R ".protocol\n", "did you mean icmpv6?"},
	{RULE("'protocol':'wibble'"), "bad_value " R ".protocol\n", "not \"wibble\""},
	{RULE("'protocol':'tcp','dst_ports':'22,80'"), "bad_value " R ".dst_ports\n",
	 ": write [22, 80]"},
	{RULE("'protocol':'tcp','dst_ports':'22, 80-90,'"), "bad_value " R ".dst_ports\n",
	 ": write [22, \"80-90\"]"},
	{"{'groups':{'Web_Admin':{}}}", "bad_value groups.Web_Admin\n", ": write web_admin"},
	{"{'groups':{'Web Admin':{}}}", "bad_value groups.Web Admin\n", "'_', '-'"},
	{RULE("'protocol':'tcp','dst_ports':'22:25'"), "bad_value " R ".dst_ports\n",
	 ": write \"22-25\""},
	{RULE("'protocol':'tcp','dst_ports':'1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,"
	      "21,22,23,24,25,26,27,28,29,30'"),
	 "bad_value " R ".dst_ports\n", "must be a number"},
	{RULE("'protocol':'tcp','dst_ports':'ssh'"), "bad_value " R ".dst_ports\n",
	 "write `service: ssh`"},
	{"{'services':{'s':[{'protocol':'tcp','dst_ports':'ssh'}]}}",
	 "bad_value services.s[0].dst_ports\n", "must be a number"},
	{"{'services':{'s':{'protocol':'tcp'}}}", "bad_type services.s\n",
	 "a list of entries, as in [{protocol: tcp, dst_ports: 443}], not an object"},
	{RULE("'protocol':'icmp','icmp_type':'echo'"), "bad_value " R ".icmp_type\n",
	 "did you mean echo-request?"},
	{RULE("'src':'10.0.0.0/255.0.0.0'"), "bad_value " R ".src\n", "write 10.0.0.0/8"},
	{RULE("'src':'10.1.2.3/255.255.0.0'"), "bad_value " R ".src\n", "write 10.1.0.0/16"},
	{RULE("'src':'10.1.2.3/0.0.0.0'"), "bad_value " R ".src\n", "write 0.0.0.0/0"},
	{RULE("'src':'10.0.0.0/255.0.255.0'"), "bad_value " R ".src\n",
	 "must be an address or a prefix"},
	{RULE("'src':'::/255.0.0.0'"), "bad_value " R ".src\n", "must be an address or a prefix"},
	{RULE("'src':'10.0.0.0/33'"), "bad_value " R ".src\n",
	 "the length of an IPv4 prefix is 0 to 32, not 33"},
	{RULE("'src':'2001:db8::/129'"), "bad_value " R ".src\n",
	 "the length of an IPv6 prefix is 0 to 128, not 129"},
	{RULE("'src':'10.0.0.0/08'"), "bad_value " R ".src\n", "must be an address or a prefix"},
	{RULE("'src':'x/33'"), "bad_value " R ".src\n", "must be an address or a prefix"},
};

static const struct row rule_rows[] = {
	{"{'acls':{'w':{'rules':[5,null,{}]}}}",
	 "bad_type acls.w.rules[0]\nbad_type acls.w.rules[1]\n"
	 "bad_value acls.w.rules[2].id\nbad_value acls.w.rules[2].action\n",
	 NULL},
	{"{'acls':{'w':{'rules':[{'id':'a','action':'drop'},{'id':'b','action':'drop'},"
	 "{'id':'a','action':'drop'}]}}}",
	 "bad_value acls.w.rules[2].id\n", "rules[0]"},
	{"{'acls':{'w':{'rules':[{'id':'A/b','action':'drop'},{'id':7,'action':'drop'}]}}}",
	 "bad_value acls.w.rules[0].id\nbad_type acls.w.rules[1].id\n", "a-z"},
	{RULE("'x':1,'egress':1"), "unknown_field " R ".x\nunknown_field " R ".egress\n", "a rule"},
	{RULE("'egress':1"), "unknown_field " R ".egress\n", DIRECTION},
	{"{'acls':{'w':{'rules':[{'id':'r','action':'accept'}]}}}", "bad_value " R ".action\n",
	 "allow-stateless"},
	{"{'acls':{'w':{'rules':[{'id':'r','action':1}]}}}", "bad_type " R ".action\n", NULL},
	{RULE("'family':'ip'"), "bad_value " R ".family\n", "ipv4, ipv6"},
	{RULE("'family':['ipv4']"), "bad_type " R ".family\n", NULL},
	{RULE("'description':null"), "bad_type " R ".description\n", "leave the field out"},

	/* addresses */
	{RULE("'src':['10.0.0.1/24',5,null,'x','any','@nobody']"),
	 "bad_value " R ".src[0]\nbad_type " R ".src[1]\nbad_type " R ".src[2]\n"
	 "bad_value " R ".src[3]\nbad_value " R ".src[4]\nnot_found " R ".src[5]\n",
	 "write 10.0.0.0/24 for the network or 10.0.0.1 for the host"},
	{RULE("'dst':'2001:db8::1/64'"), "bad_value " R ".dst\n", "2001:db8::/64"},
	{RULE("'src':[],'dst':null"), "bad_value " R ".src\nbad_type " R ".dst\n", "empty"},
	{RULE("'src':{'prefix':'::'}"), "bad_type " R ".src\n", NULL},
	{RULE("'src':['@nobody']"), "not_found " R ".src[0]\n", "nobody"},

	/* protocols and ports */
	{RULE("'protocol':['tpc',256,-1,'256','6x',true,[]]"),
	 "bad_value " R ".protocol[0]\nbad_value " R ".protocol[1]\nbad_value " R ".protocol[2]\n"
	 "bad_value " R ".protocol[3]\nbad_value " R ".protocol[4]\nbad_type " R ".protocol[5]\n"
	 "bad_type " R ".protocol[6]\n",
	 "udplite"},
	{RULE("'protocol':[]"), "bad_value " R ".protocol\n", NULL},
	{RULE("'protocol':['tcp','any']"), "bad_value " R ".protocol[1]\n", "alone"},
	{RULE("'protocol':'tcp','dst_ports':['90-80',65536,-1,'http',null,1.5,'1-','-1','1-2-3','']"),
	 "bad_value " R ".dst_ports[0]\nbad_value " R ".dst_ports[1]\n"
	 "bad_value " R ".dst_ports[2]\nbad_value " R ".dst_ports[3]\n"
	 "bad_type " R ".dst_ports[4]\nbad_type " R ".dst_ports[5]\n"
	 "bad_value " R ".dst_ports[6]\nbad_value " R ".dst_ports[7]\n"
	 "bad_value " R ".dst_ports[8]\nbad_value " R ".dst_ports[9]\n",
	 "reversed: write \"80-90\""},
	{RULE("'protocol':'udp','src_ports':'0-99999999999999999999'"),
	 "bad_value " R ".src_ports\n", "0 to 65535"},
	{RULE("'protocol':'tcp','dst_ports':9223372036854775807"), "bad_value " R ".dst_ports\n",
	 NULL},
	{RULE("'dst_ports':80"), "bad_value " R ".dst_ports\n", "protocol"},
	{RULE("'protocol':'any','dst_ports':80"), "bad_value " R ".dst_ports\n", "protocol"},
	{RULE("'protocol':['tcp','gre'],'dst_ports':80,'src_ports':1"),
	 "bad_value " R ".src_ports\nbad_value " R ".dst_ports\n", "gre has no ports"},
	{RULE("'protocol':99,'dst_ports':80"), "bad_value " R ".dst_ports\n", "99 has no ports"},
	{RULE("'protocol':'icmp','dst_ports':80"), "bad_value " R ".dst_ports\n", "icmp has no"},
	{RULE("'protocol':'ping','dst_ports':80"), "bad_value " R ".dst_ports\n", "ping has no"},
	{RULE("'protocol':'tcp','dst_ports':[]"), "bad_value " R ".dst_ports\n", "empty"},
	{RULE("'protocol':'tpc','dst_ports':80"), "bad_value " R ".protocol\n", NULL},

	/* ICMP */
	{RULE("'icmp_type':8"), "bad_value " R ".icmp_type\n", "icmpv6"},
	{RULE("'protocol':'tcp','icmp_type':8"), "bad_value " R ".icmp_type\n", "tcp"},
	{RULE("'protocol':'ping','icmp_type':8"), "bad_value " R ".icmp_type\n", "already"},
	{RULE("'protocol':'icmp','icmp_type':[256,'9-8','wibble',null]"),
	 "bad_value " R ".icmp_type[0]\nbad_value " R ".icmp_type[1]\n"
	 "bad_value " R ".icmp_type[2]\nbad_type " R ".icmp_type[3]\n",
	 "0 to 255"},
	{RULE("'protocol':'icmp','icmp_type':'packet-too-big'"), "bad_value " R ".icmp_type\n",
	 "icmp"},
	{RULE("'protocol':['icmp','icmpv6'],'icmp_type':8"), "bad_value " R ".icmp_type\n",
	 "different things"},
	{RULE("'protocol':'icmp','icmp_type':[3,11],'icmp_code':'port-unreachable'"),
	 "bad_value " R ".icmp_code\n", "number"},
	{RULE("'protocol':'tcp','icmp_code':8"), "bad_value " R ".icmp_code\n", NULL},

	/* services */
	{RULE("'service':['ssh','nothing',5]"),
	 "not_found " R ".service[1]\nbad_type " R ".service[2]\n", "nothing"},
	{RULE("'service':[]"), "bad_value " R ".service\n", NULL},
	{RULE("'service':'ssh','protocol':'tcp','dst_ports':1,'src_ports':1,'icmp_type':1,'icmp_code':1"),
	 "bad_value " R ".protocol\nbad_value " R ".src_ports\nbad_value " R ".dst_ports\n"
	 "bad_value " R ".icmp_type\nbad_value " R ".icmp_code\n",
	 "beside `service`"},

	/* families */
	{RULE("'family':'ipv4','protocol':'icmpv6'"), "bad_value " R ".protocol\n",
	 "IPv6 only, but `family`"},
	{RULE("'family':'ipv4','protocol':58"), "bad_value " R ".protocol\n", NULL},
	{RULE("'family':'ipv6','protocol':1,'icmp_type':8"), "bad_value " R ".protocol\n", NULL},
	{RULE("'src':'10.0.0.0/8','protocol':'icmpv6'"), "bad_value " R ".protocol\n",
	 "`src` is IPv4"},
	{RULE("'src':'10.0.0.0/8','dst':'::/0'"), "bad_value " R ".dst\n", "`src` is IPv4"},
	{RULE("'family':'ipv4','src':'::/0'"), "bad_value " R ".src\n", "`family` is IPv4"},
	{"{'services':{'s':[{'protocol':'icmpv6'}]},'acls':{'w':{'rules':[{'id':'r',"
	 "'action':'allow','dst':'0.0.0.0/0','service':'s'}]}}}",
	 "bad_value " R ".service\n", "`dst` is IPv4"},
};

static const struct row group_rows[] = {
	{"{'groups':{'g':{'prefixes':['10.0.0.1/8','@h',null],'except':'x','wibble':1}}}",
	 "unknown_field groups.g.wibble\nbad_value groups.g.prefixes[0]\n"
	 "bad_value groups.g.prefixes[1]\nbad_type groups.g.prefixes[2]\nbad_value groups.g.except\n",
	 NULL},
	{"{'groups':{'g':{'prefixes':['@h']}}}", "bad_value groups.g.prefixes[0]\n", "`groups`"},
	{"{'groups':{'g':{'groups':['h',5,'@g']}}}",
	 "bad_type groups.g.groups[1]\nbad_value groups.g.groups[2]\n", NULL},
	{"{'groups':{'g':{'groups':['h']},'i':{'groups':'h'}}}",
	 "not_found groups.g.groups[0]\nnot_found groups.i.groups\n", "\"h\""},
	{"{'groups':{'a':{'groups':['a']}}}", "bad_value groups.a.groups[0]\n", "a -> a"},
	{"{'groups':{'x':{'groups':['a']},'a':{'groups':['e','b']},'e':{},'b':{'groups':['c']},"
	 "'c':{'groups':'a'}}}",
	 "bad_value groups.c.groups\n", "a -> b -> c -> a"},
	{"{'groups':{'g':{'ipsec':{}}}}", "unsupported groups.g.ipsec\n", NULL},
};

static const struct row service_rows[] = {
	{"{'services':{'s':[]}}", "bad_value services.s\n", NULL},
	{"{'services':{'s':[5,{},{'protocol':'any'},{'protocol':'tcp','x':1}]}}",
	 "bad_type services.s[0]\nbad_value services.s[1]\nbad_value services.s[2]\n"
	 "unknown_field services.s[3].x\n",
	 NULL},
	{"{'services':{'s':[{'dst_ports':5}]}}", "bad_value services.s[0].dst_ports\n", NULL},
	{"{'services':{'s':[{'protocol':'tcp','dst_ports':['9-1']}]}}",
	 "bad_value services.s[0].dst_ports[0]\n", "reversed"},
};

static const struct row port_rows[] = {
	{"{'ports':{'p':{}}}", "bad_value ports.p.interface\n", "missing"},
	{"{'ports':{'p':{'interface':'a','match':{'name':'v*'}},'q':{'match':{}},'r':{'match':1},"
	 "'s':{'match':{'name':'','altname':7,'kind':'sixteen bytes xx','master':'a/b'}}}}",
	 "bad_value ports.p.match\nbad_value ports.q.match\nbad_type ports.r.match\n"
	 "bad_value ports.s.match.name\nbad_type ports.s.match.altname\n"
	 "bad_value ports.s.match.kind\nbad_value ports.s.match.master\n",
	 "excludes `interface`"},
	{"{'ports':{'p':{'match':{'name':'a/b*'}},'q':{'match':{'name':'vnet[0-9'}},"
	 "'r':{'match':{'name':'sixteen-bytes-xx'}},'s':{'match':{'mac':'52:54/8','nick':'x'}}}}",
	 "bad_value ports.p.match.name\nbad_value ports.q.match.name\n"
	 "bad_value ports.r.match.name\nunknown_field ports.s.match.nick\n"
	 "bad_value ports.s.match.mac\n",
	 "no interface can have this name"},
	{"{'ports':{'p':{'match':{'name':'v*','kind':'veth'}},"
	 "'q':{'match':{'kind':'veth','name':'v*'}}}}",
	 "conflict ports.q.match\n", "\"p\""},
	{"{'port_templates':{'p':{},'q':{'match':{'name':'*'},'interface':'eth0'},'R':{'match':{'name':'r'}},"
	 "'s':{'match':{'name':'*'},'from':['nobody']}}}",
	 "bad_value port_templates.p.match\nunknown_field port_templates.q.interface\n"
	 "bad_value port_templates.R\nnot_found port_templates.s.from[0]\n"
	 "conflict port_templates.s.match\n",
	 NULL},
	{"{'ports':{'p':{'interface':'eth0123456789abc'},'q':{'interface':'a/b'},"
	 "'r':{'interface':'eth0:1'},'s':{'interface':''},'t':{'interface':['e']}}}",
	 "bad_value ports.p.interface\nbad_value ports.q.interface\nbad_value ports.r.interface\n"
	 "bad_value ports.s.interface\nbad_type ports.t.interface\n",
	 NULL},
	{"{'ports':{'a/b':{'interface':'a'},'a b':{'interface':'b'},'infra':{'interface':'c'},"
	 "'..':{'interface':'d'},'ABCDEFGHIJKLMNOP':{'interface':'e'}}}",
	 "bad_value ports.a/b\nbad_value ports.a b\nbad_value ports.infra\n"
	 "bad_value ports.ABCDEFGHIJKLMNOP\n",
	 NULL},
	{"{'ports':{'p':{'interface':'eth0'},'a':{'interface':'eth0'}}}",
	 "conflict ports.a.interface\n", "\"p\""},
	{PORT("'ingress':['w'],'egress':[]"),
	 "unknown_field ports.p.ingress\nunknown_field ports.p.egress\n", DIRECTION},
	{PORT("'hook':'egress'"), "bad_value ports.p.hook\n", DIRECTION},
	{PORT("'hook':'nft','side':'left','tcp':'x','on_change':'flush'"),
	 "bad_value ports.p.side\nbad_value ports.p.hook\nbad_value ports.p.tcp\n"
	 "bad_value ports.p.on_change\n",
	 "workload, host"},
	{PORT("'from':['w','x','w',3],'to':'y'"),
	 "not_found ports.p.from[1]\nbad_value ports.p.from[2]\nbad_type ports.p.from[3]\n"
	 "not_found ports.p.to\n",
	 "\"x\""},
	{PORT("'from':['w','w','w','w','w','w','w','w','w','w','w','w','w','w','w','w','w']"),
	 "limit ports.p.from\n", "16"},
	{PORT("'from':[],'to':[],'default':{'from':{'action':'pass','log':1},'to':{'action':'x'}}"),
	 "bad_value ports.p.default.from.action\nbad_type ports.p.default.from.log\n"
	 "bad_value ports.p.default.to.action\n",
	 "drop, reject, allow"},
	{PORT("'from':[],'default':{'to':{'action':'drop'},'ingress':{}}"),
	 "unknown_field ports.p.default.ingress\nbad_value ports.p.default.to\n", DIRECTION},
	{PORT("'default':{'to':{'action':'drop'}}"), "bad_value ports.p.default.to\n", "`to: []`"},
	{PORT("'infrastructure':['arp','ntp',1]"),
	 "bad_value ports.p.infrastructure[1]\nbad_type ports.p.infrastructure[2]\n",
	 "dhcp-client"},
	{PORT("'timeouts':{'icmp':0,'other':-1,'tcp':1,'udp_one_way':4294967297,'tcp_closing':'x',"
	      "'udp_two_way':1.5}"),
	 "unknown_field ports.p.timeouts.tcp\nbad_value ports.p.timeouts.tcp_closing\n"
	 "bad_value ports.p.timeouts.udp_one_way\nbad_type ports.p.timeouts.udp_two_way\n"
	 "bad_value ports.p.timeouts.icmp\nbad_value ports.p.timeouts.other\n",
	 NULL},
};

static void test_documents(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, document_rows);
}

static void test_rules(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, rule_rows);
}

static void test_advice(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, advice_rows);
}

static void test_groups(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, group_rows);
}

static void test_services(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, service_rows);
}

static void test_ports(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, port_rows);
}

static void test_a_name_has_63_characters_at_most(void **state)
{
	char name[65];

	(void)state;
	for (int length = 63; length <= 64; length++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		_cleanup_(config_freep) struct config *config = NULL;
		json_auto_t *document = NULL;

		memset(name, 'a', sizeof(name));
		name[length] = '\0';
		document = json_pack("{s:{s:{}},s:{s:{s:s}}}", "acls", name, "ports", name,
				     "interface", "eth0");
		assert_int_equal(config_parse(&config, document, NULL, &errors),
				 length == 63 ? 0 : -EINVAL);
		assert_int_equal(errors.count, length == 63 ? 0 : 2);
	}
}

static void test_the_first_hundred_mistakes_are_kept(void **state)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	json_auto_t *rules = json_array();
	json_auto_t *document = NULL;
	struct config *config = NULL;

	(void)state;
	for (int i = 0; i < 250; i++)
		json_array_append_new(rules, json_integer(i));
	document = json_pack("{s:{s:{s:O}}}", "acls", "w", "rules", rules);
	assert_int_equal(config_parse(&config, document, NULL, &errors), -EINVAL);
	assert_int_equal(errors.count, 100);
	assert_int_equal(errors.dropped, 150);
	assert_string_equal(errors.items[99].field, "acls.w.rules[99]");
}

static void test_ports_have_a_limit(void **state)
{
	(void)state;
	for (int over = 0; over <= 1; over++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		_cleanup_(config_freep) struct config *config = NULL;
		json_auto_t *document = json_pack("{s:{}}", "ports");

		for (int i = 0; i < SECG_MAX_PORTS - 1 + over; i++) {
			char name[16];

			snprintf(name, sizeof(name), "p%d", i);
			json_object_set_new(json_object_get(document, "ports"), name,
					    json_pack("{s:s}", "interface", name));
		}
		assert_int_equal(config_parse(&config, document, NULL, &errors),
				 over ? -EINVAL : 0);
		if (over) {
			assert_int_equal(errors.count, 1);
			assert_int_equal(errors.items[0].code, ERROR_LIMIT);
			assert_string_equal(errors.items[0].field, "ports");
		}
	}
}

/* A long text is quoted in part, and never cut inside a character. */
static void test_messages_stay_utf8(void **state)
{
	(void)state;
	for (int pad = 0; pad < 4; pad++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		struct config *config = NULL;
		json_auto_t *message = NULL;
		json_auto_t *document = NULL;
		char text[200] = "";

		memset(text, 'x', (size_t)pad);
		for (int i = 0; i < 40; i++)
			strcat(text, "€");
		document = json_pack("{s:{s:{s:[{s:s,s:s,s:s}]}}}", "acls", "w", "rules", "id", "r",
				     "action", "drop", "src", text);
		assert_int_equal(config_parse(&config, document, NULL, &errors), -EINVAL);
		message = json_string(errors.items[0].message);
		assert_non_null(message);
		assert_non_null(strstr(errors.items[0].message, "€…"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_services),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_a_name_has_63_characters_at_most),
		cmocka_unit_test(test_the_first_hundred_mistakes_are_kept),
		cmocka_unit_test(test_ports_have_a_limit),
		cmocka_unit_test(test_messages_stay_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
