/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl monitor: events as they come, over restarts of the daemon. */
#include "monitor.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "value.h"

#define POLL_NS 200000000L

enum {
	OPTION_TYPES = OPTIONS_OWN,
	OPTION_CLIENT,
	OPTION_AFTER,
	OPTION_COUNT,
	OPTION_DURATION,
	OPTION_FILTER, /* and one more for each filter */
};

struct monitor {
	struct cli *cli;
	struct filters filters;
	const char *types, *client, *after; /* NULL: not given */
	long long count;                    /* 0: no end */
	long duration_s;                    /* 0: no end */
	double end_s;                       /* CLOCK_MONOTONIC, with a duration */
	char *boot_id;                      /* of the run that the numbers are of */
	json_int_t seq;                     /* of the last event that came */
	long long shown, lost;
};

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ── events ─────────────────────────────────────────────────────────────────────────────────────── */

static bool is_enough(const struct monitor *monitor)
{
	return monitor->count && monitor->shown >= monitor->count;
}

static void show(struct monitor *monitor, const json_t *event)
{
	if (!filters_fit(&monitor->filters, event))
		return;
	if (strcmp(value_member(event, "type"), "lost") == 0)
		monitor->lost += value_integer(event, "count");
	else
		monitor->shown++;
	if (!output_data(monitor->cli, event))
		monitor_print(event, stdout);
	fflush(stdout);
}

static bool take_line(const char *line, size_t size, void *data)
{
	struct monitor *monitor = data;
	json_auto_t *event = json_loadb(line, size, 0, NULL);

	if (!event)
		return true;
	monitor->seq = value_integer(event, "seq");
	show(monitor, event);
	return !is_enough(monitor) && !ferror(stdout);
}

/* ── the daemon ─────────────────────────────────────────────────────────────────────────────────── */

static char *stream_path(const struct monitor *monitor)
{
	_cleanup_free_ char *after = memory_format("%" JSON_INTEGER_FORMAT, monitor->seq);
	char *path = client_query(memory_copy("/v1/events"), "after", after);

	if (monitor->types) {
		_cleanup_free_ char *types = memory_format("%s,lost", monitor->types);

		path = client_query(path, "types", types);
	}
	return monitor->client ? client_query(path, "client", monitor->client) : path;
}

static void tell_missed(json_int_t count)
{
	if (count > 0)
		fprintf(stderr, "sgctl: %" JSON_INTEGER_FORMAT " events are gone\n", count);
}

/* Where to go on: behind the last one that came, or as far back as a new daemon goes. */
static void find_place(struct monitor *monitor, const json_t *status)
{
	const json_t *events = json_object_get(status, "events");
	const char *boot_id = value_member(events, "boot_id");
	json_int_t first = value_integer(events, "first");

	if (!monitor->boot_id) {
		monitor->boot_id = memory_copy(boot_id);
		monitor->seq = value_integer(events, "last");
		return;
	}
	if (strcmp(monitor->boot_id, boot_id) != 0) {
		fputs("sgctl: this is another run of the daemon; what the last one did behind the "
		      "events above is not known\n",
		      stderr);
		free(monitor->boot_id);
		monitor->boot_id = memory_copy(boot_id);
		monitor->seq = 0;
	}
	tell_missed(first - 1 - monitor->seq);
	if (monitor->seq < first - 1)
		monitor->seq = first - 1;
}

static int ask_status(struct monitor *monitor, bool is_try)
{
	json_auto_t *status = NULL;
	int r = client_call(
		&status, monitor->cli,
		&(struct request){.method = "GET", .path = "/v1/status", .is_try = is_try});

	if (r == CLI_DONE)
		find_place(monitor, status);
	return r;
}

static bool is_over(const struct monitor *monitor)
{
	return monitor->duration_s && now_s() >= monitor->end_s;
}

/* The daemon has gone: until it is back. */
static int wait_back(struct monitor *monitor)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	double end = now_s() + (double)monitor->cli->timeout_s;
	int r;

	fputs("sgctl: the daemon has gone; waiting for it\n", stderr);
	while (!is_over(monitor)) {
		nanosleep(&pause, NULL);
		r = ask_status(monitor, now_s() < end);
		if (r != CLI_NO_DAEMON || now_s() >= end)
			return r;
	}
	return CLI_DONE;
}

static int follow(struct monitor *monitor)
{
	_cleanup_free_ char *path = stream_path(monitor);
	double left = monitor->duration_s ? monitor->end_s - now_s() : 0;

	if (monitor->duration_s && left <= 0)
		return CLI_DONE;
	return client_stream(monitor->cli, path, (long)(left * 1000), take_line, monitor);
}

