/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's commits: batches, dry runs, stores that fail, tables that are full. */
#include <signal.h>

#include "engine_lab.h"

/* ── commits ────────────────────────────────────────────────────────────────────────────────────── */

static void test_policy_judges_real_packets(void **state)
{
	struct engine *engine = *state;
	struct answer answer = merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	struct session_filter filter = any;
	struct listing listing;

	assert_true(answer.is_changed);
	assert_int_equal(answer.etag, 1);
	assert_int_equal(answer.waiting + answer.failed, 0);
	assert_int_equal(answer.generation, engine_generation(engine));
	assert_state(engine, "a", PORT_GUARDED);
	send_udp(53, 3);
	send_udp(123, 2);
	send_udp(99, 1);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 3);
	assert_int_equal(rule_packets(engine, "a", "web/ntp"), 2);
	assert_int_equal(reason_packets(engine, SECG_REASON_RULE_DROP), 2);
	assert_true(reason_packets(engine, SECG_REASON_DEFAULT) >= 1);
	filter.dport = 53;
	listing = sessions(engine, &filter);
	assert_int_equal(listing.count, 1);
	assert_string_equal(listing.rule, "web/dns");
	assert_int_equal(listing.last.opened, SECG_FROM);
	assert_int_equal((uint32_t)listing.last.src, 0xc0000201);
	assert_int_equal(listing.last.orig.packets, 3);
	assert_true(listing.last.expires_s > 25 && listing.last.expires_s <= 31);
	filter.dport = 54;
	assert_int_equal(engine_sessions_delete(engine, &filter), 0);
	filter.dport = 53;
	assert_int_equal(engine_sessions_delete(engine, &filter), 1);
	assert_int_equal(sessions(engine, &filter).count, 0);
}

static void test_same_again_makes_no_generation(void **state)
{
	struct engine *engine = *state;
	struct answer first = merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	struct answer second = merge_well(engine, "{" WEB "}");

	assert_false(second.is_changed);
	assert_int_equal(second.generation, first.generation);
	assert_int_equal(second.etag, first.etag);
}

static void test_batch_of_writers_with_one_etag(void **state)
{
	struct engine *engine = *state;
	uint64_t before = engine_generation(engine);
	struct answer answers[4];

	for (int i = 0; i < 4; i++) {
		char text[64];
		struct change *change;

		snprintf(text, sizeof(text), "{\"groups\":{\"g%d\":{}}}", i);
		change = submit(engine, &answers[i], CHANGE_MERGE, text);
		change->has_if_match = i < 3;
		change->if_match = engine_etag(engine) + (i == 2);
	}
	engine_commit(engine);
	assert_int_equal(answers[0].status, 200);
	assert_int_equal(answers[0].etag, 1);
	assert_int_equal(answers[1].status, 412);
	assert_int_equal(answers[1].code, ERROR_PRECONDITION_FAILED);
	assert_int_equal(answers[2].status, 200);
	assert_int_equal(answers[2].etag, 2);
	assert_int_equal(answers[3].status, 200);
	assert_int_equal(answers[3].etag, 3);
	for (int i = 0; i < 4; i++)
		assert_true(answers[i].status != 200 || answers[i].generation == before + 1);
	assert_int_equal(engine_generation(engine), before + 1);
	assert_int_equal(engine_etag(engine), 3);
	assert_null(config_find_group(engine_config(engine), "g1"));
	assert_non_null(config_find_group(engine_config(engine), "g3"));
}

static void test_refused_change_does_not_stop_the_batch(void **state)
{
	struct engine *engine = *state;
	struct answer bad, good;

	submit(engine, &bad, CHANGE_MERGE,
	       "{\"ports\":{\"a\":{\"interface\":\"secg-a\",\"from\":[\"no\"]}}}");
	submit(engine, &good, CHANGE_MERGE, "{\"groups\":{\"g\":{}}}");
	engine_commit(engine);
	assert_int_equal(bad.status, 400);
	assert_string_equal(bad.field, "ports.a.from[0]");
	assert_int_equal(good.status, 200);
	assert_null(config_find_port(engine_config(engine), "a"));
}

static void test_object_in_use_stays(void **state)
{
	struct engine *engine = *state;
	struct change *change;
	struct answer answer;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	change = submit(engine, &answer, CHANGE_DELETE, NULL);
	change->object = OBJECT_ACL;
	change->name = strdup("web");
	engine_commit(engine);
	assert_int_equal(answer.status, 409);
	assert_int_equal(answer.code, ERROR_IN_USE);
	assert_string_equal(answer.field, "ports.a.from");
	assert_non_null(config_find_acl(engine_config(engine), "web"));
}

