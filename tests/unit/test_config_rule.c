/* SPDX-License-Identifier: Apache-2.0 */
/* The rarer fields of a rule: normal form, structs, mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_rows.h"

/* A document of one rule with these fields besides id and action. */
#define RULE(fields) "{'acls':{'w':{'rules':[{'id':'r','action':'allow'," fields "}]}}}"
#define R            "acls.w.rules[0]"

static const struct normal_row normal_rows[] = {
	{"{'acls':{'w':{'rules':[{'id':'r','action':'reject'}],'audit':true}}}",
	 "{'acls':{'w':{'rules':[{'id':'r','action':'reject'}],'audit':true}}}"},
	{RULE("'enabled':false"), RULE("'enabled':false")},
	{RULE("'ethertypes':'arp'"), RULE("'ethertypes':['0x0806']")},
	{RULE("'ethertypes':['llc',2048,'34525','0X88CC','0x9000-0x9FFF','ipv6','mpls']"),
	 RULE("'ethertypes':['llc','0x0800','0x86dd','0x88cc','0x9000-0x9fff','0x86dd',"
	      "'0x8847-0x8848']")},
	{RULE("'vlan':[0,'7','100-199',4094]"), RULE("'vlan':[0,7,'100-199',4094]")},
	{RULE("'src_mac':'52:54:00:AB:cd:EF','dst_mac':['01:00:00:00:00:00/01:00:00:00:00:00',"
	      "'52:54:00:12:34:56/FF:ff:ff:ff:ff:ff']"),
	 RULE("'src_mac':['52:54:00:ab:cd:ef'],"
	      "'dst_mac':['01:00:00:00:00:00/01:00:00:00:00:00','52:54:00:12:34:56']")},
	{RULE("'protocol':'tcp','tcp_flags':'syn/fin,rst,ack,syn'"),
	 RULE("'protocol':['tcp'],'tcp_flags':'syn/fin,syn,rst,ack'")},
	{RULE("'service':'ssh','tcp_flags':'none/all'"),
	 RULE("'service':['ssh'],'tcp_flags':'none/fin,syn,rst,psh,ack,urg,ece,cwr'")},
	{RULE("'dscp':['ef',10,'be','le','0-63',63]"),
	 RULE("'dscp':['ef','af11','cs0','le','0-63',63]")},
	{RULE("'fragment':false"), RULE("'fragment':false")},
	{RULE("'timeout':'60','log':true,'sample':{'new':'10','established':1000}"),
	 RULE("'timeout':60,'log':true,'sample':{'new':10,'established':1000}")},
	{RULE("'log':{'rate':'5','what':'all'}"), RULE("'log':{'rate':5,'what':'all'}")},
	{RULE("'description':'d','log':false"), RULE("'description':'d'")},
};

static void test_normal_form(void **state)
{
	(void)state;
	CHECK_TABLE(check_normal_row, normal_rows);
}

/* ── structs ────────────────────────────────────────────────────────────────────────────────────── */

static void test_a_plain_rule_says_nothing_of_the_rarer_fields(void **state)
{
	_cleanup_(config_freep) struct config *config = parse(RULE("'description':'d'"));
	const struct rule *rule = &config->acls[0].rules[0];

	(void)state;
	assert_false(rule->is_disabled || rule->is_ip || config->acls[0].is_audited);
	assert_int_equal(rule->l2.ethertypes.count + rule->l2.vlans.count, 0);
	assert_int_equal(rule->l2.src.count + rule->l2.dst.count, 0);
	assert_int_equal(rule->fragment, FRAGMENT_ANY);
	assert_int_equal(rule->dscp, 0);
	assert_int_equal(rule->tcp_flags_mask, 0);
	assert_int_equal(rule->timeout_s + rule->log.rate, 0);
	assert_int_equal(rule->sample[0] + rule->sample[1], 0);
}

