/* SPDX-License-Identifier: Apache-2.0 */
/* Documents as JSON: what is refused before its content is looked at, merging, comparing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/document.h"

/* ── reading ────────────────────────────────────────────────────────────────────────────────────── */

#define TEXT(bytes) bytes, sizeof(bytes) - 1

static const struct {
	const char *bytes;
	size_t size;
	const char *where;
} bad_rows[] = {
	{TEXT(""), "line 1 column 0"},
	{TEXT("  \n"), "line 2"},
	{TEXT("{\"acls\": {"), "line 1 column 10"},
	{TEXT("{} {}"), "line 1 column 4"},
	{TEXT("{}\0"), "line 1"},
	{TEXT("{\n\n  'acls': {}}"), "line 3 column 3"},
	{TEXT("{\"a\": 1,}"), "line 1"},
	{TEXT("{/* */}"), "line 1"},
	{TEXT("[NaN]"), "line 1"},
	{TEXT("[1e400]"), "line 1"},
	{TEXT("[123456789012345678901234567890]"), "line 1"},
	{TEXT("[01]"), "line 1"},
	{TEXT("{\"a\": 1, \"a\": 2}"), "duplicate"},
	{TEXT("{\"a\": {\"b\": 1, \"\\u0062\": 2}}"), "duplicate"},
	{TEXT("[\"\\ud800\"]"), "line 1"},
	{TEXT("[\"\\udc00x\"]"), "line 1"},
	{TEXT("[\"\\ud800\\ud800\"]"), "line 1"},
	{TEXT("[\"a\\u0000b\"]"), "line 1"},
	{TEXT("{\"a\\u0000b\": 1}"), "line 1"},
	{TEXT("[\"a\0b\"]"), "line 1"},
	{TEXT("[\"\xff\"]"), "line 1"},
	{TEXT("[\"\xc0\x80\"]"), "line 1"},
	{TEXT("[\"\xed\xa0\x80\"]"), "line 1"},
	{TEXT("[\"\xe2\x82\"]"), "line 1"},
	{TEXT("[\"a\nb\"]"), "line 1"},
};

static void test_what_is_not_json_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_rows); i++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		json_auto_t *message = NULL;
		json_t *value = NULL;

		if (document_read(&value, bad_rows[i].bytes, bad_rows[i].size, &errors) != -EINVAL)
			fail_msg("read: %s", bad_rows[i].bytes);
		assert_null(value);
		assert_int_equal(errors.count, 1);
		assert_int_equal(errors.items[0].code, ERROR_BAD_JSON);
		assert_string_equal(errors.items[0].field, "");
		if (!strstr(errors.items[0].message, bad_rows[i].where))
			fail_msg("%s: %s", bad_rows[i].bytes, errors.items[0].message);
		message = json_string(errors.items[0].message);
		assert_non_null(message);
	}
}

static void test_any_value_is_read(void **state)
{
	static const char *const texts[] = {"{}",
					    " [1]\n",
					    "null",
					    "5",
					    "\"x\"",
					    "\"\\ud83d\\ude00 [{[{\\\"[[\"",
					    "9223372036854775807"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		json_auto_t *value = NULL;

		assert_int_equal(document_read(&value, texts[i], strlen(texts[i]), &errors), 0);
		assert_non_null(value);
	}
}

static int read_nested(int depth, char open, char close, struct errors *errors)
{
	json_auto_t *value = NULL;
	char text[256] = "\n ";

	memset(text + 2, open, (size_t)depth);
	memset(text + 2 + depth, close, (size_t)depth);
	return document_read(&value, text, strlen(text), errors);
}

static void test_depth_has_a_limit(void **state)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	_cleanup_free_ char *deep = malloc(1000000);
	json_t *value = NULL;

	(void)state;
	assert_int_equal(read_nested(32, '[', ']', &errors), 0);
	assert_int_equal(read_nested(33, '[', ']', &errors), -EINVAL);
	assert_non_null(strstr(errors.items[0].message, "line 2 column 34: "));
	assert_non_null(strstr(errors.items[0].message, "32"));
	memset(deep, '{', 1000000);
	assert_int_equal(document_read(&value, deep, 1000000, &errors), -EINVAL);
	assert_int_equal(errors.items[1].code, ERROR_BAD_JSON);
}