static void test_dry_run_changes_nothing(void **state)
{
	struct engine *engine = *state;
	uint64_t generation = engine_generation(engine);
	struct answer answer;

	submit(engine, &answer, CHANGE_MERGE,
	       "{" WEB ",\"ports\":{" PORT_A ",\"z\":{\"interface\":\"secg-none\"}}}")
		->is_dry_run = true;
	engine_commit(engine);
	assert_int_equal(answer.status, 200);
	assert_true(answer.is_changed);
	assert_true(answer.changes >= 3);
	assert_int_equal(answer.waiting, 1);
	assert_int_equal(answer.etag, 0);
	assert_int_equal(engine_generation(engine), generation);
	assert_int_equal(engine_etag(engine), 0);
	assert_int_equal(engine_config(engine)->port_count, 0);
	assert_int_equal(tcx_count("secg-a"), 0);
	/* and it has not taken any room: the real thing goes as if nothing had been */
	assert_int_equal(merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}").generation,
			 generation + 1);
}

static void test_queue_is_bounded(void **state)
{
	struct engine *engine = *state;
	struct answer answer;
	struct change *change;

	for (int i = 0; i < 1024; i++)
		submit(engine, &answer, CHANGE_MERGE, "{}");
	change = change_new();
	assert_int_equal(engine_submit(engine, change), -EBUSY);
	change_free(change);
	engine_commit(engine);
	assert_int_equal(answer.status, 200);
}

/* ── what fails ─────────────────────────────────────────────────────────────────────────────────── */

static void test_store_that_fails_refuses_the_batch(void **state)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
	const struct rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	struct engine *engine = *state;
	struct answer first, second, third;
	uint64_t generation;

	generation = merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}").generation;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	submit(engine, &third, CHANGE_MERGE, "{\"groups\":{\"web\":1}}");
	submit(engine, &first, CHANGE_MERGE,
	       "{\"acls\":{\"web\":{\"rules\":[]}},\"groups\":{\"g\":{}}}");
	submit(engine, &second, CHANGE_MERGE, "{\"ports\":{\"a\":null}}");
	engine_commit(engine);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_true(first.status == 500 || first.status == 507);
	assert_int_equal(second.status, first.status);
	assert_int_equal(third.status, 400);
	assert_int_equal(engine_generation(engine), generation);
	assert_int_equal(engine_etag(engine), 1);
	assert_false(engine_is_healthy(engine));
	assert_state(engine, "a", PORT_GUARDED);
	send_udp(123, 1);
	assert_int_equal(rule_packets(engine, NULL, "web/ntp"), 1);
	/* the next one goes through */
	assert_int_equal(merge_well(engine, "{\"ports\":{\"a\":null}}").etag, 2);
	assert_true(engine_is_healthy(engine));
}

static void test_policy_too_large_for_the_tables(void **state)
{
	json_t *rules = json_array();
	struct engine *engine;
	struct answer large, small, dry;
	char *text = NULL;
	json_t *document;
	uint64_t generation;

	/* memory for a few kilobytes of tables */
	engine_close(*state);
	lab_clean(state);
	lab_setup(state);
	options.dp.table_memory_bytes = 65536;
	engine = open_engine();
	*state = engine;
	for (int i = 0; i < 3000; i++)
		json_array_append_new(rules,
				      json_pack("{s:o, s:s, s:o}", "id", json_sprintf("r%d", i),
						"action", "allow", "src",
						json_sprintf("10.%d.%d.1", i / 256, i % 256)));
	document = json_pack("{s:{s:{s:o}}, s:{s:{s:s, s:[s]}}}", "acls", "big", "rules", rules,
			     "ports", "b", "interface", "secg-b", "from", "big");
	text = json_dumps(document, 0);
	json_decref(document);
	generation = merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}").generation;
	submit(engine, &dry, CHANGE_MERGE, text)->is_dry_run = true;
	engine_commit(engine);
	assert_int_equal(dry.status, 507);
	assert_non_null(strstr(dry.message, "1 MiB of --table-memory"));
	large = merge(engine, text);
	assert_int_equal(large.status, 507);
	assert_int_equal(large.code, ERROR_LIMIT);
	assert_string_equal(large.message, dry.message);
	assert_non_null(strstr(large.message, "--detach-all"));
	assert_int_equal(engine_generation(engine), generation);
	assert_null(config_find_port(engine_config(engine), "b"));
	small = merge_well(engine,
			   "{\"ports\":{\"b\":{\"interface\":\"secg-b\",\"from\":[\"web\"]}}}");
	assert_int_equal(small.generation, generation + 1);
	send_udp(123, 1);
	assert_int_equal(rule_packets(engine, "a", "web/ntp"), 1);
	free(text);
	options.dp.table_memory_bytes = 0;
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_policy_judges_real_packets),
		TEST(test_same_again_makes_no_generation),
		TEST(test_batch_of_writers_with_one_etag),
		TEST(test_refused_change_does_not_stop_the_batch),
		TEST(test_object_in_use_stays),
		TEST(test_dry_run_changes_nothing),
		TEST(test_queue_is_bounded),
		TEST(test_store_that_fails_refuses_the_batch),
		TEST(test_policy_too_large_for_the_tables),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
