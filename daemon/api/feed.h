/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers without an end: the body is asked for piece by piece, and while there is nothing the connection
 * sleeps. What feeds it sees no HTTP.
 */
#ifndef SECG_API_FEED_H
#define SECG_API_FEED_H

#include <stdbool.h>
#include <stddef.h>

#define FEED_PIECE_SIZE 16384 /* the most that is buffered for a reader */

struct MHD_Connection;
struct MHD_Response;

/* First member of what a resource keeps for one reader. */
struct feed {
	/* Fills in at most FEED_PIECE_SIZE bytes; 0: nothing for now. */
	size_t (*fill)(struct feed *feed, char *buffer);
	void (*free)(struct feed *feed);

	/* The rest is feed.c's. */
	struct feed *next, **at; /* in the list of those that run */
	struct MHD_Connection *mhd;
	char *buffer;
	size_t size, sent; /* of the buffer */
	bool is_asleep;
	bool is_ending; /* once there is nothing more for now */
};

/* Takes the feed; NULL, and it is freed, without memory. It runs from here on, in `list`. */
struct MHD_Response *feed_response(struct feed *feed, struct feed **list,
				   struct MHD_Connection *mhd);
/* There is something new: those that sleep look again. */
void feeds_wake(struct feed *list);
/* The reader has stopped sending, or the server stops: what there is goes out, then the end. */
void feed_finish(struct feed *feed);
void feeds_finish(struct feed *list);
/* The one that runs on a connection; NULL. */
struct feed *feed_find(struct feed *list, const struct MHD_Connection *mhd);

#endif
