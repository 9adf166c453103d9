/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much work the programs are for the verifier. It gives up at a million instructions; other kernels
 * count differently, so that there has to be air.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "secg.skel.h"

#define LIMIT    700000u
#define LOG_SIZE 65536

struct cost {
	struct bpf_program *program;
	char log[LOG_SIZE];
};

/* "stack depth 312+32+...", one number per function; a chain of calls may take 512 bytes. */
static void print_stack(const char *log)
{
	const char *line = strstr(log, "stack depth ");

	if (line)
		print_message("  %.*s\n", (int)strcspn(line, "\n"), line);
}

/* "processed 123456 insns (limit 1000000) ...", the last line of the log. */
static unsigned int processed(const char *log)
{
	const char *line = strstr(log, "processed ");
	unsigned int count = 0;

	assert_non_null(line);
	assert_int_equal(sscanf(line, "processed %u insns", &count), 1);
	return count;
}

static void verify(bool is_trace)
{
	struct bpf_program *program;
	struct cost *costs = calloc(8, sizeof(*costs));
	struct secg *skel = secg__open();
	size_t count = 0;

	assert_non_null(costs);
	assert_non_null(skel);
	skel->rodata->secg_is_trace = is_trace;
	bpf_object__for_each_program(program, skel->obj)
	{
		assert_true(count < 8);
		costs[count].program = program;
		bpf_program__set_log_level(program, 4);
		bpf_program__set_log_buf(program, costs[count].log, LOG_SIZE);
		count++;
	}
	assert_int_equal(secg__load(skel), 0);
	for (size_t i = 0; i < count; i++) {
		unsigned int instructions = processed(costs[i].log);

		print_message("%s%s: %u instructions verified\n",
			      bpf_program__name(costs[i].program), is_trace ? ", traced" : "",
			      instructions);
		print_stack(costs[i].log);
		assert_in_range(instructions, 1, LIMIT - 1);
	}
	secg__destroy(skel);
	free(costs);
}

static void test_instructions(void **state)
{
	(void)state;
	verify(false);
}

static void test_instructions_traced(void **state)
{
	(void)state;
	verify(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_instructions_traced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
