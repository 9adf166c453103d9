/* SPDX-License-Identifier: Apache-2.0 */
/* Maps on the real kernel: pins adopted and refused, the flip, sessions read and freed, counters. */
#include <bpf/libbpf.h>
#include <netinet/in.h>
#include <time.h>

#include "dp/bpffs.h"
#include "dp/sessions.h"
#include "dp_lab.h"

#define PORT 3u

static int open_fd(const char *map)
{
	char path[PATH_MAX];
	int fd;

	assert_int_equal(pin_path(path, "%s/v%d/maps/%s", LAB_PINS, SECG_LAYOUT, map), 0);
	fd = bpf_obj_get(path);
	assert_true(fd >= 0);
	return fd;
}

static void unpin(const char *map)
{
	char path[PATH_MAX];

	assert_int_equal(pin_path(path, "%s/v%d/maps/%s", LAB_PINS, SECG_LAYOUT, map), 0);
	assert_int_equal(unlink(path), 0);
}

/* Opens with whatever it says. */
static struct dp *open_saying(const struct dp_options *options, char message[DP_MESSAGE_SIZE])
{
	struct dp *dp = NULL;

	assert_int_equal(dp_open(&dp, options, message), 0);
	return dp;
}

static const struct dp_options small = {.bpffs = LAB_PINS, .max_sessions = 1024};

/* A port table in which PORT lives; timeouts of `seconds`. */
static void flip(struct dp *dp, uint64_t generation, uint32_t seconds)
{
	struct secg_port ports[PORT + 1] = {0};

	ports[PORT].flags = SECG_PORT_VALID;
	for (int i = 0; i < SECG_TIMEOUT_COUNT; i++)
		ports[PORT].timeout[i] = (uint32_t)(seconds * dp_ticks_per_second(dp));
	assert_int_equal(dp_tables_flip(dp, generation, ports, PORT + 1), 0);
}

/* ── clock ──────────────────────────────────────────────────────────────────────────────────────── */

static void test_clock(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(NULL, 0);
	const struct timespec second = {.tv_sec = 1};
	double rate = dp_ticks_per_second(dp);
	uint32_t start = dp_now(dp);
	double passed;

	(void)state;
	nanosleep(&second, NULL);
	passed = dp_now(dp) - start;
	if (passed < rate - 2 || passed > rate * 1.1 + 2)
		fail_msg("%.0f ticks in a second of %.1f", passed, rate);
}

/* ── pins ───────────────────────────────────────────────────────────────────────────────────────── */

static void test_interrupted_start(void **state)
{
	(void)state;
	/* Nothing but the folder; a unit that is not whole; a lone map missing. */
	lab_run("mkdir " LAB_PINS "/v1");
	dp_close(lab_dp(LAB_PINS, 0));
	unpin("secg_selector");
	dp_close(lab_dp(LAB_PINS, 0));
	unpin("secg_new");
	dp_close(lab_dp(LAB_PINS, 0));
	close(open_fd("secg_selector"));
	close(open_fd("secg_new"));
}

static void test_sizes_are_kept(void **state)
{
	struct dp_options large = {.bpffs = LAB_PINS, .max_sessions = 5000};
	char message[DP_MESSAGE_SIZE];
	struct dp *dp = open_saying(&large, message);

	(void)state;
	assert_string_equal(message, "");
	assert_int_equal(dp->slot_count, 8192);
	dp_close(dp);
	dp = open_saying(&small, message);
	assert_int_equal(dp->slot_count, 8192);
	assert_non_null(strstr(message, "secg_established keeps its size of 8192, not 1024"));
	dp_close(dp);
}

static void test_foreign_shape(void **state)
{
	_cleanup_close_ int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "other", 4, 4, 1, NULL);
	struct dp *dp = lab_dp(LAB_PINS, 0);
	char message[DP_MESSAGE_SIZE], path[PATH_MAX];

	(void)state;
	dp_close(dp);
	unpin("secg_fragments");
	assert_int_equal(pin_path(path, LAB_PINS "/v1/maps/secg_fragments"), 0);
	assert_int_equal(bpf_obj_pin(map, path), 0);
	assert_int_equal(dp_open(&dp, &small, message), -EINVAL);
	assert_non_null(strstr(message, "maps/secg_fragments"));
	assert_non_null(strstr(message, "--detach-all"));
}

