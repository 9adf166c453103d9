/* SPDX-License-Identifier: Apache-2.0 */
/* Generations: what of a port is kept, what is new, what the data path is told. No data path needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "generation_lab.h"

#define RULE(id, action) "{\"id\":\"" id "\",\"action\":\"" action "\",\"protocol\":\"tcp\"}"
#define ACLS                                                         \
	"\"acls\":{\"in\":{\"rules\":[" RULE("a", "allow") "," RULE( \
		"b", "drop") "]},"                                   \
			     "\"less\":{\"rules\":[" RULE(           \
				     "a", "allow-stateless") "]},\"none\":{\"rules\":[]}}"

/* ── what the data path is told ─────────────────────────────────────────────────────────────────── */

static void test_absent_direction_tracks_beside_stateful_rules(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *next = build(
		live,
		"{" ACLS ",\"ports\":{"
		"\"both\":{\"interface\":\"tap0\"},"
		"\"empty\":{\"interface\":\"tap1\",\"from\":[],\"to\":[\"none\"]},"
		"\"full\":{\"interface\":\"tap2\",\"to\":[\"in\"]},"
		"\"less\":{\"interface\":\"tap3\",\"to\":[\"less\"]},"
		"\"open\":{\"interface\":\"tap4\",\"to\":[],\"default\":{\"to\":{\"action\":\"allow\"}}}}}");
	const struct secg_port *table;

	(void)state;
	table = table_of(next, "both");
	assert_int_equal(table->flags, SECG_PORT_VALID);
	assert_int_equal(table->rules.otherwise[SECG_FROM], SECG_ACTION_ALLOW_STATELESS);
	assert_int_equal(table->rules.otherwise[SECG_TO], SECG_ACTION_ALLOW_STATELESS);
	table = table_of(next, "empty");
	assert_int_equal(table->flags, SECG_PORT_VALID);
	assert_int_equal(table->rules.otherwise[SECG_FROM], SECG_ACTION_DROP);
	assert_int_equal(table->rules.otherwise[SECG_TO], SECG_ACTION_DROP);
	assert_int_equal(table->rules.policy[SECG_FROM], 0);
	assert_int_equal(table->rules.policy[SECG_TO], 0);
	table = table_of(next, "full");
	assert_int_equal(table->flags, SECG_PORT_VALID | SECG_PORT_STATEFUL);
	assert_int_equal(table->rules.otherwise[SECG_FROM], SECG_ACTION_ALLOW);
	assert_int_equal(table->rules.otherwise[SECG_TO], SECG_ACTION_DROP);
	assert_int_equal(table->rules.policy[SECG_FROM], 0);
	assert_int_not_equal(table->rules.policy[SECG_TO], 0);
	assert_int_not_equal(table->rules.counters[SECG_TO], 0);
	table = table_of(next, "less");
	assert_int_equal(table->flags, SECG_PORT_VALID);
	assert_int_equal(table->rules.otherwise[SECG_FROM], SECG_ACTION_ALLOW_STATELESS);
	table = table_of(next, "open");
	assert_int_equal(table->flags, SECG_PORT_VALID | SECG_PORT_STATEFUL);
	assert_int_equal(table->rules.otherwise[SECG_TO], SECG_ACTION_ALLOW);
	generation_free(next);
	generation_free(live);
}

static void test_port_settings_reach_the_table(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *next = build(
		live,
		"{\"ports\":{\"vm\":{\"interface\":\"tap0\",\"tcp\":\"strict\",\"on_change\":\"keep\","
		"\"timeouts\":{\"icmp\":10}}}}");
	const struct secg_port *table = table_of(next, "vm");

	(void)state;
	/* Kept sessions are looked up although nothing here makes new ones. */
	assert_int_equal(table->flags, SECG_PORT_VALID | SECG_PORT_STATEFUL | SECG_PORT_TCP_STRICT |
					       SECG_PORT_KEEP);
	assert_int_equal(table->domain, generation_find_port(next, "vm")->id);
	/* never shorter than asked for, and at most a tick longer */
	assert_in_range(table->timeout[SECG_TIMEOUT_ICMP], 313, 314);
	assert_in_range(table->timeout[SECG_TIMEOUT_TCP_ESTABLISHED], 2700000, 2700001);
	generation_free(next);
	generation_free(live);
}

