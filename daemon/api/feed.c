/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies from a callback of libmicrohttpd, suspended while there is nothing to send. */
#include "api/feed.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

static void wake(struct feed *feed)
{
	if (!feed->is_asleep)
		return;
	feed->is_asleep = false;
	MHD_resume_connection(feed->mhd);
}

/* Suspending may make the connection run again at once, so it is the last thing done. */
static ssize_t read_more(void *cls, uint64_t position, char *bytes, size_t max)
{
	struct feed *feed = cls;
	size_t size;

	(void)position;
	if (feed->sent == feed->size) {
		feed->sent = 0;
		feed->size = feed->fill(feed, feed->buffer);
	}
	size = feed->size - feed->sent;
	if (!size && feed->is_ending)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!size) {
		feed->is_asleep = true;
		MHD_suspend_connection(feed->mhd);
		return 0;
	}
	if (size > max)
		size = max;
	memcpy(bytes, feed->buffer + feed->sent, size);
	feed->sent += size;
	return (ssize_t)size;
}

static void end(void *cls)
{
	struct feed *feed = cls;

	if (feed->at)
		*feed->at = feed->next;
	if (feed->next)
		feed->next->at = feed->at;
	free(feed->buffer);
	feed->free(feed);
}

struct MHD_Response *feed_response(struct feed *feed, struct feed **list,
				   struct MHD_Connection *mhd)
{
	struct MHD_Response *response = NULL;

	feed->mhd = mhd;
	feed->buffer = malloc(FEED_PIECE_SIZE);
	if (feed->buffer)
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, FEED_PIECE_SIZE,
							     read_more, feed, end);
	if (!response) {
		end(feed);
		return NULL;
	}
	feed->next = *list;
	feed->at = list;
	if (feed->next)
		feed->next->at = &feed->next;
	*list = feed;
	return response;
}

void feeds_wake(struct feed *list)
{
	for (struct feed *feed = list; feed; feed = feed->next)
		wake(feed);
}

void feed_finish(struct feed *feed)
{
	feed->is_ending = true;
	wake(feed);
}

void feeds_finish(struct feed *list)
{
	for (struct feed *feed = list; feed; feed = feed->next)
		feed_finish(feed);
}

struct feed *feed_find(struct feed *list, const struct MHD_Connection *mhd)
{
	while (list && list->mhd != mhd)
		list = list->next;
	return list;
}
