/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/events: what happens, as it happens, one JSON object a line. */
#include <string.h>

#include "api/exchange.h"
#include "api/feed.h"
#include "core/cleanup.h"
#include "engine/events.h"

/* A reader holds its place in the ring and no event; who is too slow is overtaken by the ring. */
struct follower {
	struct feed feed; /* first */
	const struct events *events;
	uint64_t seq;   /* the last one that was sent or passed over */
	uint32_t types; /* mask of 1 << enum event_type */
	char *client;   /* NULL: everybody's */
};

static bool is_wanted(const struct follower *follower, const struct event_line *line)
{
	if (!(follower->types & 1u << line->type))
		return false;
	return !follower->client || (line->client && !strcmp(line->client, follower->client));
}

/* Copies the next event that is wanted, or the news that some are gone; 0: no more, or no room. */
static size_t next_line(struct follower *follower, char *at, size_t room)
{
	const struct event_line *line;

	while ((line = events_after(follower->events, follower->seq))) {
		uint64_t missed = line->seq - follower->seq - 1 + (line->text ? 0 : 1);

		if (missed) {
			if (room < EVENTS_LINE_MAX)
				return 0;
			follower->seq += missed;
			return events_lost_line(follower->events, follower->seq, missed, at);
		}
		if (is_wanted(follower, line)) {
			if (room < line->size)
				return 0;
			memcpy(at, line->text, line->size);
			follower->seq = line->seq;
			return line->size;
		}
		follower->seq = line->seq;
	}
	return 0;
}

static size_t fill(struct feed *feed, char *buffer)
{
	struct follower *follower = (struct follower *)feed;
	size_t size = 0, more;

	_Static_assert(FEED_PIECE_SIZE > EVENTS_LINE_MAX, "there is room for one at least");
	while ((more = next_line(follower, buffer + size, FEED_PIECE_SIZE - size)))
		size += more;
	return size;
}

static void follower_free(struct feed *feed)
{
	struct follower *follower = (struct follower *)feed;

	free(follower->client);
	free(follower);
}

/* ── the query ──────────────────────────────────────────────────────────────────────────────────── */

static int find_type(const char *word, size_t size)
{
	for (int type = 0; type < EVENT_TYPE_COUNT; type++)
		if (strlen(event_type_names[type]) == size &&
		    !strncmp(event_type_names[type], word, size))
			return type;
	return -1;
}

/* Words between commas. */
static uint32_t read_types(const struct request *request, struct errors *reterr)
{
	const char *word = request_parameter(request, "types");
	uint32_t types = 0;

	if (!word)
		return UINT32_MAX;
	for (;; word++) {
		size_t size = strcspn(word, ",");
		int type = find_type(word, size);

		if (type < 0)
			errors_add(reterr, ERROR_BAD_VALUE, "query.types",
				   "'%.*s' is not a type of event", (int)(size < 64 ? size : 64),
				   word);
		else
			types |= 1u << type;
		word += size;
		if (!*word)
			return types;
	}
}

static uint64_t read_after(const struct request *request, const struct events *events,
			   struct errors *reterr)
{
	const char *text = request_parameter(request, "after");
	uint64_t after;

	if (!text)
		return events_last(events);
	if (!request_parse_number(&after, text, 0, INT64_MAX))
		return after;
	errors_add(reterr, ERROR_BAD_VALUE, "query.after", "must be the seq of an event, or 0");
	return 0;
}

/* Those behind a number must all be there still; and one that was never given is of another run. */
static bool is_there(const struct events *events, uint64_t after, struct reply *reply)
{
	if (after > events_last(events)) {
		reply_error(
			reply, 410, ERROR_NOT_FOUND, "query.after",
			"there has been no event %llu since the daemon started: the last is %llu",
			(unsigned long long)after, (unsigned long long)events_last(events));
		return false;
	}
	if (after + 1 < events_first(events)) {
		reply_error(reply, 410, ERROR_NOT_FOUND, "query.after",
			    "events before %llu are not kept any more",
			    (unsigned long long)events_first(events));
		return false;
	}
	return true;
}

bool events_resource_get(struct exchange *exchange)
{
	const struct events *events = engine_events(exchange->engine);
	const char *client = request_parameter(&exchange->request, "client");
	_cleanup_(errors_fini) struct errors errors = {0};
	uint32_t types = read_types(&exchange->request, &errors);
	uint64_t after = read_after(&exchange->request, events, &errors);
	struct follower *follower;

	if (errors.count) {
		reply_errors(&exchange->reply, 400, &errors);
		return true;
	}
	if (!is_there(events, after, &exchange->reply))
		return true;
	follower = calloc(1, sizeof(*follower));
	if (follower && client)
		follower->client = strdup(client);
	if (!follower || (client && !follower->client)) {
		free(follower);
		reply_failure(&exchange->reply, -ENOMEM);
		return true;
	}
	follower->feed = (struct feed){.fill = fill, .free = follower_free};
	follower->events = events;
	follower->seq = after;
	follower->types = types;
	reply_feed(&exchange->reply, "application/x-ndjson", &follower->feed);
	return true;
}
