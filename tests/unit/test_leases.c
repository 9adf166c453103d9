/* SPDX-License-Identifier: Apache-2.0 */
/* Members for a while: made, extended, taken back, ended, and always in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "engine/leases.h"

static struct prefix prefix_of(const char *text)
{
	struct prefix prefix;

	assert_int_equal(prefix_parse(&prefix, text), 0);
	return prefix;
}

/* One edit, in place of what there was. */
static int edit(struct leases **leases, const char *group, const char *text, uint64_t end_ms)
{
	struct lease_edit edits[] = {{.prefix = prefix_of(text), .end_ms = end_ms}};
	struct leases *next = NULL;
	int r = leases_edit(&next, *leases, group, edits, 1);

	if (r == 0) {
		leases_unref(*leases);
		*leases = next;
	}
	return r;
}

/* "group prefix end" of each, one per line. */
static void check(const struct leases *leases, const char *wanted)
{
	char text[1024] = "";
	size_t count, used = 0;
	const struct config_member *members = leases_members(leases, &count);

	for (size_t i = 0; i < count; i++) {
		char prefix[PREFIX_STRING_SIZE];

		prefix_format(prefix, &members[i].prefix);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s %llu\n",
					 members[i].group, prefix,
					 (unsigned long long)leases_end_ms(leases, i));
	}
	assert_string_equal(text, wanted);
}

static struct leases *some(void)
{
	struct leases *leases = leases_new();

	assert_non_null(leases);
	assert_int_equal(edit(&leases, "b", "10.0.0.2", 2000), 0);
	assert_int_equal(edit(&leases, "a", "2001:db8::/32", 1000), 0);
	assert_int_equal(edit(&leases, "c", "10.0.0.1", 4000), 0);
	assert_int_equal(edit(&leases, "b", "10.0.0.1", 3000), 0);
	return leases;
}

static void test_kept_by_group_and_prefix(void **state)
{
	struct leases *leases = some();

	(void)state;
	check(leases, "a 2001:db8::/32 1000\nb 10.0.0.1 3000\nb 10.0.0.2 2000\nc 10.0.0.1 4000\n");
	assert_int_equal(edit(&leases, "b", "10.0.0.0/31", 5), 0);
	assert_int_equal(edit(&leases, "b", "10.0.0.0", 6), 0);
	check(leases, "a 2001:db8::/32 1000\nb 10.0.0.0/31 5\nb 10.0.0.0 6\nb 10.0.0.1 3000\n"
		      "b 10.0.0.2 2000\nc 10.0.0.1 4000\n");
	leases_unref(leases);
}

static void test_one_that_is_there_gets_the_new_end(void **state)
{
	struct leases *before = some();
	struct leases *leases = leases_ref(before);

	(void)state;
	assert_int_equal(edit(&leases, "b", "10.0.0.2", 9000), 0);
	check(leases, "a 2001:db8::/32 1000\nb 10.0.0.1 3000\nb 10.0.0.2 9000\nc 10.0.0.1 4000\n");
	/* The one that was edited is as it was. */
	check(before, "a 2001:db8::/32 1000\nb 10.0.0.1 3000\nb 10.0.0.2 2000\nc 10.0.0.1 4000\n");
	assert_true(leases_are_same(before, leases));
	leases_unref(leases);
	leases_unref(before);
}

static void test_removed_from_its_group_only(void **state)
{
	struct leases *leases = some();

	(void)state;
	assert_int_equal(edit(&leases, "b", "10.0.0.1", 0), 0);
	check(leases, "a 2001:db8::/32 1000\nb 10.0.0.2 2000\nc 10.0.0.1 4000\n");
	/* What is not there is no mistake: another length, another group. */
	assert_int_equal(edit(&leases, "c", "10.0.0.0/31", 0), 0);
	assert_int_equal(edit(&leases, "d", "10.0.0.1", 0), 0);
	check(leases, "a 2001:db8::/32 1000\nb 10.0.0.2 2000\nc 10.0.0.1 4000\n");
	leases_unref(leases);
}

static void test_last_edit_of_a_prefix_counts(void **state)
{
	struct leases *leases = some();
	struct leases *next = NULL;
	struct lease_edit edits[] = {
		{.prefix = prefix_of("10.0.0.9"), .end_ms = 7},
		{.prefix = prefix_of("10.0.0.2"), .end_ms = 0},
		{.prefix = prefix_of("10.0.0.1"), .end_ms = 8},
		{.prefix = prefix_of("10.0.0.2"), .end_ms = 6},
		{.prefix = prefix_of("10.0.0.9"), .end_ms = 0},
		{.prefix = prefix_of("10.0.0.1"), .end_ms = 0},
	};

	(void)state;
	assert_int_equal(leases_edit(&next, leases, "b", edits, ARRAY_SIZE(edits)), 0);
	check(next, "a 2001:db8::/32 1000\nb 10.0.0.2 6\nc 10.0.0.1 4000\n");
	leases_unref(next);
	leases_unref(leases);
}