static void test_all_fields_reach_the_rule(void **state)
{
	static const uint8_t oui[6] = {0xff, 0xff, 0xff};
	_cleanup_(config_freep) struct config *config = parse(
		"{'acls':{'w':{'audit':true,'rules':[{'id':'r','action':'allow','enabled':false,"
		"'vlan':['5-9',3,4],'src_mac':'52:54:00:00:00:00/ff:ff:ff:00:00:00','protocol':6,"
		"'tcp_flags':'syn/syn,ack','dscp':['ef','1-2'],'fragment':true,'timeout':77,"
		"'log':{'what':'all'},'sample':{'established':3}},"
		"{'id':'s','action':'reject','log':{'rate':2}}]}}}");
	const struct rule *rule = &config->acls[0].rules[0];

	(void)state;
	assert_true(config->acls[0].is_audited && rule->is_disabled && rule->is_ip);
	assert_int_equal(rule->l2.vlans.count, 1);
	assert_int_equal(rule->l2.vlans.ranges[0].first, 3);
	assert_int_equal(rule->l2.vlans.ranges[0].last, 9);
	assert_int_equal(rule->l2.src.count, 1);
	assert_memory_equal(rule->l2.src.macs[0].mask, oui, 6);
	assert_int_equal(rule->l2.src.macs[0].value[1], 0x54);
	assert_int_equal(rule->tcp_flags, 0x02);
	assert_int_equal(rule->tcp_flags_mask, 0x12);
	assert_true(rule->dscp == (UINT64_C(1) << 46 | 6));
	assert_int_equal(rule->fragment, 1);
	assert_int_equal(rule->timeout_s, 77);
	assert_int_equal(rule->log.rate, LOG_RATE_DEFAULT);
	assert_true(rule->log.is_all);
	assert_int_equal(rule->sample[1], 3);
	assert_int_equal(rule[1].action, SECG_ACTION_REJECT);
	assert_int_equal(rule[1].log.rate, 2);
	assert_false(rule[1].log.is_all);
}

static const struct {
	const char *fields;
	const char *ethertypes; /* "first-last" each */
	bool is_ip;
} ethertype_rows[] = {
	{"'ethertypes':['llc','0x88cc']", "0-5ff 88cc-88cc ", false},
	{"'ethertypes':'ipv4'", "800-800 ", true},
	{"'ethertypes':['ipv6','ipv4']", "800-800 86dd-86dd ", true},
	{"'ethertypes':['ipv4','arp']", "800-800 806-806 ", false},
	{"'ethertypes':'0x0800','src':'10.0.0.0/8'", "800-800 ", true},
	{"'dscp':1", "", true},
	{"'fragment':false", "", true},
	{"'vlan':1,'src_mac':'00:00:00:00:00:00/00:00:00:00:00:00'", "", false},
};

static void test_which_frames_are_meant(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ethertype_rows); i++) {
		_cleanup_(config_freep) struct config *config = NULL;
		const struct range_list *list;
		char document[256], text[128] = "";

		snprintf(document, sizeof(document), RULE("%s"), ethertype_rows[i].fields);
		config = parse(document);
		list = &config->acls[0].rules[0].l2.ethertypes;
		for (size_t j = 0; j < list->count; j++)
			sprintf(text + strlen(text), "%x-%x ", list->ranges[j].first,
				list->ranges[j].last);
		assert_string_equal(text, ethertype_rows[i].ethertypes);
		assert_int_equal(config->acls[0].rules[0].is_ip, ethertype_rows[i].is_ip);
	}
}

/* ── mistakes ───────────────────────────────────────────────────────────────────────────────────── */

