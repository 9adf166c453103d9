/* SPDX-License-Identifier: Apache-2.0 */
/* Members of groups, for good and for a while, as a batch of changes makes them. No data path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "batch_lab.h"

/* One change of members, judged; the caller frees it. */
static struct change *judge_members(struct fixture *fixture, const char *group, const char *text)
{
	struct change *change = new_change(CHANGE_MEMBERS, 0, group, text);

	judge(fixture, change);
	return change;
}

static void accept_members(struct fixture *fixture, const char *group, const char *text)
{
	struct change *change = judge_members(fixture, group, text);

	assert_int_equal(change->result.status, 200);
	change_free(change);
}

/* The group's own prefixes in the document, its leases as "prefix@end", and an address that it has or has not. */
static void check_members(const struct fixture *fixture, const char *group, const char *prefixes,
			  const char *leases)
{
	const json_t *json = config_object(fixture->draft.config, OBJECT_GROUP, group);
	size_t count, used = 0;
	const struct config_member *members = leases_members(fixture->draft.leases, &count);
	char text[512] = "";
	char *list = json_dumps(json_object_get(json, "prefixes"), JSON_COMPACT | JSON_ENCODE_ANY);

	for (size_t i = 0; i < count; i++) {
		char prefix[PREFIX_STRING_SIZE];

		if (strcmp(members[i].group, group) != 0)
			continue;
		prefix_format(prefix, &members[i].prefix);
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s@%llu ", prefix,
			(unsigned long long)leases_end_ms(fixture->draft.leases, i));
	}
	assert_string_equal(list ? list : "none", prefixes);
	assert_string_equal(text, leases);
	free(list);
}

static bool has_member(const struct fixture *fixture, const char *group, const char *text)
{
	const struct config *config = fixture->draft.config;
	struct prefix prefix;

	assert_int_equal(prefix_parse(&prefix, text), 0);
	for (size_t i = 0; i < config->group_count; i++)
		if (strcmp(config->groups[i].name, group) == 0)
			return addrset_has(&config->groups[i].members, prefix.family,
					   prefix.address);
	fail_msg("there is no group %s", group);
	return false;
}

static void test_members_for_good_are_in_the_document(void **state)
{
	struct fixture *fixture = *state;
	struct change *change = judge_members(
		fixture, "g",
		"{\"remove\":\"10.0.0.1/32\",\"add\":[\"10.0.0.8\",\"10.0.0.7\",\"10.0.0.8\"]}");

	assert_int_equal(change->result.status, 200);
	assert_int_equal(change->result.etag, 6);
	assert_true(json_array_size(change->result.changes) > 0);
	check_members(fixture, "g", "[\"10.0.0.8\",\"10.0.0.7\"]", "");
	assert_true(has_member(fixture, "outer", "10.0.0.8"));
	assert_false(has_member(fixture, "outer", "10.0.0.1"));
	change_free(change);
	/* the same again */
	change = judge_members(fixture, "g", "{\"add\":[\"10.0.0.7\"],\"remove\":\"10.0.0.1\"}");
	assert_int_equal(change->result.status, 200);
	assert_false(change->result.is_changed);
	assert_int_equal(change->result.etag, 6);
	change_free(change);
}

static void test_members_with_a_time_change_the_etag_and_not_the_document(void **state)
{
	struct fixture *fixture = *state;
	struct change *change =
		judge_members(fixture, "outer", "{\"add\":{\"prefix\":\"10.0.0.8\",\"ttl_s\":60}}");

	assert_int_equal(change->result.status, 200);
	assert_true(change->result.is_changed);
	assert_int_equal(change->result.etag, 6);
	assert_int_equal(json_array_size(change->result.changes), 0);
	assert_true(json_equal(fixture->draft.document, fixture->document));
	check_members(fixture, "outer", "none", "10.0.0.8@110000 ");
	assert_true(has_member(fixture, "outer", "10.0.0.8"));
	assert_false(has_member(fixture, "g", "10.0.0.8"));
	change_free(change);
}

