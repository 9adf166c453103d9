/* SPDX-License-Identifier: Apache-2.0 */
/* Listening socket, libmicrohttpd and the event loop around them. */
#include "api/server.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "api/connection.h"
#include "api/feed.h"
#include "api/stream.h"
#include "core/log.h"
#include "engine/events.h"

#define BACKLOG             512
#define ACCEPTS_AT_ONCE     64
#define TURNS_BEFORE_COMMIT 32                 /* a stream of reads must not keep writers waiting */
#define IDLE_TIMEOUT_S      60u                /* a peer that does not take its answer */
#define REQUEST_MEMORY      ((size_t)64 << 10) /* headers and receive buffer of a connection */

struct server {
	struct hall hall;
	struct MHD_Daemon *mhd;
	int mhd_fd; /* lent by libmicrohttpd */
	int listen_fd;
	char *socket_path; /* NULL until bound */
	struct event *listening;
	struct event *readable;
	struct event *timer;
	struct event *pause; /* before accepting again, when descriptors ran out */
};

/* ── the loop ───────────────────────────────────────────────────────────────────────────────────── */

static bool has_work(const struct server *server)
{
	struct pollfd fd = {.fd = server->mhd_fd, .events = POLLIN};
	MHD_UNSIGNED_LONG_LONG timeout;

	if (MHD_get_timeout(server->mhd, &timeout) == MHD_YES && !timeout)
		return true;
	return poll(&fd, 1, 0) > 0;
}

static void timer_arm(struct server *server)
{
	MHD_UNSIGNED_LONG_LONG timeout;
	struct timeval delay;

	if (MHD_get_timeout(server->mhd, &timeout) != MHD_YES) {
		evtimer_del(server->timer);
		return;
	}
	delay.tv_sec = (time_t)(timeout / 1000);
	delay.tv_usec = (suseconds_t)(timeout % 1000 * 1000);
	evtimer_add(server->timer, &delay);
}

/* Reads every request that is ready, then commits: writers waiting together share a generation. */
static void turn(struct server *server)
{
	if (server->hall.has_news)
		feeds_wake(server->hall.feeds);
	server->hall.has_news = false;
	for (int i = 0; i < TURNS_BEFORE_COMMIT; i++) {
		MHD_run(server->mhd);
		if (!has_work(server))
			break;
	}
	if (engine_has_pending(server->hall.engine)) {
		engine_commit(server->hall.engine);
		MHD_run(server->mhd);
	}
	timer_arm(server);
}

static void on_turn(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	turn(data);
}

/* ── accepting ──────────────────────────────────────────────────────────────────────────────────── */

static void refuse_connection(int fd, int error)
{
	_cleanup_(reply_fini) struct reply reply = {0};

	if (error == -EBUSY) {
		reply_error(&reply, 503, ERROR_BUSY, "", "too many connections, try again");
	} else {
		log_warning("a connection is refused: %s", strerror(-error));
		reply_failure(&reply, error);
	}
	connection_answer(fd, &reply);
	close(fd);
}

/* -EAGAIN: nobody waits. */
static int accept_one(struct server *server)
{
	struct sockaddr_un address = {0};
	socklen_t size = sizeof(address);
	struct hall *hall = &server->hall;
	int fd, r;

	fd = accept4(server->listen_fd, (struct sockaddr *)&address, &size,
		     SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return -errno;
	r = connection_admit(&hall->newcomer, hall, fd);
	if (r == -EBUSY) {
		/* some may be closed already, and only not yet noticed */
		MHD_run(server->mhd);
		r = connection_admit(&hall->newcomer, hall, fd);
	}
	if (r < 0) {
		refuse_connection(fd, r);
		return 0;
	}
	/* closes fd itself where it fails */
	if (MHD_add_connection(server->mhd, fd, (struct sockaddr *)&address, size) != MHD_YES)
		log_warning("a connection could not be taken");
	if (hall->newcomer)
		connection_free(TAKE_PTR(hall->newcomer));
	return 0;
}

static void on_listening(evutil_socket_t fd, short what, void *data)
{
	static const struct timeval delay = {.tv_usec = 100000};
	struct server *server = data;
	int r = 0;

	(void)fd;
	(void)what;
	for (int i = 0; i < ACCEPTS_AT_ONCE && (!r || r == -ECONNABORTED || r == -EINTR); i++)
		r = accept_one(server);
	if (r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -ENOBUFS) {
		log_warning("no connection can be accepted: %s", strerror(-r));
		event_del(server->listening);
		evtimer_add(server->pause, &delay);
	}
	turn(server);
}

static void on_pause_over(evutil_socket_t fd, short what, void *data)
{
	struct server *server = data;

	(void)fd;
	(void)what;
	event_add(server->listening, NULL);
}

/* ── opening ────────────────────────────────────────────────────────────────────────────────────── */

static int fail(char message[SERVER_MESSAGE_SIZE], int error, const char *path, const char *what)
{
	snprintf(message, SERVER_MESSAGE_SIZE, "socket %.150s: %s", path,
		 what ? what : strerror(error));
	return -error;
}

/* Makes room for the socket: one on which nobody listens any more is removed. */
static int remove_stale(const struct sockaddr_un *address, char message[SERVER_MESSAGE_SIZE])
{
	const char *path = address->sun_path;
	_cleanup_close_ int fd = -1;
	struct stat info;

	if (lstat(path, &info) < 0)
		return errno == ENOENT ? 0 : fail(message, errno, path, NULL);
	if (!S_ISSOCK(info.st_mode))
		return fail(message, EEXIST, path, "something that is no socket is in its place");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(message, errno, path, NULL);
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return fail(message, EADDRINUSE, path, "another daemon answers on it");
	if (errno != ECONNREFUSED)
		return fail(message, errno, path, NULL);
	if (unlink(path) < 0)
		return fail(message, errno, path, NULL);
	return 0;
}

static int listen_open(struct server *server, const char *path, char message[SERVER_MESSAGE_SIZE])
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_close_ int fd = -1;
	int r;

	if (!copy)
		return fail(message, ENOMEM, path, NULL);
	if (strlen(path) >= sizeof(address.sun_path))
		return fail(message, ENAMETOOLONG, path, "the path is longer than 107 bytes");
	strcpy(address.sun_path, path);
	r = remove_stale(&address, message);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(message, errno, path, NULL);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return fail(message, errno, path, NULL);
	server->socket_path = TAKE_PTR(copy);
	if (chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0)
		return fail(message, errno, path, NULL);
	server->hall.socket = server->socket_path;
	server->listen_fd = TAKE_FD(fd);
	return 0;
}