static const struct row error_rows[] = {
	{RULE("'enabled':1,'fragment':'yes','log':'yes','sample':5"),
	 "bad_type " R ".enabled\nbad_type " R ".fragment\nbad_type " R ".log\n"
	 "bad_type " R ".sample\n",
	 "true or false"},
	{RULE("'ethertypes':[],'vlan':[],'src_mac':[],'dst_mac':[],'dscp':[],'tcp_flags':[]"),
	 "bad_value " R ".ethertypes\nbad_value " R ".vlan\nbad_value " R ".src_mac\n"
	 "bad_value " R ".dst_mac\nbad_type " R ".tcp_flags\nbad_value " R ".dscp\n",
	 "empty"},
	{RULE("'ethertypes':[5,-1,65536,'0x','0x1-0x','lldpp','0x9000-0x8fff','0x88cc5',null,33024,"
	      "'0xffffffffffffffffffff','0x0-0x0800']"),
	 "bad_value " R ".ethertypes[0]\nbad_value " R ".ethertypes[1]\n"
	 "bad_value " R ".ethertypes[2]\nbad_value " R ".ethertypes[3]\n"
	 "bad_value " R ".ethertypes[4]\nbad_value " R ".ethertypes[5]\n"
	 "bad_value " R ".ethertypes[6]\nbad_value " R ".ethertypes[7]\n"
	 "bad_type " R ".ethertypes[8]\nbad_value " R ".ethertypes[9]\n"
	 "bad_value " R ".ethertypes[10]\nbad_value " R ".ethertypes[11]\n",
	 "write llc"},
	{RULE("'ethertypes':'lldpp'"), "bad_value " R ".ethertypes\n", "did you mean lldp?"},
	{RULE("'ethertypes':'0x9000-0x8fff'"), "bad_value " R ".ethertypes\n",
	 "write \"0x8fff-0x9000\""},
	{RULE("'ethertypes':'0x88a8'"), "bad_value " R ".ethertypes\n", "write `vlan`"},
	{RULE("'ethertypes':'0x88cc','src':'10.0.0.0/8'"), "bad_value " R ".ethertypes\n",
	 "IP only"},
	{RULE("'ethertypes':['ipv4','arp'],'dscp':5"), "bad_value " R ".ethertypes\n", "IP only"},
	{RULE("'ethertypes':'ipv4','family':'ipv6'"), "bad_value " R ".ethertypes\n",
	 "`family` is IPv6 only"},
	{RULE("'ethertypes':'ipv6','dst':'10.0.0.0/8'"), "bad_value " R ".dst\n",
	 "`ethertypes` is IPv6 only"},
	{RULE("'vlan':[4095,-1,'10-5','a',true]"),
	 "bad_value " R ".vlan[0]\nbad_value " R ".vlan[1]\nbad_value " R ".vlan[2]\n"
	 "bad_value " R ".vlan[3]\nbad_type " R ".vlan[4]\n",
	 "0 to 4094"},
	{RULE("'src_mac':['52:54:00:12:34:56/ff:ff:ff:00:00:00',5,'','52:54:00:12:34','x',"
	      "'52:54:00:12:34:567','52:54:00:12:34:56/ff:ff','52:54:00:12:34:56/24x']"),
	 "bad_value " R ".src_mac[0]\nbad_type " R ".src_mac[1]\nbad_value " R ".src_mac[2]\n"
	 "bad_value " R ".src_mac[3]\nbad_value " R ".src_mac[4]\nbad_value " R ".src_mac[5]\n"
	 "bad_value " R ".src_mac[6]\nbad_value " R ".src_mac[7]\n",
	 "write \"52:54:00:00:00:00/ff:ff:ff:00:00:00\""},
	{RULE("'dst_mac':'52-54-00-12-34-5F'"), "bad_value " R ".dst_mac\n",
	 "write \"52:54:00:12:34:5f\""},
	{RULE("'dst_mac':'52:54:00:12:34:56/28'"), "bad_value " R ".dst_mac\n",
	 "write \"52:54:00:10:00:00/ff:ff:ff:f0:00:00\""},
	{RULE("'dst_mac':'52:54:00:12:34:56/49'"), "bad_value " R ".dst_mac\n", "must be a MAC"},
	{RULE("'tcp_flags':'syn/syn,ack'"), "bad_value " R ".tcp_flags\n", "`protocol: tcp`"},
	{RULE("'protocol':['tcp','udp'],'tcp_flags':'syn/syn'"), "bad_value " R ".tcp_flags\n",
	 "no other protocol"},
	{RULE("'service':'dns','tcp_flags':'syn/syn'"), "bad_value " R ".tcp_flags\n", NULL},
	{RULE("'protocol':'tcp','tcp_flags':'syn'"), "bad_value " R ".tcp_flags\n",
	 "write \"syn/syn\""},
	{RULE("'protocol':'tcp','tcp_flags':'syn,ack/syn'"), "bad_value " R ".tcp_flags\n",
	 "write \"syn/syn\""},
	{RULE("'protocol':'tcp','tcp_flags':'syn,akc/all'"), "bad_value " R ".tcp_flags\n",
	 "at \"akc\""},
	{RULE("'protocol':'tcp','tcp_flags':'syn/'"), "bad_value " R ".tcp_flags\n", NULL},
	{RULE("'protocol':'tcp','tcp_flags':'/syn'"), "bad_value " R ".tcp_flags\n", "none"},
	{RULE("'protocol':'tcp','tcp_flags':'syn/syn/ack'"), "bad_value " R ".tcp_flags\n", NULL},
	{RULE("'protocol':'tcp','tcp_flags':',/syn'"), "bad_value " R ".tcp_flags\n", NULL},
	{RULE("'protocol':'tcp','tcp_flags':'SYN/SYN'"), "bad_value " R ".tcp_flags\n", NULL},
	{RULE("'dscp':[64,-1,'af15','1-64',null]"),
	 "bad_value " R ".dscp[0]\nbad_value " R ".dscp[1]\nbad_value " R ".dscp[2]\n"
	 "bad_value " R ".dscp[3]\nbad_type " R ".dscp[4]\n",
	 "0 to 63"},
	{RULE("'timeout':0"), "bad_value " R ".timeout\n", "1 to 7776000"},
	{"{'acls':{'w':{'rules':[{'id':'r','action':'permit','timeout':5}]}}}",
	 "bad_value " R ".timeout\n", "`allow`"},
	{"{'acls':{'w':{'rules':[{'id':'r','action':'pass','log':true,'sample':{'new':1}}]}}}",
	 "bad_value " R ".log\n", "`pass` leaves that to the rules behind"},
	{"{'acls':{'w':{'rules':[{'id':'r','action':'pass','sample':{'new':1}}]}}}",
	 "bad_value " R ".sample\n", NULL},
	{RULE("'log':{'rate':0,'what':'some','x':1}"),
	 "unknown_field " R ".log.x\nbad_value " R ".log.rate\nbad_value " R ".log.what\n", NULL},
	{RULE("'log':null"), "bad_type " R ".log\n", "leave the field out"},
	{RULE("'sample':{}"), "bad_value " R ".sample\n", "`established`"},
	{RULE("'sample':{'new':0,'established':4294967296,'x':1}"),
	 "unknown_field " R ".sample.x\nbad_value " R ".sample.new\n"
	 "bad_value " R ".sample.established\n",
	 NULL},
};

