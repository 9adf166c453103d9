/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of events, and what a reader of it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/exchange.h"
#include "api/feed.h"
#include "core/cleanup.h"
#include "engine/events.h"

#define MS 1000000ull

/* An engine that has events and no more. */
struct engine {
	struct events *events;
};

struct events *engine_events(const struct engine *engine)
{
	return engine->events;
}

static struct events *make(size_t max_count, size_t max_bytes)
{
	struct events *events = NULL;

	assert_int_equal(events_new(&events, max_count, max_bytes), 0);
	return events;
}

static void add(struct events *events, enum event_type type, int number)
{
	events_add(events, type, 1700000000ull * 1000 * MS + 5 * MS,
		   json_pack("{s:i}", "count", number));
}

static json_t *parse(const struct event_line *line)
{
	json_t *event = json_loadb(line->text, line->size, 0, NULL);

	assert_non_null(event);
	return event;
}

/* ── the ring ───────────────────────────────────────────────────────────────────────────────────── */

static void test_an_event_has_number_run_time_and_type(void **state)
{
	_cleanup_(events_freep) struct events *events = make(4, 4096);
	json_auto_t *event = NULL;

	(void)state;
	assert_int_equal(events_last(events), 0);
	assert_int_equal(events_first(events), 1);
	assert_null(events_after(events, 0));
	add(events, EVENT_DROP, 7);
	event = parse(events_after(events, 0));
	assert_int_equal(json_integer_value(json_object_get(event, "seq")), 1);
	assert_string_equal(json_string_value(json_object_get(event, "boot_id")),
			    events_boot_id(events));
	assert_string_equal(json_string_value(json_object_get(event, "time")),
			    "2023-11-14T22:13:20.005000Z");
	assert_string_equal(json_string_value(json_object_get(event, "type")), "drop");
	assert_int_equal(json_integer_value(json_object_get(event, "count")), 7);
	assert_int_equal(events_after(events, 0)->text[events_after(events, 0)->size - 1], '\n');
	assert_null(events_after(events, 1));
}

static void test_the_oldest_give_way(void **state)
{
	_cleanup_(events_freep) struct events *events = make(4, 4096);

	(void)state;
	for (int i = 1; i <= 10; i++)
		add(events, EVENT_DROP, i);
	assert_int_equal(events_first(events), 7);
	assert_int_equal(events_last(events), 10);
	assert_int_equal(events_after(events, 0)->seq, 7);
	assert_int_equal(events_after(events, 8)->seq, 9);
	assert_int_equal(events_count(events, EVENT_DROP), 10);
	assert_int_equal(events_count(events, EVENT_COMMIT), 0);
}

static void test_text_is_bounded_too(void **state)
{
	_cleanup_(events_freep) struct events *events = make(1000, 1000);
	size_t bytes = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		add(events, EVENT_DROP, i);
	for (uint64_t seq = events_first(events); seq <= events_last(events); seq++)
		bytes += events_after(events, seq - 1)->size;
	assert_true(bytes <= 1000 && bytes > 700);
}

