/* SPDX-License-Identifier: Apache-2.0 */
/* The rarer fields of ports, and macip lists: normal form, structs, mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_rows.h"

/* A document of one port with these fields besides its interface. */
#define PORT(fields) "{'ports':{'p':{'interface':'e'," fields "}}}"
/* One with a macip list of this content beside it. */
#define MACIP(list) "{'macip':{'m':" list "}}"

static const struct normal_row normal_rows[] = {
	{PORT("'addresses':{'mac':'52:54:00:AB:00:01','ips':'10.1.0.5/32'},'anti_spoof':false"),
	 PORT("'addresses':[{'mac':'52:54:00:ab:00:01','ips':['10.1.0.5']}],'anti_spoof':false")},
	{PORT("'addresses':[{'mac':'52:54:00:00:00:00/ff:ff:ff:00:00:00'},{'ips':['2001:DB8::1']}]"),
	 PORT("'addresses':[{'mac':'52:54:00:00:00:00/ff:ff:ff:00:00:00'},{'ips':['2001:db8::1']}]")},
	{PORT("'addresses':[]"), PORT("'addresses':[]")},
	{PORT("'domain':'d','pickup_s':'30','allow_ra':true,'allow_dhcp_server':false,"
	      "'limits':{'sessions':'5','sessions_per_source':6,'half_open':4294967295},"
	      "'reset_on_expiry':true,'audit':true,'fail_mode':'open','on_change':'cut'"),
	 PORT("'domain':'d','pickup_s':30,'allow_ra':true,'allow_dhcp_server':false,"
	      "'limits':{'sessions':5,'sessions_per_source':6,'half_open':4294967295},"
	      "'reset_on_expiry':true,'audit':true,'fail_mode':'open','on_change':'cut'")},
	{PORT("'from':[],'default':{'from':{'action':'reject','log':{'rate':'5'}}}"),
	 PORT("'from':[],'default':{'from':{'action':'reject','log':{'rate':5}}}")},
	{MACIP("{}"), MACIP("{}")},
	{MACIP("{'description':'d','labels':{'a':'b'},'entries':{'mac':'52:54:00:AB:00:01',"
	       "'prefixes':['10.0.0.0/8','fe80::/64']},'allow_ra':true,'allow_dhcp_server':true}"),
	 MACIP("{'description':'d','labels':{'a':'b'},'entries':[{'mac':'52:54:00:ab:00:01',"
	       "'prefixes':['10.0.0.0/8','fe80::/64']}],'allow_ra':true,'allow_dhcp_server':true}")},
};

static void test_normal_form(void **state)
{
	(void)state;
	CHECK_TABLE(check_normal_row, normal_rows);
}

/* ── structs ────────────────────────────────────────────────────────────────────────────────────── */

static void test_a_plain_port_has_none_of_it(void **state)
{
	_cleanup_(config_freep) struct config *config = parse(PORT("'description':'d'"));
	const struct port *port = &config->ports[0];

	(void)state;
	assert_false(port->is_anti_spoofed || port->allows_ra || port->allows_dhcp_server);
	assert_false(port->resets_expired || port->is_audited || port->fails_open);
	assert_null(port->domain);
	assert_null(port->macip);
	assert_int_equal(port->pickup_s + port->limits.sessions, 0);
}

