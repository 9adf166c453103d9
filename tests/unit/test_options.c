/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: values, precedence, what is refused and whom the message blames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/cleanup.h"
#include "core/options.h"

static char *const no_environment[] = {NULL};
#define NO_FILE "--config=/dev/null"

#define PARSE(ret, environment, message, ...)                                   \
	options_parse(ret, (int)ARRAY_SIZE(((char *[]){"secgd", __VA_ARGS__})), \
		      (char *[]){"secgd", __VA_ARGS__}, environment, message)

static void write_config(char path[64], const char *text)
{
	FILE *file;
	int fd;

	strcpy(path, "/tmp/secg-test-options-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void defaults_are_those_of_the_manual(void **state)
{
	_cleanup_(options_fini) struct options options = {0};
	char message[OPTIONS_MESSAGE_SIZE];

	(void)state;
	assert_int_equal(PARSE(&options, no_environment, message, NO_FILE), 0);
	assert_string_equal(options.socket, "/run/secgd/secgd.sock");
	assert_string_equal(options.state_directory, "/var/lib/secgd");
	assert_string_equal(options.bpffs, "/sys/fs/bpf/secgd");
	assert_int_equal(options.max_sessions, 262144);
	assert_false(options.is_ephemeral);
	assert_int_equal(options.log_level, LOG_INFO);
}

static void the_socket_follows_the_run_directory(void **state)
{
	_cleanup_(options_fini) struct options options = {0};
	char message[OPTIONS_MESSAGE_SIZE];

	(void)state;
	assert_int_equal(PARSE(&options, no_environment, message, NO_FILE, "--run-dir", "/tmp/x"),
			 0);
	assert_string_equal(options.socket, "/tmp/x/secgd.sock");
}

static void a_flag_beats_the_environment_which_beats_the_file(void **state)
{
	static char *const environment[] = {"SECGD_MAX_SESSIONS=2000", "SECGD_LOG_LEVEL=debug",
					    NULL};
	_cleanup_(options_fini) struct options options = {0};
	char message[OPTIONS_MESSAGE_SIZE];
	char path[64];
	int r;

	(void)state;
	write_config(path, "# sizes\n\n max-sessions = 1000 \nlog-level=error\n"
			   "table-memory = 8M\nephemeral = true\n");
	r = PARSE(&options, environment, message, "--config", path, "--max-sessions=3000");
	unlink(path);
	assert_int_equal(r, 0);
	assert_int_equal(options.max_sessions, 3000);
	assert_int_equal(options.log_level, LOG_DEBUG);
	assert_int_equal(options.table_memory_bytes, 8 << 20);
	assert_true(options.is_ephemeral);
}

static void a_missing_file_matters_only_when_asked_for(void **state)
{
	static char *const environment[] = {"SECGD_CONFIG=/nowhere/at/all", NULL};
	_cleanup_(options_fini) struct options options = {0};
	char message[OPTIONS_MESSAGE_SIZE];

	(void)state;
	assert_int_equal(PARSE(&options, no_environment, message, "--config", "/nowhere/at/all"),
			 -ENOENT);
	assert_non_null(strstr(message, "/nowhere/at/all"));
	assert_int_equal(PARSE(&options, environment, message, "--ephemeral"), -ENOENT);
}

static void what_is_refused_names_flag_variable_or_line(void **state)
{
	static const struct {
		const char *flag, *variable, *file, *blamed;
	} rows[] = {
		{"--workers=4", NULL, NULL, "--workers"},
		{"--crypto=openssl", NULL, NULL, "--crypto"},
		{"--max-sessions=many", NULL, NULL, "--max-sessions"},
		{"--max-sessions=0", NULL, NULL, "--max-sessions"},
		{"--max-sessions=4294967297", NULL, NULL, "--max-sessions"},
		{"--max-sessions", NULL, NULL, "needs a value"},
		{"--table-memory=64Q", NULL, NULL, "--table-memory"},
		{"--table-memory=99999999999999999999G", NULL, NULL, "--table-memory"},
		{"--socket=relative", NULL, NULL, "--socket"},
		{"--ephemeral=perhaps", NULL, NULL, "--ephemeral"},
		{"ephemeral", NULL, NULL, "is no flag"},
		{"--", NULL, NULL, "is no flag"},
		{NULL, "SECGD_LOG_LEVEL=loud", NULL, "SECGD_LOG_LEVEL"},
		{NULL, "SECGD_STATE_DIR=", NULL, "SECGD_STATE_DIR"},
		{NULL, NULL, "max-sessions = 1000\nworkers = 3\n", ":2"},
		{NULL, NULL, "max-sessions\n", ":1"},
		{NULL, NULL, "\n\nlog-level = loud\n", ":3"},
		{NULL, NULL, "detach-all = true\n", "detach-all"},
		{NULL, NULL, "config = /etc/other\n", "config"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *const environment[] = {(char *)rows[i].variable, NULL};
		_cleanup_(options_fini) struct options options = {0};
		char message[OPTIONS_MESSAGE_SIZE] = "";
		char path[64] = "/dev/null";
		int r;

		if (rows[i].file)
			write_config(path, rows[i].file);
		if (rows[i].flag)
			r = PARSE(&options, environment, message, "--config", path,
				  (char *)rows[i].flag);
		else
			r = PARSE(&options, environment, message, "--config", path);
		if (rows[i].file)
			unlink(path);
		if (r >= 0 || !strstr(message, rows[i].blamed))
			fail_msg("row %zu: %d, \"%s\"", i, r, message);
	}
}

static void sizes_have_units_of_1024(void **state)
{
	uint64_t bytes;

	(void)state;
	assert_int_equal(options_parse_size(&bytes, "64M"), 0);
	assert_int_equal(bytes, 64 << 20);
	assert_int_equal(options_parse_size(&bytes, "3g"), 0);
	assert_int_equal(bytes, (uint64_t)3 << 30);
	assert_int_equal(options_parse_size(&bytes, "12345"), 0);
	assert_int_equal(bytes, 12345);
	assert_int_equal(options_parse_size(&bytes, ""), -EINVAL);
	assert_int_equal(options_parse_size(&bytes, "M"), -EINVAL);
	assert_int_equal(options_parse_size(&bytes, "-1"), -EINVAL);
	assert_int_equal(options_parse_size(&bytes, "1MM"), -EINVAL);
}

static void lists_of_words_become_masks(void **state)
{
	static const char *const words[] = {"tcx", "xdp_frags", "xdp_link"};
	char message[OPTIONS_MESSAGE_SIZE];
	uint32_t mask = 7;

	(void)state;
	assert_int_equal(options_parse_words(&mask, "", words, 3, message), 0);
	assert_int_equal(mask, 0);
	assert_int_equal(options_parse_words(&mask, "xdp_link,tcx", words, 3, message), 0);
	assert_int_equal(mask, 5);
	assert_int_equal(options_parse_words(&mask, "tcx,xdp", words, 3, message), -EINVAL);
	assert_non_null(strstr(message, "xdp"));
	assert_int_equal(mask, 5);
}

static void help_is_given_whatever_the_file_says(void **state)
{
	_cleanup_(options_fini) struct options options = {0};
	char message[OPTIONS_MESSAGE_SIZE];

	(void)state;
	assert_int_equal(PARSE(&options, no_environment, message, "--config", "/nowhere", "--help"),
			 0);
	assert_true(options.shows_help);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_manual),
		cmocka_unit_test(the_socket_follows_the_run_directory),
		cmocka_unit_test(a_flag_beats_the_environment_which_beats_the_file),
		cmocka_unit_test(a_missing_file_matters_only_when_asked_for),
		cmocka_unit_test(what_is_refused_names_flag_variable_or_line),
		cmocka_unit_test(sizes_have_units_of_1024),
		cmocka_unit_test(lists_of_words_become_masks),
		cmocka_unit_test(help_is_given_whatever_the_file_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