static void test_a_message_that_is_too_long_is_left_out(void **state)
{
	_cleanup_(events_freep) struct events *events = make(4, 65536);
	char message[EVENTS_LINE_MAX + 1];
	json_auto_t *event = NULL;

	(void)state;
	memset(message, 'x', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	events_add(events, EVENT_PORT_STATE, 0,
		   json_pack("{s:s, s:s}", "port", "vm1", "message", message));
	event = parse(events_after(events, 0));
	assert_null(json_object_get(event, "message"));
	assert_string_equal(json_string_value(json_object_get(event, "port")), "vm1");
}

static void count_call(void *data)
{
	++*(int *)data;
}

static void test_a_listener_hears_of_each(void **state)
{
	_cleanup_(events_freep) struct events *events = make(4, 4096);
	int calls = 0;

	(void)state;
	add(events, EVENT_DROP, 1);
	events_listen(events, count_call, &calls);
	add(events, EVENT_DROP, 2);
	events_add(events, EVENT_DROP, 0, NULL);
	assert_int_equal(calls, 2);
}

/* ── readers ────────────────────────────────────────────────────────────────────────────────────── */

struct reader {
	struct engine engine;
	struct exchange exchange;
};

static void reader_open(struct reader *reader, size_t max_count, const char *target)
{
	_cleanup_(errors_fini) struct errors errors = {0};

	if (!reader->engine.events)
		reader->engine.events = make(max_count, 1 << 20);
	reader->exchange = (struct exchange){.engine = &reader->engine};
	assert_int_equal(request_parse_target(&reader->exchange.request, target, &errors), 0);
	assert_true(events_resource_get(&reader->exchange));
}

static void reader_shut(struct reader *reader)
{
	request_fini(&reader->exchange.request);
	reply_fini(&reader->exchange.reply);
}

static void reader_close(struct reader *reader)
{
	reader_shut(reader);
	events_freep(&reader->engine.events);
}

/* All that the reader has to get, as "type count" words; a lost one by its count. */
static const char *read_all(struct reader *reader)
{
	static char text[65536];
	static char buffer[FEED_PIECE_SIZE];
	struct feed *feed = reader->exchange.reply.feed;
	size_t used = 0, size;

	text[0] = '\0';
	while ((size = feed->fill(feed, buffer))) {
		assert_true(size <= FEED_PIECE_SIZE);
		for (size_t at = 0; at < size;) {
			size_t line = (size_t)((char *)memchr(buffer + at, '\n', size - at) -
					       (buffer + at));
			json_auto_t *event = json_loadb(buffer + at, line, 0, NULL);

			assert_non_null(event);
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, "%s%s %lld", used ? ", " : "",
				json_string_value(json_object_get(event, "type")),
				json_integer_value(json_object_get(event, "count")));
			at += line + 1;
		}
	}
	return text;
}

static void test_a_reader_gets_what_comes_from_now_on(void **state)
{
	struct reader reader = {.engine.events = make(16, 1 << 20)};

	(void)state;
	add(reader.engine.events, EVENT_DROP, 1);
	reader_open(&reader, 0, "/v1/events");
	assert_string_equal(read_all(&reader), "");
	add(reader.engine.events, EVENT_DROP, 2);
	add(reader.engine.events, EVENT_AUDIT, 3);
	assert_string_equal(read_all(&reader), "drop 2, audit 3");
	assert_string_equal(read_all(&reader), "");
	reader_close(&reader);
}

static void test_a_reader_goes_on_behind_a_number(void **state)
{
	struct reader reader = {.engine.events = make(16, 1 << 20)};

	(void)state;
	for (int i = 1; i <= 3; i++)
		add(reader.engine.events, EVENT_DROP, i);
	reader_open(&reader, 0, "/v1/events?after=1");
	assert_string_equal(read_all(&reader), "drop 2, drop 3");
	reader_shut(&reader);
	reader_open(&reader, 0, "/v1/events?after=0");
	assert_string_equal(read_all(&reader), "drop 1, drop 2, drop 3");
	reader_shut(&reader);
	reader_open(&reader, 0, "/v1/events?after=3");
	assert_string_equal(read_all(&reader), "");
	reader_close(&reader);
}

static void test_a_reader_gets_the_types_it_asks_for(void **state)
{
	struct reader reader = {.engine.events = make(16, 1 << 20)};

	(void)state;
	add(reader.engine.events, EVENT_DROP, 1);
	add(reader.engine.events, EVENT_AUDIT, 2);
	add(reader.engine.events, EVENT_COMMIT, 3);
	reader_open(&reader, 0, "/v1/events?after=0&types=audit,commit,sa_missing");
	assert_string_equal(read_all(&reader), "audit 2, commit 3");
	reader_close(&reader);
}