/* Brackets in strings are no depth; the end of a string is where the parser sees it. */
static void test_strings_do_not_nest(void **state)
{
	static const struct {
		const char *before;
		int result;
	} rows[] = {
		{"[\"", 0},      {"[\"\\\"", 0},       {"[\"\\\\\\\"", 0},
		{"[\"\",\"", 0}, {"[\"\\\\\", \"", 0}, {"[\"\\\\\",", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		json_auto_t *value = NULL;
		char text[256];

		/* 33 opening brackets, then what closes them, the string and the list. */
		snprintf(text, sizeof(text), "%s%s%s%s]", rows[i].before,
			 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
			 rows[i].result ? "" : "\"");
		if (document_read(&value, text, strlen(text), &errors) != rows[i].result)
			fail_msg("%s", text);
		if (rows[i].result)
			assert_non_null(strstr(errors.items[0].message, "deeper"));
	}
}

/* ── merging ────────────────────────────────────────────────────────────────────────────────────── */

/* RFC 7396, appendix A, all of it; then what a document needs. */
static const struct {
	const char *target, *patch, *result;
} merge_rows[] = {
	{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
	{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
	{"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
	{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
	{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
	{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
	{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
	{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
	{"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
	{"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
	{"{\"a\":\"foo\"}", "null", "null"},
	{"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
	{"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
	{"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
	{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
	{"{}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}"},
	{"{\"acls\":{\"a\":{\"rules\":[]},\"b\":{}}}", "{\"acls\":{\"a\":null,\"c\":{}}}",
	 "{\"acls\":{\"b\":{},\"c\":{}}}"},
};

static json_t *json_of(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(value);
	return value;
}

static void assert_json(const json_t *value, const char *text)
{
	_cleanup_free_ char *found =
		value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("nothing");

	assert_string_equal(found, text);
}

static void test_merge(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(merge_rows); i++) {
		json_auto_t *target = json_of(merge_rows[i].target);
		json_auto_t *patch = json_of(merge_rows[i].patch);
		json_auto_t *merged = document_merge(target, patch);

		assert_json(merged, merge_rows[i].result);
		assert_json(target, merge_rows[i].target);
		assert_json(patch, merge_rows[i].patch);
	}
}

static void test_with(void **state)
{
	json_auto_t *document = json_of("{\"acls\":{\"a\":{},\"b\":{}}}");
	json_auto_t *value = json_of("{\"prefixes\":[]}");
	json_auto_t *added = document_with(document, OBJECT_GROUP, "g", value);
	json_auto_t *replaced = document_with(document, OBJECT_ACL, "a", value);
	json_auto_t *removed = document_with(document, OBJECT_ACL, "a", NULL);
	json_auto_t *absent = document_with(document, OBJECT_PORT, "p", NULL);

	(void)state;
	assert_json(added, "{\"acls\":{\"a\":{},\"b\":{}},\"groups\":{\"g\":{\"prefixes\":[]}}}");
	assert_json(replaced, "{\"acls\":{\"a\":{\"prefixes\":[]},\"b\":{}}}");
	assert_json(removed, "{\"acls\":{\"b\":{}}}");
	assert_json(absent, "{\"acls\":{\"a\":{},\"b\":{}},\"ports\":{}}");
	assert_json(document, "{\"acls\":{\"a\":{},\"b\":{}}}");
}

/* ── comparing ──────────────────────────────────────────────────────────────────────────────────── */

#define RULES(rules) "{'acls':{'w':{'rules':[" rules "]}}}"

/* The changes as lines "op path before after". */
static const struct {
	const char *before, *after, *changes;
} diff_rows[] = {
	{"{}", "{}", ""},
	{"{'acls':{'a':{}}}", "{'acls':{'a':{}},'groups':{}}", ""},
	{"{}", "{'acls':{'a':{}},'groups':{'g':{}}}", "add acls.a - {}\nadd groups.g - {}\n"},
	{"{'acls':{'a':{'rules':[]}}}", "{'acls':{}}", "remove acls.a {'rules':[]} -\n"},
	{"{'acls':{'a':{'rules':[]}}}", "{}", "remove acls.a {'rules':[]} -\n"},
	{"{'ports':{'p':{'interface':'a','tcp':'strict'}}}",
	 "{'ports':{'p':{'interface':'b','hook':'tc'}}}",
	 "replace ports.p.interface 'a' 'b'\nremove ports.p.tcp 'strict' -\n"
	 "add ports.p.hook - 'tc'\n"},
	{RULES("{'id':'a'},{'id':'b','action':'drop'}"),
	 RULES("{'id':'a'},{'id':'b','action':'allow'}"),
	 "replace acls.w.rules[1].action 'drop' 'allow'\n"},
	{RULES("{'id':'a'},{'id':'b'}"), RULES("{'id':'a'},{'id':'x'},{'id':'b'}"),
	 "add acls.w.rules[1] - {'id':'x'}\n"},
	{RULES("{'id':'a'},{'id':'b'},{'id':'c'}"), RULES("{'id':'b'},{'id':'c','action':'drop'}"),
	 "remove acls.w.rules[0] {'id':'a'} -\nadd acls.w.rules[1].action - 'drop'\n"},
	{RULES("{'id':'a'},{'id':'b'}"), RULES("{'id':'b'},{'id':'a'}"),
	 "replace acls.w.rules [{'id':'a'},{'id':'b'}] [{'id':'b'},{'id':'a'}]\n"},
	{RULES("{'id':'a','dst_ports':[1,2,'3-4']}"), RULES("{'id':'a','dst_ports':[2,5,'3-4']}"),
	 "remove acls.w.rules[0].dst_ports[0] 1 -\nadd acls.w.rules[0].dst_ports[1] - 5\n"},
	{"{'ports':{'p':{'from':['a','b']}}}", "{'ports':{'p':{'from':['b','a']}}}",
	 "replace ports.p.from ['a','b'] ['b','a']\n"},
	{"{'groups':{'g':{'prefixes':['10.0.0.1','10.0.0.1']}}}",
	 "{'groups':{'g':{'prefixes':['10.0.0.1']}}}",
	 "remove groups.g.prefixes[1] '10.0.0.1' -\n"},
	/* runs at the begin, inside and at the end */
	{"{'ports':{'p':{'from':['a','b','c']}}}", "{'ports':{'p':{'from':['c']}}}",
	 "remove ports.p.from[0] 'a' -\nremove ports.p.from[1] 'b' -\n"},
	{"{'ports':{'p':{'from':['a','b']}}}", "{'ports':{'p':{'from':['a','x','y','b']}}}",
	 "add ports.p.from[1] - 'x'\nadd ports.p.from[2] - 'y'\n"},
	{"{'ports':{'p':{'from':[]}}}", "{'ports':{'p':{'from':['a','b']}}}",
	 "add ports.p.from[0] - 'a'\nadd ports.p.from[1] - 'b'\n"},
	{"{'ports':{'p':{'from':['a','b']}}}", "{'ports':{'p':{'from':['x','a']}}}",
	 "remove ports.p.from[1] 'b' -\nadd ports.p.from[0] - 'x'\n"},
	{"{'services':{'s':[{'protocol':['tcp']}]}}",
	 "{'services':{'s':[{'protocol':['tcp'],'dst_ports':[1]},{'protocol':['udp']}]}}",
	 "add services.s[0].dst_ports - [1]\nadd services.s[1] - {'protocol':['udp']}\n"},
	{"{'acls':{'a':{'labels':{'x':'1'}}}}", "{'acls':{'a':{'labels':{'x':'2'}}}}",
	 "replace acls.a.labels.x '1' '2'\n"},
};

static void quote(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

static json_t *quoted_json(const char *document)
{
	_cleanup_free_ char *text = strdup(document);

	quote(text, '\'', '"');
	return json_of(text);
}

static void add_value(char *text, const json_t *value)
{
	_cleanup_free_ char *found =
		value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("-");

	quote(found, '"', '\'');
	sprintf(text + strlen(text), " %s", found);
}

static void test_diff(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(diff_rows); i++) {
		json_auto_t *before = quoted_json(diff_rows[i].before);
		json_auto_t *after = quoted_json(diff_rows[i].after);
		json_auto_t *changes = document_diff(before, after);
		char text[2048] = "";
		size_t index;
		json_t *change;

		json_array_foreach(changes, index, change)
		{
			sprintf(text + strlen(text), "%s %s",
				json_string_value(json_object_get(change, "op")),
				json_string_value(json_object_get(change, "path")));
			add_value(text, json_object_get(change, "before"));
			add_value(text, json_object_get(change, "after"));
			strcat(text, "\n");
		}
		if (strcmp(text, diff_rows[i].changes))
			fail_msg("%s\n%s\ngot:\n%s", diff_rows[i].before, diff_rows[i].after, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_not_json_is_refused),
		cmocka_unit_test(test_any_value_is_read),
		cmocka_unit_test(test_depth_has_a_limit),
		cmocka_unit_test(test_strings_do_not_nest),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_with),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
