/* SPDX-License-Identifier: Apache-2.0 */
/* Names and their small numbers: lowest free first, mark and sweep, the grace period, copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "compile/ids.h"

static uint32_t get(struct ids *ids, const char *name)
{
	uint32_t id = 0;

	assert_int_equal(ids_get(ids, name, &id), 0);
	return id;
}

static uint32_t find(const struct ids *ids, const char *name)
{
	uint32_t id = 0;

	assert_int_equal(ids_find(ids, name, &id), 0);
	return id;
}

static void assert_unknown(const struct ids *ids, const char *name)
{
	uint32_t id = 77;

	assert_int_equal(ids_find(ids, name, &id), -ENOENT);
	assert_int_equal(id, 77);
}

static struct ids *make(uint32_t first, uint32_t limit)
{
	struct ids *ids = NULL;

	assert_int_equal(ids_new(&ids, first, limit), 0);
	return ids;
}

/* What a callback was told: "name=number " and "*" behind a new one. */
struct told {
	char text[200];
};

static void tell_removed(const char *name, uint32_t id, void *data)
{
	struct told *told = data;
	size_t used = strlen(told->text);

	snprintf(told->text + used, sizeof(told->text) - used, "%s=%u ", name, id);
}

static void tell(const char *name, uint32_t id, bool is_new, void *data)
{
	struct told *told = data;

	tell_removed(name, id, data);
	if (is_new)
		told->text[strlen(told->text) - 1] = '*';
}

static void numbers_are_the_lowest_free_ones(void **unused)
{
	_cleanup_(ids_freep) struct ids *ids = make(1, 4);
	uint32_t id = 77;

	(void)unused;
	assert_int_equal(get(ids, "a"), 1);
	assert_int_equal(get(ids, "b"), 2);
	assert_int_equal(get(ids, "a"), 1);
	assert_int_equal(get(ids, "c"), 3);
	assert_int_equal(ids_get(ids, "d", &id), -ENOSPC);
	assert_int_equal(id, 77);
	assert_unknown(ids, "d");
	assert_int_equal(find(ids, "b"), 2);
	assert_string_equal(ids_name(ids, 3), "c");
	assert_null(ids_name(ids, 0));
	assert_null(ids_name(ids, 4));
	assert_null(ids_name(ids, UINT32_MAX));
}

static void stored_numbers_are_put_back(void **unused)
{
	_cleanup_(ids_freep) struct ids *ids = make(1, 100);
	struct told told = {0};

	(void)unused;
	assert_int_equal(ids_load(ids, "x", 2), 0);
	assert_int_equal(ids_load(ids, "z", 99), 0);
	assert_int_equal(ids_load(ids, "y", 2), -EEXIST);
	assert_int_equal(ids_load(ids, "x", 3), -EEXIST);
	assert_int_equal(ids_load(ids, "y", 0), -ERANGE);
	assert_int_equal(ids_load(ids, "y", 100), -ERANGE);
	assert_unknown(ids, "y");
	assert_int_equal(get(ids, "a"), 1);
	assert_int_equal(get(ids, "b"), 3);
	assert_int_equal(get(ids, "x"), 2);
	ids_each(ids, tell, &told);
	assert_string_equal(told.text, "a=1*x=2 b=3*z=99 ");
}

static void unmarked_names_go_and_their_numbers_wait(void **unused)
{
	_cleanup_(ids_freep) struct ids *ids = make(1, 100);
	struct told told = {0};

	(void)unused;
	get(ids, "a");
	get(ids, "b");
	get(ids, "c");
	assert_int_equal(ids_load(ids, "stored", 4), 0);
	ids_unmark(ids);
	get(ids, "c");
	find(ids, "a");
	ids_sweep(ids, tell_removed, &told);
	/* To find a name is not to use it; nor is to have stored it. */
	assert_string_equal(told.text, "a=1 b=2 stored=4 ");
	assert_unknown(ids, "a");
	assert_null(ids_name(ids, 1));
	assert_int_equal(find(ids, "c"), 3);
	/* The data path may still count under 1 and 2. */
	assert_int_equal(get(ids, "d"), 5);
	assert_int_equal(get(ids, "a"), 6);
	assert_int_equal(ids_load(ids, "e", 2), -EEXIST);
	ids_settle(ids);
	assert_int_equal(get(ids, "e"), 1);
	assert_int_equal(get(ids, "f"), 2);
	assert_int_equal(get(ids, "g"), 4);
	assert_int_equal(get(ids, "h"), 7);
}

