/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of events. */
#include "engine/events.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define NS_PER_S  1000000000ull
#define TIME_SIZE 32

const char *const event_type_names[EVENT_TYPE_COUNT] = {
#define EVENT_TYPE_NAME(name, word) [EVENT_##name] = word,
	EVENT_TYPES(EVENT_TYPE_NAME)
#undef EVENT_TYPE_NAME
};

struct events {
	char boot_id[EVENTS_BOOT_ID_SIZE];
	struct event_line *lines; /* event n is at n % max_count */
	size_t max_count, max_bytes;
	size_t bytes;
	uint64_t first, last; /* kept: first..last; none where first > last */
	uint64_t counts[EVENT_TYPE_COUNT];
	void (*listener)(void *data);
	void *data;
};

/* RFC 9562 §5.4: a random UUID. */
static int make_boot_id(char ret_text[EVENTS_BOOT_ID_SIZE])
{
	uint8_t b[16];

	if (getrandom(b, sizeof(b), 0) != sizeof(b))
		return -EIO;
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	snprintf(ret_text, EVENTS_BOOT_ID_SIZE,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		 b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		 b[15]);
	return 0;
}

int events_new(struct events **ret_events, size_t max_count, size_t max_bytes)
{
	_cleanup_(events_freep) struct events *events = calloc(1, sizeof(*events));
	int r;

	if (!events)
		return -ENOMEM;
	events->first = 1;
	events->max_count = max_count;
	events->max_bytes = max_bytes;
	events->lines = calloc(max_count, sizeof(*events->lines));
	if (!events->lines)
		return -ENOMEM;
	r = make_boot_id(events->boot_id);
	if (r < 0)
		return r;
	*ret_events = TAKE_PTR(events);
	return 0;
}

static struct event_line *line_of(const struct events *events, uint64_t seq)
{
	return &events->lines[seq % events->max_count];
}

static void evict(struct events *events)
{
	struct event_line *line = line_of(events, events->first++);

	events->bytes -= line->size;
	free(line->text);
	free(line->client);
	*line = (struct event_line){0};
}

void events_free(struct events *events)
{
	while (events->lines && events->first <= events->last)
		evict(events);
	free(events->lines);
	free(events);
}

/* ── lines ──────────────────────────────────────────────────────────────────────────────────────── */

/* RFC 3339, in microseconds. */
static void format_time(char ret_text[TIME_SIZE], uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / NS_PER_S);
	struct tm tm;
	size_t size;

	gmtime_r(&seconds, &tm);
	size = strftime(ret_text, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret_text + size, TIME_SIZE - size, ".%06uZ",
		 (unsigned int)(time_ns % NS_PER_S / 1000));
}

static char *dump(const struct events *events, uint64_t seq, enum event_type type, uint64_t time_ns,
		  json_t *fields)
{
	json_auto_t *whole = NULL;
	char time_text[TIME_SIZE];

	format_time(time_text, time_ns);
	whole = json_pack("{s:I, s:s, s:s, s:s}", "seq", (json_int_t)seq, "boot_id",
			  events->boot_id, "time", time_text, "type", event_type_names[type]);
	if (!whole || json_object_update(whole, fields) < 0)
		return NULL;
	return json_dumps(whole, JSON_COMPACT);
}

/* With a newline in the place of the NUL. */
static int make_line(struct event_line *line, const struct events *events, uint64_t time_ns,
		     json_t *fields)
{
	const char *client = json_string_value(json_object_get(fields, "client"));

	line->text = dump(events, line->seq, line->type, time_ns, fields);
	if (line->text && strlen(line->text) >= EVENTS_LINE_MAX) {
		free(line->text);
		json_object_del(fields, "message");
		line->text = dump(events, line->seq, line->type, time_ns, fields);
	}
	if (!line->text)
		return -ENOMEM;
	line->size = strlen(line->text);
	line->text[line->size++] = '\n';
	line->client = client ? strdup(client) : NULL;
	return client && !line->client ? -ENOMEM : 0;
}

void events_add(struct events *events, enum event_type type, uint64_t time_ns, json_t *fields)
{
	struct event_line line = {.seq = events->last + 1, .type = type};

	if (!fields || make_line(&line, events, time_ns, fields) < 0) {
		free(line.text);
		line.text = NULL;
		line.size = 0;
	}
	json_decref(fields);
	while (events->first <= events->last &&
	       (events->last - events->first + 1 == events->max_count ||
		events->bytes + line.size > events->max_bytes))
		evict(events);
	*line_of(events, line.seq) = line;
	events->last = line.seq;
	events->bytes += line.size;
	events->counts[type]++;
	if (events->listener)
		events->listener(events->data);
}

void events_listen(struct events *events, void (*listener)(void *data), void *data)
{
	events->listener = listener;
	events->data = data;
}

/* ── reading ────────────────────────────────────────────────────────────────────────────────────── */

const struct event_line *events_after(const struct events *events, uint64_t seq)
{
	uint64_t next = seq < events->first ? events->first : seq + 1;

	return next <= events->last ? line_of(events, next) : NULL;
}

uint64_t events_last(const struct events *events)
{
	return events->last;
}

uint64_t events_first(const struct events *events)
{
	return events->first;
}

uint64_t events_count(const struct events *events, enum event_type type)
{
	return events->counts[type];
}

const char *events_boot_id(const struct events *events)
{
	return events->boot_id;
}

size_t events_lost_line(const struct events *events, uint64_t last, uint64_t count,
			char ret_text[EVENTS_LINE_MAX])
{
	char time_text[TIME_SIZE];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	format_time(time_text, (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec);
	return (size_t)snprintf(
		ret_text, EVENTS_LINE_MAX,
		"{\"seq\":%llu,\"boot_id\":\"%s\",\"time\":\"%s\",\"type\":\"lost\",\"count\":%llu,"
		"\"message\":\"the reader was slower than events came\"}\n",
		(unsigned long long)last, events->boot_id, time_text, (unsigned long long)count);
}
