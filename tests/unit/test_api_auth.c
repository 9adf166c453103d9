/* SPDX-License-Identifier: Apache-2.0 */
/* Rights by the credentials of a peer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "api/auth.h"
#include "core/cleanup.h"

#define ADMIN 901
#define READ  902

static void rights_follow_uid_and_groups(void **state)
{
	static const gid_t admin[] = {4, ADMIN}, reader[] = {READ, 5}, both[] = {READ, ADMIN},
			   other[] = {4, 5};
	static const struct auth_groups groups = {
		.has_write = true, .has_read = true, .write = ADMIN, .read = READ};
	static const struct {
		struct peer peer;
		enum right right;
	} rows[] = {
		{{0, 0, NULL, 0}, RIGHT_WRITE},        {{0, 1000, other, 2}, RIGHT_WRITE},
		{{1000, 1000, NULL, 0}, RIGHT_NONE},   {{1000, 0, NULL, 0}, RIGHT_NONE},
		{{1000, 1000, other, 2}, RIGHT_NONE},  {{1000, ADMIN, NULL, 0}, RIGHT_WRITE},
		{{1000, READ, NULL, 0}, RIGHT_READ},   {{1000, 1000, admin, 2}, RIGHT_WRITE},
		{{1000, 1000, reader, 2}, RIGHT_READ}, {{1000, 1000, both, 2}, RIGHT_WRITE},
		{{1000, READ, admin, 2}, RIGHT_WRITE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (auth_decide(&rows[i].peer, &groups) != rows[i].right)
			fail_msg("row %zu", i);
}

/* A host without the groups: their zeroed number must not be the group root. */
static void groups_that_do_not_exist_give_nothing(void **state)
{
	static const struct auth_groups groups = {0};
	static const struct peer peer = {.uid = 1000, .gid = 0};

	(void)state;
	assert_int_equal(auth_decide(&peer, &groups), RIGHT_NONE);
}

static void the_kernel_tells_who_connected(void **state)
{
	struct auth_groups groups = {0};
	enum right right = RIGHT_NONE;
	uid_t uid = 12345;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(auth_peer(&uid, &right, fds[0], &groups), 0);
	assert_int_equal(uid, geteuid());
	assert_int_equal(right, geteuid() ? RIGHT_NONE : RIGHT_WRITE);
	close(fds[0]);
	close(fds[1]);
	assert_true(auth_peer(&uid, &right, fds[0], &groups) < 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_follow_uid_and_groups),
		cmocka_unit_test(groups_that_do_not_exist_give_nothing),
		cmocka_unit_test(the_kernel_tells_who_connected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