static void log_mhd(void *cls, const char *format, va_list args)
{
	char line[512];

	(void)cls;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = '\0';
	log_debug("http: %s", line);
}

static int mhd_open(struct server *server)
{
	const union MHD_DaemonInfo *info;

	server->mhd = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
			MHD_USE_ERROR_LOG,
		0, NULL, NULL, stream_handle, &server->hall, MHD_OPTION_EXTERNAL_LOGGER, log_mhd,
		NULL, MHD_OPTION_CONNECTION_LIMIT, SERVER_MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		REQUEST_MEMORY, MHD_OPTION_URI_LOG_CALLBACK, stream_begin, &server->hall,
		MHD_OPTION_NOTIFY_COMPLETED, stream_end, &server->hall,
		MHD_OPTION_NOTIFY_CONNECTION, connection_notify, &server->hall, MHD_OPTION_END);
	if (!server->mhd)
		return -EIO;
	info = MHD_get_daemon_info(server->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -EIO;
	server->mhd_fd = info->epoll_fd;
	return 0;
}

static int events_open(struct server *server)
{
	struct event_base *base = server->hall.base;

	server->listening =
		event_new(base, server->listen_fd, EV_READ | EV_PERSIST, on_listening, server);
	server->readable = event_new(base, server->mhd_fd, EV_READ | EV_PERSIST, on_turn, server);
	server->timer = evtimer_new(base, on_turn, server);
	server->pause = evtimer_new(base, on_pause_over, server);
	server->hall.turn = evtimer_new(base, on_turn, server);
	if (!server->listening || !server->readable || !server->timer || !server->pause ||
	    !server->hall.turn)
		return -ENOMEM;
	if (event_add(server->listening, NULL) < 0 || event_add(server->readable, NULL) < 0)
		return -EIO;
	return 0;
}

static void on_event(void *data)
{
	struct hall *hall = data;

	/* Not at once: this may be in the middle of a commit, whose writers are answered first. */
	hall->has_news = true;
	event_active(hall->turn, EV_TIMEOUT, 0);
}

int server_open(struct server **ret_server, const char *socket_path, struct event_base *base,
		struct engine *engine, char message[SERVER_MESSAGE_SIZE])
{
	_cleanup_(server_closep) struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return fail(message, ENOMEM, socket_path, NULL);
	server->listen_fd = -1;
	server->hall.base = base;
	server->hall.engine = engine;
	r = listen_open(server, socket_path, message);
	if (r < 0)
		return r;
	r = mhd_open(server);
	if (r >= 0)
		r = events_open(server);
	if (r < 0)
		return fail(message, -r, socket_path, "the HTTP server cannot be started");
	events_listen(engine_events(engine), on_event, &server->hall);
	*ret_server = TAKE_PTR(server);
	return 0;
}

static void event_drop(struct event *event)
{
	if (event)
		event_free(event);
}

void server_close(struct server *server)
{
	events_listen(engine_events(server->hall.engine), NULL, NULL);
	event_drop(server->listening);
	event_drop(server->readable);
	event_drop(server->timer);
	event_drop(server->pause);
	event_drop(server->hall.turn);
	if (server->socket_path)
		unlink(server->socket_path);
	if (server->mhd) {
		/* no connection may be suspended when libmicrohttpd stops */
		if (engine_has_pending(server->hall.engine))
			engine_commit(server->hall.engine);
		feeds_finish(server->hall.feeds);
		MHD_run(server->mhd);
		MHD_run(server->mhd);
		MHD_stop_daemon(server->mhd);
	}
	if (server->listen_fd >= 0)
		close(server->listen_fd);
	free(server->socket_path);
	free(server);
}
