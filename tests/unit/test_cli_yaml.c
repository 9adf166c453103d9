/* SPDX-License-Identifier: Apache-2.0 */
/* The CLI's YAML reader: core schema, refusals with their place, aliases, places of fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "../../cli/yaml.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static struct positions *positions;
static struct problems problems;

static int setup(void **state)
{
	(void)state;
	positions = positions_new();
	positions_add_file(positions, "f.yaml");
	problems = (struct problems){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	positions_free(positions);
	problems_fini(&problems);
	return 0;
}

static json_t *read_text(const char *text)
{
	json_t *value = NULL;
	int r = yaml_read(&value, text, strlen(text), positions, 0, &problems);

	assert_true((r == 0) == (value != NULL));
	assert_true((r == -EINVAL) == (problems.count > 0));
	return value;
}

static void assert_json(const char *yaml, const char *json)
{
	json_t *value = read_text(yaml);
	char *text;

	if (!value)
		fail_msg("refused: %s: %s", yaml, problems.lines[0]);
	text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	if (strcmp(text, json) != 0)
		fail_msg("%s\n gives %s\n  not %s", yaml, text, json);
	free(text);
	json_decref(value);
}

static void assert_refused(const char *yaml, const char *line)
{
	json_t *value = read_text(yaml);

	if (value)
		fail_msg("accepted: %s", yaml);
	assert_int_equal(problems.count, 1);
	assert_string_equal(problems.lines[0], line);
	problems_fini(&problems);
}

static void assert_place(const char *path, unsigned line, unsigned column)
{
	const struct position *at = positions_find(positions, path);

	if (!at)
		fail_msg("%s has no place", path);
	if (at->line != line || at->column != column)
		fail_msg("%s is at %u:%u", path, at->line, at->column);
}

static void plain_scalars_follow_the_core_schema(void **state)
{
	static const char *const rows[][2] = {
		{"52:54:00:12:34:56", "\"52:54:00:12:34:56\""},
		{"1:20", "\"1:20\""},
		{"190:20:30", "\"190:20:30\""},
		{"no", "\"no\""},
		{"on", "\"on\""},
		{"yes", "\"yes\""},
		{"off", "\"off\""},
		{"y", "\"y\""},
		{"tRUE", "\"tRUE\""},
		{"true", "true"},
		{"True", "true"},
		{"FALSE", "false"},
		{"null", "null"},
		{"~", "null"},
		{"NULL", "null"},
		{"nUll", "\"nUll\""},
		{"0", "0"},
		{"-12", "-12"},
		{"+12", "12"},
		{"0123", "123"},
		{"0o17", "15"},
		{"0xff", "255"},
		{"0xC0000101", "3221225729"},
		{"0x", "\"0x\""},
		{"0o8", "\"0o8\""},
		{"-0x1", "\"-0x1\""},
		{"0b1", "\"0b1\""},
		{"1_000", "\"1_000\""},
		{"9223372036854775807", "9223372036854775807"},
		{"1.5", "1.5"},
		{"1e3", "1000.0"},
		{".5", "0.5"},
		{"1.", "1.0"},
		{".", "\".\""},
		{"1e", "\"1e\""},
		{"e3", "\"e3\""},
		{"+", "\"+\""},
		{"192.0.2.1", "\"192.0.2.1\""},
		{"192.0.2.0/28", "\"192.0.2.0/28\""},
		{"2001:db8::/64", "\"2001:db8::/64\""},
		{"8000-8100", "\"8000-8100\""},
		{"2001-12-14", "\"2001-12-14\""},
		{"=", "\"=\""},
		{"\"5\"", "\"5\""},
		{"'true'", "\"true\""},
		{"''", "\"\""},
		{"!!str 5", "\"5\""},
		{"!!str", "\"\""},
		{"!!int 5", "5"},
		{"!!float 5", "5.0"},
		{"!!bool true", "true"},
		{"\"\\u00e4\"", "\"ä\""},
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		char yaml[64], json[64];

		snprintf(yaml, sizeof(yaml), "k: %s\n", rows[i][0]);
		snprintf(json, sizeof(json), "{\"k\":%s}", rows[i][1]);
		assert_json(yaml, json);
	}
}

static void structures_of_block_and_flow(void **state)
{
	(void)state;
	assert_json("a: {b: [1, \"x\", {c: d}], e: []}\nf:\n- 1\n- - 2\n",
		    "{\"a\":{\"b\":[1,\"x\",{\"c\":\"d\"}],\"e\":[]},\"f\":[1,[2]]}");
	assert_json("80: {no: 1}\n", "{\"80\":{\"no\":1}}");
	assert_json("a: |\n  x\n  5\nb: >-\n  7\n", "{\"a\":\"x\\n5\\n\",\"b\":\"7\"}");
	assert_json("{\"a\":\n\t[1, true, null]}", "{\"a\":[1,true,null]}");
	assert_json("%YAML 1.2\n---\na: !!map {b: !!seq [1]}\n...\n", "{\"a\":{\"b\":[1]}}");
	assert_json("[]", "[]");
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	assert_refused("a: 9223372036854775808\n",
		       "f.yaml:1:4: 9223372036854775808 is not a number that fits");
	assert_refused("a: 1e400\n", "f.yaml:1:4: 1e400 is not a number that fits");
	assert_refused("a: -.inf\n", "f.yaml:1:4: -.inf is not a number that fits");
	assert_refused("a: .nan\n", "f.yaml:1:4: .nan is not a number that fits");
	assert_refused("a: 0xffffffffffffffff\n",
		       "f.yaml:1:4: 0xffffffffffffffff is not a number that fits");
}

static void duplicate_keys_are_refused(void **state)
{
	(void)state;
	assert_refused("acls:\n  web: {}\n  db: {}\n  web: {}\n",
		       "f.yaml:4:3: duplicate key \"web\"");
	assert_refused("a: {x: 1, \"x\": 2}\n", "f.yaml:1:11: duplicate key \"x\"");
	assert_refused("a: &k x\nb: {x: 1, *k : 2}\n", "f.yaml:2:11: duplicate key \"x\"");
}

static void every_mistake_is_told_at_once(void **state)
{
	(void)state;
	assert_null(read_text("a: 1e400\nb: !!set {}\na: 1\n"));
	assert_int_equal(problems.count, 3);
	assert_string_equal(problems.lines[2], "f.yaml:3:1: duplicate key \"a\"");
}

static void what_yaml_may_but_a_policy_must_not(void **state)
{
	(void)state;
	assert_refused(
		"a: 1\n---\nb: 2\n",
		"f.yaml:2:1: a second document begins here: put each into a file of its own");
	assert_refused("a: !ruby/object 1\n",
		       "f.yaml:1:4: tag !ruby/object is not one of YAML's core schema");
	assert_refused("a: !!binary aGk=\n",
		       "f.yaml:1:4: tag tag:yaml.org,2002:binary is not one of YAML's core schema");
	assert_refused("a: !!int x\n",
		       "f.yaml:1:4: \"x\" is not a value of its tag tag:yaml.org,2002:int");
	assert_refused("a: !!set {}\n",
		       "f.yaml:1:4: tag tag:yaml.org,2002:set does not belong here");
	assert_refused("a: &x {b: 1}\nc:\n  <<: *x\n",
		       "f.yaml:3:3: merge keys (<<) are not YAML 1.2: write the fields out");
	assert_refused("[1]: 2\n", "f.yaml:1:1: a key must be a plain name");
	assert_refused("a: \"x\\0y\"\n", "f.yaml:1:4: a text must not hold a NUL character");
	assert_refused("\"x\\0y\": 1\n", "f.yaml:1:1: a key must not hold a NUL character");
	assert_refused("", "f.yaml: there is nothing in it");
	assert_refused("# only a comment\n", "f.yaml: there is nothing in it");
	assert_refused("---\n", "f.yaml: there is nothing in it");
	/* would delete every ACL when sent as a patch */
	assert_refused("acls:\nports: {}\n",
		       "f.yaml:1:6: there is no value here: write {} or [] for nothing, "
		       "null to delete what the daemon has");
}