static void test_seed_is_kept(void **state)
{
	struct dp *dp = lab_dp(LAB_PINS, 0), *other = lab_dp(NULL, 0);
	uint64_t seed = dp->selector[SECG_SELECTOR_SEED];

	(void)state;
	assert_true(seed & 1);
	assert_true(seed != other->selector[SECG_SELECTOR_SEED]);
	dp_close(dp);
	dp_close(other);
	dp = lab_dp(LAB_PINS, 0);
	assert_true(dp->selector[SECG_SELECTOR_SEED] == seed);
	dp_close(dp);
}

static void test_bpffs(void **state)
{
	char message[DP_MESSAGE_SIZE];

	(void)state;
	assert_int_equal(bpffs_prepare(LAB_MOUNT "/deep/er", message), 0);
	assert_int_equal(access(LAB_MOUNT "/deep/er", F_OK), 0);
	assert_int_equal(rmdir(LAB_MOUNT "/deep/er"), 0);
	assert_int_equal(rmdir(LAB_MOUNT "/deep"), 0);
	/* The lab has a mount namespace of its own: what is not mounted yet is refused. */
	assert_true(bpffs_is_private());
	assert_int_equal(bpffs_prepare("/tmp/elsewhere", message), -EPERM);
	assert_non_null(strstr(message, "--ephemeral"));
	assert_int_equal(bpffs_prepare("relative", message), -EINVAL);
}

/* ── tables ─────────────────────────────────────────────────────────────────────────────────────── */

static uint64_t used(const struct dp *dp)
{
	uint64_t bytes, size;

	dp_tables_usage(dp, &bytes, &size);
	assert_int_equal(size, 64 << 20);
	return bytes / sizeof(struct secg_line);
}

static void test_flip(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(NULL, 0);
	struct secg_line lines[10];
	const struct secg_root *root;
	uint32_t a, b, header;

	(void)state;
	memset(lines, 0x5a, sizeof(lines));
	assert_int_equal(dp_tables_generation(dp), 0);
	assert_int_equal(used(dp), SECG_ONES_LINES);
	for (size_t i = 0; i < SECG_ONES_LINES * 16; i++)
		assert_int_equal(((uint32_t *)dp->lines)[i], UINT32_MAX);
	assert_int_equal(dp_tables_place(dp, lines, 10, &a), 0);
	assert_true(a >= SECG_ONES_LINES);
	assert_int_equal(dp->selector[SECG_SELECTOR_ROOT], 0);
	flip(dp, 5, 10);
	assert_memory_equal(&dp->lines[a], lines, sizeof(lines));
	root = (void *)&dp->lines[dp->selector[SECG_SELECTOR_ROOT]];
	assert_int_equal(root->magic, SECG_MAGIC);
	assert_int_equal(root->generation, 5);
	assert_int_equal(root->port_count, PORT + 1);
	assert_int_equal(root->extent_count, 2);
	assert_non_null(tables_port(dp, PORT));
	assert_null(tables_port(dp, PORT - 1));
	assert_null(tables_port(dp, PORT + 1));
	header = 1 + 2 * (PORT + 1) + 1;
	assert_int_equal(used(dp), SECG_ONES_LINES + 10 + header);

	/* What the old generation used is free only after the wait. */
	assert_int_equal(dp_tables_place(dp, lines, 3, &b), 0);
	dp_tables_release(dp, a);
	flip(dp, 6, 10);
	assert_int_equal(used(dp), SECG_ONES_LINES + 10 + 3 + 2 * header);
	assert_int_equal(dp_tables_settle(dp), 0);
	assert_int_equal(used(dp), SECG_ONES_LINES + 3 + header);
	assert_int_equal(dp_tables_generation(dp), 6);
}

static void test_abort(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(NULL, 0);
	struct secg_line lines[4] = {0};
	uint32_t a, b, c;
	uint64_t before;

	(void)state;
	assert_int_equal(dp_tables_place(dp, lines, 4, &a), 0);
	flip(dp, 1, 10);
	assert_int_equal(dp_tables_settle(dp), 0);
	before = used(dp);
	assert_int_equal(dp_tables_place(dp, lines, 2, &b), 0);
	assert_int_equal(dp_tables_place(dp, lines, 2, &c), 0);
	dp_tables_release(dp, a);
	dp_tables_release(dp, c);
	dp_tables_abort(dp);
	assert_int_equal(used(dp), before);
	/* The release is undone: `a` survives the next flip. */
	flip(dp, 2, 10);
	assert_int_equal(dp_tables_settle(dp), 0);
	assert_int_equal(used(dp), before);
}

