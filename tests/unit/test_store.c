/* SPDX-License-Identifier: Apache-2.0 */
/* The store on a real database: what is committed is there after a crash, what is not is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/store.h"

struct fixture {
	char directory[64];
	char path[96];
	char message[STORE_MESSAGE_SIZE];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->directory, "/tmp/secg-store-XXXXXX");
	if (!mkdtemp(fixture->directory))
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/secg.db", fixture->directory);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	struct fixture *fixture = *state;
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		snprintf(path, sizeof(path), "%s%s", fixture->path, suffixes[i]);
		unlink(path);
	}
	rmdir(fixture->directory);
	free(fixture);
	return 0;
}

static struct store *open_store(struct fixture *fixture)
{
	struct store *store = NULL;
	int r = store_open(&store, fixture->directory, fixture->message);

	if (r < 0)
		fail_msg("%s", fixture->message);
	return store;
}

static void load(struct store *store, struct store_state *ret_state)
{
	if (store_load(store, ret_state) < 0)
		fail_msg("%s", store_message(store));
}

#define NOTED 1000 /* a number that stays, and only what is remembered beside it changes */

static struct ids_note note_of(uint64_t number)
{
	return (struct ids_note){
		.digest = ~number,
		.revision = (uint32_t)number & 0x7fff,
	};
}

static bool has_note(const struct store_state *state, uint32_t id, uint64_t number)
{
	struct ids_note got = ids_note(state->counters, id), wanted = note_of(number);

	return got.digest == wanted.digest && got.revision == wanted.revision;
}

/* A state whose every part tells its number. */
static void make_state(struct store_state *ret_state, uint64_t number)
{
	char digest[32];

	snprintf(digest, sizeof(digest), "digest-%llu", (unsigned long long)number);
	*ret_state = (struct store_state){
		.document = json_pack("{s:{s:{s:I}}, s:{s:{s:s}}}", "acls", "web", "number",
				      (json_int_t)number, "ports", "vm1", "interface", "tap1"),
		.policies = json_pack("{s:{s:I, s:s}}", "vm1", "generation", (json_int_t)number,
				      "digest", digest),
		.generation = number,
		.etag = number,
	};
	assert_int_equal(ids_new(&ret_state->ports, 1, 100), 0);
	assert_int_equal(ids_load(ret_state->ports, "vm1", 7), 0);
	assert_int_equal(ids_new(&ret_state->counters, 1, NOTED + 1), 0);
	assert_int_equal(
		ids_load(ret_state->counters, "vm1\nweb/https", (uint32_t)(number % 999) + 1), 0);
	ids_set_note(ret_state->counters, (uint32_t)(number % 999) + 1, note_of(number));
	assert_int_equal(ids_load(ret_state->counters, "vm1\nweb/ssh", NOTED), 0);
	ids_set_note(ret_state->counters, NOTED, note_of(number));
}

static void check_state(const struct store_state *state, uint64_t number)
{
	struct store_state wanted;
	uint32_t id = 0;

	make_state(&wanted, number);
	assert_int_equal(state->generation, number);
	assert_int_equal(state->etag, number);
	assert_true(json_equal(state->document, wanted.document));
	assert_true(json_equal(state->policies, wanted.policies));
	assert_int_equal(ids_find(state->ports, "vm1", &id), 0);
	assert_int_equal(id, 7);
	assert_int_equal(ids_find(state->counters, "vm1\nweb/https", &id), 0);
	assert_int_equal(id, number % 999 + 1);
	assert_true(has_note(state, id, number));
	assert_true(has_note(state, NOTED, number));
	store_state_fini(&wanted);
}

/* Commits a state over what is there. */
static int commit(struct store *store, uint64_t number)
{
	struct store_state before, after;
	int r;

	load(store, &before);
	make_state(&after, number);
	r = store_commit(store, &before, &after);
	store_state_fini(&before);
	store_state_fini(&after);
	return r;
}

static void test_new_store_is_empty(void **state)
{
	struct store *store = open_store(*state);
	struct store_state got;

	load(store, &got);
	assert_int_equal(got.generation, 0);
	assert_int_equal(got.etag, 0);
	assert_int_equal(json_object_size(got.document), 0);
	assert_null(ids_name(got.ports, 1));
	store_state_fini(&got);
	store_close(store);
}

