/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a change of members: what is taken, and every mistake with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/member_request.h"

static int parse(struct member_request *request, const char *text, struct errors *errs)
{
	json_t *document = json_loads(text, JSON_DECODE_ANY, NULL);
	int r;

	assert_non_null(document);
	r = member_request_parse(request, document, errs);
	json_decref(document);
	return r;
}

static void check_item(const struct member_item *item, const char *prefix, uint32_t ttl_s)
{
	char text[PREFIX_STRING_SIZE];

	prefix_format(text, &item->prefix);
	assert_string_equal(text, prefix);
	assert_int_equal(item->ttl_s, ttl_s);
}

static void test_members_with_and_without_a_time(void **state)
{
	struct member_request request;
	struct errors errs = {0};

	(void)state;
	assert_int_equal(parse(&request,
			       "{\"add\":[\"10.0.0.1\",{\"prefix\":\"2001:DB8::/32\",\"ttl_s\":60},"
			       "{\"prefix\":\"10.1.0.0/16\"},"
			       "{\"ttl_s\":31536000,\"prefix\":\"10.0.0.2/32\"}],"
			       "\"remove\":[\"10.0.0.0/8\",\"::1\"]}",
			       &errs),
			 0);
	assert_int_equal(request.add_count, 4);
	check_item(&request.add[0], "10.0.0.1", 0);
	check_item(&request.add[1], "2001:db8::/32", 60);
	check_item(&request.add[2], "10.1.0.0/16", 0);
	check_item(&request.add[3], "10.0.0.2", 31536000);
	assert_int_equal(request.remove_count, 2);
	check_item(&request.remove[0], "10.0.0.0/8", 0);
	check_item(&request.remove[1], "::1", 0);
	member_request_fini(&request);
}

static void test_one_member_needs_no_list_and_nothing_is_no_mistake(void **state)
{
	static const char *const nothing[] = {"{}", "{\"add\":[]}", "{\"add\":[],\"remove\":[]}"};
	struct member_request request;
	struct errors errs = {0};

	(void)state;
	assert_int_equal(
		parse(&request,
		      "{\"add\":{\"prefix\":\"10.0.0.1\",\"ttl_s\":1},\"remove\":\"::/0\"}", &errs),
		0);
	assert_int_equal(request.add_count, 1);
	check_item(&request.add[0], "10.0.0.1", 1);
	check_item(&request.remove[0], "::/0", 0);
	member_request_fini(&request);
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++) {
		assert_int_equal(parse(&request, nothing[i], &errs), 0);
		assert_int_equal(request.add_count + request.remove_count, 0);
		member_request_fini(&request);
	}
}

struct row {
	const char *text;
	enum error_code code;
	const char *field;
};

static const struct row mistakes[] = {
	{"[]", ERROR_BAD_TYPE, ""},
	{"\"10.0.0.1\"", ERROR_BAD_TYPE, ""},
	{"{\"set\":[]}", ERROR_UNKNOWN_FIELD, "set"},
	{"{\"add\":[\"10.0.0.1/8\"]}", ERROR_BAD_VALUE, "add[0]"},
	{"{\"add\":[\"::1\",\"10.0.0\"]}", ERROR_BAD_VALUE, "add[1]"},
	{"{\"add\":[\"@web\"]}", ERROR_BAD_VALUE, "add[0]"},
	{"{\"add\":\"any\"}", ERROR_BAD_VALUE, "add"},
	{"{\"add\":[5]}", ERROR_BAD_TYPE, "add[0]"},
	{"{\"add\":null}", ERROR_BAD_TYPE, "add"},
	{"{\"add\":[[]]}", ERROR_BAD_TYPE, "add[0]"},
	{"{\"add\":[{}]}", ERROR_BAD_VALUE, "add[0].prefix"},
	{"{\"add\":{\"ttl_s\":5}}", ERROR_BAD_VALUE, "add.prefix"},
	{"{\"add\":[{\"prefix\":7}]}", ERROR_BAD_TYPE, "add[0].prefix"},
	{"{\"add\":[{\"prefix\":\"10.0.0.1/8\"}]}", ERROR_BAD_VALUE, "add[0].prefix"},
	{"{\"add\":[{\"prefix\":\"@web\"}]}", ERROR_BAD_VALUE, "add[0].prefix"},
	{"{\"add\":[{\"prefix\":\"::1\",\"ttl\":5}]}", ERROR_UNKNOWN_FIELD, "add[0].ttl"},
	{"{\"add\":[{\"prefix\":\"::1\",\"ttl_s\":0}]}", ERROR_BAD_VALUE, "add[0].ttl_s"},
	{"{\"add\":[{\"prefix\":\"::1\",\"ttl_s\":-1}]}", ERROR_BAD_VALUE, "add[0].ttl_s"},
	{"{\"add\":[{\"prefix\":\"::1\",\"ttl_s\":31536001}]}", ERROR_BAD_VALUE, "add[0].ttl_s"},
	{"{\"add\":[{\"prefix\":\"::1\",\"ttl_s\":1.5}]}", ERROR_BAD_TYPE, "add[0].ttl_s"},
	{"{\"add\":[{\"prefix\":\"::1\",\"ttl_s\":null}]}", ERROR_BAD_TYPE, "add[0].ttl_s"},
	{"{\"remove\":[{\"prefix\":\"::1\"}]}", ERROR_BAD_TYPE, "remove[0]"},
	{"{\"remove\":[\"10.0.0.1/8\"]}", ERROR_BAD_VALUE, "remove[0]"},
	{"{\"remove\":\"@web\"}", ERROR_BAD_VALUE, "remove"},
};

static void test_each_mistake_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		struct member_request request;
		struct errors errs = {0};

		if (parse(&request, mistakes[i].text, &errs) != -EINVAL || errs.count != 1)
			fail_msg("%s: %zu mistakes", mistakes[i].text, errs.count);
		if (errs.items[0].code != mistakes[i].code ||
		    strcmp(errs.items[0].field, mistakes[i].field) != 0)
			fail_msg("%s: code %d at %s: %s", mistakes[i].text, errs.items[0].code,
				 errs.items[0].field, errs.items[0].message);
		errors_fini(&errs);
		member_request_fini(&request);
	}
}

static void test_all_mistakes_are_told_at_once(void **state)
{
	struct member_request request;
	struct errors errs = {0};

	(void)state;
	assert_int_equal(parse(&request,
			       "{\"remove\":[\"x\",\"::1\",\"y\"],\"colour\":1,"
			       "\"add\":[{\"prefix\":\"z\",\"ttl_s\":0,\"size\":1}]}",
			       &errs),
			 -EINVAL);
	assert_int_equal(errs.count, 6);
	errors_fini(&errs);
	member_request_fini(&request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_with_and_without_a_time),
		cmocka_unit_test(test_one_member_needs_no_list_and_nothing_is_no_mistake),
		cmocka_unit_test(test_each_mistake_is_named),
		cmocka_unit_test(test_all_mistakes_are_told_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