static void test_full(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(NULL, 0);
	uint32_t count = dp->line_count - SECG_ONES_LINES, line;
	_cleanup_free_ struct secg_line *lines = calloc(count, sizeof(*lines));
	struct secg_port none[1] = {0};

	(void)state;
	assert_non_null(lines);
	assert_int_equal(dp_tables_place(dp, lines, count, &line), 0);
	assert_int_equal(dp_tables_place(dp, lines, 1, &line), -ENOSPC);
	assert_int_equal(dp_tables_flip(dp, 1, none, 1), -ENOSPC);
	assert_int_equal(dp->selector[SECG_SELECTOR_ROOT], 0);
	dp_tables_abort(dp);
	/* What is owed is waited for before memory is said to be full. */
	flip(dp, 1, 10);
	assert_int_equal(dp_tables_place(dp, lines, count / 2, &line), 0);
	flip(dp, 2, 10);
	dp_tables_release(dp, line);
	flip(dp, 3, 10);
	assert_int_equal(dp_tables_place(dp, lines, count / 2, &line), 0);
}

static void test_adopted_tables(void **state)
{
	struct dp *dp = lab_dp(LAB_PINS, 0);
	struct secg_line lines[10];
	uint32_t old, fresh;
	uint64_t before;

	(void)state;
	memset(lines, 0x5a, sizeof(lines));
	assert_int_equal(dp_tables_place(dp, lines, 10, &old), 0);
	flip(dp, 9, 10);
	assert_int_equal(dp_tables_settle(dp), 0);
	before = used(dp);
	dp_close(dp);

	dp = lab_dp(LAB_PINS, 0);
	assert_int_equal(dp_tables_generation(dp), 9);
	assert_non_null(tables_port(dp, PORT));
	assert_int_equal(used(dp), before);
	assert_int_equal(dp_tables_place(dp, lines, 10, &fresh), 0);
	assert_true(fresh >= old + 10 || fresh + 10 <= old);
	/* An abort does not make the earlier daemon's lines ours. */
	dp_tables_abort(dp);
	assert_int_equal(used(dp), before);
	flip(dp, 10, 10);
	assert_int_equal(dp_tables_settle(dp), 0);
	assert_int_equal(used(dp), before - 10);
	dp_close(dp);
}

/* Each way in which a root can contradict itself. */
static void test_damaged_root(void **state)
{
	(void)state;
	for (int damage = 0; damage < 8; damage++) {
		struct dp *dp = lab_dp(LAB_PINS, 0);
		char message[DP_MESSAGE_SIZE];
		struct secg_root *root;
		struct secg_extent *list;

		flip(dp, 9, 10);
		root = (void *)&dp->lines[dp->selector[SECG_SELECTOR_ROOT]];
		list = (void *)&dp->lines[root->extents];
		switch (damage) {
		case 0:
			root->magic++;
			break;
		case 1:
			root->extents = UINT32_MAX;
			break;
		case 2:
			root->extent_count = UINT32_MAX;
			break;
		case 3:
			list[0].lines = dp->line_count;
			break;
		case 4:
			list[0].line++;
			break;
		case 5:
			root->port_count++;
			root->ports += 10;
			break;
		case 6:
			dp->selector[SECG_SELECTOR_ROOT] = UINT64_C(1) << 32;
			break;
		case 7:
			list[0].line = 0;
			break;
		}
		dp_close(dp);
		dp = open_saying(&small, message);
		if (!strstr(message, "contradict") || dp_tables_generation(dp))
			fail_msg("damage %d: \"%s\"", damage, message);
		dp_close(dp);
		/* The new tables are pinned in place of the old. */
		dp_close(lab_dp(LAB_PINS, 0));
	}
}

/* ── sessions ───────────────────────────────────────────────────────────────────────────────────── */

static struct dp_session make_session(const struct dp *dp, uint16_t number, uint32_t state)
{
	uint32_t now = dp_now(dp);

	return (struct dp_session){
		.key = {.addr = {{htonl(0x0a000001)}, {htonl(0x0a000002)}},
			.port = {htons(number), htons(80)},
			.domain = PORT,
			.proto = IPPROTO_TCP},
		.flow = {.s = {.state = state, .seen = now},
			 .a = {.created = now, .port = PORT, .packets = {number, 1}}},
	};
}

