/* SPDX-License-Identifier: Apache-2.0 */
/* What the CLI writes: YAML that reads back as the same value, and mistakes with their line quoted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../../cli/json_places.h"
#include "../../cli/problems.h"
#include "../../cli/yaml.h"
#include "../../cli/yaml_print.h"
#include "../support/random.h"

static char *yaml_of(const json_t *value, enum yaml_order order)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	yaml_print(value, order, stream);
	fclose(stream);
	return text;
}

static json_t *read_back(const char *text)
{
	struct positions *positions = positions_new();
	uint32_t file = positions_add_file(positions, "f");
	struct problems problems = {0};
	json_t *value = NULL;

	if (yaml_read(&value, text, strlen(text), positions, file, &problems) < 0)
		fail_msg("not read back: %s\n%s", problems.lines[0], text);
	problems_fini(&problems);
	positions_free(positions);
	return value;
}

static void assert_yaml(const char *json, const char *yaml)
{
	json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
	char *text = yaml_of(value, YAML_AS_IS);

	assert_string_equal(text, yaml);
	free(text);
	json_decref(value);
}

static void small_values_stand_in_one_line(void **state)
{
	(void)state;
	assert_yaml("{}", "{}\n");
	assert_yaml("[]", "[]\n");
	assert_yaml("{\"from\": [\"a\", \"b\"], \"max\": 1}", "from: [a, b]\nmax: 1\n");
	assert_yaml("{\"acls\": {\"web\": {\"rules\": [{\"id\": \"a\", \"src\": [\"@x\"]}]}}}",
		    "acls:\n  web: {rules: [{id: a, src: [\"@x\"]}]}\n");
	assert_yaml("[{\"a\": [[1], {}]}]", "- a: [[1], {}]\n");
	assert_yaml("{\"expires_s\": 30.016}", "expires_s: 30.016\n");
}

static void large_ones_stand_in_blocks(void **state)
{
	(void)state;
	assert_yaml(
		"{\"acls\": {\"web\": {\"rules\": ["
		"{\"id\": \"first-of-them\", \"action\": \"allow\", \"src\": [\"192.0.2.0/24\"]},"
		"{\"id\": \"second-of-them\", \"action\": \"allow\", \"src\": [\"@a\"]}]}}}",
		"acls:\n"
		"  web:\n"
		"    rules:\n"
		"      - {id: first-of-them, action: allow, src: [192.0.2.0/24]}\n"
		"      - {id: second-of-them, action: allow, src: [\"@a\"]}\n");
}

static void doubtful_texts_are_quoted(void **state)
{
	(void)state;
	assert_yaml(
		"{\"a\": [\"yes\", \"No\", \"on\", \"null\", \"~\", \"true\", \"12\", \"0x1f\", \"1e3\"]}",
		"a: [\"yes\", \"No\", \"on\", \"null\", \"~\", \"true\", \"12\", \"0x1f\", \"1e3\"]\n");
	assert_yaml(
		"{\"a\": [\"52:54:00:12:34:56\", \"1:30\", \"2024-01-01\", \"\", \"a b\", \"-\", \".5\"]}",
		"a: [\"52:54:00:12:34:56\", \"1:30\", \"2024-01-01\", \"\", \"a b\", \"-\", \".5\"]\n");
	assert_yaml(
		"{\"a\": [\"192.0.2.1\", \"10.0.0.0/8\", \"a.b-c_d\", \"10.0\", \"1.2.3.4.5\"]}",
		"a: [192.0.2.1, 10.0.0.0/8, a.b-c_d, \"10.0\", \"1.2.3.4.5\"]\n");
	assert_yaml(
		"{\"a\": [\"a\\\"b\\\\c\\n\\t\\u001b\\u0085\\u2028\\ufeff\\ud83d\\ude00ü\"]}",
		"a: [\"a\\\"b\\\\c\\n\\u0009\\u001b\\u0085\\u2028\\ufeff\xf0\x9f\x98\x80ü\"]\n");
}

/* A random value; texts out of pieces that YAML could mistake. */
static json_t *random_value(struct rng *rng, int depth)
{
	static const char *const pieces[] = {":",  "#", " ",  "-", "a", "0",  "1", ".",
					     "\n", "'", "\"", "{", "}", "[",  "]", ",",
					     "~",  "&", "*",  "!", "%", "\\", "ü", "\xc2\x9b"};
	unsigned int kind = rng_below(rng, depth > 4 ? 4 : 8);
	json_t *value;
	char text[64] = "";

	for (unsigned int i = rng_below(rng, 8); i > 0; i--)
		strcat(text, pieces[rng_below(rng, sizeof(pieces) / sizeof(pieces[0]))]);
	switch (kind) {
	case 0:
		return json_integer((json_int_t)rng_below(rng, 1000) - 500);
	case 1:
		return json_boolean(rng_below(rng, 2));
	case 2:
	case 3:
		return json_string(text);
	case 4:
	case 5:
		value = json_array();
		for (unsigned int i = rng_below(rng, 6); i > 0; i--)
			json_array_append_new(value, random_value(rng, depth + 1));
		return value;
	default:
		value = json_object();
		json_object_set_new(value, text, random_value(rng, depth + 1));
		json_object_set_new(value, "name", random_value(rng, depth + 1));
		return value;
	}
}