static void bad_syntax_names_its_place(void **state)
{
	(void)state;
	assert_refused("a:\n  - b\n c: d\n",
		       "f.yaml:3:2: this is no field of the mapping that begins at 1:1: is it "
		       "indented as the others are?");
	assert_refused("a: [1, 2\n", "f.yaml:1:4: the list that begins here has no ']' at its end");
	assert_refused("ü: {ü: 2",
		       "f.yaml:1:4: the mapping that begins here has no '}' at its end");
	assert_refused("ü: [b\nc: d]\n",
		       "f.yaml:2:2: ':' does not belong here: a text with ': ' in "
		       "it needs quotes");
	assert_refused("a: [\"b\" \"c\"]\n",
		       "f.yaml:1:9: ',' or ']' is missing before this, in the list "
		       "that begins at 1:4");
	assert_refused("ü: @b\n", "f.yaml:1:4: a text that begins with @ needs quotes, as in "
				  "\"@group\"");
	assert_refused("a: `b\n", "f.yaml:1:4: a text that begins with '`' needs quotes");
	assert_refused("a:\n\tb: c\n",
		       "f.yaml:2:1: a tab stands here: YAML is indented with spaces");
	assert_refused("a: b: c\n", "f.yaml:1:5: ':' does not belong here: a text with ': ' in it "
				    "needs quotes, and a field a line of its own");
	assert_refused("a:\n  - b\n  c: d\n",
		       "f.yaml:3:3: this is no element of the list that begins at 2:3: '-' is "
		       "missing, or it is indented otherwise");
	assert_refused("a: b\nc\n", "f.yaml:2:1: ':' is missing behind this name");
	assert_refused("a: \xff\n", "f.yaml:1:4: this is not UTF-8: save the file as UTF-8");
	assert_refused(
		"a: \"\\ud800\"\n",
		"f.yaml:1:7: found invalid Unicode character escape code while parsing a quoted "
		"scalar");
}

