/* SPDX-License-Identifier: Apache-2.0 */
/* How `sgctl explain` finds a field, and what it proposes where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../cli/explain_path.h"

static void a_field_is_found_as_people_write_it(void **state)
{
	static const struct {
		const char *path;
		const char *found; /* NULL: nothing */
	} rows[] = {
		{"ports", "ports"},
		{"ports.hook", "ports.NAME.hook"},
		{"ports.NAME.hook", "ports.NAME.hook"},
		{"ports.vm1.hook", "ports.NAME.hook"},
		{"ports.hook.hook", "ports.NAME.hook"},
		{"port.timeouts.icmp", "ports.NAME.timeouts.icmp"},
		{"rule", "acls.NAME.rules"},
		{"rule.dst_ports", "acls.NAME.rules.dst_ports"},
		{"acls.rules.dst_ports", "acls.NAME.rules.dst_ports"},
		{"acls.web.rules[2].dst_ports[0]", "acls.NAME.rules.dst_ports"},
		{"acls.web.v2.rules[12].src", "acls.NAME.rules.src"},
		{"ports.default", "ports.NAME.default"},
		{"ports.default.default.from.action", "ports.NAME.default.from.action"},
		{"services.dst_ports", "services.NAME.dst_ports"},
		{"services.NAME", "services.NAME"},
		{"reasons", "stats.reasons"},
		{"reason.rule_drop", "stats.reasons.rule_drop"},
		{"stats.ports.p.from.dropped", "stats.ports.NAME.from.dropped"},
		{"ports.hok", NULL},
		{"ports.vm1", NULL},
		{"ports.vm1.hook.x", NULL},
		{"hook", NULL},
		{"", NULL},
		{".", NULL},
		{"[", NULL},
		{"NAME", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct explain_field *field = explain_find(rows[i].path);

		if (!rows[i].found && field)
			fail_msg("%s is taken for %s", rows[i].path, field->path);
		if (rows[i].found && (!field || strcmp(field->path, rows[i].found) != 0))
			fail_msg("%s is %s", rows[i].path, field ? field->path : "not found");
	}
}

static void what_is_near_is_proposed(void **state)
{
	static const struct {
		const char *path;
		const char *first; /* NULL: nothing is near */
	} rows[] = {
		{"ports.hok", "ports.NAME.hook"},
		{"ports.vm1.hooks", "ports.NAME.hook"},
		{"rule.dst_port", "acls.NAME.rules.dst_ports"},
		{"hook", "ports.NAME.hook"},
		{"protocol", "services.NAME.protocol"},
		{"prots", "ports"},
		{"zzzzzzzz", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct explain_field *near[EXPLAIN_NEAR];
		size_t count = explain_near(rows[i].path, near);

		assert_true(count <= EXPLAIN_NEAR);
		if (!rows[i].first && count > 0)
			fail_msg("%s is near %s", rows[i].path, near[0]->path);
		if (rows[i].first && (count == 0 || strcmp(near[0]->path, rows[i].first) != 0))
			fail_msg("%s is near %s", rows[i].path, count ? near[0]->path : "nothing");
	}
}

static void a_path_may_be_long(void **state)
{
	const struct explain_field *near[EXPLAIN_NEAR];
	char path[5000];

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_null(explain_find(path));
	assert_int_equal(explain_near(path, near), 0);
	for (size_t i = 1; i < sizeof(path) - 1; i += 2)
		path[i] = '.';
	assert_null(explain_find(path));
	assert_int_equal(explain_near(path, near), 0);
}

static void fields_below_a_field_are_listed(void **state)
{
	const struct explain_field *field = NULL;
	size_t count = 0;

	(void)state;
	while ((field = explain_next(explain_find("ports.timeouts"), field)))
		count++;
	assert_int_equal(count, 7);
	field = explain_next(explain_find("ports"), NULL);
	assert_non_null(field);
	assert_string_equal(field->path, "ports.NAME.description");
	assert_null(explain_next(explain_find("ports.hook"), NULL));
	assert_non_null(explain_next(NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_is_found_as_people_write_it),
		cmocka_unit_test(what_is_near_is_proposed),
		cmocka_unit_test(a_path_may_be_long),
		cmocka_unit_test(fields_below_a_field_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
