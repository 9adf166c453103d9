/* SPDX-License-Identifier: Apache-2.0 */
/* Which interfaces a match fits, which of two is more specific, which ports templates make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/match.h"

static struct config *parse(const char *text, const struct config_runtime *runtime)
{
	_cleanup_(errors_fini) struct errors errs = {0};
	json_error_t error;
	char quoted[4096];
	struct config *config = NULL;
	json_t *document;

	snprintf(quoted, sizeof(quoted), "%s", text);
	for (char *at = quoted; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	document = json_loads(quoted, JSON_REJECT_DUPLICATES, &error);
	if (!document)
		fail_msg("%s: %s", quoted, error.text);
	if (config_parse(&config, document, runtime, &errs) < 0)
		fail_msg("%s: %s", errs.items[0].field, errs.items[0].message);
	json_decref(document);
	return config;
}

/* A configuration with one port of this match. */
static struct config *parse_match(const char *match)
{
	char text[512];

	snprintf(text, sizeof(text), "{'ports':{'p':{'match':%s}}}", match);
	return parse(text, NULL);
}

static const char *const altnames[] = {"enp1s0", "uplink-of-rack-7"};
static const struct interface_facts tap = {
	.name = "vnet12",
	.kind = "tun",
	.alias = "vm one",
	.master = "br0",
	.altnames = altnames,
	.altname_count = 2,
	.has_ethernet = true,
	.has_mac = true,
	.mac = {0x52, 0x54, 0x00, 0xab, 0xcd, 0xef},
};
static const struct interface_facts tunnel = {
	.name = "wg0", .kind = "wireguard", .alias = "", .master = ""};