static void test_all_fields_reach_the_port(void **state)
{
	_cleanup_(config_freep) struct config *config = parse(
		"{'macip':{'m':{'entries':[{'mac':'52:54:00:00:00:01','prefixes':'10.0.0.0/24'}],"
		"'allow_ra':true}},"
		"'ports':{'p':{'interface':'e','macip':'m','addresses':[{'mac':'52:54:00:00:00:02',"
		"'ips':['10.0.0.1','2001:db8::1']}],'domain':'d','pickup_s':9,'limits':{'sessions':1,"
		"'sessions_per_source':2,'half_open':3},'reset_on_expiry':true,'audit':true,"
		"'fail_mode':'open','on_change':'cut','from':[],'to':[],"
		"'default':{'from':{'log':true},'to':{'action':'reject','log':{'rate':3,'what':'all'}}}}}}");
	const struct port *port = &config->ports[0];

	(void)state;
	assert_ptr_equal(port->macip, config_find_macip(config, "m"));
	assert_int_equal(port->macip->entries[0].prefixes[0].length, 24);
	assert_int_equal(port->address_count, 1);
	assert_int_equal(port->addresses[0].mac.value[5], 2);
	assert_int_equal(port->addresses[0].prefix_count, 2);
	assert_true(port->is_anti_spoofed && port->allows_ra && !port->allows_dhcp_server);
	assert_string_equal(port->domain, "d");
	assert_int_equal(port->pickup_s, 9);
	assert_int_equal(port->limits.sessions, 1);
	assert_int_equal(port->limits.sessions_per_source, 2);
	assert_int_equal(port->limits.half_open, 3);
	assert_true(port->resets_expired && port->is_audited && port->fails_open);
	assert_int_equal(port->on_change, ON_CHANGE_CUT);
	assert_int_equal(port->list[SECG_FROM].otherwise, SECG_ACTION_DROP);
	assert_int_equal(port->list[SECG_FROM].log.rate, LOG_RATE_DEFAULT);
	assert_int_equal(port->list[SECG_TO].otherwise, SECG_ACTION_REJECT);
	assert_true(port->list[SECG_TO].log.rate == 3 && port->list[SECG_TO].log.is_all);
}

/* What is left out means any, what is empty means none. */
static void test_a_sender_of_one_half(void **state)
{
	static const uint8_t zero[6];
	_cleanup_(config_freep) struct config *config =
		parse(PORT("'addresses':[{'mac':'52:54:00:00:00:02'},{'ips':['10.0.0.1']},"
			   "{'mac':'52:54:00:00:00:03','ips':[]}]"));
	const struct macip_entry *entries = config->ports[0].addresses;

	(void)state;
	assert_int_equal(entries[0].prefix_count, 2);
	assert_int_equal(entries[0].prefixes[0].family, 4);
	assert_int_equal(entries[0].prefixes[1].family, 6);
	assert_int_equal(entries[0].prefixes[0].length + entries[0].prefixes[1].length, 0);
	assert_memory_equal(entries[1].mac.mask, zero, 6);
	assert_int_equal(entries[2].prefix_count, 0);
}

static const struct {
	const char *fields;
	bool is_anti_spoofed;
} anti_spoof_rows[] = {
	{"'addresses':[]", true},      {"'addresses':[],'anti_spoof':true", true},
	{"'macip':'m'", true},         {"'macip':'m','anti_spoof':false", false},
	{"'anti_spoof':false", false},
};

static void test_addresses_switch_anti_spoof_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(anti_spoof_rows); i++) {
		_cleanup_(config_freep) struct config *config = NULL;
		char text[256];

		snprintf(text, sizeof(text),
			 "{'macip':{'m':{}},'ports':{'p':{'interface':'e',%s}}}",
			 anti_spoof_rows[i].fields);
		config = parse(text);
		assert_int_equal(config->ports[0].is_anti_spoofed,
				 anti_spoof_rows[i].is_anti_spoofed);
	}
}

/* ── mistakes ───────────────────────────────────────────────────────────────────────────────────── */