static void test_side_is_that_of_the_interface(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *next = build(live, "{\"ports\":{"
					      "\"a\":{\"interface\":\"eth0\"},"
					      "\"b\":{\"interface\":\"tap0\"},"
					      "\"c\":{\"interface\":\"later\"},"
					      "\"d\":{\"interface\":\"tap1\",\"side\":\"host\"}}}");
	uint16_t lldp = 1 << SECG_INFRA_LLDP;

	(void)state;
	assert_true(table_of(next, "a")->infra[SECG_FROM] & lldp);
	assert_false(table_of(next, "b")->infra[SECG_FROM] & lldp);
	assert_false(table_of(next, "c")->infra[SECG_FROM] & lldp);
	assert_true(table_of(next, "d")->infra[SECG_FROM] & lldp);
	generation_free(next);
	generation_free(live);
}

/* ── what is kept ───────────────────────────────────────────────────────────────────────────────── */

#define PORTS                                                         \
	"\"ports\":{\"p1\":{\"interface\":\"tap1\",\"to\":[\"in\"]}," \
	"\"p2\":{\"interface\":\"tap2\",\"to\":[\"in\"]},"            \
	"\"p3\":{\"interface\":\"tap3\",\"to\":[\"less\"]}}"

static void test_equal_lists_share_one_block(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *next = build(live, "{" ACLS "," PORTS "}");

	(void)state;
	assert_ptr_equal(generation_find_port(next, "p1")->policy[SECG_TO],
			 generation_find_port(next, "p2")->policy[SECG_TO]);
	assert_ptr_not_equal(generation_find_port(next, "p1")->policy[SECG_TO],
			     generation_find_port(next, "p3")->policy[SECG_TO]);
	assert_int_not_equal(counter_of(next, "p1", SECG_TO, 0),
			     counter_of(next, "p2", SECG_TO, 0));
	generation_free(next);
	generation_free(live);
}

static void test_only_the_changed_port_is_rechecked(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *next;
	const struct block *kept;
	uint32_t counter_a, counter_b, kept_line;

	(void)state;
	live = go_live(live, build(live, "{" ACLS "," PORTS "}"));
	assert_int_equal(table_of(live, "p1")->policy_generation, 11);
	assert_int_equal(table_of(live, "p3")->policy_generation, 11);
	kept = generation_find_port(live, "p1")->policy[SECG_TO];
	kept_line = table_of(live, "p1")->rules.policy[SECG_TO];
	counter_a = counter_of(live, "p1", SECG_TO, 0);
	counter_b = counter_of(live, "p3", SECG_TO, 0);
	/* "less" gets a rule in front: p3 changes, the counter of its old rule stays */
	next = build(live, "{\"acls\":{\"in\":{\"rules\":[" RULE("a", "allow") "," RULE(
				   "b", "drop") "]},"
						"\"less\":{\"rules\":[" RULE("n", "drop") "," RULE(
							"a", "allow-stateless") "]}}," PORTS "}");
	assert_true(next->has_changed_policies);
	assert_int_equal(table_of(next, "p1")->policy_generation, 11);
	assert_int_equal(table_of(next, "p2")->policy_generation, 11);
	assert_int_equal(table_of(next, "p3")->policy_generation, 12);
	assert_ptr_equal(generation_find_port(next, "p1")->policy[SECG_TO], kept);
	assert_int_equal(table_of(next, "p1")->rules.policy[SECG_TO], kept_line);
	assert_ptr_equal(generation_find_port(next, "p1")->counters[SECG_TO],
			 generation_find_port(live, "p1")->counters[SECG_TO]);
	assert_int_equal(counter_of(next, "p1", SECG_TO, 0), counter_a);
	assert_int_equal(counter_of(next, "p3", SECG_TO, 1), counter_b);
	generation_free(next);
	generation_free(live);
}

