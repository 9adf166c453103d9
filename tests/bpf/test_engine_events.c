/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine listening: watches kept in step with the policy, records of the ring told once, what is kept
 * back and lost, the session table that fills. Records are put into the ring by a program of this test.
 */
#include "engine_lab.h"

#include <secg/event.h>

#include "../support/insn.h"
#include "engine/events.h"
#include "engine/internal.h"

/* The numbers of events of a type behind `seq`, and the last one's fields; its reference is the caller's. */
static size_t count_after(const struct engine *engine, uint64_t seq, enum event_type type,
			  json_t **ret_last)
{
	const struct events *events = engine_events(engine);
	const struct event_line *line;
	size_t count = 0;

	*ret_last = NULL;
	while ((line = events_after(events, seq))) {
		seq = line->seq;
		if (line->type != type)
			continue;
		count++;
		json_decref(*ret_last);
		*ret_last = json_loadb(line->text, line->size, 0, NULL);
	}
	return count;
}

static json_int_t number(const json_t *event, const char *field)
{
	return json_integer_value(json_object_get(event, field));
}

static const char *word(const json_t *event, const char *field)
{
	const char *text = json_string_value(json_object_get(event, field));

	return text ? text : "";
}

/* ── watches ────────────────────────────────────────────────────────────────────────────────────── */

static bool has_watch(uint32_t key, struct secg_watch *ret_watch)
{
	_cleanup_close_ int fd = lab_map("secg_watch");

	return bpf_map_lookup_elem(fd, &key, ret_watch) == 0;
}

static void set_suppressed(uint32_t key, uint32_t suppressed)
{
	_cleanup_close_ int fd = lab_map("secg_watch");
	struct secg_watch watch;

	assert_int_equal(bpf_map_lookup_elem(fd, &key, &watch), 0);
	watch.suppressed = suppressed;
	assert_int_equal(bpf_map_update_elem(fd, &key, &watch, BPF_EXIST), 0);
}

#define LOGGED(rate)                                                                     \
	"{\"acls\":{\"log\":{\"rules\":[{\"id\":\"r\",\"action\":\"drop\",\"protocol\":" \
	"\"udp\",\"log\":{\"rate\":" rate "}}]}},\"ports\":{\"a\":{\"interface\":"       \
	"\"secg-a\",\"from\":[\"log\"]}}}"

static uint32_t number_of(const struct engine *engine, const char *name)
{
	uint32_t id;

	assert_int_equal(ids_find(engine->live->counter_ids, name, &id), 0);
	return id;
}

static void test_watches_follow_the_policy(void **state)
{
	struct engine *engine = *state;
	struct secg_watch watch;
	uint32_t key;

	merge_well(engine, LOGGED("7"));
	key = number_of(engine, "a\nlog/r");
	assert_true(has_watch(key, &watch));
	assert_int_equal(watch.rate, 7);
	assert_true(has_watch(SECG_WATCH_REASON | SECG_REASON_MALFORMED, &watch));
	assert_true(has_watch(SECG_WATCH_REJECT | 1, &watch));
	/* what is the same goes on counting, over a restart too; what is another begins anew */
	set_suppressed(key, 5);
	merge_well(engine, "{\"groups\":{\"g\":{}}}");
	engine = *state = restart(engine);
	assert_true(has_watch(key, &watch) && watch.suppressed == 5);
	merge_well(engine, LOGGED("8"));
	assert_true(has_watch(key, &watch) && watch.suppressed == 0 && watch.rate == 8);
	merge_well(engine, "{\"ports\":{\"a\":null}}");
	assert_false(has_watch(key, &watch));
	assert_false(has_watch(SECG_WATCH_REJECT | 1, &watch));
}

static void test_what_was_kept_back_is_told_once(void **state)
{
	struct engine *engine = *state;
	json_t *event;
	uint64_t seq;
	uint32_t key;

	merge_well(engine, LOGGED("7"));
	key = number_of(engine, "a\nlog/r");
	seq = events_last(engine_events(engine));
	set_suppressed(key, 5);
	engine_tick(engine);
	assert_int_equal(count_after(engine, seq, EVENT_LOST, &event), 1);
	assert_int_equal(number(event, "count"), 5);
	assert_string_equal(word(event, "rule"), "log/r");
	assert_string_equal(word(event, "acl"), "log");
	assert_string_equal(word(event, "port"), "a");
	json_decref(event);
	engine_tick(engine);
	assert_int_equal(count_after(engine, seq, EVENT_LOST, &event), 1);
	json_decref(event);
	set_suppressed(key, 8);
	engine_tick(engine);
	assert_int_equal(count_after(engine, seq, EVENT_LOST, &event), 2);
	assert_int_equal(number(event, "count"), 3);
	json_decref(event);
	assert_int_equal(engine_notices(engine).suppressed, 8);
}

