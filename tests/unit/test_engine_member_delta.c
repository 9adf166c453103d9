/* SPDX-License-Identifier: Apache-2.0 */
/* What a change of members is, beside one of rules: whose sessions `on_change: cut` is for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/member_delta.h"
#include "generation_lab.h"

#define POLICY(groups, src, ports)                                                              \
	"{\"groups\":{" groups                                                                  \
	"},\"services\":{\"s\":[{\"protocol\":\"tcp\",\"dst_ports\":[22]}]},"                   \
	"\"acls\":{\"a\":{\"rules\":[{\"id\":\"r\",\"action\":\"allow\",\"src\":[\"@g\"" src    \
	"],\"service\":\"s\"}]}},\"security_groups\":{\"w\":{\"rules\":[{\"id\":\"r\","         \
	"\"direction\":\"to\",\"remote\":[\"@g\"]}]}},"                                         \
	"\"ports\":{\"p\":{\"interface\":\"tap0\",\"from\":[\"a\"],\"on_change\":\"cut\"" ports \
	"}}}"
#define ONE "\"g\":{\"prefixes\":[\"10.0.0.1\"]}"
#define TWO "\"g\":{\"prefixes\":[\"10.0.0.1\",\"10.0.0.2\"]}"

static void check(const struct generation *generation, bool has_changed, bool is_cut)
{
	const struct generation_port *entry = generation_find_port(generation, "p");
	bool cuts = table_of(generation, "p")->flags & SECG_PORT_CUT;

	if ((entry->changed == generation->number) != has_changed || cuts != is_cut)
		fail_msg("generation %d: changed in %d, cuts: %d", (int)generation->number,
			 (int)entry->changed, cuts);
}

static void test_members_alone_do_not_cut_what_a_rule_cuts(void **state)
{
	static const struct {
		const char *text;
		bool has_changed, is_cut;
	} steps[] = {
		{POLICY(ONE, "", ""), true, true},
		{POLICY(TWO, "", ""), true, false},
		{POLICY(TWO, "", ""), false, false},
		/* a prefix of the rule itself, with members and without */
		{POLICY(ONE, ",\"10.0.0.7\"", ""), true, true},
		{POLICY(ONE, ",\"10.0.0.7\"", ""), false, true},
		{POLICY(TWO, ",\"10.0.0.8\"", ""), true, true},
		{POLICY(ONE, ",\"10.0.0.8\"", ""), true, false},
		/* by a nested group, and a group that has no member any more */
		{POLICY("\"h\":{\"prefixes\":[\"10.9.0.0/16\"]},\"g\":{\"groups\":[\"h\"]}",
			",\"10.0.0.8\"", ""),
		 true, false},
		{POLICY("\"g\":{}", ",\"10.0.0.8\"", ""), true, false},
		/* the port itself */
		{POLICY("\"g\":{}", ",\"10.0.0.8\"", ",\"tcp\":\"strict\""), true, true},
		{POLICY(ONE, ",\"10.0.0.8\"", ",\"security_groups\":[\"w\"]"), true, true},
		/* in both of its lists */
		{POLICY(TWO, ",\"10.0.0.8\"", ",\"security_groups\":[\"w\"]"), true, false},
	};
	struct generation *live = empty(SECG_MAX_COUNTERS);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		live = go_live(live, build(live, steps[i].text));
		check(live, steps[i].has_changed, steps[i].is_cut);
	}
	generation_free(live);
}

/* The text of the rule is the same, what it means is not. */
static void test_a_service_that_changes_with_members_cuts(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	char text[] = POLICY(TWO, "", "");

	(void)state;
	live = go_live(live, build(live, POLICY(ONE, "", "")));
	memcpy(strstr(text, "[22]"), "[23]", 4);
	live = go_live(live, build(live, text));
	check(live, true, true);
	generation_free(live);
}

