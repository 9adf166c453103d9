/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl wait: until ports are in a state, for scripts that go on only behind a guarded interface. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "complete.h"
#include "kinds.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "table.h"
#include "value.h"

#define POLL_NS 200000000L

static const char *const states[] = {"guarded",     "waiting",   "degraded", "failed",
				     "quarantined", "ambiguous", NULL};

struct wait {
	const char *state;
	char *const *names;
	size_t count; /* 0: every port */
};

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The ports that are waited for, as they are in the status; a name that no port has is refused. */
static int select_ports(json_t **ret_ports, const struct wait *wait, const json_t *status)
{
	const json_t *all = json_object_get(status, "ports");
	json_auto_t *ports = memory_check(json_object());

	if (wait->count == 0)
		json_object_update(ports, (json_t *)all);
	for (size_t i = 0; i < wait->count; i++) {
		json_t *port = json_object_get(all, wait->names[i]);

		if (!port) {
			fprintf(stderr, "sgctl: there is no port '%s'\n", wait->names[i]);
			return CLI_REFUSED;
		}
		json_object_set(ports, wait->names[i], port);
	}
	*ret_ports = TAKE_PTR(ports);
	return CLI_DONE;
}

static bool is_reached(const struct wait *wait, const json_t *port)
{
	return strcmp(value_member(port, "state"), wait->state) == 0;
}

static bool are_reached(const struct wait *wait, const json_t *ports)
{
	const char *name;
	json_t *port;

	json_object_foreach((json_t *)ports, name, port)
	{
		if (!is_reached(wait, port))
			return false;
	}
	return true;
}

static int tell_timeout(const struct wait *wait, const json_t *ports, long timeout_s)
{
	_cleanup_free_ const char **names = NULL;
	size_t count;

	names = value_keys(ports, &count);
	for (size_t i = 0; i < count; i++) {
		const json_t *port = json_object_get(ports, names[i]);
		const char *message = value_member(port, "message");

		if (!is_reached(wait, port))
			fprintf(stderr, "sgctl: port %s is %s, not %s, after %ld s%s%s\n", names[i],
				value_member(port, "state"), wait->state, timeout_s,
				message[0] != '\0' ? ": " : "", message);
	}
	return CLI_TIMEOUT;
}

static void show(const json_t *ports)
{
	static const char *const headers[] = {"PORT", "STATE", "MESSAGE", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	names = value_keys(ports, &count);
	for (size_t i = 0; i < count; i++) {
		const json_t *port = json_object_get(ports, names[i]);

		table_add(table, names[i]);
		show_state(table, value_member(port, "state"));
		table_add(table, value_member(port, "message"));
	}
	table_print(table, stdout);
}

/* The status. CLI_NO_DAEMON, of which nothing is said before the end, where there is no daemon. */
static int get_status(json_t **ret_status, struct cli *cli, double left_s, bool was_there)
{
	const struct request request = {
		.method = "GET",
		.path = "/v1/status",
		.is_try = left_s > 0 || was_there,
	};

	cli->timeout_s = left_s > 1 ? (long)left_s : 1;
	return client_call(ret_status, cli, &request);
}

static int tell_gone(const struct cli *cli, long timeout_s)
{
	fprintf(stderr, "sgctl: the daemon at %s has gone and is not back after %ld s\n",
		cli->socket, timeout_s);
	return CLI_TIMEOUT;
}

static int wait_ports(struct cli *cli, const struct wait *wait)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	long timeout_s = cli->timeout_s;
	double end = now_s() + (double)timeout_s;
	bool was_there = false;

	for (;;) {
		json_auto_t *status = NULL, *ports = NULL;
		double left = end - now_s();
		int r = get_status(&status, cli, left, was_there);

		if (r == CLI_DONE)
			r = select_ports(&ports, wait, status);
		was_there = was_there || r == CLI_DONE;
		if (r == CLI_NO_DAEMON && left <= 0 && was_there)
			return tell_gone(cli, timeout_s);
		if (r != CLI_DONE && (r != CLI_NO_DAEMON || left <= 0))
			return r;
		if (r == CLI_DONE && are_reached(wait, ports)) {
			if (!output_data(cli, ports))
				show(ports);
			return CLI_DONE;
		}
		if (r == CLI_DONE && left <= 0)
			return tell_timeout(wait, ports, timeout_s);
		nanosleep(&pause, NULL);
	}
}

static int take(int letter, char *value, void *data)
{
	struct wait *wait = data;

	(void)letter;
	for (size_t i = 0; states[i]; i++) {
		if (strcmp(states[i], value) == 0) {
			wait->state = value;
			return OPTIONS_GO;
		}
	}
	return options_misuse(&verb_wait,
			      "--for takes guarded, waiting, degraded, failed, quarantined or "
			      "ambiguous, not '%s'",
			      value);
}

static bool is_ports(const char *word)
{
	return strcmp(word, "ports") == 0 || strcmp(word, "port") == 0;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option longs[] = {
		{"for", required_argument, NULL, OPTIONS_OWN},
		{0},
	};
	struct wait wait = {.state = states[0]};
	const struct options own = {"", longs, take, &wait};
	int index, r;

	r = options_after(&index, cli, &verb_wait, &own, argc, argv);
	if (r != OPTIONS_GO)
		return r;
	if (index == argc || !is_ports(argv[index]))
		return options_misuse(&verb_wait, "say what to wait for: ports");
	wait.names = argv + index + 1;
	wait.count = (size_t)(argc - index - 1);
	return wait_ports(cli, &wait);
}

static void complete_words(struct cli *cli, size_t count, const char *const *words)
{
	if (count == 2)
		puts("ports");
	else if (is_ports(words[1]))
		complete_names(cli, "ports");
}

const struct verb verb_wait = {
	.name = "wait",
	.summary = "wait until ports are guarded",
	.run = run,
	.complete = complete_words,
	.help = "sgctl wait ports [NAME…] [--for STATE] [--timeout SECONDS]\n"
		"\n"
		"Returns when the ports named, or all ports of the policy, are guarded. Exits 4 if they\n"
		"are not in time and says which, 2 if there is no such port. A daemon that is not there yet\n"
		"is waited for too; 3 if none comes.\n"
		"\n"
		"  --for STATE            guarded (default), waiting, degraded, failed, quarantined,\n"
		"                         ambiguous\n"
		"  --timeout SECONDS      how long to wait (60)\n",
};