static void new_is_what_was_handed_out_since(void **unused)
{
	_cleanup_(ids_freep) struct ids *ids = make(1, 100);
	struct told told = {0};

	(void)unused;
	get(ids, "a");
	ids_clear_new(ids);
	get(ids, "a");
	get(ids, "b");
	ids_each(ids, tell, &told);
	assert_string_equal(told.text, "a=1 b=2*");
}

static void a_copy_lives_by_itself(void **unused)
{
	_cleanup_(ids_freep) struct ids *ids = make(1, 100);
	_cleanup_(ids_freep) struct ids *copy = NULL;
	struct told told = {0};

	(void)unused;
	get(ids, "a");
	get(ids, "b");
	ids_unmark(ids);
	get(ids, "b");
	assert_int_equal(ids_copy(&copy, ids), 0);
	ids_sweep(copy, tell_removed, &told);
	assert_string_equal(told.text, "a=1 ");
	get(copy, "c");
	assert_int_equal(find(ids, "a"), 1);
	assert_unknown(ids, "c");
	ids_free(TAKE_PTR(ids));
	assert_string_equal(ids_name(copy, 2), "b");
	/* The grace period is owed by the copy too. */
	assert_int_equal(find(copy, "c"), 3);
	ids_settle(copy);
	assert_int_equal(get(copy, "d"), 1);
}

static void nothing_to_copy(void **unused)
{
	_cleanup_(ids_freep) struct ids *ids = make(1, 2);
	_cleanup_(ids_freep) struct ids *copy = NULL;

	(void)unused;
	assert_int_equal(ids_copy(&copy, ids), 0);
	assert_int_equal(get(copy, "a"), 1);
	assert_unknown(ids, "a");
}

/* Names come and go at random; an array says what must be there. */
static void survives_churn(void **unused)
{
	enum { NAMES = 300, LIMIT = 200 };
	_cleanup_(ids_freep) struct ids *ids = make(1, LIMIT);
	uint32_t number[NAMES] = {0};
	uint64_t state = 7;
	char name[16];

	(void)unused;
	for (int round = 0; round < 2000; round++) {
		bool is_used[NAMES] = {false};

		ids_unmark(ids);
		for (int i = 0; i < NAMES; i++) {
			uint32_t id;
			int r;

			state = state * 6364136223846793005u + 1442695040888963407u;
			if ((state >> 33) % 3)
				continue;
			snprintf(name, sizeof(name), "name%d", i);
			r = ids_get(ids, name, &id);
			if (r == -ENOSPC)
				continue;
			assert_int_equal(r, 0);
			assert_true(!number[i] || number[i] == id);
			number[i] = id;
			is_used[i] = true;
		}
		ids_sweep(ids, NULL, NULL);
		if (round % 3)
			ids_settle(ids);
		for (int i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "name%d", i);
			if (is_used[i]) {
				assert_int_equal(find(ids, name), number[i]);
				assert_string_equal(ids_name(ids, number[i]), name);
			} else {
				assert_unknown(ids, name);
				number[i] = 0;
			}
		}
	}
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void as_many_as_there_are_counters(void **unused)
{
	enum { LIMIT = 131072 };
	_cleanup_(ids_freep) struct ids *ids = make(1, LIMIT);
	_cleanup_(ids_freep) struct ids *copy = NULL;
	double start = cpu_ms(), filled, copied, swept;
	char name[40];

	(void)unused;
	for (uint32_t i = 1; i < LIMIT; i++) {
		snprintf(name, sizeof(name), "port%u/acl/rule%u", i % 50, i);
		assert_int_equal(get(ids, name), i);
	}
	filled = cpu_ms();
	assert_int_equal(ids_copy(&copy, ids), 0);
	copied = cpu_ms();
	ids_unmark(copy);
	ids_sweep(copy, NULL, NULL);
	ids_settle(copy);
	swept = cpu_ms();
	print_message("%d names: filled %.1f ms, copied %.1f ms, swept %.1f ms\n", LIMIT - 1,
		      filled - start, copied - filled, swept - copied);
	assert_int_equal(get(copy, "again"), 1);
	assert_true(swept - start < 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_lowest_free_ones),
		cmocka_unit_test(stored_numbers_are_put_back),
		cmocka_unit_test(unmarked_names_go_and_their_numbers_wait),
		cmocka_unit_test(new_is_what_was_handed_out_since),
		cmocka_unit_test(a_copy_lives_by_itself),
		cmocka_unit_test(nothing_to_copy),
		cmocka_unit_test(survives_churn),
		cmocka_unit_test(as_many_as_there_are_counters),
	};

	return cmocka_run_group_tests_name("ids", tests, NULL, NULL);
}
