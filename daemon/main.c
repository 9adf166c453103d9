/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secgd: settings, directories, privileges, then the one loop of the control thread.
 */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/server.h"
#include "core/directory.h"
#include "core/log.h"
#include "core/notify.h"
#include "core/options.h"
#include "core/privileges.h"
#include "dp/bpffs.h"
#include "engine/engine.h"
#include "net/inject.h"

#define MESSAGE_SIZE 256

/* Locks on everything that two daemons must not share. */
struct claims {
	int run;
	int state;
	int bpffs;
};

static void claims_fini(struct claims *claims)
{
	closep(&claims->bpffs);
	closep(&claims->state);
	closep(&claims->run);
}

struct loop {
	struct event_base *base;
	struct engine *engine;
	struct server *server;
	struct event *signals[2];
	struct event *links;
	struct event *records;
	struct event *ticks;
	bool is_ephemeral;
};

/* ── the loop ───────────────────────────────────────────────────────────────────────────────────── */

static void on_signal(evutil_socket_t number, short what, void *data)
{
	struct loop *loop = data;

	(void)what;
	log_info("stopping (%s); %s", strsignal((int)number),
		 loop->is_ephemeral ? "nothing is pinned, so the ports are guarded no longer"
				    : "what is pinned goes on filtering");
	event_base_loopbreak(loop->base);
}

static void on_links(evutil_socket_t fd, short what, void *data)
{
	struct loop *loop = data;

	(void)fd;
	(void)what;
	engine_dispatch(loop->engine);
}

static void on_records(evutil_socket_t fd, short what, void *data)
{
	struct loop *loop = data;

	(void)fd;
	(void)what;
	engine_take_records(loop->engine);
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
	struct loop *loop = data;

	(void)fd;
	(void)what;
	engine_tick(loop->engine);
}

static void event_drop(struct event *event)
{
	if (event)
		event_free(event);
}

static void loop_fini(struct loop *loop)
{
	if (loop->server)
		server_close(loop->server);
	event_drop(loop->signals[0]);
	event_drop(loop->signals[1]);
	event_drop(loop->links);
	event_drop(loop->records);
	event_drop(loop->ticks);
	if (loop->engine)
		engine_close(loop->engine);
	if (loop->base)
		event_base_free(loop->base);
}

static int loop_add_events(struct loop *loop)
{
	static const struct timeval second = {.tv_sec = 1};

	loop->signals[0] = evsignal_new(loop->base, SIGTERM, on_signal, loop);
	loop->signals[1] = evsignal_new(loop->base, SIGINT, on_signal, loop);
	loop->links = event_new(loop->base, engine_fd(loop->engine), EV_READ | EV_PERSIST, on_links,
				loop);
	loop->records = event_new(loop->base, engine_records_fd(loop->engine), EV_READ | EV_PERSIST,
				  on_records, loop);
	loop->ticks = event_new(loop->base, -1, EV_PERSIST, on_tick, loop);
	if (!loop->signals[0] || !loop->signals[1] || !loop->links || !loop->records ||
	    !loop->ticks)
		return -ENOMEM;
	if (event_add(loop->signals[0], NULL) < 0 || event_add(loop->signals[1], NULL) < 0 ||
	    event_add(loop->links, NULL) < 0 || event_add(loop->records, NULL) < 0 ||
	    event_add(loop->ticks, &second) < 0)
		return -EIO;
	return 0;
}

static int loop_open(struct loop *loop, const struct options *options, uint32_t without,
		     const struct inject *inject, char message[MESSAGE_SIZE])
{
	const struct engine_options engine_options = {
		.state_directory = options->state_directory,
		.inject = inject,
		.dp =
			{
				.bpffs = options->is_ephemeral ? NULL : options->bpffs,
				.max_sessions = options->max_sessions,
				.table_memory_bytes = options->table_memory_bytes,
				.without = without,
			},
	};
	int r;

	loop->is_ephemeral = options->is_ephemeral;
	loop->base = event_base_new();
	if (!loop->base) {
		snprintf(message, MESSAGE_SIZE, "the event loop cannot be made");
		return -ENOMEM;
	}
	message[0] = '\0';
	/* the verifier takes its time */
	log_info("loading the data path");
	r = engine_open(&loop->engine, &engine_options, message);
	if (r < 0) {
		if (!message[0])
			snprintf(message, MESSAGE_SIZE, "%s", strerror(-r));
		return r;
	}
	if (message[0])
		log_warning("%s", message);
	r = loop_add_events(loop);
	if (r < 0) {
		snprintf(message, MESSAGE_SIZE, "the event loop cannot be made: %s", strerror(-r));
		return r;
	}
	return server_open(&loop->server, options->socket, loop->base, loop->engine, message);
}

