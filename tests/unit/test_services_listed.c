/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of the services that come with the program: `sgctl help services` and secg-policy(5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../cli/help.h"
#include "core/cleanup.h"
#include "model/objects.h"

#define MAN_PAGE \
	"docs/man/secg-policy.5" /* from the root of the source, where make runs the tests */

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

static void test_help_lists_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < shipped_service_count; i++) {
		char line[96];
		const char *found;

		snprintf(line, sizeof(line), "  %-16s%s", shipped_services[i].name,
			 shipped_service_describe(&shipped_services[i]).text);
		found = strstr(help_services, line);
		if (!found)
			fail_msg("sgctl help services has no \"%s\"", line);
		found += strlen(line);
		if (*found != '\n' && *found != ' ')
			fail_msg("behind \"%s\" stands \"%.8s\"", line, found);
	}
}

static void test_help_lists_no_other(void **state)
{
	(void)state;
	assert_int_equal(count_of(help_services, " tcp ") + count_of(help_services, " udp "),
			 shipped_service_count);
}

static void test_manual_lists_each_and_no_other(void **state)
{
	static char page[64 * 1024];
	FILE *file = fopen(MAN_PAGE, "re");
	const char *list;
	size_t items = 0;

	(void)state;
	assert_non_null(file);
	page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
	fclose(file);
	list = strstr(page, "\n.Ss services\n");
	assert_non_null(list);
	*strstr(list, "\n.El\n") = '\0';
	for (size_t i = 0; i < shipped_service_count; i++) {
		char item[96];

		snprintf(item, sizeof(item), "\n.It Ic %s\n%s", shipped_services[i].name,
			 shipped_service_describe(&shipped_services[i]).text);
		list = strstr(page, item);
		if (!list || (list[strlen(item)] && list[strlen(item)] != '\n'))
			fail_msg(MAN_PAGE " has no \"%s\"", item);
	}
	list = strstr(page, "\n.Ss services\n");
	items = count_of(list, "\n.It Ic ");
	assert_int_equal(items, shipped_service_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_lists_each),
		cmocka_unit_test(test_help_lists_no_other),
		cmocka_unit_test(test_manual_lists_each_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
