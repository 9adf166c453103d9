/* SPDX-License-Identifier: Apache-2.0 */
/* What the data path is to tell of a policy: the entries of secg_watch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/watches.h"
#include "generation_lab.h"

/* A generation and its watches. */
struct lab {
	struct generation *live, *next;
	struct watches watches;
};

static struct lab make(uint32_t counters, const char *text)
{
	struct lab lab = {.live = empty(counters)};

	lab.next = build(lab.live, text);
	assert_int_equal(watches_make(&lab.watches, lab.next), 0);
	return lab;
}

static void end(struct lab *lab)
{
	watches_fini(&lab->watches);
	generation_free(lab->next);
	generation_free(lab->live);
}

/* "port\nacl/rule" */
static const struct secg_watch *of_rule(const struct lab *lab, const char *name)
{
	const struct watch_item *item;
	uint32_t number;

	assert_int_equal(ids_find(lab->next->counter_ids, name, &number), 0);
	item = watches_find(&lab->watches, number);
	return item ? &item->wanted.watch : NULL;
}

static const struct secg_watch *of_default(const struct lab *lab, const char *port, int direction)
{
	uint32_t id = generation_find_port(lab->next, port)->id;
	const struct watch_item *item =
		watches_find(&lab->watches, SECG_WATCH_DEFAULT | id << 1 | (uint32_t)direction);

	return item ? &item->wanted.watch : NULL;
}

#define ACL(more, rules) "\"acls\":{\"in\":{" more "\"rules\":[" rules "]}}"
#define RULE(id, action, more) \
	"{\"id\":\"" id "\",\"action\":\"" action "\",\"protocol\":\"tcp\",\"dst_ports\":1" more "}"

static void test_rules_are_watched_as_they_say(void **state)
{
	struct lab lab = make(
		SECG_MAX_COUNTERS,
		"{" ACL("",
			RULE("quiet", "drop", "") "," RULE("plain", "allow", ",\"log\":true") "," RULE("all", "allow", ",\"log\":{\"rate\":7,\"what\":\"all\"}") "," RULE(
				"some", "allow",
				",\"sample\":{\"new\":3,\"established\":50}") "," RULE("off",
										       "drop",
										       ",\"log\":true,\"enabled\":false")) ",\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[\"in\"]}}}");

	(void)state;
	assert_null(of_rule(&lab, "p\nin/quiet"));
	assert_null(of_rule(&lab, "p\nin/off"));
	assert_int_equal(of_rule(&lab, "p\nin/plain")->rate, 10);
	assert_int_equal(of_rule(&lab, "p\nin/plain")->log_all, 0);
	assert_int_equal(of_rule(&lab, "p\nin/all")->rate, 7);
	assert_int_equal(of_rule(&lab, "p\nin/all")->log_all, 1);
	assert_int_equal(of_rule(&lab, "p\nin/some")->rate, 0);
	assert_int_equal(of_rule(&lab, "p\nin/some")->sample[0], 3);
	assert_int_equal(of_rule(&lab, "p\nin/some")->sample[1], 50);
	end(&lab);
}

static void test_what_is_audited_is_told(void **state)
{
	struct lab lab = make(
		SECG_MAX_COUNTERS,
		"{" ACL("\"audit\":true,",
			RULE("deny", "drop", "") "," RULE("let", "allow", "") "," RULE(
				"loud", "reject",
				",\"log\":{\"rate\":3}")) ",\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[\"in\"]},"
							  "\"q\":{\"interface\":\"tap2\",\"from\":[],\"to\":[],\"audit\":true,"
							  "\"default\":{\"to\":{\"action\":\"allow\"}}}}}");

	(void)state;
	assert_int_equal(of_rule(&lab, "p\nin/deny")->rate, WATCH_AUDIT_RATE);
	assert_null(of_rule(&lab, "p\nin/let"));
	assert_int_equal(of_rule(&lab, "p\nin/loud")->rate, 3);
	assert_null(of_default(&lab, "p", SECG_TO));
	assert_int_equal(of_default(&lab, "q", SECG_FROM)->rate, WATCH_AUDIT_RATE);
	assert_null(of_default(&lab, "q", SECG_TO));
	end(&lab);
}

static void test_a_default_with_log_is_watched(void **state)
{
	struct lab lab = make(SECG_MAX_COUNTERS,
			      "{\"ports\":{\"p\":{\"interface\":\"tap1\",\"from\":[],\"default\":"
			      "{\"from\":{\"action\":\"drop\",\"log\":{\"rate\":5}}}}}}");

	(void)state;
	assert_int_equal(of_default(&lab, "p", SECG_FROM)->rate, 5);
	assert_null(of_default(&lab, "p", SECG_TO));
	end(&lab);
}

static void test_reasons_and_answers_have_rates_of_their_own(void **state)
{
	struct lab lab =
		make(SECG_MAX_COUNTERS, "{\"ports\":{\"p\":{\"interface\":\"tap1\",\"from\":[]}}}");
	uint32_t id = generation_find_port(lab.next, "p")->id;

	(void)state;
	for (uint32_t reason = 1; reason < SECG_REASON_COUNT; reason++) {
		bool is_decided = reason == SECG_REASON_DEFAULT ||
				  reason == SECG_REASON_RULE_DROP ||
				  reason == SECG_REASON_RULE_REJECT;
		const struct watch_item *item =
			watches_find(&lab.watches, SECG_WATCH_REASON | reason);

		assert_int_equal(!item, is_decided);
		assert_true(!item || item->wanted.watch.rate == WATCH_REASON_RATE);
	}
	assert_int_equal(watches_find(&lab.watches, SECG_WATCH_REJECT | id)->wanted.watch.rate,
			 WATCH_REJECT_RATE);
	assert_null(watches_find(&lab.watches, SECG_WATCH_REJECT | (id + 1)));
	end(&lab);
}

/* A rule that stands in both lists of a port, or whose counter two ports share, is one entry. */
static void test_a_counter_has_one_entry(void **state)
{
	static const char text[] = "{" ACL(
		"",
		RULE("a", "allow",
		     ",\"log\":true")) ",\"ports\":{\"p\":{\"interface\":\"tap1\",\"from\":[\"in\"],\"to\":[\"in\"]},"
				       "\"q\":{\"interface\":\"tap2\",\"to\":[\"in\"]}}}";
	struct lab lab = make(SECG_MAX_COUNTERS, text);
	struct lab scarce = make(3, text);

	(void)state;
	assert_ptr_not_equal(of_rule(&lab, "p\nin/a"), of_rule(&lab, "q\nin/a"));
	for (size_t i = 1; i < lab.watches.count; i++)
		assert_true(lab.watches.items[i - 1].wanted.key < lab.watches.items[i].wanted.key);
	assert_int_equal(of_rule(&scarce, "\nin/a")->rate, 10);
	end(&lab);
	end(&scarce);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_are_watched_as_they_say),
		cmocka_unit_test(test_what_is_audited_is_told),
		cmocka_unit_test(test_a_default_with_log_is_watched),
		cmocka_unit_test(test_reasons_and_answers_have_rates_of_their_own),
		cmocka_unit_test(test_a_counter_has_one_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