static void test_members_who_stay_longer_change_no_etag(void **state)
{
	struct fixture *fixture = *state;
	struct change *dry =
		new_change(CHANGE_MEMBERS, 0, "g", "{\"add\":{\"prefix\":\"::1\",\"ttl_s\":80}}");
	struct change *change;

	accept_members(fixture, "g", "{\"add\":{\"prefix\":\"::1\",\"ttl_s\":60}}");
	dry->is_dry_run = true;
	judge(fixture, dry);
	check_members(fixture, "g", "[\"10.0.0.1\"]", "::1@110000 ");
	change = judge_members(fixture, "g", "{\"add\":{\"prefix\":\"::1\",\"ttl_s\":70}}");
	assert_int_equal(change->result.status, 200);
	assert_false(change->result.is_changed);
	assert_int_equal(change->result.etag, 6);
	check_members(fixture, "g", "[\"10.0.0.1\"]", "::1@120000 ");
	change_free(change);
	change_free(dry);
}

static void test_members_for_good_stay_so(void **state)
{
	struct fixture *fixture = *state;

	/* there for good already, or by the same request */
	accept_members(fixture, "g",
		       "{\"add\":[{\"prefix\":\"10.0.0.1\",\"ttl_s\":60},\"::1\","
		       "{\"prefix\":\"::1\",\"ttl_s\":60},{\"prefix\":\"::2\",\"ttl_s\":60}]}");
	check_members(fixture, "g", "[\"10.0.0.1\",\"::1\"]", "::2@110000 ");
	/* a time that is not needed any more */
	accept_members(fixture, "g", "{\"add\":\"::2\"}");
	check_members(fixture, "g", "[\"10.0.0.1\",\"::1\",\"::2\"]", "");
	/* first out, then in: from now on for a while only */
	accept_members(fixture, "g",
		       "{\"add\":{\"prefix\":\"::2\",\"ttl_s\":1},\"remove\":[\"::2\",\"::1\"]}");
	check_members(fixture, "g", "[\"10.0.0.1\"]", "::2@51000 ");
	accept_members(fixture, "g", "{\"remove\":[\"::2\",\"10.0.0.1\"]}");
	check_members(fixture, "g", "[]", "");
}

static void test_members_honour_if_match_and_dry_run(void **state)
{
	struct fixture *fixture = *state;
	struct change *stale = new_change(CHANGE_MEMBERS, 0, "g", "{\"add\":\"::1\"}");
	struct change *dry = new_change(
		CHANGE_MEMBERS, 0, "g",
		"{\"add\":[\"::1\",{\"prefix\":\"::2\",\"ttl_s\":5}],\"remove\":\"10.0.0.1\"}");

	stale->has_if_match = dry->has_if_match = dry->is_dry_run = true;
	stale->if_match = 4;
	dry->if_match = 5;
	judge(fixture, stale);
	check_refused(stale, 412, ERROR_PRECONDITION_FAILED, "");
	judge(fixture, dry);
	assert_int_equal(dry->result.status, 200);
	assert_true(dry->result.is_changed);
	assert_int_equal(dry->result.etag, 5);
	check_members(fixture, "g", "[\"10.0.0.1\"]", "");
	assert_false(fixture->draft.is_changed);
	change_free(stale);
	change_free(dry);
}

static void test_members_of_no_group_and_bad_ones_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct change *nobody = judge_members(fixture, "nobody", "{\"add\":\"::1\"}");
	struct change *bad =
		judge_members(fixture, "g", "{\"add\":[\"::1\",{\"prefix\":\"::2\",\"ttl_s\":0}]}");

	check_refused(nobody, 404, ERROR_NOT_FOUND, "path");
	check_refused(bad, 400, ERROR_BAD_VALUE, "add[1].ttl_s");
	check_members(fixture, "g", "[\"10.0.0.1\"]", "");
	assert_false(fixture->draft.is_changed);
	change_free(nobody);
	change_free(bad);
}

static void test_members_beyond_the_limit_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct change *change;
	json_t *list = json_array();
	json_t *document = json_pack("{s:o}", "add", list);

	for (int i = 0; i <= LEASES_MAX; i++) {
		char text[PREFIX_STRING_SIZE];

		snprintf(text, sizeof(text), "11.%d.%d.%d", i >> 16, i >> 8 & 255, i & 255);
		json_array_append_new(list, json_pack("{s:s, s:i}", "prefix", text, "ttl_s", 5));
	}
	change = new_change(CHANGE_MEMBERS, 0, "g", NULL);
	change->document = document;
	judge(fixture, change);
	check_refused(change, 507, ERROR_LIMIT, "add");
	assert_int_equal(change->result.errors.count, 1);
	assert_false(fixture->draft.is_changed);
	json_array_remove(list, LEASES_MAX);
	change_result_fini(&change->result);
	judge(fixture, change);
	assert_int_equal(change->result.status, 200);
	change_free(change);
}