static int finish(const struct monitor *monitor)
{
	if (monitor->lost)
		fprintf(stderr, "sgctl: %lld events were lost\n", monitor->lost);
	if (monitor->count && monitor->shown < monitor->count)
		return CLI_TIMEOUT;
	return CLI_DONE;
}

static int watch(struct monitor *monitor)
{
	int r = ask_status(monitor, false);

	if (r == CLI_DONE && monitor->after)
		monitor->seq = (json_int_t)strtoll(monitor->after, NULL, 10);
	while (r == CLI_DONE) {
		r = follow(monitor);
		if (r == CLI_REFUSED)
			return r;
		if (ferror(stdout))
			return CLI_REFUSED;
		if (is_enough(monitor) || is_over(monitor))
			return finish(monitor);
		r = wait_back(monitor);
	}
	return r;
}

/* ── the command line ───────────────────────────────────────────────────────────────────────────── */

static int take_number(long long *ret_number, const char *option, const char *value, long long min)
{
	char *end;

	errno = 0;
	*ret_number = strtoll(value, &end, 10);
	if (errno || end == value || *end != '\0' || *ret_number < min)
		return options_misuse(&verb_monitor, "--%s takes a number from %lld on, not '%s'",
				      option, min, value);
	return OPTIONS_GO;
}

static int take(int letter, char *value, void *data)
{
	struct monitor *monitor = data;
	long long number;
	int r;

	switch (letter) {
	case OPTION_TYPES:
		monitor->types = value;
		return OPTIONS_GO;
	case OPTION_CLIENT:
		monitor->client = value;
		return OPTIONS_GO;
	case OPTION_AFTER:
		monitor->after = value;
		return take_number(&number, "after", value, 0);
	case OPTION_COUNT:
		return take_number(&monitor->count, "count", value, 1);
	case OPTION_DURATION:
		r = take_number(&number, "duration", value, 1);
		monitor->duration_s = (long)number;
		return r;
	default:
		return filters_set(&monitor->filters, (enum monitor_filter)(letter - OPTION_FILTER),
				   value);
	}
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option longs[] = {
		{"types", required_argument, NULL, OPTION_TYPES},
		{"client", required_argument, NULL, OPTION_CLIENT},
		{"after", required_argument, NULL, OPTION_AFTER},
		{"count", required_argument, NULL, OPTION_COUNT},
		{"duration", required_argument, NULL, OPTION_DURATION},
#define MONITOR_FILTER_OPTION(name, option, field) \
	{option, required_argument, NULL, OPTION_FILTER + FILTER_##name},
		MONITOR_FILTERS(MONITOR_FILTER_OPTION)
#undef MONITOR_FILTER_OPTION
			{0},
	};
	struct monitor monitor = {.cli = cli};
	const struct options own = {"", longs, take, &monitor};
	int index, r;

	r = options_after(&index, cli, &verb_monitor, &own, argc, argv);
	if (r == OPTIONS_GO && index < argc)
		r = options_misuse(&verb_monitor, "what is '%s'?", argv[index]);
	if (r != OPTIONS_GO)
		return r;
	cli->is_watching = true;
	monitor.end_s = now_s() + (double)monitor.duration_s;
	r = watch(&monitor);
	free(monitor.boot_id);
	return r;
}

const struct verb verb_monitor = {
	.name = "monitor",
	.summary = "what happens, as it happens",
	.run = run,
	.help = "sgctl monitor [--types TYPE,…] [FILTER…] [--after N] [--count N] [--duration SECONDS]\n"
		"\n"
		"Prints a line for each event from now on: packets that rules with 'log' or 'sample'\n"
		"decided, packets dropped for other reasons, ports and generations that change. With -o json\n"
		"an object a line. When the daemon goes it waits for it (--timeout) and says what it missed.\n"
		"What nobody could be told, because it came too fast or for the rate of its rule, is counted\n"
		"in lines of type lost.\n"
		"\n"
		"  --types TYPE,…   rule_log, drop, sample, session_full, session_80, audit, port_state,\n"
		"                   commit, acquire, expire, mapping, sa_missing, flushed, lost\n"
		"  --port NAME --direction from|to --acl NAME --rule ACL/ID|ID --reason REASON\n"
		"  --verdict pass|drop|reject --proto NAME|NUMBER --src PREFIX --dst PREFIX\n"
		"  --sport N --dport N\n"
		"                   filters; an event must match all of them\n"
		"  --client NAME    events about what this client of IPsec made\n"
		"  --after N        first those behind the event whose seq is N; 0: all that are kept\n"
		"  --count N        end after N events\n"
		"  --duration SECONDS\n"
		"                   end then; exits 4 if --count events did not come\n",
};