static void test_flags_and_default_are_policy_infrastructure_is_not(void **state)
{
	static const char *const changes[] = {
		"{\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[],\"tcp\":\"strict\"}}}",
		"{\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[],\"on_change\":\"keep\"}}}",
		"{\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[],\"from\":[]}}}",
		"{\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[],"
		"\"default\":{\"to\":{\"action\":\"allow\"}}}}}",
		/* from here on nothing that a session's verdict hangs on */
		"{\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[],\"infrastructure\":[]}}}",
		"{\"ports\":{\"p\":{\"interface\":\"eth1\",\"to\":[]}}}",
		"{\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[],\"timeouts\":{\"icmp\":9}}}}",
	};
	struct generation *live = empty(SECG_MAX_COUNTERS);

	(void)state;
	live = go_live(live, build(live, "{\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[]}}}"));
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct generation *next = build(live, changes[i]);

		assert_int_equal(next->has_changed_policies, i < 4);
		assert_int_equal(table_of(next, "p")->policy_generation, i < 4 ? 12 : 11);
		generation_free(next);
	}
	generation_free(live);
}

/* A group is part of every policy that names it. */
static void test_change_of_a_group_changes_its_users(void **state)
{
	static const char text[] =
		"{\"groups\":{\"g\":{\"prefixes\":[\"%s\"]}},"
		"\"acls\":{\"x\":{\"rules\":[{\"id\":\"a\",\"action\":\"allow\",\"src\":[\"@g\"]}]}},"
		"\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[\"x\"]}}}";
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *next;
	char document[512];

	(void)state;
	snprintf(document, sizeof(document), text, "10.0.0.1");
	live = go_live(live, build(live, document));
	next = build(live, document);
	assert_false(next->has_changed_policies);
	generation_free(next);
	snprintf(document, sizeof(document), text, "10.0.0.2");
	next = build(live, document);
	assert_true(next->has_changed_policies);
	assert_ptr_not_equal(generation_find_port(next, "p")->policy[SECG_TO],
			     generation_find_port(live, "p")->policy[SECG_TO]);
	generation_free(next);
	generation_free(live);
}

/* What a start does: nothing is compiled yet, but the store remembers the digests. */
static void test_restart_changes_nothing(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *stored = NULL;
	struct generation *next;
	struct store_state saved, state_again = {0};

	(void)state;
	live = go_live(live, build(live, "{" ACLS "," PORTS "}"));
	live = go_live(live, build(live, "{" ACLS "," PORTS "}"));
	generation_store_state(live, &saved);
	state_again = (struct store_state){
		.document = json_deep_copy(saved.document),
		.policies = json_deep_copy(saved.policies),
		.generation = saved.generation,
		.etag = saved.etag,
	};
	assert_int_equal(ids_copy(&state_again.ports, saved.ports), 0);
	assert_int_equal(ids_copy(&state_again.counters, saved.counters), 0);
	assert_int_equal(generation_from_store(&stored, &state_again), 0);
	next = build(stored, "{" ACLS "," PORTS "}");
	assert_false(next->has_changed_policies);
	assert_false(next->has_changed_numbers);
	assert_int_equal(next->table_count, live->table_count);
	for (size_t i = 0; i < live->port_count; i++) {
		const struct generation_port *a = &live->ports[i], *b = &next->ports[i];

		assert_int_equal(a->id, b->id);
		assert_int_equal(a->changed, b->changed);
		assert_memory_equal(&live->table[a->id], &next->table[b->id],
				    offsetof(struct secg_port, rules));
		assert_int_equal(counter_of(live, a->port->name, SECG_TO, 0),
				 counter_of(next, a->port->name, SECG_TO, 0));
	}
	generation_free(next);
	generation_free(stored);
	generation_free(live);
}

static void test_removed_port_is_released_then_gone(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	uint32_t id;

	(void)state;
	live = go_live(live, build(live, "{\"ports\":{\"p\":{\"interface\":\"tap1\",\"to\":[]},"
					 "\"q\":{\"interface\":\"tap2\",\"to\":[]}}}"));
	id = generation_find_port(live, "p")->id;
	live = go_live(live, build(live, "{\"ports\":{\"q\":{\"interface\":\"tap2\",\"to\":[]}}}"));
	assert_int_equal(live->table[id].flags, SECG_PORT_VALID | SECG_PORT_RELEASED);
	assert_int_not_equal(live->table[id].timeout[0], 0);
	assert_true(live->has_changed_numbers);
	live = go_live(live, build(live, "{\"ports\":{\"q\":{\"interface\":\"tap2\",\"to\":[]}}}"));
	if (id < live->table_count)
		assert_int_equal(live->table[id].flags, 0);
	generation_free(live);
}

