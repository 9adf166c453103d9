/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: whose they are, how long they may take. */
#include "api/connection.h"

#include <string.h>
#include <sys/socket.h>

#include "api/server.h"
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

static void connection_free(struct connection *connection)
{
	if (connection->is_guest)
		connection->hall->guests--;
	if (connection->deadline)
		event_free(connection->deadline);
	free(connection);
}

static struct connection *connection_new(struct hall *hall, int fd)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	int r;

	if (!connection)
		return NULL;
	connection->hall = hall;
	connection->fd = fd;
	connection->deadline = evtimer_new(hall->base, on_deadline, connection);
	r = auth_peer(&connection->right, fd, &hall->groups);
	if (r < 0 || !connection->deadline) {
		log_warning("a connection is refused: %s", r < 0 ? strerror(-r) : strerror(ENOMEM));
		connection_free(connection);
		return NULL;
	}
	if (connection->right < RIGHT_WRITE) {
		connection->is_guest = true;
		connection->is_excess =
			hall->guests++ >= SERVER_MAX_CONNECTIONS - SERVER_KEPT_FOR_WRITERS;
	}
	connection_start_deadline(connection);
	return connection;
}

void connection_notify(void *cls, struct MHD_Connection *mhd, void **socket_context,
		       enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info;
	struct hall *hall = cls;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		hall->connections--;
		if (*socket_context)
			connection_free(*socket_context);
		*socket_context = NULL;
		return;
	}
	hall->connections++;
	info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	*socket_context = connection_new(hall, info->connect_fd);
	if (!*socket_context)
		shutdown(info->connect_fd, SHUT_RDWR);
}

void connection_stop_deadline(const struct connection *connection)
{
	evtimer_del(connection->deadline);
}
