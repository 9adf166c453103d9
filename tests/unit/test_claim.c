/* SPDX-License-Identifier: Apache-2.0 */
/* Whose an interface is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/claim.h"

#define MAX_LINKS 8

/* Claims of a document on interfaces that tests change. */
struct lab {
	struct claims *claims;
	struct claim_link links[MAX_LINKS];
	size_t count;
};

static void lab_fini(struct lab *lab)
{
	claims_freep(&lab->claims);
}

static void begin(struct lab *lab, const char *text)
{
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(errors_fini) struct errors errs = {0};
	char quoted[2048];
	json_t *document;

	snprintf(quoted, sizeof(quoted), "%s", text);
	for (char *at = quoted; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	document = json_loads(quoted, 0, NULL);
	assert_non_null(document);
	if (config_parse(&config, document, NULL, &errs) < 0)
		fail_msg("%s: %s", errs.items[0].field, errs.items[0].message);
	json_decref(document);
	claims_freep(&lab->claims);
	assert_int_equal(claims_new(&lab->claims, config), 0);
}

static void look(struct lab *lab)
{
	assert_int_equal(claims_update(lab->claims, lab->links, lab->count), 0);
}

/* Interfaces get the ifindex 10, 11 ... */
static struct claim_link *add(struct lab *lab, const char *name, const char *kind)
{
	struct claim_link *link = &lab->links[lab->count];

	*link = (struct claim_link){
		.facts = {.name = name, .kind = kind, .alias = "", .master = ""},
		.ifindex = 10 + (int)lab->count,
		.version = lab->count + 1,
	};
	lab->count++;
	return link;
}

static struct claim claim_of(const struct lab *lab, const char *name)
{
	const struct port *port = config_find_port(claims_config(lab->claims), name);

	assert_non_null(port);
	return claims_find(lab->claims, port);
}

static void assert_has(const struct lab *lab, const char *port, int ifindex)
{
	struct claim claim = claim_of(lab, port);

	assert_int_equal(claim.state, CLAIM_ONE);
	assert_int_equal(claim.ifindex, ifindex);
}

/* "interface:template interface:template", by interface. */
static void assert_instances(const struct lab *lab, const char *wanted)
{
	struct config_runtime runtime = claims_runtime(lab->claims);
	char text[256] = "";

	for (size_t i = 0; i < runtime.instance_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s:%s", i ? " " : "",
			 runtime.instances[i].interface, runtime.instances[i].template);
	assert_string_equal(text, wanted);
}

#define QUARANTINE "'quarantine':{'match':{'name':'*'},'from':[],'to':[]}"

static void test_interface_by_name_wins_over_a_match(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};

	(void)state;
	add(&lab, "tap1", "tun");
	add(&lab, "tap2", "tun");
	begin(&lab, "{'ports':{'named':{'interface':'tap1'},"
		    "'matched':{'match':{'name':'tap?','kind':'tun'}}}}");
	look(&lab);
	assert_has(&lab, "named", 10);
	assert_has(&lab, "matched", 11);
}

static void test_two_interfaces_for_one_match(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};
	struct claim claim;

	(void)state;
	add(&lab, "tap1", "tun");
	begin(&lab, "{'ports':{'p':{'match':{'name':'tap*'}}}}");
	look(&lab);
	assert_has(&lab, "p", 10);
	add(&lab, "tap2", "tun");
	look(&lab);
	claim = claim_of(&lab, "p");
	assert_int_equal(claim.state, CLAIM_AMBIGUOUS);
	assert_int_equal(claim.ifindex, 10);
	assert_int_equal(claim.other, 11);
	assert_instances(&lab, "");
	lab.count = 1;
	look(&lab);
	assert_has(&lab, "p", 10);
}

static void test_what_an_ambiguous_port_leaves_goes_to_a_quarantine_only(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};

	(void)state;
	add(&lab, "tap1", "tun");
	add(&lab, "tap2", "tun");
	add(&lab, "eth1", "");
	begin(&lab, "{'ports':{'p':{'match':{'name':'tap*'}}},'port_templates':{" QUARANTINE
		    ",'open':{'match':{'name':'t*','kind':'tun'}}}}");
	look(&lab);
	assert_int_equal(claim_of(&lab, "p").state, CLAIM_AMBIGUOUS);
	assert_instances(&lab, "eth1:quarantine tap1:quarantine tap2:quarantine");
	begin(&lab, "{'ports':{'p':{'match':{'name':'tap*'}}},"
		    "'port_templates':{'open':{'match':{'name':'*'}}}}");
	look(&lab);
	assert_instances(&lab, "eth1:open");
}

static void test_more_specific_match_has_the_interface(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};

	(void)state;
	add(&lab, "tap1", "tun");
	add(&lab, "tap2", "tun");
	begin(&lab, "{'ports':{'any':{'match':{'name':'tap*'}},'two':{'match':{'name':'tap2'}}}}");
	look(&lab);
	assert_has(&lab, "any", 10);
	assert_has(&lab, "two", 11);
}