static void test_a_freed_number_rests_for_a_grace_period(void **state)
{
	struct generation *live = empty(SECG_MAX_COUNTERS);
	struct generation *next;
	uint32_t id;

	(void)state;
	live = go_live(live, build(live, "{\"ports\":{\"p\":{\"interface\":\"tap1\"}}}"));
	id = generation_find_port(live, "p")->id;
	next = build(live, "{\"ports\":{\"q\":{\"interface\":\"tap1\"}}}");
	assert_int_not_equal(generation_find_port(next, "q")->id, id);
	assert_int_equal(next->table[id].flags, SECG_PORT_VALID | SECG_PORT_RELEASED);
	generation_free(next);
	generation_free(live);
}

/* ── running out ────────────────────────────────────────────────────────────────────────────────── */

static void test_counters_run_out_late_ports_share(void **state)
{
	/* numbers 1..7: two shared ones, then two each for two and a half ports */
	struct generation *live = empty(8);
	struct generation *next;
	uint32_t a, b, id;

	(void)state;
	live = go_live(live, build(live, "{" ACLS ",\"ports\":{"
					 "\"p8\":{\"interface\":\"tap8\",\"to\":[\"in\"]},"
					 "\"p9\":{\"interface\":\"tap9\",\"to\":[\"in\"]}}}"));
	a = counter_of(live, "p8", SECG_TO, 0);
	b = counter_of(live, "p9", SECG_TO, 1);
	next = build(live, "{" ACLS ",\"ports\":{"
			   "\"p1\":{\"interface\":\"tap1\",\"to\":[\"in\"]},"
			   "\"p2\":{\"interface\":\"tap2\",\"to\":[\"in\"]},"
			   "\"p8\":{\"interface\":\"tap8\",\"to\":[\"in\"]},"
			   "\"p9\":{\"interface\":\"tap9\",\"to\":[\"in\"]}}}");
	/* who was there keeps its own */
	assert_int_equal(counter_of(next, "p8", SECG_TO, 0), a);
	assert_int_equal(counter_of(next, "p9", SECG_TO, 1), b);
	/* the last one shares all */
	assert_int_equal(ids_find(next->counter_ids, "\nin/a", &id), 0);
	assert_int_equal(counter_of(next, "p2", SECG_TO, 0), id);
	assert_int_equal(ids_find(next->counter_ids, "\nin/b", &id), 0);
	assert_int_equal(counter_of(next, "p2", SECG_TO, 1), id);
	generation_free(next);
	generation_free(live);
}

/* With all numbers given to ports there would be none left to share. */
static void test_room_to_share_is_kept(void **state)
{
	struct generation *live = empty(6);
	struct generation *next;
	uint32_t id;

	(void)state;
	live = go_live(live, build(live, "{" ACLS ",\"ports\":{"
					 "\"p8\":{\"interface\":\"tap8\",\"to\":[\"in\"]},"
					 "\"p9\":{\"interface\":\"tap9\",\"to\":[\"in\"]}}}"));
	next = build(live, "{" ACLS ",\"ports\":{"
			   "\"p1\":{\"interface\":\"tap1\",\"to\":[\"in\"]},"
			   "\"p8\":{\"interface\":\"tap8\",\"to\":[\"in\"]},"
			   "\"p9\":{\"interface\":\"tap9\",\"to\":[\"in\"]}}}");
	assert_int_equal(ids_find(next->counter_ids, "\nin/a", &id), 0);
	assert_int_equal(counter_of(next, "p1", SECG_TO, 0), id);
	assert_int_equal(counter_of(next, "p8", SECG_TO, 0), counter_of(live, "p8", SECG_TO, 0));
	generation_free(next);
	generation_free(live);
}

static void test_more_rules_than_counters_is_a_limit(void **state)
{
	struct generation *live = empty(2);
	struct generation *next = NULL;

	(void)state;
	assert_int_equal(try_build(&next, live, "{" ACLS "," PORTS "}"), -ENOSPC);
	assert_null(next);
	generation_free(live);
}

