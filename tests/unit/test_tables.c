/* SPDX-License-Identifier: Apache-2.0 */
/* Free space of table memory: fit, joining, refusals, and a long random run against a bitmap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dp/extents.h"

#define LINES 512u

static struct extents *make(uint32_t first, uint32_t end)
{
	struct extents *extents = NULL;

	assert_int_equal(extents_new(&extents, first, end), 0);
	return extents;
}

static uint32_t take(struct extents *extents, uint32_t lines)
{
	uint32_t line = 0;

	assert_int_equal(extents_take(extents, lines, &line), 0);
	return line;
}

static void test_take_until_full(void **state)
{
	_cleanup_(extents_freep) struct extents *extents = make(20, 30);
	uint32_t line = 77;

	(void)state;
	assert_int_equal(take(extents, 4), 20);
	assert_int_equal(take(extents, 6), 24);
	assert_int_equal(extents_take(extents, 1, &line), -ENOSPC);
	assert_int_equal(line, 77);
	assert_int_equal(extents_free_lines(extents), 0);
	assert_int_equal(extents_runs(extents), 0);
}

static void test_nothing_free(void **state)
{
	_cleanup_(extents_freep) struct extents *extents = make(20, 20);
	uint32_t line;

	(void)state;
	assert_int_equal(extents_take(extents, 1, &line), -ENOSPC);
	assert_int_equal(extents_reserve(extents, 20, 1), -EBUSY);
}

static void test_best_fit(void **state)
{
	_cleanup_(extents_freep) struct extents *extents = make(1, 101);
	uint32_t wide = take(extents, 20), wall = take(extents, 1), narrow = take(extents, 5);

	(void)state;
	take(extents, 1);
	extents_give(extents, wide, 20);
	extents_give(extents, narrow, 5);
	assert_true(wide < wall && wall < narrow);
	assert_int_equal(take(extents, 5), narrow);
	assert_int_equal(take(extents, 6), wide);
}

static void test_neighbours_join(void **state)
{
	_cleanup_(extents_freep) struct extents *extents = make(1, 31);
	uint32_t a = take(extents, 10), b = take(extents, 10), c = take(extents, 10);

	(void)state;
	extents_give(extents, a, 10);
	extents_give(extents, c, 10);
	assert_int_equal(extents_runs(extents), 2);
	extents_give(extents, b, 10);
	assert_int_equal(extents_runs(extents), 1);
	assert_int_equal(take(extents, 30), 1);
}

static void test_reserve(void **state)
{
	_cleanup_(extents_freep) struct extents *extents = make(1, 101);

	(void)state;
	assert_int_equal(extents_reserve(extents, 10, 10), 0);
	assert_int_equal(extents_reserve(extents, 19, 1), -EBUSY);
	assert_int_equal(extents_reserve(extents, 5, 6), -EBUSY);
	assert_int_equal(extents_reserve(extents, 0, 1), -EBUSY);
	assert_int_equal(extents_reserve(extents, 100, 2), -EBUSY);
	assert_int_equal(extents_reserve(extents, 99, UINT32_MAX), -EBUSY);
	assert_int_equal(extents_reserve(extents, 100, 1), 0);
	assert_int_equal(extents_free_lines(extents), 89);
	extents_give(extents, 10, 10);
	assert_int_equal(extents_runs(extents), 1);
}

/* What is taken, line by line, and in which runs. */
struct model {
	uint8_t is_taken[LINES];
	uint32_t lines[LINES]; /* by first line; 0: none starts here */
};

static void model_take(struct model *model, uint32_t line, uint32_t lines)
{
	for (uint32_t i = line; i < line + lines; i++) {
		assert_int_equal(model->is_taken[i], 0);
		model->is_taken[i] = 1;
	}
	model->lines[line] = lines;
}

static uint32_t longest_free(const struct model *model)
{
	uint32_t longest = 0, run = 0;

	for (uint32_t i = 1; i < LINES; i++) {
		run = model->is_taken[i] ? 0 : run + 1;
		if (run > longest)
			longest = run;
	}
	return longest;
}

static void test_random(void **state)
{
	_cleanup_(extents_freep) struct extents *extents = make(1, LINES);
	struct model model = {0};
	uint32_t refused = 0;
	unsigned int seed = 1;

	(void)state;
	for (int step = 0; step < 100000; step++) {
		uint32_t lines = 1 + (uint32_t)rand_r(&seed) % 40, line = 0, any;

		if (rand_r(&seed) % 2) {
			int r = extents_take(extents, lines, &line);

			/* Refused exactly when no run is long enough. */
			assert_int_equal(r == 0, longest_free(&model) >= lines);
			if (r == 0)
				model_take(&model, line, lines);
			refused += r < 0;
			continue;
		}
		any = 1 + (uint32_t)rand_r(&seed) % (LINES - 1);
		if (!model.lines[any])
			continue;
		extents_give(extents, any, model.lines[any]);
		memset(&model.is_taken[any], 0, model.lines[any]);
		model.lines[any] = 0;
	}
	assert_true(refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_until_full), cmocka_unit_test(test_nothing_free),
		cmocka_unit_test(test_best_fit),        cmocka_unit_test(test_neighbours_join),
		cmocka_unit_test(test_reserve),         cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