static void test_rules_of_a_worn_group_cut_and_its_wearers_do_not(void **state)
{
	static const char format[] =
		"{\"security_groups\":{\"w\":{\"rules\":[{\"id\":\"r\",\"direction\":\"to\","
		"\"remote\":[\"@w\"%s]}]}},\"ports\":{\"p\":{\"interface\":\"tap0\","
		"\"security_groups\":[\"w\"],\"on_change\":\"cut\"},\"q\":{\"interface\":\"tap1\","
		"\"security_groups\":[\"w\"],\"addresses\":[{\"ips\":[\"10.0.0.%d\"]}]}}}";
	struct generation *live = empty(SECG_MAX_COUNTERS);
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), format, "", 1);
	live = go_live(live, build(live, text));
	check(live, true, true);
	snprintf(text, sizeof(text), format, "", 2);
	live = go_live(live, build(live, text));
	check(live, true, false);
	snprintf(text, sizeof(text), format, ",\"10.0.0.9\"", 2);
	live = go_live(live, build(live, text));
	check(live, true, true);
	generation_free(live);
}

/* The store has the document, so what has changed since is who is in the groups. */
static void test_what_was_stored_changes_in_members_only(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *first = build(live, POLICY(TWO, "", ""));
	struct generation *restarted = empty(SECG_MAX_COUNTERS);

	(void)state;
	json_object_update(restarted->policies, first->policies);
	restarted->number = first->number;
	generation_free(first);
	restarted = go_live(restarted, build(restarted, POLICY(ONE, "", "")));
	check(restarted, true, false);
	generation_free(restarted);
	generation_free(live);
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

static struct config *config_of(const char *groups)
{
	struct errors errs = {0};
	struct config *config = NULL;
	json_t *list = json_loads(groups, 0, NULL);
	json_t *document = json_pack("{s:o}", "groups", list);

	assert_int_equal(config_parse(&config, document, NULL, &errs), 0);
	json_decref(document);
	return config;
}

static void check_ranges(const struct addr_list *list, const addr_t (*wanted)[2], size_t count)
{
	assert_int_equal(list->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_true(list->ranges[i].first == wanted[i][0]);
		assert_true(list->ranges[i].last == wanted[i][1]);
	}
}

static void test_addresses_that_come_and_go(void **state)
{
	static const addr_t v4[][2] = {
		{0x0a000001, 0x0a000001}, /* goes, from the middle of a range */
		{0x0a000008, 0x0a000009}, /* comes */
		{0x0a010000, 0x0a01ffff}, /* with a group that goes */
		{0x0a020003, 0x0a020003}, /* into a group that is new */
	};
	struct config *before =
		config_of("{\"b\":{\"prefixes\":[\"10.0.0.0/30\",\"10.0.0.16/28\",\"::1\"]},"
			  "\"c\":{\"prefixes\":[\"10.1.0.0/16\"]},"
			  "\"e\":{\"prefixes\":[\"10.7.0.0/16\",\"fd00::/8\"]}}");
	struct config *next = config_of(
		"{\"a\":{\"prefixes\":[\"10.2.0.3\"]},"
		"\"b\":{\"prefixes\":[\"10.0.0.0/30\",\"10.0.0.16/28\",\"10.0.0.8/31\",\"::1\"],"
		"\"except\":[\"10.0.0.1\"]},\"d\":{},"
		"\"e\":{\"prefixes\":[\"10.7.0.0/16\",\"fd00::/8\"]}}");
	struct addrset set;

	(void)state;
	assert_int_equal(member_delta_find(&set, before, next), 0);
	check_ranges(&set.v4, v4, ARRAY_SIZE(v4));
	assert_int_equal(set.v6.count, 0);
	addrset_fini(&set);
	/* and the other way round */
	assert_int_equal(member_delta_find(&set, next, before), 0);
	check_ranges(&set.v4, v4, ARRAY_SIZE(v4));
	addrset_fini(&set);
	assert_int_equal(member_delta_find(&set, next, next), 0);
	assert_int_equal(addrset_count(&set), 0);
	addrset_fini(&set);
	config_free(before);
	config_free(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_alone_do_not_cut_what_a_rule_cuts),
		cmocka_unit_test(test_a_service_that_changes_with_members_cuts),
		cmocka_unit_test(test_rules_of_a_worn_group_cut_and_its_wearers_do_not),
		cmocka_unit_test(test_what_was_stored_changes_in_members_only),
		cmocka_unit_test(test_addresses_that_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