/* ── domains ────────────────────────────────────────────────────────────────────────────────────── */

static void test_ports_of_one_domain_share_its_number(void **state)
{
	struct generation *live = empty(100);
	struct generation *next =
		build(live, "{\"ports\":{\"a\":{\"interface\":\"tap1\",\"domain\":\"d\"},"
			    "\"b\":{\"interface\":\"tap2\",\"domain\":\"d\"},"
			    "\"c\":{\"interface\":\"tap3\",\"domain\":\"e\"},"
			    "\"d\":{\"interface\":\"tap4\"}}}");
	uint16_t number;

	(void)state;
	number = table_of(next, "a")->domain;
	assert_in_range(number, SECG_MAX_PORTS, UINT16_MAX);
	assert_int_equal(table_of(next, "b")->domain, number);
	assert_true(table_of(next, "a")->flags & SECG_PORT_SHARED);
	assert_true(table_of(next, "b")->flags & SECG_PORT_SHARED);
	assert_in_range(table_of(next, "c")->domain, SECG_MAX_PORTS, UINT16_MAX);
	assert_int_not_equal(table_of(next, "c")->domain, number);
	assert_false(table_of(next, "c")->flags & SECG_PORT_SHARED);
	assert_int_equal(table_of(next, "d")->domain, generation_find_port(next, "d")->id);
	live = go_live(live, next);
	next = build(live, "{\"ports\":{\"b\":{\"interface\":\"tap2\",\"domain\":\"d\"},"
			   "\"c\":{\"interface\":\"tap3\",\"domain\":\"e\"}}}");
	assert_int_equal(table_of(next, "b")->domain, number);
	assert_false(table_of(next, "b")->flags & SECG_PORT_SHARED);
	generation_free(next);
	generation_free(live);
}

/* ── interfaces that go over ────────────────────────────────────────────────────────────────────── */

static void test_number_of_a_port_that_is_gone_has_the_policy_of_the_one_that_follows(void **state)
{
	struct generation *live = empty(100);
	struct generation *next;
	uint32_t from, to;

	(void)state;
	live = go_live(live, build(live, "{" ACLS ",\"ports\":{\"vm\":{\"interface\":\"tap1\","
					 "\"from\":[\"in\"],\"to\":[]}}}"));
	from = generation_find_port(live, "vm")->id;
	next = build(live, "{" ACLS ",\"ports\":{\"tap1\":{\"interface\":\"tap1\","
			   "\"from\":[],\"to\":[\"less\"]}}}");
	to = generation_find_port(next, "tap1")->id;
	assert_int_not_equal(from, to);
	assert_true(next->table[from].flags & SECG_PORT_RELEASED);
	next->handovers = calloc(1, sizeof(*next->handovers));
	assert_non_null(next->handovers);
	next->handovers[0] = (struct generation_handover){from, to};
	next->handover_count = 1;
	generation_resolve(next);
	assert_memory_equal(&next->table[from], &next->table[to], sizeof(next->table[to]));
	generation_free(next);
	generation_free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports_of_one_domain_share_its_number),
		cmocka_unit_test(
			test_number_of_a_port_that_is_gone_has_the_policy_of_the_one_that_follows),
		cmocka_unit_test(test_absent_direction_tracks_beside_stateful_rules),
		cmocka_unit_test(test_port_settings_reach_the_table),
		cmocka_unit_test(test_side_is_that_of_the_interface),
		cmocka_unit_test(test_equal_lists_share_one_block),
		cmocka_unit_test(test_only_the_changed_port_is_rechecked),
		cmocka_unit_test(test_flags_and_default_are_policy_infrastructure_is_not),
		cmocka_unit_test(test_change_of_a_group_changes_its_users),
		cmocka_unit_test(test_restart_changes_nothing),
		cmocka_unit_test(test_removed_port_is_released_then_gone),
		cmocka_unit_test(test_a_freed_number_rests_for_a_grace_period),
		cmocka_unit_test(test_counters_run_out_late_ports_share),
		cmocka_unit_test(test_room_to_share_is_kept),
		cmocka_unit_test(test_more_rules_than_counters_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