static void what_is_written_reads_back(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 20260801);
	for (int i = 0; i < 20000; i++) {
		json_t *value = random_value(&rng, 0), *again;
		char *text;

		if (json_is_string(value) && json_string_length(value) == 0) {
			json_decref(value);
			continue;
		}
		text = yaml_of(value, i % 2 ? YAML_AS_IS : YAML_SORTED);
		again = read_back(text);
		if (!json_equal(value, again))
			fail_msg("another value:\n%s", text);
		free(text);
		json_decref(value);
		json_decref(again);
	}
}

/* ── places ─────────────────────────────────────────────────────────────────────────────────────── */

static void assert_at(const struct position *at, unsigned int line, unsigned int column)
{
	assert_non_null(at);
	assert_int_equal(at->line, line);
	assert_int_equal(at->column, column);
}

static void json_fields_have_places(void **state)
{
	static const char text[] = "{\n"
				   "  \"acls\": {\"wü\\u0062\\\"\": {\"rules\": [\n"
				   "\t{\"id\" : \"a,]}\", \"n\":[1,2 , [ ], -3.5e1]}, true]}},\n"
				   "  \"\xf0\x9f\x98\x80\": {}, \"z\":null\r\n"
				   "}";
	struct positions *positions = positions_new();
	uint32_t file = positions_add_file(positions, "f");

	(void)state;
	json_places(positions, file, text, strlen(text));
	assert_at(positions_find(positions, "acls"), 2, 3);
	assert_at(positions_find(positions, "acls.wüb\""), 2, 12);
	assert_at(positions_find(positions, "acls.wüb\".rules[0]"), 3, 2);
	assert_at(positions_find(positions, "acls.wüb\".rules[0].id"), 3, 3);
	assert_at(positions_find_value(positions, "acls.wüb\".rules[0].id"), 3, 10);
	assert_at(positions_find(positions, "acls.wüb\".rules[0].n[1]"), 3, 25);
	assert_at(positions_find(positions, "acls.wüb\".rules[0].n[3]"), 3, 34);
	assert_at(positions_find(positions, "acls.wüb\".rules[1]"), 3, 44);
	assert_null(positions_find_value(positions, "acls"));
	assert_at(positions_find(positions, "z"), 4, 12);
	assert_at(positions_find_value(positions, "z"), 4, 16);
	positions_free(positions);
}

static void assert_printed(const char *text, uint32_t line, uint32_t column, const char *expected)
{
	struct positions *positions = positions_new();
	uint32_t file = positions_add_file(positions, "f");
	struct problems problems = {0};
	char *printed = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&printed, &size);

	positions_take_text(positions, file, strdup(text), strlen(text));
	problems_add(&problems, "f", line, column, "no");
	problems_print(&problems, positions, "", stream);
	fclose(stream);
	assert_string_equal(printed, expected);
	free(printed);
	problems_fini(&problems);
	positions_free(positions);
}

static void the_line_is_quoted(void **state)
{
	char wide[301];

	(void)state;
	assert_printed("a\r\n\tü: b\nc", 2, 5, "f:2:5: no\n    2 |  ü: b\n      |     ^\n");
	assert_printed("a\nb", 2, 2, "f:2:2: no\n    2 | b\n      |  ^\n");
	assert_printed("a\n", 9, 1, "f:9:1: no\n");
	assert_printed("a\n", 0, 0, "f: no\n");
	assert_printed("x\033[1m\xc2\x9b", 1, 3, "f:1:3: no\n    1 | x [1m \n      |   ^\n");
	assert_printed("b\xfcr\xc3", 1, 2, "f:1:2: no\n    1 | b?r?\n      |  ^\n");
	memset(wide, 'x', 300);
	wide[200] = '!';
	wide[300] = '\0';
	assert_printed(wide, 1, 201,
		       "f:1:201: no\n    1 | …"
		       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx!"
		       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\n"
		       "      |                                                              ^\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_values_stand_in_one_line),
		cmocka_unit_test(large_ones_stand_in_blocks),
		cmocka_unit_test(doubtful_texts_are_quoted),
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(json_fields_have_places),
		cmocka_unit_test(the_line_is_quoted),
	};

	return cmocka_run_group_tests_name("cli_print", tests, NULL, NULL);
}
