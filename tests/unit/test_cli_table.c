/* SPDX-License-Identifier: Apache-2.0 */
/* The CLI's tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "../../cli/table.h"

static void assert_printed(const struct table *table, const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	table_print(table, stream);
	fclose(stream);
	assert_string_equal(text, expected);
	free(text);
}

static void columns_are_as_wide_as_their_text(void **state)
{
	static const char *const headers[] = {"NAME", ">N", "LAST", NULL};
	struct table *table = table_new(headers);

	(void)state;
	table_add(table, "a");
	table_format(table, "%d", 1000);
	table_add(table, "x");
	table_add(table, "longer");
	table_format(table, "%d", 7);
	table_add(table, "");
	assert_printed(table, "NAME       N  LAST\n"
			      "a       1000  x\n"
			      "longer     7\n");
	table_free(table);
}

static void empty_columns_are_left_out(void **state)
{
	static const char *const headers[] = {"A", "NONE", "B", NULL};
	struct table *table = table_new(headers);

	(void)state;
	assert_printed(table, "A  NONE  B\n");
	table_add(table, "1");
	table_add(table, "");
	table_add(table, "2");
	assert_printed(table, "A  B\n1  2\n");
	table_free(table);
}

static void characters_count_not_bytes(void **state)
{
	static const char *const headers[] = {"A", "B", NULL};
	struct table *table = table_new(headers);

	(void)state;
	table_add(table, "äöü");
	table_add(table, "1");
	table_add(table, "abcd");
	table_add(table, "2");
	assert_printed(table, "A     B\näöü   1\nabcd  2\n");
	table_free(table);
}

static void a_text_does_not_steer_the_terminal(void **state)
{
	static const char *const headers[] = {"A", NULL};
	struct table *table = table_new(headers);

	(void)state;
	table_add(table, "x\x1b[2Jy\n");
	assert_printed(table, "A\nx?[2Jy?\n");
	table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_text),
		cmocka_unit_test(empty_columns_are_left_out),
		cmocka_unit_test(characters_count_not_bytes),
		cmocka_unit_test(a_text_does_not_steer_the_terminal),
	};

	return cmocka_run_group_tests_name("cli_table", tests, NULL, NULL);
}
