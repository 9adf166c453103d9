/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections as libmicrohttpd reports them: rights of the peer, room for writers, deadline.
 */
#ifndef SECG_API_CONNECTION_H
#define SECG_API_CONNECTION_H

#include <event2/event.h>
#include <microhttpd.h>

#include "api/auth.h"
#include "engine/engine.h"

/* What connections share. */
struct hall {
	struct event_base *base;
	struct engine *engine;
	struct auth_groups groups;
	size_t connections;
	size_t guests;       /* connections without the right to change */
	size_t bodies_bytes; /* received and not yet answered */
};

/* One connection; the context of libmicrohttpd's socket. */
struct connection {
	struct hall *hall;
	struct event *deadline;
	int fd; /* lent by libmicrohttpd */
	enum right right;
	bool is_guest;
	bool is_excess; /* one guest too many: every request is answered 503 */
};

/* Callback of libmicrohttpd; `cls` is the hall. */
void connection_notify(void *cls, struct MHD_Connection *mhd, void **socket_context,
		       enum MHD_ConnectionNotificationCode code);
/* The time in which a whole request must arrive; it runs from the start, and from each answer on. */
void connection_start_deadline(const struct connection *connection);
void connection_stop_deadline(const struct connection *connection);

#endif