/* ── records ────────────────────────────────────────────────────────────────────────────────────── */

/* A program that puts the value of the array into the ring. */
static int make_teller(int ring, int array)
{
	const struct bpf_insn program[] = {
		INSN_MAP(1, ring),
		INSN_MAP_VALUE(2, array),
		INSN_SET(3, sizeof(struct secg_event)),
		INSN_SET(4, 0),
		INSN_CALL(BPF_FUNC_ringbuf_output),
		INSN_SET(0, XDP_PASS),
		INSN_EXIT,
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "teller", "GPL", program, ARRAY_SIZE(program),
			       NULL);

	assert_true(fd >= 0);
	return fd;
}

static void tell(const struct secg_event *event, unsigned int times)
{
	_cleanup_close_ int ring = lab_map("secg_events");
	_cleanup_close_ int array =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "record", 4, sizeof(*event), 1, NULL);
	_cleanup_close_ int teller = make_teller(ring, array);
	uint8_t packet[64] = {0};
	uint32_t zero = 0;
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = (int)times);

	assert_int_equal(bpf_map_update_elem(array, &zero, event, BPF_ANY), 0);
	assert_int_equal(bpf_prog_test_run_opts(teller, &run), 0);
}

static void test_records_are_told_with_names(void **state)
{
	struct engine *engine = *state;
	struct secg_event record = {.kind = SECG_EVENT_LOG, .reason = SECG_REASON_RULE_DROP};
	json_t *event;
	uint64_t seq;

	merge_well(engine, LOGGED("7"));
	record.port = 1;
	/* the revision of the rule word is no part of its number */
	record.rule = number_of(engine, "a\nlog/r") | 9u << SECG_RULE_REVISION_SHIFT;
	record.suppressed = 4;
	seq = events_last(engine_events(engine));
	tell(&record, 2);
	engine_take_records(engine);
	assert_int_equal(count_after(engine, seq, EVENT_RULE_LOG, &event), 2);
	assert_string_equal(word(event, "port"), "a");
	assert_string_equal(word(event, "rule"), "log/r");
	assert_string_equal(word(event, "reason"), "rule_drop");
	assert_int_equal(number(event, "suppressed"), 4);
	json_decref(event);
	engine_take_records(engine);
	assert_int_equal(count_after(engine, seq, EVENT_RULE_LOG, &event), 2);
	json_decref(event);
}

/* The tick has told of 5; the record that then says 7 has 2 more to tell. */
static void test_a_record_does_not_tell_again_what_the_tick_has_told(void **state)
{
	struct engine *engine = *state;
	struct secg_event record = {.kind = SECG_EVENT_LOG, .port = 1, .suppressed = 7};
	json_t *event;
	uint64_t seq;

	merge_well(engine, LOGGED("7"));
	record.rule = number_of(engine, "a\nlog/r");
	set_suppressed(record.rule, 5);
	engine_tick(engine);
	seq = events_last(engine_events(engine));
	tell(&record, 1);
	engine_take_records(engine);
	assert_int_equal(count_after(engine, seq, EVENT_RULE_LOG, &event), 1);
	assert_int_equal(number(event, "suppressed"), 2);
	json_decref(event);
}

static void test_records_wait_for_the_next_daemon(void **state)
{
	struct secg_event record = {.kind = SECG_EVENT_DROP, .reason = SECG_REASON_MALFORMED};
	struct engine *engine;
	json_t *event;

	tell(&record, 3);
	engine = *state = restart(*state);
	engine_take_records(engine);
	assert_int_equal(count_after(engine, 0, EVENT_DROP, &event), 3);
	assert_string_equal(word(event, "reason"), "malformed");
	assert_null(json_object_get(event, "port"));
	json_decref(event);
}