static uint32_t bucket_of(const struct dp *dp, const struct secg_flow_key *key)
{
	return (secg_flow_hash(key, dp->selector[SECG_SELECTOR_SEED]) &
		(dp->slot_count / SECG_WAYS - 1)) *
	       SECG_WAYS;
}

static uint32_t put_slot(struct dp *dp, const struct dp_session *session)
{
	uint32_t slot = bucket_of(dp, &session->key);

	while (dp->slots[slot].s.state & SECG_FLOW_PHASE_MASK)
		slot++;
	dp->slots[slot].key = session->key;
	dp->slots[slot].a = session->flow.a;
	dp->slots[slot].s = session->flow.s;
	dp->slots[slot].version += 2;
	return slot;
}

static void put_hashed(const char *map, const struct dp_session *session)
{
	_cleanup_close_ int fd = open_fd(map);

	assert_int_equal(bpf_map_update_elem(fd, &session->key, &session->flow, BPF_ANY), 0);
}

static void put_overflow(struct dp *dp, const struct dp_session *session)
{
	put_hashed("secg_overflow", session);
	dp->slots[bucket_of(dp, &session->key)].overflow++;
}

struct list {
	struct dp_session sessions[4096];
	size_t count;
	size_t limit;
};

static bool collect(const struct dp_session *session, void *data)
{
	struct list *list = data;

	assert_true(list->count < ARRAY_SIZE(list->sessions));
	list->sessions[list->count++] = *session;
	return list->count < list->limit;
}

static struct list listing;

static size_t list_from(const struct dp *dp, uint64_t position, size_t limit)
{
	listing.count = 0;
	listing.limit = limit;
	assert_int_equal(dp_sessions_each(dp, position, collect, &listing), 0);
	return listing.count;
}

static void fill(struct dp *dp)
{
	for (uint16_t i = 1; i <= 3; i++) {
		struct dp_session session = make_session(dp, i, SECG_FLOW_ESTABLISHED);

		put_slot(dp, &session);
		session.key.port[0] = htons((uint16_t)(100 + i));
		put_overflow(dp, &session);
		session.key.port[0] = htons((uint16_t)(200 + i));
		session.flow.s.state = SECG_FLOW_NEW;
		put_hashed("secg_new", &session);
	}
}

static void test_listing(void **state)
{
	struct dp *dp = lab_dp(LAB_PINS, 0);
	struct dp_session_usage usage;
	uint64_t position = 0;
	uint32_t ports = 0;

	(void)state;
	flip(dp, 1, 10);
	fill(dp);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 9);
	assert_int_equal(dp_session_usage(dp, &usage), 0);
	assert_int_equal(usage.used, 6);
	assert_int_equal(usage.new_used, 3);
	assert_int_equal(usage.max, 1024 + 256);
	assert_int_equal(usage.new_max, 16384);
	/* Page by page, one at a time: each exactly once, as long as nothing changes. */
	for (int i = 0; i < 9; i++) {
		assert_int_equal(list_from(dp, position, 1), 1);
		assert_true(listing.sessions[0].position >= position);
		position = listing.sessions[0].position + 1;
		ports += ntohs(listing.sessions[0].key.port[0]);
	}
	assert_int_equal(list_from(dp, position, 1), 0);
	assert_int_equal(ports, 6 + 306 + 606);
	/* The next daemon finds them. */
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 0);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 9);
	dp_close(dp);
}

/* More than one batch, and entries that crowd. */
static void test_listing_of_many(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct dp_session_usage usage;

	(void)state;
	flip(dp, 1, 1000);
	for (uint16_t i = 0; i < 9000; i++) {
		struct dp_session session = make_session(dp, i, SECG_FLOW_NEW);

		put_hashed("secg_new", &session);
	}
	assert_int_equal(dp_session_usage(dp, &usage), 0);
	assert_int_equal(usage.new_used, 9000);
}

static void test_expired_are_skipped(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	uint32_t second = (uint32_t)dp_ticks_per_second(dp);
	struct dp_session old, future, orphan;

	(void)state;
	flip(dp, 1, 10);
	old = make_session(dp, 1, SECG_FLOW_ESTABLISHED);
	old.flow.s.seen -= 11 * second;
	future = make_session(dp, 2, SECG_FLOW_ESTABLISHED);
	future.flow.s.seen += second;
	orphan = make_session(dp, 3, SECG_FLOW_ESTABLISHED);
	orphan.flow.a.port = PORT - 1;
	put_slot(dp, &old);
	put_slot(dp, &future);
	put_slot(dp, &orphan);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 1);
	assert_memory_equal(&listing.sessions[0].key, &future.key, sizeof(future.key));
}