static void test_changes_of_members_in_one_batch_add_up(void **state)
{
	struct fixture *fixture = *state;

	accept_members(fixture, "g", "{\"add\":[\"::1\",{\"prefix\":\"::2\",\"ttl_s\":5}]}");
	accept_members(fixture, "g", "{\"add\":[\"::3\",{\"prefix\":\"::4\",\"ttl_s\":6}]}");
	accept_members(fixture, "idle", "{\"add\":{\"prefix\":\"::2\",\"ttl_s\":7}}");
	check_members(fixture, "g", "[\"10.0.0.1\",\"::1\",\"::3\"]", "::2@55000 ::4@56000 ");
	check_members(fixture, "idle", "[\"10.0.0.2\"]", "::2@57000 ");
	assert_int_equal(fixture->draft.etag, 8);
}

static void test_members_with_a_time_live_and_go_with_their_group(void **state)
{
	static const char keeping[] = "{\"groups\":{\"idle\":{\"prefixes\":[\"10.9.0.0/16\"]}}}";
	struct fixture *fixture = *state;
	struct change *set =
		new_change(CHANGE_SET, OBJECT_GROUP, "idle", "{\"description\":\"d\"}");
	struct change *replace = new_change(CHANGE_REPLACE, 0, NULL, keeping);
	struct change *delete = new_change(CHANGE_DELETE, OBJECT_GROUP, "idle", NULL);
	struct change *again = new_change(CHANGE_SET, OBJECT_GROUP, "idle", "{}");

	accept_members(fixture, "idle", "{\"add\":{\"prefix\":\"::2\",\"ttl_s\":7}}");
	accept_members(fixture, "outer", "{\"add\":{\"prefix\":\"::2\",\"ttl_s\":7}}");
	judge(fixture, set);
	check_members(fixture, "idle", "none", "::2@57000 ");
	judge(fixture, replace);
	check_members(fixture, "idle", "[\"10.9.0.0/16\"]", "::2@57000 ");
	assert_true(has_member(fixture, "idle", "::2"));
	judge(fixture, delete);
	assert_int_equal(delete->result.status, 200);
	judge(fixture, again);
	check_members(fixture, "idle", "none", "");
	assert_false(has_member(fixture, "idle", "::2"));
	change_free(set);
	change_free(replace);
	change_free(delete);
	change_free(again);
}

static void test_members_whose_time_is_over_go(void **state)
{
	struct fixture *fixture = *state;
	struct change *expire = new_change(CHANGE_EXPIRE, 0, NULL, NULL);
	struct change *again = new_change(CHANGE_EXPIRE, 0, NULL, NULL);

	accept_members(
		fixture, "g",
		"{\"add\":[{\"prefix\":\"::2\",\"ttl_s\":7},{\"prefix\":\"::3\",\"ttl_s\":8}]}");
	fixture->draft.now_ms = NOW_MS + 7000;
	judge(fixture, expire);
	assert_int_equal(expire->result.status, 200);
	assert_true(expire->result.is_changed);
	assert_int_equal(expire->result.etag, 7);
	check_members(fixture, "g", "[\"10.0.0.1\"]", "::3@58000 ");
	assert_false(has_member(fixture, "g", "::2"));
	judge(fixture, again);
	assert_false(again->result.is_changed);
	change_free(expire);
	change_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_members_for_good_are_in_the_document, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_members_with_a_time_change_the_etag_and_not_the_document, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_members_who_stay_longer_change_no_etag, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_members_for_good_stay_so, setup, teardown),
		cmocka_unit_test_setup_teardown(test_members_honour_if_match_and_dry_run, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_members_of_no_group_and_bad_ones_are_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_members_beyond_the_limit_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_changes_of_members_in_one_batch_add_up, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_members_with_a_time_live_and_go_with_their_group, setup, teardown),
		cmocka_unit_test_setup_teardown(test_members_whose_time_is_over_go, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