static void test_all_fields_that_are_given_must_hold(void **state)
{
	static const struct {
		const char *match;
		bool fits_tap, fits_tunnel;
	} rows[] = {
		{"{'name':'*'}", true, true},
		{"{'name':'vnet*'}", true, false},
		{"{'name':'vnet?\?'}", true, false},
		{"{'name':'vnet?'}", false, false},
		{"{'name':'vnet[0-3][!0]'}", true, false},
		{"{'name':'vnet12'}", true, false},
		{"{'name':'vnet1'}", false, false},
		{"{'name':'enp1s0'}", false, false},
		{"{'altname':'enp1s0'}", true, false},
		{"{'altname':'uplink-of-rack-7'}", true, false},
		{"{'altname':'uplink'}", false, false},
		{"{'altname':'vnet12'}", false, false},
		{"{'alias':'vm one'}", true, false},
		{"{'alias':'vm*'}", false, false},
		{"{'kind':'tun'}", true, false},
		{"{'kind':'tap'}", true, false},
		{"{'kind':'wireguard'}", false, true},
		{"{'master':'br0'}", true, false},
		{"{'master':'br1'}", false, false},
		{"{'mac':'52:54:00:ab:cd:ef'}", true, false},
		{"{'mac':'52:54:00:ab:cd:ee'}", false, false},
		{"{'mac':'52:54:00:00:00:00/ff:ff:ff:00:00:00'}", true, false},
		{"{'mac':'00:00:00:00:00:00/00:00:00:00:00:00'}", true, false},
		{"{'name':'v*','kind':'tun','master':'br0','alias':'vm one'}", true, false},
		{"{'name':'v*','kind':'veth'}", false, false},
		{"{'name':'*','master':'br1'}", false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(config_freep) struct config *config = parse_match(rows[i].match);
		const struct interface_match *match = config->ports[0].match;

		if (match_fits(match, &tap) != rows[i].fits_tap ||
		    match_fits(match, &tunnel) != rows[i].fits_tunnel)
			fail_msg("%s", rows[i].match);
	}
}

/* The kernel calls tap and tun the same kind. */
static void test_a_tun_is_no_tap(void **state)
{
	const struct interface_facts tun = {.name = "t", .kind = "tun", .alias = "", .master = ""};
	_cleanup_(config_freep) struct config *config = parse_match("{'kind':'tap'}");

	(void)state;
	assert_false(match_fits(config->ports[0].match, &tun));
}

static void test_more_fields_then_more_literal_bytes(void **state)
{
	static const struct {
		const char *more, *less;
	} rows[] = {
		{"{'name':'v*','kind':'tun'}", "{'name':'vnet12'}"},
		{"{'name':'vnet*'}", "{'name':'v*'}"},
		{"{'name':'vnet12'}", "{'name':'vnet*'}"},
		{"{'name':'vnet?2'}", "{'name':'vnet?\?'}"},
		{"{'name':'vnet[12]3'}", "{'name':'vnet[0-9][abcdefghi]'}"},
		{"{'name':'a*'}", "{'name':'*'}"},
		{"{'mac':'52:54:00:ab:cd:ef'}", "{'mac':'52:54:00:00:00:00/ff:ff:ff:00:00:00'}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(config_freep) struct config *more = parse_match(rows[i].more);
		_cleanup_(config_freep) struct config *less = parse_match(rows[i].less);
		const struct interface_match *a = more->ports[0].match, *b = less->ports[0].match;

		if (match_compare(a, b) <= 0 || match_compare(b, a) >= 0 ||
		    match_compare(a, a) != 0)
			fail_msg("%s %s", rows[i].more, rows[i].less);
	}
}

/* ── templates ──────────────────────────────────────────────────────────────────────────────────── */

#define TEMPLATES                                                          \
	"'acls':{'w':{'rules':[{'id':'r','action':'allow'}]}},"            \
	"'port_templates':{'q':{'match':{'name':'*'},'from':[],'to':[]},"  \
	"'vm':{'match':{'name':'vnet*'},'from':['w'],'to':[],'hook':'tc'," \
	"'timeouts':{'icmp':7}}}"

static void test_quarantine_is_closed_in_both_directions(void **state)
{
	static const struct {
		const char *fields;
		bool is_quarantine;
	} rows[] = {
		{"'from':[],'to':[]", true},
		{"'from':[]", false},
		{"'from':[],'to':['w']", false},
		{"'from':[],'to':[],'default':{'to':{'action':'allow'}}", false},
		{"'from':[],'to':[],'default':{'to':{'action':'drop'}}", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(config_freep) struct config *config = NULL;
		char text[512];

		snprintf(text, sizeof(text),
			 "{'acls':{'w':{'rules':[]}},'port_templates':{'t':{'match':{'name':'*'},"
			 "%s}}}",
			 rows[i].fields);
		config = parse(text, NULL);
		if (config_find_template(config, "t")->is_quarantine != rows[i].is_quarantine)
			fail_msg("%s", rows[i].fields);
	}
}

static const struct config_instance instances[] = {
	{"vnet1", "vm"}, {"eth9", "q"}, {"infra", "q"}, {"taken", "q"}, {"late", "nobody"}};
static const struct config_runtime runtime = {.instances = instances, .instance_count = 5};

static void assert_instances(const struct config *config)
{
	const struct port *port = config_find_port(config, "vnet1");

	assert_int_equal(config->port_count, 5);
	assert_true(port->is_instance);
	assert_string_equal(port->interface, "vnet1");
	assert_ptr_equal(port->template, config_find_template(config, "vm"));
	assert_int_equal(port->hook, PORT_HOOK_TC);
	assert_int_equal(port->timeout_s[SECG_TIMEOUT_ICMP], 7);
	assert_ptr_equal(port->list[SECG_FROM].acls[0], config_find_acl(config, "w"));
	assert_true(port->list[SECG_TO].is_given);
	assert_false(config_find_port(config, "taken")->is_instance);
	assert_string_equal(config_find_instance(config, "taken")->name, "if/taken");
	assert_string_equal(config_find_instance(config, "infra")->name, "if/infra");
	assert_string_equal(config_find_instance(config, "eth9")->name, "eth9");
	assert_null(config_find_instance(config, "late"));
}

static void assert_document_is_without_instances(const struct config *config)
{
	json_auto_t *document = config_document(config);

	assert_int_equal(json_object_size(json_object_get(document, "ports")), 1);
	assert_int_equal(json_object_size(json_object_get(document, "port_templates")), 2);
}

static void test_instances_are_ports_with_the_fields_of_their_template(void **state)
{
	_cleanup_(config_freep) struct config *config =
		parse("{'ports':{'taken':{'interface':'eth1'}}," TEMPLATES "}", &runtime);

	(void)state;
	assert_instances(config);
	assert_document_is_without_instances(config);
}

static void test_instances_share_a_configuration_that_outlives_its_owner(void **state)
{
	struct config *config =
		parse("{'ports':{'taken':{'interface':'eth1'}}," TEMPLATES "}", NULL);
	_cleanup_(config_freep) struct config *with = NULL;
	_cleanup_(config_freep) struct config *without = NULL;

	(void)state;
	assert_int_equal(config_with_instances(&with, config, &runtime), 0);
	assert_int_equal(config_with_instances(&without, with, &(struct config_runtime){0}), 0);
	config_free(config);
	assert_instances(with);
	assert_document_is_without_instances(with);
	assert_int_equal(without->port_count, 1);
	assert_ptr_equal(without->acls, with->acls);
}

static void test_instances_beyond_the_last_number_are_refused(void **state)
{
	static struct config_instance many[SECG_MAX_PORTS];
	static char names[SECG_MAX_PORTS][16];
	struct config_runtime all = {.instances = many, .instance_count = SECG_MAX_PORTS - 1};
	_cleanup_(config_freep) struct config *config =
		parse("{'ports':{'taken':{'interface':'eth1'}}," TEMPLATES "}", NULL);
	_cleanup_(config_freep) struct config *with = NULL;

	(void)state;
	for (int i = 0; i < SECG_MAX_PORTS; i++) {
		snprintf(names[i], sizeof(names[i]), "v%d", i);
		many[i] = (struct config_instance){names[i], "q"};
	}
	assert_int_equal(config_with_instances(&with, config, &all), -E2BIG);
	all.instance_count--;
	assert_int_equal(config_with_instances(&with, config, &all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields_that_are_given_must_hold),
		cmocka_unit_test(test_a_tun_is_no_tap),
		cmocka_unit_test(test_more_fields_then_more_literal_bytes),
		cmocka_unit_test(test_quarantine_is_closed_in_both_directions),
		cmocka_unit_test(test_instances_are_ports_with_the_fields_of_their_template),
		cmocka_unit_test(test_instances_share_a_configuration_that_outlives_its_owner),
		cmocka_unit_test(test_instances_beyond_the_last_number_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