static void test_mistakes(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, error_rows);
}

/* ── limits ─────────────────────────────────────────────────────────────────────────────────────── */

static json_t *many_macs(int count)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++) {
		char text[32];

		snprintf(text, sizeof(text), "52:54:00:00:%02x:%02x", i >> 8, i & 255);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

static const struct {
	int src, dst;
	const char *protocol;
	const char *field; /* NULL: taken */
} limit_rows[] = {
	{SECG_MAX_ENTRIES, 1, "tcp", NULL},
	{SECG_MAX_ENTRIES + 1, 1, "tcp", "src_mac"},
	{1, SECG_MAX_ENTRIES + 1, "tcp", "dst_mac"},
	{101, 101, "tcp", NULL},
	{102, 101, "tcp", "dst_mac"},
	{71, 72, "ping", NULL}, /* two alternatives */
	{72, 72, "ping", "dst_mac"},
};

/* acl/40 */
static void test_macs_have_a_limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(limit_rows); i++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		_cleanup_(config_freep) struct config *config = NULL;
		json_auto_t *document = json_pack(
			"{s:{s:{s:[{s:s,s:s,s:s,s:o,s:o}]}}}", "acls", "w", "rules", "id", "r",
			"action", "drop", "protocol", limit_rows[i].protocol, "src_mac",
			many_macs(limit_rows[i].src), "dst_mac", many_macs(limit_rows[i].dst));
		int r = config_parse(&config, document, NULL, &errors);

		assert_int_equal(r, limit_rows[i].field ? -EINVAL : 0);
		if (limit_rows[i].field) {
			assert_int_equal(errors.count, 1);
			assert_int_equal(errors.items[0].code, ERROR_LIMIT);
			assert_string_equal(strrchr(errors.items[0].field, '.') + 1,
					    limit_rows[i].field);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_form),
		cmocka_unit_test(test_a_plain_rule_says_nothing_of_the_rarer_fields),
		cmocka_unit_test(test_all_fields_reach_the_rule),
		cmocka_unit_test(test_which_frames_are_meant),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_macs_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