static void test_matches_that_are_as_good_are_both_ambiguous(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};

	(void)state;
	add(&lab, "tap1", "tun");
	begin(&lab, "{'ports':{'a':{'match':{'name':'ta*'}},'b':{'match':{'name':'*p1'}},"
		    "'c':{'match':{'name':'t*'}}},'port_templates':{" QUARANTINE "}}");
	look(&lab);
	assert_int_equal(claim_of(&lab, "a").state, CLAIM_AMBIGUOUS);
	assert_string_equal(claim_of(&lab, "a").rival->name, "b");
	assert_int_equal(claim_of(&lab, "b").state, CLAIM_AMBIGUOUS);
	assert_string_equal(claim_of(&lab, "b").rival->name, "a");
	assert_int_equal(claim_of(&lab, "c").state, CLAIM_NONE);
	assert_instances(&lab, "tap1:quarantine");
}

static void test_most_specific_template_of_what_no_port_claims(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};

	(void)state;
	add(&lab, "eth0", "");
	add(&lab, "vnet1", "tun");
	add(&lab, "vnet2", "veth");
	begin(&lab, "{'ports':{'up':{'interface':'eth0'}},'port_templates':{" QUARANTINE
		    ",'vnet':{'match':{'name':'vnet*'}},"
		    "'veth':{'match':{'name':'*','kind':'veth'}}}}");
	look(&lab);
	assert_instances(&lab, "vnet1:vnet vnet2:veth");
}

static void test_of_templates_that_are_as_good_the_quarantine(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};

	(void)state;
	add(&lab, "tap1", "tun");
	begin(&lab, "{'port_templates':{'a':{'match':{'name':'ta*'}},"
		    "'b':{'match':{'name':'*p1'},'from':[],'to':[]},"
		    "'c':{'match':{'name':'t*1'},'from':[],'to':[]}}}");
	look(&lab);
	assert_instances(&lab, "tap1:b");
}

/* The loopback, devices of the daemon, what cannot be guarded: by name, never by a glob. */
static void test_reserved_interfaces_are_taken_by_name_only(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};

	(void)state;
	add(&lab, "lo", "")->is_reserved = true;
	begin(&lab, "{'ports':{'p':{'match':{'name':'l?'}}},'port_templates':{" QUARANTINE "}}");
	look(&lab);
	assert_int_equal(claim_of(&lab, "p").state, CLAIM_NONE);
	assert_instances(&lab, "");
	begin(&lab, "{'ports':{'p':{'match':{'name':'lo'}}}}");
	look(&lab);
	assert_has(&lab, "p", 10);
	begin(&lab, "{'ports':{'p':{'interface':'lo'}}}");
	look(&lab);
	assert_has(&lab, "p", 10);
}

static void test_what_changes_is_judged_anew(void **state)
{
	_cleanup_(lab_fini) struct lab lab = {0};
	struct claim_link *link = add(&lab, "tap1", "tun");

	(void)state;
	begin(&lab,
	      "{'ports':{'p':{'match':{'alias':'vm one'}}},'port_templates':{" QUARANTINE "}}");
	look(&lab);
	assert_int_equal(claim_of(&lab, "p").state, CLAIM_NONE);
	assert_instances(&lab, "tap1:quarantine");
	link->facts.alias = "vm one";
	link->version = 100;
	look(&lab);
	assert_has(&lab, "p", 10);
	assert_instances(&lab, "");
	link->facts.name = "tap9";
	link->facts.alias = "";
	link->version = 101;
	look(&lab);
	assert_instances(&lab, "tap9:quarantine");
}

/* Where port numbers run out the interfaces that have been there longest are kept. */
static void test_interfaces_beyond_the_last_number_are_told(void **state)
{
	static struct claim_link links[SECG_MAX_PORTS + 1];
	static char names[SECG_MAX_PORTS + 1][16];
	_cleanup_(lab_fini) struct lab lab = {0};
	const char *first;

	(void)state;
	for (int i = 0; i <= SECG_MAX_PORTS; i++) {
		snprintf(names[i], sizeof(names[i]), "v%d", i);
		links[i] = (struct claim_link){
			.facts = {.name = names[i], .kind = "veth", .alias = "", .master = ""},
			.ifindex = 10 + i,
			.version = 1 + (uint64_t)i,
		};
	}
	begin(&lab, "{'port_templates':{" QUARANTINE "}}");
	assert_int_equal(claims_update(lab.claims, links, SECG_MAX_PORTS - 1), 0);
	assert_int_equal(claims_left_over(lab.claims, &first), 0);
	assert_int_equal(claims_update(lab.claims, links, SECG_MAX_PORTS + 1), 0);
	assert_int_equal(claims_left_over(lab.claims, &first), 2);
	assert_string_equal(first, "v4095");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interface_by_name_wins_over_a_match),
		cmocka_unit_test(test_two_interfaces_for_one_match),
		cmocka_unit_test(test_what_an_ambiguous_port_leaves_goes_to_a_quarantine_only),
		cmocka_unit_test(test_more_specific_match_has_the_interface),
		cmocka_unit_test(test_matches_that_are_as_good_are_both_ambiguous),
		cmocka_unit_test(test_most_specific_template_of_what_no_port_claims),
		cmocka_unit_test(test_of_templates_that_are_as_good_the_quarantine),
		cmocka_unit_test(test_reserved_interfaces_are_taken_by_name_only),
		cmocka_unit_test(test_what_changes_is_judged_anew),
		cmocka_unit_test(test_interfaces_beyond_the_last_number_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