static void test_ended_ones_and_strays_go(void **state)
{
	struct leases *leases = some();
	struct leases *next = NULL;
	json_t *document =
		json_loads("{\"groups\":{\"b\":{},\"c\":{}},\"acls\":{\"a\":{}}}", 0, NULL);

	(void)state;
	assert_false(leases_has_ended(leases, 999));
	assert_true(leases_has_ended(leases, 1000));
	assert_int_equal(leases_keep(&next, leases, 0, document), 0);
	check(next, "b 10.0.0.1 3000\nb 10.0.0.2 2000\nc 10.0.0.1 4000\n");
	leases_unref(next);
	assert_int_equal(leases_keep(&next, leases, 2000, document), 0);
	check(next, "b 10.0.0.1 3000\nc 10.0.0.1 4000\n");
	leases_unref(leases);
	leases = next;
	/* nothing to leave out: no copy */
	assert_int_equal(leases_keep(&next, leases, 2999, document), 0);
	assert_ptr_equal(next, leases);
	leases_unref(next);
	json_decref(document);
	/* no groups at all */
	document = json_object();
	assert_int_equal(leases_keep(&next, leases, 0, document), 0);
	check(next, "");
	json_decref(document);
	leases_unref(next);
	leases_unref(leases);
}

static void test_same_are_same_groups_and_prefixes(void **state)
{
	struct leases *a = some();
	struct leases *b = some();

	(void)state;
	assert_true(leases_are_same(a, b));
	assert_int_equal(edit(&b, "c", "10.0.0.1", 0), 0);
	assert_false(leases_are_same(a, b));
	assert_int_equal(edit(&b, "d", "10.0.0.1", 4000), 0);
	assert_false(leases_are_same(a, b));
	assert_int_equal(edit(&b, "d", "10.0.0.1", 0), 0);
	assert_int_equal(edit(&b, "c", "10.0.0.0/31", 4000), 0);
	assert_false(leases_are_same(a, b));
	leases_unref(a);
	leases_unref(b);
}

static struct lease_edit *numbered(size_t count, uint64_t end_ms)
{
	struct lease_edit *edits = calloc(count, sizeof(*edits));

	assert_non_null(edits);
	/* backwards, so that order is made and not met */
	for (size_t i = 0; i < count; i++)
		edits[i] = (struct lease_edit){
			.prefix = {.family = 4, .length = 32, .address = 0x0a000000u + count - i},
			.end_ms = end_ms};
	return edits;
}

static void test_limit_counts_what_is_there_at_the_end(void **state)
{
	struct leases *leases = leases_new();
	struct leases *full = NULL, *next = NULL;
	struct lease_edit *edits = numbered(LEASES_MAX, 5);
	struct lease_edit two[] = {{.prefix = prefix_of("10.0.0.1")},
				   {.prefix = prefix_of("192.0.2.1"), .end_ms = 5}};
	size_t count;

	(void)state;
	assert_int_equal(leases_edit(&full, leases, "g", edits, LEASES_MAX), 0);
	leases_members(full, &count);
	assert_int_equal(count, LEASES_MAX);
	assert_int_equal(leases_edit(&next, full, "h", &two[1], 1), -ENOSPC);
	assert_null(next);
	/* One goes, another comes. */
	assert_int_equal(leases_edit(&next, full, "g", two, 2), 0);
	leases_unref(next);
	/* All get another end. */
	assert_int_equal(leases_edit(&next, full, "g", edits, LEASES_MAX), 0);
	assert_true(leases_are_same(next, full));
	leases_unref(next);
	free(edits);
	leases_unref(full);
	leases_unref(leases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_by_group_and_prefix),
		cmocka_unit_test(test_one_that_is_there_gets_the_new_end),
		cmocka_unit_test(test_removed_from_its_group_only),
		cmocka_unit_test(test_last_edit_of_a_prefix_counts),
		cmocka_unit_test(test_ended_ones_and_strays_go),
		cmocka_unit_test(test_same_are_same_groups_and_prefixes),
		cmocka_unit_test(test_limit_counts_what_is_there_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
