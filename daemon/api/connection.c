/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: whose they are, how long they may take. */
#include "api/connection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "api/feed.h"
#include "core/log.h"

/* libmicrohttpd's own timeout starts anew with every byte; this one does not. */
static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	const struct connection *connection = data;

	(void)fd;
	(void)what;
	shutdown(connection->fd, SHUT_RDWR);
}

void connection_start_deadline(const struct connection *connection)
{
	static const struct timeval limit = {.tv_sec = SERVER_RECEIVE_S};

	evtimer_add(connection->deadline, &limit);
}

void connection_stop_deadline(const struct connection *connection)
{
	evtimer_del(connection->deadline);
}

/*
 * libmicrohttpd waits for edges and takes a short read for the last one, so an end that came together with
 * data goes unseen. Shutting our side for reading too, once all is read, makes another edge.
 */
static void on_half_closed(evutil_socket_t fd, short what, void *data)
{
	const struct connection *connection = data;
	char byte;

	(void)what;
	if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
		connection_watch(connection);
	else
		shutdown(fd, SHUT_RD);
}

void connection_watch(const struct connection *connection)
{
	event_add(connection->half_closed, NULL);
}

/*
 * Behind an answer without an end nothing is asked any more: what comes is thrown away. A reader that goes
 * with unread data makes an error, which libevent reports as readable and never as closed.
 */
static void on_reader(evutil_socket_t fd, short what, void *data)
{
	const struct connection *connection = data;
	struct feed *feed;
	char bytes[256];
	ssize_t size;

	(void)what;
	size = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	event_del(connection->reader);
	feed = feed_find(connection->hall->feeds, connection->mhd);
	if (feed)
		feed_finish(feed);
	event_active(connection->hall->turn, EV_TIMEOUT, 0);
}

void connection_watch_reader(const struct connection *connection)
{
	event_del(connection->half_closed);
	event_add(connection->reader, NULL);
}

void connection_unwatch(const struct connection *connection)
{
	event_del(connection->half_closed);
	event_del(connection->reader);
}

/* ── places ─────────────────────────────────────────────────────────────────────────────────────── */

static size_t guests_of(const struct hall *hall, uid_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < hall->guest_count; i++)
		count += hall->guests[i] == uid;
	return count;
}

static void guest_leave(struct hall *hall, uid_t uid)
{
	for (size_t i = 0; i < hall->guest_count; i++) {
		if (hall->guests[i] != uid)
			continue;
		hall->guests[i] = hall->guests[--hall->guest_count];
		return;
	}
}

static bool has_place(const struct hall *hall, uid_t uid, bool is_guest)
{
	if (hall->connections >= SERVER_MAX_CONNECTIONS)
		return false;
	return !is_guest ||
	       (hall->guest_count < HALL_MAX_GUESTS && guests_of(hall, uid) < SERVER_MAX_PER_GUEST);
}

int connection_admit(struct connection **ret_connection, struct hall *hall, int fd)
{
	struct connection *connection;
	enum right right;
	bool is_guest;
	uid_t uid;
	int r;

	r = auth_peer(&uid, &right, fd, &hall->groups);
	if (r < 0)
		return r;
	is_guest = right < RIGHT_WRITE;
	if (!has_place(hall, uid, is_guest))
		return -EBUSY;
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		return -ENOMEM;
	*connection = (struct connection){
		.hall = hall, .fd = fd, .right = right, .uid = uid, .is_guest = is_guest};
	hall->connections++;
	if (is_guest)
		hall->guests[hall->guest_count++] = uid;
	connection->deadline = evtimer_new(hall->base, on_deadline, connection);
	connection->half_closed = event_new(hall->base, fd, EV_CLOSED, on_half_closed, connection);
	connection->reader = event_new(hall->base, fd, EV_READ | EV_PERSIST, on_reader, connection);
	if (!connection->deadline || !connection->half_closed || !connection->reader) {
		connection_free(connection);
		return -ENOMEM;
	}
	connection_start_deadline(connection);
	*ret_connection = connection;
	return 0;
}

void connection_free(struct connection *connection)
{
	connection->hall->connections--;
	if (connection->is_guest)
		guest_leave(connection->hall, connection->uid);
	if (connection->deadline)
		event_free(connection->deadline);
	if (connection->half_closed)
		event_free(connection->half_closed);
	if (connection->reader)
		event_free(connection->reader);
	free(connection);
}

void connection_notify(void *cls, struct MHD_Connection *mhd, void **socket_context,
		       enum MHD_ConnectionNotificationCode code)
{
	struct hall *hall = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		hall->newcomer->mhd = mhd;
		*socket_context = TAKE_PTR(hall->newcomer);
		return;
	}
	connection_free(*socket_context);
	*socket_context = NULL;
}

/* ── answers past libmicrohttpd ─────────────────────────────────────────────────────────────────── */

void connection_answer(int fd, const struct reply *reply)
{
	bool is_allow = reply->allow[0];
	char head[512];
	struct iovec parts[] = {
		{.iov_base = head},
		{.iov_base = reply->body ? reply->body : (char *)reply->fixed,
		 .iov_len = reply->size},
	};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts)};
	int size;

	size = snprintf(head, sizeof(head),
			"HTTP/1.1 %u %s\r\nConnection: close\r\nContent-Type: %s\r\n"
			"%s%s%sContent-Length: %zu\r\n\r\n",
			reply->status, MHD_get_reason_phrase_for(reply->status),
			reply->content_type, is_allow ? "Allow: " : "", reply->allow,
			is_allow ? "\r\n" : "", reply->size);
	parts[0].iov_len = (size_t)size;
	if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("an answer could not be sent: %s", strerror(errno));
}
