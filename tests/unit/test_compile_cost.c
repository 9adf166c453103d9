/* SPDX-License-Identifier: Apache-2.0 */
/* What compiled rules cost in table memory, compared among each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compile/policy.h"
#include "model/config.h"

#include "config_rows.h"

#define RULES 40

struct cost {
	size_t lines;  /* of table memory */
	size_t ranges; /* of addresses, in one rule */
};

/* Of a list of rules; `prefixes` prints those of rule i. */
static struct cost cost_of(void (*prefixes)(char *text, size_t size, int family, int i), int family)
{
	_cleanup_(errors_fini) struct errors errs = {0};
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	_cleanup_(config_freep) struct config *config = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	fprintf(stream, "{'acls':{'a':{'rules':[");
	for (int i = 0; i < RULES; i++) {
		char list[256];

		prefixes(list, sizeof(list), family, i);
		fprintf(stream,
			"%s{'id':'r%d','action':'allow','src':[%s],'protocol':'tcp',"
			"'dst_ports':%d}",
			i ? "," : "", i, list, 1000 + i);
	}
	fprintf(stream, "]}},'ports':{'p':{'interface':'e','from':['a']}}}");
	fclose(stream);
	config = parse(text);
	free(text);
	assert_int_equal(compile_policy(&compiled,
					(const struct acl *const *)config->ports[0].list[0].acls, 1,
					false, "f", &errs),
			 0);
	return (struct cost){
		.lines = compiled->line_count,
		.ranges = config->acls[0].rules[0].src.v4.count +
			  config->acls[0].rules[0].src.v6.count,
	};
}

/* Three prefixes apart from each other, others for each rule. */
static void disjoint(char *text, size_t size, int family, int i)
{
	snprintf(text, size,
		 family == 4 ? "'10.%d.0.0/24','11.%d.0.0/24','12.%d.0.0/24'"
			     : "'2001:db8:%x::/64','2001:db9:%x::/64','2001:dba:%x::/64'",
		 i + 1, i + 1, i + 1);
}

/* Three of which each holds the next. */
static void nested(char *text, size_t size, int family, int i)
{
	snprintf(text, size,
		 family == 4 ? "'10.%d.0.0/16','10.%d.0.0/20','10.%d.0.0/24'"
			     : "'2001:db8:%x::/48','2001:db8:%x::/56','2001:db8:%x::/64'",
		 i + 1, i + 1, i + 1);
}

/* The widest of these. */
static void widest(char *text, size_t size, int family, int i)
{
	snprintf(text, size, family == 4 ? "'10.%d.0.0/16'" : "'2001:db8:%x::/48'", i + 1);
}

/* The same three for every rule. */
static void shared(char *text, size_t size, int family, int i)
{
	(void)i;
	disjoint(text, size, family, 0);
}

/* acl/44: prefixes that overlap cost no more than prefixes that do not. */
static void test_overlapping_prefixes(void **state)
{
	(void)state;
	for (int family = 4; family <= 6; family += 2) {
		struct cost apart = cost_of(disjoint, family), one = cost_of(widest, family);
		struct cost overlapping = cost_of(nested, family);

		assert_int_equal(overlapping.ranges, one.ranges);
		assert_int_equal(overlapping.lines, one.lines);
		assert_true(overlapping.lines < apart.lines);
		assert_true(cost_of(shared, family).lines < apart.lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlapping_prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