static void test_what_the_ring_had_no_room_for_is_told(void **state)
{
	struct engine *engine = *state;
	_cleanup_close_ int fd = lab_map("secg_events_lost");
	uint64_t lost[256] = {[0] = 3}, seq = events_last(engine_events(engine));
	uint32_t kind = SECG_EVENT_DROP;
	json_t *event;

	assert_int_equal(bpf_map_update_elem(fd, &kind, lost, BPF_ANY), 0);
	kind = SECG_EVENT_REJECT; /* a packet without an answer, no event */
	assert_int_equal(bpf_map_update_elem(fd, &kind, lost, BPF_ANY), 0);
	engine_tick(engine);
	engine_tick(engine);
	assert_int_equal(count_after(engine, seq, EVENT_LOST, &event), 1);
	assert_int_equal(number(event, "count"), 3);
	json_decref(event);
	assert_int_equal(engine_notices(engine).lost, 3);
	assert_int_equal(engine_notices(engine).answers_lost, 3);
}

/* ── the engine's own ───────────────────────────────────────────────────────────────────────────── */

static void test_commits_and_states_are_told(void **state)
{
	struct engine *engine = *state;
	uint64_t seq = events_last(engine_events(engine));
	struct answer answer = merge_well(engine, LOGGED("7"));
	json_t *event;

	assert_int_equal(count_after(engine, seq, EVENT_COMMIT, &event), 1);
	assert_int_equal(number(event, "generation"), answer.generation);
	assert_int_equal(number(event, "etag"), answer.etag);
	json_decref(event);
	assert_int_equal(count_after(engine, seq, EVENT_PORT_STATE, &event), 1);
	assert_string_equal(word(event, "port"), "a");
	assert_string_equal(word(event, "state"), "guarded");
	json_decref(event);
	seq = events_last(engine_events(engine));
	merge_well(engine, LOGGED("7"));
	assert_int_equal(events_last(engine_events(engine)), seq);
}

/* Slots that are in use and never expire. */
static void fill_slots(const struct engine *engine, uint32_t count)
{
	struct dp *dp = engine->dp;

	for (uint32_t slot = 0; slot < dp->slot_count; slot++) {
		dp->slots[slot].s.state = slot < count ? SECG_FLOW_ESTABLISHED : SECG_FLOW_FREE;
		dp->slots[slot].s.seen = dp_now(dp);
		dp->slots[slot].a.port = 1;
		dp->slots[slot].key.proto = SECG_PROTO_TCP;
	}
}

/* Two rounds: one that was under way, one that sees it all. */
static size_t told_80(struct engine *engine, uint64_t seq)
{
	json_t *event;
	size_t count;

	engine_tick(engine);
	engine_tick(engine);
	count = count_after(engine, seq, EVENT_SESSION_80, &event);
	if (count) {
		assert_int_equal(number(event, "max"), 1024 + 256);
		assert_int_equal(number(event, "used"), 1024);
	}
	json_decref(event);
	return count;
}

static void test_a_table_that_fills_is_told_at_its_edge(void **state)
{
	struct engine *engine = *state;
	uint64_t seq;

	merge_well(engine, LOGGED("7"));
	seq = events_last(engine_events(engine));
	fill_slots(engine, 1000);
	assert_int_equal(told_80(engine, seq), 0);
	fill_slots(engine, 1024);
	assert_int_equal(told_80(engine, seq), 1);
	/* a little less and more again is no news */
	fill_slots(engine, 1000);
	told_80(engine, seq);
	fill_slots(engine, 1024);
	assert_int_equal(told_80(engine, seq), 1);
	fill_slots(engine, 900);
	told_80(engine, seq);
	fill_slots(engine, 1024);
	assert_int_equal(told_80(engine, seq), 2);
	fill_slots(engine, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	const struct CMUnitTest tests[] = {
		TEST(test_watches_follow_the_policy),
		TEST(test_what_was_kept_back_is_told_once),
		TEST(test_records_are_told_with_names),
		TEST(test_a_record_does_not_tell_again_what_the_tick_has_told),
		TEST(test_records_wait_for_the_next_daemon),
		TEST(test_what_the_ring_had_no_room_for_is_told),
		TEST(test_commits_and_states_are_told),
		TEST(test_a_table_that_fills_is_told_at_its_edge),
	};

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	return cmocka_run_group_tests(tests, lab_open, NULL);
}