static void test_a_reader_gets_the_events_of_one_client(void **state)
{
	struct reader reader = {.engine.events = make(16, 1 << 20)};

	(void)state;
	add(reader.engine.events, EVENT_DROP, 1);
	events_add(reader.engine.events, EVENT_EXPIRE, 0,
		   json_pack("{s:s, s:i}", "client", "ike", "count", 2));
	events_add(reader.engine.events, EVENT_EXPIRE, 0,
		   json_pack("{s:s, s:i}", "client", "other", "count", 3));
	reader_open(&reader, 0, "/v1/events?after=0&client=ike");
	assert_string_equal(read_all(&reader), "expire 2");
	reader_close(&reader);
}

static void test_a_slow_reader_is_told_how_many_it_lost(void **state)
{
	struct reader reader = {.engine.events = make(4, 1 << 20)};

	(void)state;
	add(reader.engine.events, EVENT_DROP, 1);
	reader_open(&reader, 0, "/v1/events?after=0&types=drop");
	for (int i = 2; i <= 10; i++)
		add(reader.engine.events, EVENT_DROP, i);
	assert_string_equal(read_all(&reader), "lost 6, drop 7, drop 8, drop 9, drop 10");
	/* one that could not be made is lost to everybody */
	events_add(reader.engine.events, EVENT_DROP, 0, NULL);
	add(reader.engine.events, EVENT_DROP, 12);
	assert_string_equal(read_all(&reader), "lost 1, drop 12");
	reader_close(&reader);
}

static void assert_refused(struct reader *reader, const char *target, unsigned int status,
			   const char *text)
{
	reader_open(reader, 4, target);
	assert_int_equal(reader->exchange.reply.status, status);
	if (!strstr(reader->exchange.reply.body, text))
		fail_msg("%s: %s", target, reader->exchange.reply.body);
	reader_shut(reader);
}

static void test_what_is_not_kept_is_gone(void **state)
{
	struct reader reader = {.engine.events = make(4, 1 << 20)};

	(void)state;
	for (int i = 1; i <= 10; i++)
		add(reader.engine.events, EVENT_DROP, i);
	assert_refused(&reader, "/v1/events?after=5", 410, "events before 7 are not kept");
	assert_refused(&reader, "/v1/events?after=0", 410, "not_found");
	assert_refused(&reader, "/v1/events?after=11", 410, "the last is 10");
	assert_refused(&reader, "/v1/events?after=x", 400, "query.after");
	assert_refused(&reader, "/v1/events?types=drop,", 400, "query.types");
	assert_refused(&reader, "/v1/events?types=dro", 400, "'dro' is not a type");
	reader_open(&reader, 4, "/v1/events?after=6");
	assert_int_equal(reader.exchange.reply.status, 200);
	reader_close(&reader);
}

static void test_a_piece_holds_whole_lines(void **state)
{
	struct reader reader = {.engine.events = make(1000, 1 << 20)};
	const char *text;
	int count = 1;

	(void)state;
	for (int i = 0; i < 1000; i++)
		add(reader.engine.events, EVENT_DROP, i);
	reader_open(&reader, 0, "/v1/events?after=0");
	text = read_all(&reader);
	for (; *text; text++)
		count += *text == ',';
	assert_int_equal(count, 1000);
	reader_close(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_event_has_number_run_time_and_type),
		cmocka_unit_test(test_the_oldest_give_way),
		cmocka_unit_test(test_text_is_bounded_too),
		cmocka_unit_test(test_a_message_that_is_too_long_is_left_out),
		cmocka_unit_test(test_a_listener_hears_of_each),
		cmocka_unit_test(test_a_reader_gets_what_comes_from_now_on),
		cmocka_unit_test(test_a_reader_goes_on_behind_a_number),
		cmocka_unit_test(test_a_reader_gets_the_types_it_asks_for),
		cmocka_unit_test(test_a_reader_gets_the_events_of_one_client),
		cmocka_unit_test(test_a_slow_reader_is_told_how_many_it_lost),
		cmocka_unit_test(test_what_is_not_kept_is_gone),
		cmocka_unit_test(test_a_piece_holds_whole_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