static void test_odd_version_is_not_read(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct dp_session session;
	uint32_t slot;

	(void)state;
	flip(dp, 1, 10);
	session = make_session(dp, 1, SECG_FLOW_ESTABLISHED);
	slot = put_slot(dp, &session);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 1);
	dp->slots[slot].version++;
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 0);
}

static void test_delete(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct dp_session all[9];

	(void)state;
	flip(dp, 1, 10);
	fill(dp);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 9);
	memcpy(all, listing.sessions, sizeof(all));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		assert_int_equal(dp_session_delete(dp, &all[i]), 0);
		assert_int_equal(dp_session_delete(dp, &all[i]), -ENOENT);
		assert_int_equal(list_from(dp, 0, SIZE_MAX), 8 - i);
	}
	for (uint32_t slot = 0; slot < dp->slot_count; slot++)
		assert_int_equal(dp->slots[slot].overflow, 0);
}

static void test_delete_keeps_incarnation(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct dp_session session;
	uint32_t slot, word = 7u << SECG_FLOW_INCARNATION_SHIFT;

	(void)state;
	flip(dp, 1, 10);
	session = make_session(dp, 1, word | SECG_FLOW_ESTABLISHED);
	slot = put_slot(dp, &session);
	session.position = session_position(SESSIONS_ESTABLISHED, slot);
	/* Flags moved on meanwhile: still the same session. */
	dp->slots[slot].s.state |= SECG_FLOW_FIN_ORIG;
	assert_int_equal(dp_session_delete(dp, &session), 0);
	assert_int_equal(dp->slots[slot].s.state, word);
	/* Claimed anew for the same key: another one. */
	dp->slots[slot].s.state = 8u << SECG_FLOW_INCARNATION_SHIFT | SECG_FLOW_ESTABLISHED;
	assert_int_equal(dp_session_delete(dp, &session), -ENOENT);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 1);
}

/* Listed as new, answered before it was deleted. */
static void test_delete_promoted(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct dp_session session;

	(void)state;
	flip(dp, 1, 10);
	session = make_session(dp, 1, SECG_FLOW_ESTABLISHED);
	put_slot(dp, &session);
	session.position = session_position(SESSIONS_NEW, 0);
	assert_int_equal(dp_session_delete(dp, &session), 0);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 0);
	assert_int_equal(dp_session_delete(dp, &session), -ENOENT);
}

static void test_sweep(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	uint32_t second = (uint32_t)dp_ticks_per_second(dp);
	struct dp_session_usage usage;
	int freed = 0, rounds = 0;

	(void)state;
	flip(dp, 1, 10);
	for (uint16_t i = 0; i < 40; i++) {
		struct dp_session session = make_session(dp, i, SECG_FLOW_ESTABLISHED);

		/* Every other one is long expired; one is so since this moment. */
		if (i & 1)
			session.flow.s.seen -= 15 * second;
		if (i == 0)
			session.flow.s.seen -= (uint32_t)(10 * dp_ticks_per_second(dp)) + 1;
		if (i < 20)
			put_slot(dp, &session);
		else
			put_overflow(dp, &session);
	}
	for (; freed < 20 && rounds < 200; rounds++) {
		int r = dp_sessions_sweep(dp, 100);

		assert_in_range(r, 0, 100);
		freed += r;
	}
	assert_int_equal(freed, 20);
	assert_true(rounds >= 11);
	assert_int_equal(dp_session_usage(dp, &usage), 0);
	assert_int_equal(usage.used, 20);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 19);
	/* A whole round more finds nothing. */
	for (rounds = 0; rounds < 20; rounds++)
		assert_int_equal(dp_sessions_sweep(dp, 100), 0);
}

