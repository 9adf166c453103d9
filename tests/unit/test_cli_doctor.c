/* SPDX-License-Identifier: Apache-2.0 */
/* What sgctl doctor says without a daemon, for facts that are made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "../../cli/doctor_local.h"
#include "../../cli/value.h"

static const struct row {
	struct local_facts facts;
	const char *code, *severity;
	const char *message, *fix; /* parts */
} rows[] = {
	{{.error = ENOENT}, "socket_missing", "error", "no socket /x", "secgd"},
	{{.error = ENOENT, .has_systemd = true}, "socket_missing", "error", "", "systemctl start"},
	{{.error = ECONNREFUSED}, "socket_stale", "error", "has ended", "secgd"},
	{{.error = EACCES, .uid = 7}, "socket_forbidden", "error", "uid 7", "sudo"},
	{{.error = ENAMETOOLONG}, "socket_broken", "error", "too long", "secgd"},
	{{.error = ENOENT}, "daemon_missing", "error", "no process", "secgd"},
	{{.error = ENOENT, .daemon = 9, .daemon_socket = "/y"},
	 "daemon_elsewhere",
	 "warning",
	 "/y",
	 "sgctl --socket /y doctor"},
	{{.error = ENOENT, .daemon = 9, .daemon_socket = "/x"},
	 "daemon_running",
	 "info",
	 "process 9); it may be starting",
	 "journalctl"},
	{{.error = 0, .daemon = 9}, "daemon_running", "info", "process 9)", "journalctl"},
	{{.error = ENOENT, .pin_count = 4}, "pinned", "info", "4 hooks", "bpftool net show"},
	{{.uid = 0}, "rights", "info", "read and change", ""},
	{{.uid = 7, .admin = LOCAL_INSIDE}, "rights", "info", "read and change", ""},
	{{.uid = 7, .read = LOCAL_INSIDE}, "rights", "info", "may read; changing", "secg-admin"},
	{{.uid = 7, .read = LOCAL_OUTSIDE}, "rights", "error", "neither", "usermod -aG secg-read"},
	{{.uid = 7}, "rights", "error", "do not exist", "groupadd --system secg-read"},
};

static const json_t *find(const json_t *answer, const char *code)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(json_object_get(answer, "findings"), i, finding)
	{
		if (strcmp(value_member(finding, "code"), code) == 0)
			return finding;
	}
	return NULL;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct local_facts facts = rows[i].facts;
		json_auto_t *answer = NULL;
		const json_t *finding;

		facts.socket = "/x";
		answer = local_judge(&facts);
		finding = find(answer, rows[i].code);
		if (!finding)
			fail_msg("row %zu: no %s", i, rows[i].code);
		assert_string_equal(value_member(finding, "severity"), rows[i].severity);
		if (!strstr(value_member(finding, "message"), rows[i].message))
			fail_msg("row %zu: %s", i, value_member(finding, "message"));
		if (!strstr(value_member(finding, "fix"), rows[i].fix))
			fail_msg("row %zu: type %s", i, value_member(finding, "fix"));
	}
}

static void test_who_answers_is_not_called_missing(void **state)
{
	const struct local_facts facts = {.socket = "/x", .daemon = 9, .uid = 7, .pin_count = 2};
	json_auto_t *answer = local_judge(&facts);

	(void)state;
	assert_null(find(answer, "socket_missing"));
	assert_null(find(answer, "daemon_missing"));
	assert_null(find(answer, "pinned"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_who_answers_is_not_called_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
