/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions read, listed, deleted and swept from outside the packet path, in the real maps. */
#include <bpf/libbpf.h>
#include <netinet/in.h>

#include "dp/sessions.h"
#include "dp_lab.h"

static struct dp_session make_session(const struct dp *dp, uint16_t number, uint32_t state)
{
	uint32_t now = dp_now(dp);

	return (struct dp_session){
		.key = {.addr = {{htonl(0x0a000001)}, {htonl(0x0a000002)}},
			.port = {htons(number), htons(80)},
			.domain = LAB_PORT,
			.proto = IPPROTO_TCP},
		.flow = {.s = {.state = state, .seen = now},
			 .a = {.created = now, .port = LAB_PORT, .packets = {number, 1}}},
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
	_cleanup_close_ int fd = lab_map(map);

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
	lab_flip(dp, 1, 10);
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
	lab_flip(dp, 1, 1000);
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
	lab_flip(dp, 1, 10);
	old = make_session(dp, 1, SECG_FLOW_ESTABLISHED);
	old.flow.s.seen -= 11 * second;
	future = make_session(dp, 2, SECG_FLOW_ESTABLISHED);
	future.flow.s.seen += second;
	orphan = make_session(dp, 3, SECG_FLOW_ESTABLISHED);
	orphan.flow.a.port = LAB_PORT - 1;
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
	lab_flip(dp, 1, 10);
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
	lab_flip(dp, 1, 10);
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
	lab_flip(dp, 1, 10);
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
	lab_flip(dp, 1, 10);
	session = make_session(dp, 1, SECG_FLOW_ESTABLISHED);
	put_slot(dp, &session);
	session.position = session_position(SESSIONS_NEW, 0);
	assert_int_equal(dp_session_delete(dp, &session), 0);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 0);
	assert_int_equal(dp_session_delete(dp, &session), -ENOENT);
}

static void note_expired(const struct dp_session *session, void *data)
{
	(void)session;
	++*(int *)data;
}

static void test_sweep(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	uint32_t second = (uint32_t)dp_ticks_per_second(dp);
	struct dp_session_usage usage;
	int noted = 0, freed = 0, rounds = 0;

	(void)state;
	lab_flip(dp, 1, 10);
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
		int r = dp_sessions_sweep(dp, 100, note_expired, &noted);

		assert_in_range(r, 0, 100);
		freed += r;
	}
	assert_int_equal(freed, 20);
	assert_int_equal(noted, 20);
	assert_true(rounds >= 11);
	assert_int_equal(dp_session_usage(dp, &usage), 0);
	assert_int_equal(usage.used, 20);
	assert_int_equal(list_from(dp, 0, SIZE_MAX), 19);
	/* A whole round more finds nothing. */
	for (rounds = 0; rounds < 20; rounds++)
		assert_int_equal(dp_sessions_sweep(dp, 100, note_expired, &noted), 0);
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
		struct secg_flow flow = {.a.timeout = 99};
		uint32_t expected = rows[i].expected;

		flow.s.state = rows[i].phase | SECG_FLOW_OPENED_TO | 9u << 16;
		assert_int_equal(dp_flow_timeout(&key, &flow, timeout), expected);
		/* Its rule's own, but for what is half-open, closing or one-way. */
		flow.s.state |= SECG_FLOW_OWN_TIMEOUT;
		if (expected != 10 && expected != 12 && expected != 13)
			expected = 99;
		assert_int_equal(dp_flow_timeout(&key, &flow, timeout), expected);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, lab_make_pins, lab_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_listing),
		TEST(test_listing_of_many),
		TEST(test_expired_are_skipped),
		TEST(test_odd_version_is_not_read),
		TEST(test_delete),
		TEST(test_delete_keeps_incarnation),
		TEST(test_delete_promoted),
		TEST(test_sweep),
		TEST(test_timeouts),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
