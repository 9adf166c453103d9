/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections as libmicrohttpd reports them: rights of the peer, room for writers, deadline.
 */
#ifndef SECG_API_CONNECTION_H
#define SECG_API_CONNECTION_H

#include <event2/event.h>
#include <microhttpd.h>

#include "api/auth.h"
#include "api/reply.h"
#include "api/server.h"
#include "core/cleanup.h"
#include "engine/engine.h"

#define HALL_MAX_GUESTS (SERVER_MAX_CONNECTIONS - SERVER_KEPT_FOR_WRITERS)

struct connection;

/* What connections share. */
struct hall {
	struct event_base *base;
	struct engine *engine;
	struct auth_groups groups;
	const char *socket; /* path */
	size_t connections;
	uid_t guests
		[HALL_MAX_GUESTS]; /* of connections without the right to change, in any order */
	size_t guest_count;
	struct event *turn;          /* libmicrohttpd runs when it is made active */
	bool has_news;               /* for the feeds */
	struct feed *feeds;          /* answers without an end that are being given */
	size_t bodies_bytes;         /* received and not yet answered */
	struct connection *newcomer; /* admitted, and not yet taken by connection_notify */
};

/* One connection; the context of libmicrohttpd's socket. */
struct connection {
	struct hall *hall;
	struct event *deadline;
	struct event *half_closed; /* the peer sends no more */
	struct event *reader;      /* of an answer without an end: it has gone */
	int fd;                    /* lent by libmicrohttpd */
	struct MHD_Connection *mhd;
	enum right right;
	uid_t uid;
	bool is_guest;
};

/*
 * A connected socket asks for a place. -EBUSY: there is none for this peer; writers find one while guests
 * hold all of theirs. The socket stays the caller's.
 */
int connection_admit(struct connection **ret_connection, struct hall *hall, int fd);
void connection_free(struct connection *connection);
DEFINE_CLEANUP(struct connection *, connection_free);
/* Sends a whole answer past libmicrohttpd, which must not be about to send one; the connection ends then. */
void connection_answer(int fd, const struct reply *reply);
/* Callback of libmicrohttpd; `cls` is the hall. The connection that starts is the hall's newcomer. */
void connection_notify(void *cls, struct MHD_Connection *mhd, void **socket_context,
		       enum MHD_ConnectionNotificationCode code);
/* The time in which a whole request must arrive; it runs from the start, and from each answer on. */
void connection_start_deadline(const struct connection *connection);
void connection_stop_deadline(const struct connection *connection);
/* While a body is received: libmicrohttpd is made to see that the peer stopped sending. */
void connection_watch(const struct connection *connection);
/* While an answer without an end is given: it ends when the peer stops sending, or has gone. */
void connection_watch_reader(const struct connection *connection);
void connection_unwatch(const struct connection *connection);

#endif