static void test_files_are_private(void **state)
{
	struct fixture *fixture = *state;
	struct store *store;
	struct stat st;
	char wal[128];

	chmod(fixture->directory, 0755);
	store = open_store(fixture);
	assert_int_equal(commit(store, 1), 0);
	assert_int_equal(stat(fixture->directory, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(fixture->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	snprintf(wal, sizeof(wal), "%s-wal", fixture->path);
	assert_int_equal(stat(wal, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	store_close(store);
}

static void test_shared_directory_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = NULL;

	chmod(fixture->directory, 01777);
	assert_int_equal(store_open(&store, fixture->directory, fixture->message), -EPERM);
	assert_non_null(strstr(fixture->message, "directory of its own"));
}

static void test_committed_state_is_there_after_reopening(void **state)
{
	struct store *store = open_store(*state);
	struct store_state got;

	assert_int_equal(commit(store, 1), 0);
	assert_int_equal(commit(store, 2), 0);
	store_close(store);
	store = open_store(*state);
	load(store, &got);
	check_state(&got, 2);
	store_state_fini(&got);
	store_close(store);
}

static void test_removed_rows_are_gone_and_numbers_move(void **state)
{
	struct store *store = open_store(*state);
	struct store_state before, after, got;
	uint32_t id = 0;

	assert_int_equal(commit(store, 1), 0);
	load(store, &before);
	/* the numbers of vm1 and its rule go to vm2 in one transaction */
	after = (struct store_state){
		.document = json_pack("{s:{s:{}}}", "ports", "vm2"),
		.policies = json_object(),
		.generation = 2,
		.etag = 2,
	};
	assert_int_equal(ids_new(&after.ports, 1, 100), 0);
	assert_int_equal(ids_load(after.ports, "vm2", 7), 0);
	assert_int_equal(ids_new(&after.counters, 1, 1000), 0);
	assert_int_equal(ids_load(after.counters, "\nweb/https", 2), 0);
	assert_int_equal(store_commit(store, &before, &after), 0);
	store_close(store);

	store = open_store(*state);
	load(store, &got);
	assert_true(json_equal(got.document, after.document));
	assert_int_equal(json_object_size(got.policies), 0);
	assert_int_equal(ids_find(got.ports, "vm1", &id), -ENOENT);
	assert_int_equal(ids_find(got.ports, "vm2", &id), 0);
	assert_int_equal(id, 7);
	assert_int_equal(ids_find(got.counters, "\nweb/https", &id), 0);
	assert_int_equal(id, 2);
	assert_int_equal(ids_find(got.counters, "vm1\nweb/https", &id), -ENOENT);
	store_state_fini(&before);
	store_state_fini(&after);
	store_state_fini(&got);
	store_close(store);
}

/* ── crashes ────────────────────────────────────────────────────────────────────────────────────── */

/* Opening commits too; only a commit after that is meant. */
static bool is_armed;

static int die(void *data)
{
	(void)data;
	if (is_armed)
		_exit(42);
	return 0;
}

static int install_death(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
	(void)message;
	(void)api;
	sqlite3_commit_hook(db, die, NULL);
	return SQLITE_OK;
}

/* The hook runs when all rows are written and COMMIT has been asked for. */
static void test_death_before_commit_changes_nothing(void **state)
{
	struct store *store = open_store(*state);
	struct store_state got;
	int status = 0;
	pid_t pid;

	assert_int_equal(commit(store, 1), 0);
	store_close(store);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct store *child = NULL;
		struct store_state before, after;
		char message[STORE_MESSAGE_SIZE];

		sqlite3_auto_extension((void (*)(void))install_death);
		if (store_open(&child, ((struct fixture *)*state)->directory, message) < 0)
			_exit(1);
		if (store_load(child, &before) < 0)
			_exit(2);
		make_state(&after, 2);
		is_armed = true;
		store_commit(child, &before, &after);
		_exit(3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	store = open_store(*state);
	load(store, &got);
	check_state(&got, 1);
	store_state_fini(&got);
	store_close(store);
}

/* A writer that is killed at any moment leaves one whole state, never older than what it has confirmed. */
static void run_writer(const struct fixture *fixture, uint64_t from, int confirm_fd)
{
	struct store *store = NULL;
	char message[STORE_MESSAGE_SIZE];

	if (store_open(&store, fixture->directory, message) < 0)
		_exit(1);
	for (uint64_t number = from;; number++) {
		if (commit(store, number) < 0 || write(confirm_fd, &number, sizeof(number)) < 0)
			_exit(2);
	}
}

static uint64_t kill_writer(struct fixture *fixture, uint64_t from, useconds_t after_us)
{
	uint64_t confirmed = 0;
	int fds[2];
	int status;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		run_writer(fixture, from, fds[1]);
	close(fds[1]);
	assert_int_equal(read(fds[0], &confirmed, sizeof(confirmed)), sizeof(confirmed));
	usleep(after_us);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	while (read(fds[0], &confirmed, sizeof(confirmed)) == sizeof(confirmed))
		;
	close(fds[0]);
	return confirmed;
}

static void test_killed_writer_leaves_a_whole_state(void **state)
{
	uint64_t confirmed = 0;

	for (int round = 0; round < 10; round++) {
		struct store_state got;
		struct store *store;

		confirmed = kill_writer(*state, confirmed + 1, (useconds_t)(round * 1700));
		store = open_store(*state);
		load(store, &got);
		assert_in_range(got.generation, confirmed, confirmed + 1);
		check_state(&got, got.generation);
		confirmed = got.generation;
		store_state_fini(&got);
		store_close(store);
	}
}

/* ── what must not be touched ───────────────────────────────────────────────────────────────────── */

static void test_later_schema_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = open_store(fixture);
	sqlite3 *db = NULL;

	assert_int_equal(commit(store, 5), 0);
	store_close(store);
	assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 1000", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	store = NULL;
	assert_int_equal(store_open(&store, fixture->directory, fixture->message),
			 -EPROTONOSUPPORT);
	assert_non_null(strstr(fixture->message, "later version"));
	assert_null(store);
}

/* As the first version made it: it remembered nothing beside the number of a counter. */
static const char first_schema[] =
	"CREATE TABLE objects(kind TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL,"
	" PRIMARY KEY(kind, name)) WITHOUT ROWID;"
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE port_ids(name TEXT PRIMARY KEY, id INTEGER NOT NULL UNIQUE,"
	" generation INTEGER, digest TEXT) WITHOUT ROWID;"
	"CREATE TABLE counter_ids(port TEXT NOT NULL, rule TEXT NOT NULL, idx INTEGER NOT NULL UNIQUE,"
	" PRIMARY KEY(port, rule)) WITHOUT ROWID;"
	"INSERT INTO objects VALUES('acls', 'web', '{\"number\":3}'),"
	" ('ports', 'vm1', '{\"interface\":\"tap1\"}');"
	"INSERT INTO meta VALUES('generation', 3), ('etag', 3);"
	"INSERT INTO port_ids VALUES('vm1', 7, 3, 'digest-3');"
	"INSERT INTO counter_ids VALUES('vm1', 'web/https', 4);"
	"PRAGMA user_version = 1;";

static void test_database_of_the_first_schema_is_read_and_goes_on(void **state)
{
	struct fixture *fixture = *state;
	struct store_state got;
	struct store *store;
	sqlite3 *db = NULL;
	uint32_t id = 0;

	assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, first_schema, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	store = open_store(fixture);
	load(store, &got);
	assert_int_equal(got.generation, 3);
	assert_int_equal(ids_find(got.counters, "vm1\nweb/https", &id), 0);
	assert_int_equal(id, 4);
	assert_int_equal(ids_note(got.counters, 4).revision, 0);
	assert_int_equal(ids_note(got.counters, 4).digest, 0);
	store_state_fini(&got);
	assert_int_equal(commit(store, 5), 0);
	store_close(store);
	store = open_store(fixture);
	load(store, &got);
	check_state(&got, 5);
	store_state_fini(&got);
	store_close(store);
}

static void scribble(const struct fixture *fixture, off_t offset, size_t size)
{
	char noise[4096];
	int fd = open(fixture->path, O_RDWR | O_CREAT, 0600);

	memset(noise, 'x', sizeof(noise));
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, noise, size, offset), size);
	close(fd);
}

static void test_garbage_is_refused_and_left_alone(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = NULL;
	char bytes[16] = "";
	int fd;

	scribble(fixture, 0, 4096);
	assert_int_equal(store_open(&store, fixture->directory, fixture->message), -EBADMSG);
	assert_non_null(strstr(fixture->message, "secg.db"));
	fd = open(fixture->path, O_RDONLY);
	assert_int_equal(read(fd, bytes, 15), 15);
	close(fd);
	assert_string_equal(bytes, "xxxxxxxxxxxxxxx");
}

static void test_damaged_page_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = open_store(fixture);

	assert_int_equal(commit(store, 1), 0);
	store_close(store);
	scribble(fixture, 4096, 4096);
	store = NULL;
	assert_int_equal(store_open(&store, fixture->directory, fixture->message), -EBADMSG);
	assert_non_null(strstr(fixture->message, "secg.db"));
}

static void test_second_daemon_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = open_store(fixture);
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct store *second = NULL;

		_exit(store_open(&second, fixture->directory, fixture->message) == -EBUSY ? 42 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	/* ours still works */
	assert_int_equal(commit(store, 1), 0);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new_store_is_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files_are_private, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared_directory_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_committed_state_is_there_after_reopening,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_removed_rows_are_gone_and_numbers_move, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_death_before_commit_changes_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_killed_writer_leaves_a_whole_state, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_later_schema_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_database_of_the_first_schema_is_read_and_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_garbage_is_refused_and_left_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_damaged_page_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_second_daemon_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
