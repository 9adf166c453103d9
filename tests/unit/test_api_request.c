/* SPDX-License-Identifier: Apache-2.0 */
/* Request line and headers: paths, escapes, queries, conditions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/request.h"

static void a_target_is_split_and_decoded(void **state)
{
	_cleanup_(request_fini) struct request request = {0};
	_cleanup_(errors_fini) struct errors errors = {0};

	(void)state;
	assert_int_equal(request_parse_target(&request,
					      "/v1/ports/eth0%2e5%2Fa+b?src=2001:db8::/64&all",
					      &errors),
			 0);
	assert_int_equal(request.segment_count, 3);
	assert_string_equal(request.segments[0], "v1");
	assert_string_equal(request.segments[1], "ports");
	assert_string_equal(request.segments[2], "eth0.5/a+b");
	assert_string_equal(request_parameter(&request, "src"), "2001:db8::/64");
	assert_string_equal(request_parameter(&request, "all"), "");
	assert_null(request_parameter(&request, "dst"));
}

static void an_absolute_target_is_read_like_a_path(void **state)
{
	_cleanup_(request_fini) struct request request = {0};
	_cleanup_(errors_fini) struct errors errors = {0};

	(void)state;
	assert_int_equal(request_parse_target(&request, "http://localhost/v1/status", &errors), 0);
	assert_int_equal(request.segment_count, 2);
	assert_string_equal(request.segments[1], "status");
}

static void bad_targets_are_refused_by_field(void **state)
{
	static const struct {
		const char *target, *field;
	} rows[] = {
		{"/v1/acls/a%00b", "path"},
		{"/v1/acls/a%", "path"},
		{"/v1/acls/a%4", "path"},
		{"/v1/acls/a%zz", "path"},
		{"/v1/acls/a%4g", "path"},
		{"/v1/acls/%ff", "path"},
		{"/v1/acls/%ed%a0%80", "path"},
		{"v1/acls", "path"},
		{"*", "path"},
		{"", "path"},
		{"/v1/stats?port=%00", "query.port"},
		{"/v1/stats?port=a&port=b", "query.port"},
		{"/v1/stats?%zz=1", "query"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(request_fini) struct request request = {0};
		_cleanup_(errors_fini) struct errors errors = {0};

		if (request_parse_target(&request, rows[i].target, &errors) != -EINVAL ||
		    errors.count != 1 || strcmp(errors.items[0].field, rows[i].field))
			fail_msg("row %zu: %s", i,
				 errors.count ? errors.items[0].field : "accepted");
	}
}

static void all_mistakes_of_a_query_are_found(void **state)
{
	_cleanup_(request_fini) struct request request = {0};
	_cleanup_(errors_fini) struct errors errors = {0};

	(void)state;
	assert_int_equal(request_parse_target(&request, "/v1/stats?a=%&b=%&c=1", &errors), -EINVAL);
	assert_int_equal(errors.count, 2);
	assert_string_equal(errors.items[1].field, "query.b");
}

static void long_paths_and_queries_are_bounded(void **state)
{
	_cleanup_(request_fini) struct request request = {0};
	_cleanup_(errors_fini) struct errors errors = {0};
	char target[1024] = "/a/b/c/d/e/f/g?";

	(void)state;
	for (int i = 0; i <= REQUEST_MAX_PARAMETERS; i++)
		sprintf(target + strlen(target), "k%d=%d&", i, i);
	assert_int_equal(request_parse_target(&request, target, &errors), -EINVAL);
	assert_int_equal(request.segment_count, 7);
	assert_int_equal(errors.items[0].code, ERROR_LIMIT);
}

static void if_match_takes_one_strong_etag(void **state)
{
	static const char *const bad[] = {"",
					  "\"\"",
					  "W/\"5\"",
					  "\"5\", \"6\"",
					  "5,6",
					  "five",
					  "-5",
					  "+5",
					  "5 ",
					  "\"5",
					  "5\"",
					  "\"*\"",
					  "0x5",
					  "99999999999999999999",
					  "000000000000000000000000000000005"};
	_cleanup_(errors_fini) struct errors errors = {0};
	struct request request = {0};

	(void)state;
	assert_int_equal(request_parse_if_match(&request, "*", &errors), 0);
	assert_false(request.has_if_match);
	assert_int_equal(request_parse_if_match(&request, "\"18446744073709551615\"", &errors), 0);
	assert_true(request.has_if_match);
	assert_true(request.if_match == UINT64_MAX);
	assert_int_equal(request_parse_if_match(&request, "7", &errors), 0);
	assert_int_equal(request.if_match, 7);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (request_parse_if_match(&request, bad[i], &errors) != -EINVAL)
			fail_msg("accepted: %s", bad[i]);
		assert_string_equal(errors.items[i].field, "headers.If-Match");
	}
}

static void methods_are_known_by_name(void **state)
{
	(void)state;
	assert_int_equal(method_parse("GET"), METHOD_GET);
	assert_int_equal(method_parse("HEAD"), METHOD_GET);
	assert_int_equal(method_parse("PATCH"), METHOD_PATCH);
	assert_int_equal(method_parse("POST"), METHOD_POST);
	assert_int_equal(method_parse("TRACE"), METHOD_OTHER);
	assert_int_equal(method_parse("get"), METHOD_OTHER);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_target_is_split_and_decoded),
		cmocka_unit_test(an_absolute_target_is_read_like_a_path),
		cmocka_unit_test(bad_targets_are_refused_by_field),
		cmocka_unit_test(all_mistakes_of_a_query_are_found),
		cmocka_unit_test(long_paths_and_queries_are_bounded),
		cmocka_unit_test(if_match_takes_one_strong_etag),
		cmocka_unit_test(methods_are_known_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
