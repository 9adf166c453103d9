/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule words: when the revision of a rule is raised and when it is not, the tree that finds a session's own
 * rule, and the addresses that ports may use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generation_lab.h"

/* One port whose one rule, "r", has the given members. */
#define ONE(members)                                                                     \
	"{\"acls\":{\"a\":{\"rules\":[{\"id\":\"r\"," members "}]}},\"groups\":{\"g\":{" \
	"\"prefixes\":[\"10.0.0.0/8\"]}},"                                               \
	"\"ports\":{\"p\":{\"interface\":\"tap0\",\"to\":[\"a\"]}}}"

static uint32_t word_of(const struct generation *generation)
{
	return counter_of(generation, "p", SECG_TO, 0);
}

static uint32_t revision_of(const struct generation *generation)
{
	return word_of(generation) >> SECG_RULE_REVISION_SHIFT;
}

static uint32_t number_of(const struct generation *generation)
{
	return word_of(generation) & SECG_RULE_NUMBER_MASK;
}

static const struct block *own_of(const struct generation *generation)
{
	return generation_find_port(generation, "p")->own[SECG_TO];
}

static void rules_that_sessions_show_have_no_revision(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);

	(void)state;
	live = go_live(live, build(live, ONE("\"action\":\"allow\",\"protocol\":\"tcp\"")));
	assert_int_equal(revision_of(live), 0);
	assert_null(own_of(live));
	assert_int_equal(table_of(live, "p")->rules.own[SECG_TO], 0);
	generation_free(live);
}

static void revision_is_raised_by_what_sessions_do_not_show(void **state)
{
	static const struct {
		const char *document;
		bool is_raised;
	} steps[] = {
		{ONE("\"action\":\"allow\",\"vlan\":[5]"), true},
		{ONE("\"action\":\"allow\",\"vlan\":[5],\"description\":\"x\""), false},
		{ONE("\"action\":\"allow\",\"vlan\":[6]"), true},
		{ONE("\"action\":\"allow\",\"vlan\":[6],\"src\":[\"@g\"]"), false},
		{ONE("\"action\":\"allow\",\"vlan\":[6],\"src\":[\"192.0.2.1\"]"), false},
		{ONE("\"action\":\"allow-stateless\",\"vlan\":[6]"), true},
		{ONE("\"action\":\"allow-stateless\",\"vlan\":[6],\"enabled\":false"), false},
		{ONE("\"action\":\"allow-stateless\",\"src_mac\":[\"02:00:00:00:00:01\"]"), true},
		{ONE("\"action\":\"allow-stateless\",\"dst_mac\":[\"02:00:00:00:00:01\"]"), true},
	};
	struct generation *live = empty(SECG_MAX_COUNTERS);
	uint32_t before = 0, number = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		live = go_live(live, build(live, steps[i].document));
		assert_int_equal(revision_of(live) != before, steps[i].is_raised);
		if (i && steps[i].is_raised)
			assert_int_equal(revision_of(live), before + 1);
		assert_true(!i || number_of(live) == number);
		if (steps[i].is_raised)
			assert_true(live->has_changed_numbers);
		before = revision_of(live);
		number = number_of(live);
		assert_int_equal(own_find(&own_of(live)->tree, word_of(live)), 1);
	}
	generation_free(live);
}

/* A session may have outlived the rule: on a port that keeps them, say. */
static void next_rule_of_a_number_has_another_word(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	uint32_t before;

	(void)state;
	live = go_live(live, build(live, ONE("\"action\":\"allow\",\"vlan\":[5]")));
	before = word_of(live);
	live = go_live(live, build(live, "{\"ports\":{\"p\":{\"interface\":\"tap0\"}}}"));
	live = go_live(live, build(live, ONE("\"action\":\"allow\",\"vlan\":[7]")));
	assert_int_equal(number_of(live), before & SECG_RULE_NUMBER_MASK);
	assert_int_not_equal(word_of(live), before);
	generation_free(live);
}

