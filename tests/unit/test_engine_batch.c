/* SPDX-License-Identifier: Apache-2.0 */
/* Changes judged one after the other: If-Match, what is in use, what changes nothing. No data path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "batch_lab.h"

static void test_second_writer_with_the_same_etag_is_refused(void **state)
{
	struct change *first =
		new_change(CHANGE_SET, OBJECT_GROUP, "idle", "{\"prefixes\":[\"10.9.0.0/16\"]}");
	struct change *second =
		new_change(CHANGE_SET, OBJECT_GROUP, "idle", "{\"prefixes\":[\"10.8.0.0/16\"]}");
	struct change *third =
		new_change(CHANGE_SET, OBJECT_GROUP, "idle", "{\"prefixes\":[\"10.7.0.0/16\"]}");

	first->has_if_match = second->has_if_match = third->has_if_match = true;
	first->if_match = second->if_match = 5;
	third->if_match = 6;
	judge(*state, first);
	judge(*state, second);
	judge(*state, third);
	assert_int_equal(first->result.status, 200);
	assert_true(first->result.is_changed);
	assert_int_equal(first->result.etag, 6);
	check_refused(second, 412, ERROR_PRECONDITION_FAILED, "");
	assert_int_equal(third->result.status, 200);
	assert_int_equal(third->result.etag, 7);
	change_free(first);
	change_free(second);
	change_free(third);
}

static void test_same_content_changes_nothing(void **state)
{
	/* another spelling of what is there */
	struct change *set =
		new_change(CHANGE_SET, OBJECT_GROUP, "idle", "{\"prefixes\":\"10.0.0.2/32\"}");
	struct change *merge = new_change(CHANGE_MERGE, 0, NULL, "{}");
	struct change *replace = new_change(CHANGE_REPLACE, 0, NULL, START);
	struct change *all[] = {set, merge, replace};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		judge(*state, all[i]);
		assert_int_equal(all[i]->result.status, 200);
		assert_false(all[i]->result.is_changed);
		assert_int_equal(all[i]->result.etag, 5);
		assert_int_equal(json_array_size(all[i]->result.changes), 0);
		change_free(all[i]);
	}
	assert_false(((struct fixture *)*state)->draft.is_changed);
}

static void test_refused_change_leaves_the_state_to_the_next(void **state)
{
	struct change *bad =
		new_change(CHANGE_SET, OBJECT_ACL, "web",
			   "{\"rules\":[{\"id\":\"x\",\"action\":\"allow\",\"src\":[\"@nobody\"],"
			   "\"colour\":1}]}");
	struct change *good = new_change(CHANGE_MERGE, 0, NULL, "{\"groups\":{\"idle\":null}}");

	judge(*state, bad);
	assert_int_equal(bad->result.status, 400);
	assert_int_equal(bad->result.errors.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_memory_equal(bad->result.errors.items[i].field, "acls.web.rules[0].", 18);
	judge(*state, good);
	assert_int_equal(good->result.status, 200);
	assert_int_equal(good->result.etag, 6);
	assert_int_equal(json_array_size(good->result.changes), 1);
	change_free(bad);
	change_free(good);
}

static void test_delete_of_what_is_not_there(void **state)
{
	struct change *group = new_change(CHANGE_DELETE, OBJECT_GROUP, "nobody", NULL);
	/* shipped with the program, but nothing that anyone has made */
	struct change *service = new_change(CHANGE_DELETE, OBJECT_SERVICE, "ssh", NULL);

	judge(*state, group);
	check_refused(group, 404, ERROR_NOT_FOUND, NULL);
	judge(*state, service);
	check_refused(service, 404, ERROR_NOT_FOUND, NULL);
	change_free(group);
	change_free(service);
}

static void test_delete_of_what_is_in_use_names_the_users(void **state)
{
	struct change *acl = new_change(CHANGE_DELETE, OBJECT_ACL, "web", NULL);
	struct change *group = new_change(CHANGE_DELETE, OBJECT_GROUP, "g", NULL);
	struct change *service = new_change(CHANGE_DELETE, OBJECT_SERVICE, "pg", NULL);

	judge(*state, acl);
	check_refused(acl, 409, ERROR_IN_USE, "ports.vm.to");
	judge(*state, group);
	check_refused(group, 409, ERROR_IN_USE, "groups.outer.groups");
	assert_int_equal(group->result.errors.count, 2);
	assert_string_equal(group->result.errors.items[1].field, "acls.web.rules[0].src");
	judge(*state, service);
	check_refused(service, 409, ERROR_IN_USE, "acls.web.rules[1].service");
	change_free(acl);
	change_free(group);
	change_free(service);
}

static void test_delete_in_the_right_order_succeeds_within_a_batch(void **state)
{
	static const struct {
		enum object_kind kind;
		const char *name;
	} rows[] = {
		{OBJECT_PORT, "vm"}, {OBJECT_ACL, "web"},    {OBJECT_GROUP, "outer"},
		{OBJECT_GROUP, "g"}, {OBJECT_SERVICE, "pg"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct change *change = new_change(CHANGE_DELETE, rows[i].kind, rows[i].name, NULL);

		judge(*state, change);
		assert_int_equal(change->result.status, 200);
		assert_int_equal(change->result.etag, 6 + i);
		change_free(change);
	}
}

static void test_dry_run_tells_but_makes_no_state(void **state)
{
	struct change *dry =
		new_change(CHANGE_SET, OBJECT_GROUP, "new", "{\"prefixes\":[\"192.0.2.1\"]}");
	struct change *again = new_change(CHANGE_DELETE, OBJECT_GROUP, "new", NULL);

	dry->is_dry_run = true;
	judge(*state, dry);
	assert_int_equal(dry->result.status, 200);
	assert_true(dry->result.is_changed);
	assert_int_equal(dry->result.etag, 5);
	assert_int_equal(json_array_size(dry->result.changes), 1);
	judge(*state, again);
	check_refused(again, 404, ERROR_NOT_FOUND, NULL);
	change_free(dry);
	change_free(again);
}

static void test_replacing_everything_forgets_what_is_not_named(void **state)
{
	struct fixture *fixture = *state;
	struct change *change = new_change(CHANGE_REPLACE, 0, NULL,
					   "{\"schema\":\"secg/1\",\"groups\":{\"only\":{}}}");

	judge(fixture, change);
	assert_int_equal(change->result.status, 200);
	assert_int_equal(json_object_size(fixture->draft.document), 1);
	assert_int_equal(fixture->draft.config->port_count, 0);
	change_free(change);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_second_writer_with_the_same_etag_is_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_content_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_change_leaves_the_state_to_the_next,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_delete_of_what_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_delete_of_what_is_in_use_names_the_users,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_delete_in_the_right_order_succeeds_within_a_batch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dry_run_tells_but_makes_no_state, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_replacing_everything_forgets_what_is_not_named,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
