/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has happened: events with running numbers, the newest of them kept in bounded memory, as the lines
 * of text that the API streams. Pure but for the random name of the numbering. One control thread.
 *
 *   evicted │ first … last │ to come        seq counts from 1, anew in every run of the daemon;
 *           └── kept ──────┘                boot_id tells the runs apart
 */
#ifndef SECG_ENGINE_EVENTS_H
#define SECG_ENGINE_EVENTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"

/* Those of the API. The five before the last are about IPsec. */
#define EVENT_TYPES(X)                  \
	X(RULE_LOG, "rule_log")         \
	X(DROP, "drop")                 \
	X(SAMPLE, "sample")             \
	X(SESSION_FULL, "session_full") \
	X(SESSION_80, "session_80")     \
	X(AUDIT, "audit")               \
	X(PORT_STATE, "port_state")     \
	X(COMMIT, "commit")             \
	X(ACQUIRE, "acquire")           \
	X(EXPIRE, "expire")             \
	X(MAPPING, "mapping")           \
	X(SA_MISSING, "sa_missing")     \
	X(FLUSHED, "flushed")           \
	X(LOST, "lost")

enum event_type {
#define EVENT_TYPE_ENUM(name, word) EVENT_##name,
	EVENT_TYPES(EVENT_TYPE_ENUM)
#undef EVENT_TYPE_ENUM
		EVENT_TYPE_COUNT,
};
extern const char *const event_type_names[EVENT_TYPE_COUNT];

struct events;

#define EVENTS_BOOT_ID_SIZE 37
#define EVENTS_LINE_MAX     4096 /* bytes; what would be longer is told without its `message` */

/* At most `max_count` events and `max_bytes` of text are kept. -ENOMEM, -EIO. */
int events_new(struct events **ret_events, size_t max_count, size_t max_bytes);
void events_free(struct events *events);
DEFINE_CLEANUP(struct events *, events_free);

/*
 * Adds an event that happened at `time_ns` (CLOCK_REALTIME). Takes `fields`, an object; NULL, or no memory
 * for the line: a number is used up all the same, so that whoever reads sees that something is missing.
 */
void events_add(struct events *events, enum event_type type, uint64_t time_ns, json_t *fields);
/* Called after each event from then on. */
void events_listen(struct events *events, void (*listener)(void *data), void *data);

struct event_line {
	uint64_t seq;
	enum event_type type;
	char *text;   /* JSON and a newline */
	char *client; /* whose event it is; NULL: nobody's */
	size_t size;
};
/* The first kept one behind `seq`, lent until the next events_add; NULL: none. */
const struct event_line *events_after(const struct events *events, uint64_t seq);
uint64_t events_last(const struct events *events);  /* 0: none yet */
uint64_t events_first(const struct events *events); /* the oldest kept; last + 1 where none is */
uint64_t events_count(const struct events *events, enum event_type type); /* since the start */
const char *events_boot_id(const struct events *events);
/* The line that tells a reader that `count` events up to `last` are gone. Size; the buffer is long enough. */
size_t events_lost_line(const struct events *events, uint64_t last, uint64_t count,
			char ret_text[EVENTS_LINE_MAX]);

#endif