static void revision_outlives_a_restart(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS), *again = NULL, *next;
	struct store_state stored, copy;
	uint32_t word;

	(void)state;
	live = go_live(live, build(live, ONE("\"action\":\"allow\",\"vlan\":[5]")));
	live = go_live(live, build(live, ONE("\"action\":\"allow\",\"vlan\":[6]")));
	word = word_of(live);
	generation_store_state(live, &stored);
	copy = (struct store_state){
		.document = json_incref(stored.document),
		.policies = json_deep_copy(stored.policies),
		.generation = stored.generation,
		.etag = stored.etag,
	};
	assert_int_equal(ids_copy(&copy.ports, stored.ports), 0);
	assert_int_equal(ids_copy(&copy.counters, stored.counters), 0);
	assert_int_equal(generation_from_store(&again, &copy), 0);
	next = build(again, ONE("\"action\":\"allow\",\"vlan\":[6]"));
	assert_int_equal(word_of(next), word);
	assert_false(next->has_changed_numbers);
	generation_free(next);
	generation_free(again);
	generation_free(live);
}

static void own_tree_is_kept_with_the_words(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS), *next;

	(void)state;
	live = go_live(live, build(live, ONE("\"action\":\"allow\",\"vlan\":[5]")));
	assert_int_equal(table_of(live, "p")->rules.own[SECG_TO], own_of(live)->line);
	next = build(live, ONE("\"action\":\"allow\",\"vlan\":[5]"));
	assert_ptr_equal(own_of(next), own_of(live));
	generation_free(next);
	next = build(live, ONE("\"action\":\"allow\",\"vlan\":[5],\"dst\":[\"192.0.2.1\"]"));
	assert_non_null(own_of(next));
	assert_int_equal(word_of(next), word_of(live));
	generation_free(next);
	generation_free(live);
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

/* In ' for ", which the test turns round. */
static const char senders[] =
	"{'macip':{'m':{'entries':[{'mac':'02:00:00:00:00:01','prefixes':['10.0.0.1']}]}},"
	"'ports':{'tap0':{'interface':'tap0','anti_spoof':true,'macip':'m'},"
	"'tap1':{'interface':'tap1','anti_spoof':true,'macip':'m'},"
	"'tap2':{'interface':'tap2','anti_spoof':true,'macip':'m',"
	"'addresses':[{'mac':'02:00:00:00:00:02','ips':['10.0.0.2']}]},"
	"'tap3':{'interface':'tap3'}}}";

static const struct block *spoof_of(const struct generation *generation, const char *port)
{
	return generation_find_port(generation, port)->spoof;
}

static void ports_with_the_same_addresses_share_what_is_compiled(void **state)
{
	char text[sizeof(senders)];
	struct generation *live = empty(SECG_MAX_COUNTERS), *next;
	const struct secg_port_spoof *spoof;

	(void)state;
	for (size_t i = 0; i < sizeof(senders); i++)
		text[i] = senders[i] == '\'' ? '"' : senders[i];
	live = go_live(live, build(live, text));
	assert_non_null(spoof_of(live, "tap0"));
	assert_ptr_equal(spoof_of(live, "tap0"), spoof_of(live, "tap1"));
	assert_ptr_not_equal(spoof_of(live, "tap0"), spoof_of(live, "tap2"));
	assert_null(spoof_of(live, "tap3"));
	spoof = &table_of(live, "tap2")->spoof;
	assert_int_equal(spoof->policy, spoof_of(live, "tap2")->line);
	assert_memory_equal(spoof->pair[0].mac, "\x02\0\0\0\0\x02", 6);
	assert_memory_equal(spoof->pair[1].mac, "\x02\0\0\0\0\x01", 6);
	assert_int_equal(table_of(live, "tap3")->spoof.policy, 0);
	next = build(live, text);
	assert_ptr_equal(spoof_of(live, "tap2"), spoof_of(next, "tap2"));
	generation_free(next);
	generation_free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_that_sessions_show_have_no_revision),
		cmocka_unit_test(revision_is_raised_by_what_sessions_do_not_show),
		cmocka_unit_test(next_rule_of_a_number_has_another_word),
		cmocka_unit_test(revision_outlives_a_restart),
		cmocka_unit_test(own_tree_is_kept_with_the_words),
		cmocka_unit_test(ports_with_the_same_addresses_share_what_is_compiled),
	};

	return cmocka_run_group_tests_name("rule words", tests, NULL, NULL);
}