static void aliases_are_copies(void **state)
{
	(void)state;
	assert_json("a: &x [1, &y two]\nb: *x\nc: *y\n",
		    "{\"a\":[1,\"two\"],\"b\":[1,\"two\"],\"c\":\"two\"}");
	assert_json("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "{\"a\":1,\"b\":1,\"c\":2,\"d\":2}");
	assert_json("a: &x k\nb: {*x : 1}\n", "{\"a\":\"k\",\"b\":{\"k\":1}}");
	/* the text of what is aliased, which is where it can be repaired */
	assert_place("a[1]", 1, 11);
	assert_place("b[1]", 1, 11);
}

static void aliases_without_end_are_refused(void **state)
{
	char bomb[2048] = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
	size_t size = strlen(bomb);

	(void)state;
	assert_refused("a: *x\n", "f.yaml:1:4: alias *x has no anchor before it");
	assert_refused("a: &x [1, *x]\n", "f.yaml:1:11: alias *x stands inside what it names");
	assert_refused("a: &x {b: {c: *x}}\n", "f.yaml:1:15: alias *x stands inside what it names");
	for (int i = 1; i < 7; i++)
		size += (size_t)snprintf(
			bomb + size, sizeof(bomb) - size,
			"a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
			i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	assert_null(read_text(bomb));
	assert_int_equal(problems.count, 1);
	assert_non_null(strstr(problems.lines[0], "aliases make the document too large"));
}

static void depth_is_limited(void **state)
{
	char text[80] = {0};

	(void)state;
	memset(text, '[', 32);
	memset(text + 32, ']', 32);
	json_decref(read_text(text));
	assert_int_equal(problems.count, 0);
	memset(text, '[', 33);
	memset(text + 33, ']', 33);
	assert_refused(text, "f.yaml:1:33: nested deeper than 32 levels");
	assert_refused(
		"a: &a [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\nb: [[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]\n",
		"f.yaml:1:22: aliases nest this too deep");
}

static void fields_keep_their_places(void **state)
{
	(void)state;
	json_decref(read_text("acls:\n"
			      "  web:\n"
			      "    rules:\n"
			      "      - {id: a, dst_ports: [443, 80]}\n"
			      "      - id: b\n"
			      "        action: allow\n"
			      "ports: {eth0.100: {from: [web]}}\n"));
	assert_place("acls", 1, 1);
	assert_place("acls.web.rules[0]", 4, 9);
	assert_place("acls.web.rules[0].dst_ports", 4, 17);
	assert_place("acls.web.rules[0].dst_ports[1]", 4, 34);
	assert_place("acls.web.rules[1].action", 6, 9);
	assert_place("ports.eth0.100.from[0]", 7, 27);
	assert_null(positions_find(positions, "acls.web.rules[2]"));
	assert_int_equal(positions_nearest(positions, "acls.web.rules[1].src[3]")->line, 5);
	assert_int_equal(positions_nearest(positions, "acls")->line, 1);
	assert_null(positions_nearest(positions, "acls.db"));
	assert_null(positions_nearest(positions, "acls.db.rules[0].src[0]"));
	assert_null(positions_nearest(positions, "groups.x"));
	assert_null(positions_nearest(positions, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
		ROW(plain_scalars_follow_the_core_schema),
		ROW(structures_of_block_and_flow),
		ROW(numbers_that_do_not_fit_are_refused),
		ROW(duplicate_keys_are_refused),
		ROW(every_mistake_is_told_at_once),
		ROW(what_yaml_may_but_a_policy_must_not),
		ROW(bad_syntax_names_its_place),
		ROW(aliases_are_copies),
		ROW(aliases_without_end_are_refused),
		ROW(depth_is_limited),
		ROW(fields_keep_their_places),
	};

	return cmocka_run_group_tests_name("cli_yaml", tests, NULL, NULL);
}