static void test_timeouts(void **state)
{
	const uint32_t timeout[8] = {10, 11, 12, 13, 14, 15, 16, 0};
	static const struct {
		uint8_t proto;
		uint32_t phase, expected;
	} rows[] = {
		{IPPROTO_TCP, SECG_FLOW_NEW, 10},
		{IPPROTO_TCP, SECG_FLOW_ESTABLISHED, 11},
		{IPPROTO_TCP, SECG_FLOW_CLOSING, 12},
		{IPPROTO_UDP, SECG_FLOW_NEW, 13},
		{IPPROTO_UDP, SECG_FLOW_ESTABLISHED, 14},
		{IPPROTO_UDPLITE, SECG_FLOW_NEW, 13},
		{IPPROTO_ICMP, SECG_FLOW_NEW, 15},
		{IPPROTO_ICMPV6, SECG_FLOW_ESTABLISHED, 15},
		{IPPROTO_GRE, SECG_FLOW_NEW, 16},
		{IPPROTO_SCTP, SECG_FLOW_ESTABLISHED, 16},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct secg_flow_key key = {.proto = rows[i].proto};
		uint32_t word = rows[i].phase | SECG_FLOW_OPENED_TO | 9u << 16;

		assert_int_equal(dp_flow_timeout(&key, word, timeout), rows[i].expected);
	}
}

/* ── counters ───────────────────────────────────────────────────────────────────────────────────── */

static void test_counters(void **state)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct secg_port_counters *values = calloc((size_t)cpus, sizeof(*values));
	_cleanup_free_ struct secg_counter *rule = calloc((size_t)cpus, sizeof(*rule));
	struct secg_counter sum;
	struct dp *dp = lab_dp(LAB_PINS, 0);
	struct secg_port_counters total;
	uint32_t port = PORT, index = SECG_MAX_COUNTERS - 1;

	(void)state;
	for (int cpu = 0; cpu < cpus; cpu++) {
		values[cpu].passed[SECG_TO].bytes = 1000;
		values[cpu].reasons[SECG_REASON_SLOTS - 1] = 1;
		rule[cpu] = (struct secg_counter){2, 3};
	}
	{
		_cleanup_close_ int ports = open_fd("secg_port_counters");
		_cleanup_close_ int rules = open_fd("secg_rule_counters");

		assert_int_equal(bpf_map_update_elem(ports, &port, values, BPF_ANY), 0);
		assert_int_equal(bpf_map_update_elem(rules, &index, rule, BPF_ANY), 0);
	}
	/* They outlive the daemon. */
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 0);
	assert_int_equal(dp_port_counters(dp, PORT, &total), 0);
	assert_int_equal(total.passed[SECG_TO].bytes, 1000 * cpus);
	assert_int_equal(total.reasons[SECG_REASON_SLOTS - 1], cpus);
	assert_int_equal(dp_rule_counter(dp, index, &sum), 0);
	assert_int_equal(sum.packets, 2 * cpus);
	assert_int_equal(sum.bytes, 3 * cpus);
	assert_int_equal(dp_rule_counter_zero(dp, index), 0);
	assert_int_equal(dp_rule_counter(dp, index, &sum), 0);
	assert_int_equal(sum.packets, 0);
	assert_int_equal(dp_port_counters_zero(dp, PORT), 0);
	assert_int_equal(dp_port_counters(dp, PORT, &total), 0);
	assert_int_equal(total.passed[SECG_TO].bytes, 0);
	assert_int_equal(dp_port_counters(dp, SECG_MAX_PORTS, &total), -ENOENT);
	assert_int_equal(dp_rule_counter(dp, SECG_MAX_COUNTERS, &sum), -ENOENT);
	dp_close(dp);
}

static void see_memory(const char *map, uint64_t bytes, void *data)
{
	if (!strcmp(map, "secg_table"))
		*(uint64_t *)data = bytes;
}

static void test_memory(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(NULL, 0);
	uint64_t bytes = 0;

	(void)state;
	dp_memory(dp, see_memory, &bytes);
	assert_in_range(bytes, 64 << 20, 65 << 20);
}

static int setup(void **state)
{
	(void)state;
	mkdir(LAB_PINS, 0700);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, lab_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_clock),
		TEST(test_interrupted_start),
		TEST(test_sizes_are_kept),
		TEST(test_foreign_shape),
		TEST(test_seed_is_kept),
		TEST(test_bpffs),
		TEST(test_flip),
		TEST(test_abort),
		TEST(test_full),
		TEST(test_adopted_tables),
		TEST(test_damaged_root),
		TEST(test_listing),
		TEST(test_listing_of_many),
		TEST(test_expired_are_skipped),
		TEST(test_odd_version_is_not_read),
		TEST(test_delete),
		TEST(test_delete_keeps_incarnation),
		TEST(test_delete_promoted),
		TEST(test_sweep),
		TEST(test_timeouts),
		TEST(test_counters),
		TEST(test_memory),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
