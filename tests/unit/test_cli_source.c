/* SPDX-License-Identifier: Apache-2.0 */
/* The CLI's policy files: JSON and YAML, directories, merging, and errors put back to their lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../cli/source.h"

static char directory[] = "/tmp/secg-source-XXXXXX";
static struct positions *positions;
static struct problems problems;

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static int setup(void **state)
{
	(void)state;
	positions = positions_new();
	problems = (struct problems){0};
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {"a.yaml",   "b.yaml",    "c.json", "d/1.yaml",
					    "d/2.json", "d/.h.yaml", "d/n.txt"};

	(void)state;
	positions_free(positions);
	problems_fini(&problems);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	rmdir("d");
	return 0;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static json_t *read_paths(const char *first, const char *second)
{
	char *paths[] = {(char *)first, (char *)second};
	json_t *document = NULL;
	int r = source_read(&document, paths, second ? 2 : 1, positions, &problems);

	assert_true((r == 0) == (document != NULL));
	assert_true((r == -EINVAL) == (problems.count > 0));
	return document;
}

static void assert_document(const char *first, const char *second, const char *json)
{
	json_t *document = read_paths(first, second);
	char *text;

	if (!document)
		fail_msg("refused: %s", problems.lines[0]);
	text = json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, json);
	free(text);
	json_decref(document);
}

static void assert_refused(const char *first, const char *second, const char *line)
{
	assert_null(read_paths(first, second));
	assert_int_equal(problems.count, 1);
	assert_string_equal(problems.lines[0], line);
}

static void objects_of_two_files_lie_side_by_side(void **state)
{
	(void)state;
	put("a.yaml", "schema: secg/1\nacls: {web: {rules: []}}\ngroups: {g: null}\n");
	put("c.json", " \n{\"acls\": {\"db\": {}}, \"schema\": \"secg/1\", \"ports\": null}");
	assert_document("a.yaml", "c.json",
			"{\"acls\":{\"db\":{},\"web\":{\"rules\":[]}},\"groups\":{\"g\":null},"
			"\"ports\":null,\"schema\":\"secg/1\"}");
}

static void an_object_of_two_files_is_a_mistake(void **state)
{
	(void)state;
	put("a.yaml", "acls:\n  db: {}\n  web: {}\n");
	put("b.yaml", "# here too\nacls: {web: {}}\n");
	assert_refused("a.yaml", "b.yaml", "b.yaml:2:8: acls.web: is already given in a.yaml:3:3");
}

static void a_file_named_twice_is_a_mistake(void **state)
{
	(void)state;
	put("a.yaml", "acls: {web: {}}\n");
	assert_refused("a.yaml", "a.yaml", "a.yaml:1:8: acls.web: is already given in a.yaml:1:8");
}

static void values_that_contradict_each_other_are_a_mistake(void **state)
{
	(void)state;
	put("a.yaml", "schema: secg/1\n");
	put("b.yaml", "schema: secg/2\n");
	assert_refused("a.yaml", "b.yaml", "b.yaml:1:1: schema: differs from a.yaml:1:1");
}

static void a_directory_is_its_policy_files(void **state)
{
	(void)state;
	mkdir("d", 0700);
	put("d/1.yaml", "acls: {a: {}}\n");
	put("d/2.json", "{\"acls\": {\"b\": {}}}");
	put("d/.h.yaml", "acls: {hidden: {}}\n");
	put("d/n.txt", "acls: {text: {}}\n");
	assert_document("d", NULL, "{\"acls\":{\"a\":{},\"b\":{}}}");
}

static void an_empty_directory_is_a_mistake(void **state)
{
	(void)state;
	mkdir("d", 0700);
	put("d/n.txt", "acls: {}\n");
	assert_refused("d/", NULL, "d/: holds no .yaml, .yml or .json file");
}

static void json_is_read_as_json(void **state)
{
	(void)state;
	put("c.json", "{\"acls\": {\"\\ud83d\\ude00\": 1}}");
	assert_document("c.json", NULL, "{\"acls\":{\"😀\":1}}");
	put("c.json", "{\"acls\": {},\n \"acls\": {}}");
	assert_refused("c.json", NULL, "c.json:2:2: duplicate key \"acls\"");
}

static void yaml_may_begin_with_a_brace(void **state)
{
	(void)state;
	put("a.yaml", "{acls: {web: {}}}\n");
	assert_document("a.yaml", NULL, "{\"acls\":{\"web\":{}}}");
}

static void json_that_is_cut_off_is_refused(void **state)
{
	(void)state;
	put("c.json", "{\"acls\": {");
	assert_null(read_paths("c.json", NULL));
	assert_non_null(strstr(problems.lines[0], "c.json:1:10: "));
}

static void a_policy_is_a_mapping(void **state)
{
	(void)state;
	put("a.yaml", "- acls\n");
	assert_refused("a.yaml", NULL,
		       "a.yaml:1:3: a policy is a mapping of acls, groups, services and ports: "
		       "write acls: {…}");
}

static void a_missing_file_is_named(void **state)
{
	(void)state;
	assert_refused("none.yaml", NULL, "none.yaml: No such file or directory");
}

static void the_daemon_s_errors_find_their_line(void **state)
{
	json_auto_t *missing = json_pack("{s:s,s:s,s:s}", "code", "bad_value", "field",
					 "acls.web.rules[1].id", "message", "is required");
	json_auto_t *exact = json_pack("{s:s,s:s,s:s}", "code", "bad_value", "field",
				       "ports.p.hook", "message", "must be auto, xdp or tc");
	json_auto_t *elsewhere = json_pack("{s:s,s:s}", "code", "busy", "field", "");

	(void)state;
	put("a.yaml", "acls:\n  web:\n    rules:\n    - {id: a}\n    - {action: drop}\n");
	put("c.json", "{\"ports\": {\n  \"p\": {\n    \"hook\": 5}}}");
	json_decref(read_paths("a.yaml", "c.json"));
	problems_add_item(&problems, positions, missing);
	problems_add_item(&problems, positions, exact);
	problems_add_item(&problems, positions, elsewhere);
	assert_int_equal(problems.count, 3);
	assert_string_equal(problems.lines[0], "a.yaml:5:7: acls.web.rules[1].id: is required");
	assert_string_equal(problems.lines[1],
			    "c.json:3:13: ports.p.hook: must be auto, xdp or tc");
	assert_string_equal(problems.lines[2], "busy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
		ROW(objects_of_two_files_lie_side_by_side),
		ROW(an_object_of_two_files_is_a_mistake),
		ROW(a_file_named_twice_is_a_mistake),
		ROW(values_that_contradict_each_other_are_a_mistake),
		ROW(a_directory_is_its_policy_files),
		ROW(an_empty_directory_is_a_mistake),
		ROW(json_is_read_as_json),
		ROW(yaml_may_begin_with_a_brace),
		ROW(json_that_is_cut_off_is_refused),
		ROW(a_policy_is_a_mapping),
		ROW(a_missing_file_is_named),
		ROW(the_daemon_s_errors_find_their_line),
	};

	return cmocka_run_group_tests_name("cli_source", tests, enter, leave);
}