#define A "ports.p.addresses"
static const struct row error_rows[] = {
	{PORT("'addresses':[5,{},{'mac':1,'ips':1},{'mac':'x','prefixes':[]},"
	      "{'ips':['10.0.0.1/8','@g','any',null]}]"),
	 "bad_type " A "[0]\nbad_value " A "[1]\nbad_type " A "[2].mac\nbad_type " A "[2].ips\n"
	 "unknown_field " A "[3].prefixes\nbad_value " A "[3].mac\nbad_value " A "[4].ips[0]\n"
	 "bad_value " A "[4].ips[1]\nbad_value " A "[4].ips[2]\nbad_type " A "[4].ips[3]\n",
	 NULL},
	{PORT("'addresses':[{}]"), "bad_value " A "[0]\n", "must have `mac`, `ips` or both"},
	{PORT("'addresses':{'mac':'01:00:5e:00:00:01'}"), "bad_value " A ".mac\n",
	 "no frame can come from"},
	{PORT("'addresses':{'mac':'52:54:00:00:00:01/ff:ff:ff:00:00:00'}"), "bad_value " A ".mac\n",
	 "write \"52:54:00:00:00:00/ff:ff:ff:00:00:00\""},
	{PORT("'anti_spoof':true"), "bad_value ports.p.anti_spoof\n", "`addresses` or `macip`"},
	{PORT("'macip':'n'"), "not_found ports.p.macip\n", "no macip list \"n\""},
	{PORT("'macip':['m'],'domain':5,'pickup_s':-1,'allow_ra':0,'allow_dhcp_server':'no',"
	      "'limits':[],'reset_on_expiry':null,'audit':'x','fail_mode':'half'"),
	 "bad_type ports.p.macip\nbad_type ports.p.allow_ra\nbad_type ports.p.allow_dhcp_server\n"
	 "bad_type ports.p.domain\nbad_value ports.p.pickup_s\nbad_type ports.p.limits\n"
	 "bad_type ports.p.reset_on_expiry\nbad_type ports.p.audit\nbad_value ports.p.fail_mode\n",
	 NULL},
	{PORT("'domain':'A b'"), "bad_value ports.p.domain\n", "a-z"},
	/* acl/43 */
	{PORT("'limits':{'sessions':-1,'sessions_per_source':4294967296,'half_open':0,'x':1}"),
	 "unknown_field ports.p.limits.x\nbad_value ports.p.limits.sessions\n"
	 "bad_value ports.p.limits.sessions_per_source\nbad_value ports.p.limits.half_open\n",
	 NULL},
	{"{'macip':{'infra':{},'M':{},'a':5,'b':{'entries':5,'x':1,'allow_ra':1}}}",
	 "bad_value macip.infra\nbad_value macip.M\nbad_type macip.a\nunknown_field macip.b.x\n"
	 "bad_type macip.b.entries\nbad_type macip.b.allow_ra\n",
	 NULL},
	{MACIP("{'entries':[{'ips':[]}]}"), "unknown_field macip.m.entries[0].ips\n",
	 "mac, prefixes"},
};

static void test_mistakes(void **state)
{
	(void)state;
	CHECK_TABLE(check_row, error_rows);
}

/* As many entries of one MAC with one address as a port takes, and one more. */
static json_t *many_entries(size_t count, size_t prefixes)
{
	json_t *entries = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *list = json_array();
		char mac[32], prefix[32];

		snprintf(mac, sizeof(mac), "52:54:00:00:%02zx:%02zx", i >> 8, i & 255);
		for (size_t j = 0; j < prefixes; j++) {
			snprintf(prefix, sizeof(prefix), "10.%zu.%zu.%zu", j, i >> 8, i & 255);
			json_array_append_new(list, json_string(prefix));
		}
		json_array_append_new(entries,
				      json_pack("{s:s,s:o}", "mac", mac, "prefixes", list));
	}
	return entries;
}

static void check_limit(json_t *document, const char *field)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	_cleanup_(config_freep) struct config *config = NULL;

	assert_int_equal(config_parse(&config, document, NULL, &errors), field ? -EINVAL : 0);
	if (field) {
		assert_int_equal(errors.count, 1);
		assert_int_equal(errors.items[0].code, ERROR_LIMIT);
		assert_string_equal(errors.items[0].field, field);
	}
	json_decref(document);
}

static void test_senders_have_a_limit(void **state)
{
	(void)state;
	check_limit(json_pack("{s:{s:{s:o}}}", "macip", "m", "entries",
			      many_entries(SECG_MAX_ENTRIES, 1)),
		    NULL);
	check_limit(json_pack("{s:{s:{s:o}}}", "macip", "m", "entries",
			      many_entries(SECG_MAX_ENTRIES + 1, 1)),
		    "macip.m.entries");
	check_limit(json_pack("{s:{s:{s:o}}}", "macip", "m", "entries",
			      many_entries(SECG_MAX_ENTRIES / 8 + 1, 8)),
		    "macip.m.entries");
	/* Each is short enough, both together are not. */
	check_limit(json_pack("{s:{s:{s:o}},s:{s:{s:s,s:s,s:[{s:s}]}}}", "macip", "m", "entries",
			      many_entries(SECG_MAX_ENTRIES, 1), "ports", "p", "interface", "e",
			      "macip", "m", "addresses", "mac", "52:54:00:00:00:01"),
		    "ports.p.macip");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_form),
		cmocka_unit_test(test_a_plain_port_has_none_of_it),
		cmocka_unit_test(test_all_fields_reach_the_port),
		cmocka_unit_test(test_a_sender_of_one_half),
		cmocka_unit_test(test_addresses_switch_anti_spoof_on),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_senders_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