/* ── before the loop ────────────────────────────────────────────────────────────────────────────── */

static int claim(struct claims *claims, const struct options *options, char message[MESSAGE_SIZE])
{
	int r;

	r = directory_make(options->run_directory, 0755, message);
	if (r < 0)
		return r;
	r = directory_lock(&claims->run, options->run_directory, message);
	if (r < 0)
		return r;
	r = directory_make(options->state_directory, 0700, message);
	if (r < 0)
		return r;
	r = directory_lock(&claims->state, options->state_directory, message);
	if (r < 0 || options->is_ephemeral)
		return r;
	r = bpffs_prepare(options->bpffs, message);
	if (r < 0)
		return r;
	return directory_lock(&claims->bpffs, options->bpffs, message);
}

/* Somebody else's directory: without CAP_DAC_OVERRIDE root is nobody there. */
static bool is_foreign(const char *path)
{
	struct stat info;

	return stat(path, &info) < 0 || info.st_uid != geteuid();
}

/* Everything else works without. */
static void open_inject(struct inject **ret_inject)
{
	int r = inject_open(ret_inject);

	if (r < 0)
		log_warning("rejected packets are dropped without an answer: %s",
			    r == -EPERM ? "CAP_NET_RAW is missing" : strerror(-r));
}

static int prepare(struct claims *claims, struct inject **ret_inject, const struct options *options,
		   char message[MESSAGE_SIZE])
{
	int r;

	r = privileges_check(message);
	if (r < 0)
		return r;
	privileges_raise_memlock();
	open_inject(ret_inject);
	r = claim(claims, options, message);
	if (r < 0)
		return r;
	return privileges_drop(is_foreign(options->run_directory) ||
				       is_foreign(options->state_directory),
			       message);
}

static int run(const struct options *options, uint32_t without, char message[MESSAGE_SIZE])
{
	_cleanup_(claims_fini) struct claims claims = {-1, -1, -1};
	_cleanup_(inject_closep) struct inject *inject = NULL;
	_cleanup_(loop_fini) struct loop loop = {0};
	int r;

	r = prepare(&claims, &inject, options, message);
	if (r < 0)
		return r;
	r = loop_open(&loop, options, without, inject, message);
	if (r < 0)
		return r;
	log_info("secgd %s: generation %llu, listening on %s", SECG_VERSION,
		 (unsigned long long)engine_generation(loop.engine), options->socket);
	notify("READY=1");
	if (event_base_dispatch(loop.base) < 0) {
		snprintf(message, MESSAGE_SIZE, "the event loop failed");
		return -EIO;
	}
	notify("STOPPING=1");
	return 0;
}

/* A daemon at work would attach everything anew: it must be gone first. */
static int detach_all(const struct options *options, char message[MESSAGE_SIZE])
{
	_cleanup_close_ int lock = -1;
	int r;

	r = directory_lock(&lock, options->bpffs, message);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	message[0] = '\0';
	r = dp_detach_all(options->bpffs, message);
	if (r < 0) {
		if (!message[0])
			snprintf(message, MESSAGE_SIZE, "%s", strerror(-r));
		return r;
	}
	/* stays where it is a mount of its own, or something of another program is in it */
	(void)rmdir(options->bpffs);
	return 0;
}

static int start(const struct options *options, char message[MESSAGE_SIZE])
{
	char problem[OPTIONS_MESSAGE_SIZE];
	uint32_t without;
	int r;

	r = options_parse_words(&without, options->without, dp_feature_names, DP_FEATURE_COUNT,
				problem);
	if (r < 0) {
		snprintf(message, MESSAGE_SIZE,
			 "without: takes tcx, xdp_frags and xdp_link: %.100s", problem);
		return r;
	}
	log_set_level(options->log_level);
	umask(0077);
	signal(SIGPIPE, SIG_IGN);
	return options->detaches_all ? detach_all(options, message)
				     : run(options, without, message);
}

int main(int argc, char **argv)
{
	_cleanup_(options_fini) struct options options = {0};
	char message[MESSAGE_SIZE] = "";

	if (options_parse(&options, argc, argv, environ, message) < 0) {
		log_error("%s", message);
		return 2;
	}
	if (options.shows_help || options.shows_version) {
		fputs(options.shows_help ? options_help : "secgd " SECG_VERSION "\n", stdout);
		return 0;
	}
	if (start(&options, message) < 0) {
		log_error("%s", message);
		return 1;
	}
	return 0;
}
