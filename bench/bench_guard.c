/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long is a new interface open? An engine of its own process, with pins and a store as the daemon has
 * them, guards whatever appears by a template; this process makes veths one after the other, hears of
 * each from the kernel (RTM_NEWLINK) and asks the interface until the hooks of both directions are on it.
 * bench/README.md says what each case is.
 */
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "../tests/support/attached.h"
#include "../tests/support/bench_row.h"
#include "engine/engine.h"

#define LINKS      200
#define PORTS      1000
#define VM_RULES   50
#define RULES      10000
#define BUDGET_MS  50
#define ASK_NS     200000 /* between two questions to an interface */
#define PATIENCE_S 30

static void die(const char *what, const char *why)
{
	fprintf(stderr, "guard: %s: %s\n", what, why);
	exit(2);
}

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void run(const char *command)
{
	if (system(command))
		die(command, "failed");
}

/* ── the engine ─────────────────────────────────────────────────────────────────────────────────── */

static json_t *rules(int count)
{
	json_t *list = json_array();
	char id[16], src[32];

	for (int i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		snprintf(src, sizeof(src), "10.%d.%d.0/24", 1 + i / 256, i % 256);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:i}", "id", id,
						      "action", "allow", "protocol", "tcp", "src",
						      src, "dst_ports", 1024 + i));
	}
	return list;
}

/* Interfaces that are waited for cost nothing but their place in the tables. */
static json_t *policy(int port_count, int rule_count)
{
	json_t *ports = json_object();
	char name[16];

	for (int i = 0; i < port_count; i++) {
		snprintf(name, sizeof(name), "late%d", i);
		json_object_set_new(
			ports, name,
			json_pack("{s:s, s:[s], s:[]}", "interface", name, "from", "vm", "to"));
	}
	json_object_set_new(
		ports, "large",
		json_pack("{s:s, s:[s], s:[]}", "interface", "large", "from", "large", "to"));
	return json_pack("{s:{s:{s:o}, s:{s:o}}, s:o, s:{s:{s:{s:s}, s:[s], s:[]}}}", "acls", "vm",
			 "rules", rules(VM_RULES), "large", "rules", rules(rule_count), "ports",
			 ports, "port_templates", "new", "match", "name", "new*", "from", "vm",
			 "to");
}

static void committed(struct change *change, void *data)
{
	(void)data;
	if (change->result.status != 200)
		die("policy", "is refused");
}

static void commit(struct engine *engine, json_t *document)
{
	struct change *change = change_new();

	if (!change || !document)
		die("policy", strerror(ENOMEM));
	change->kind = CHANGE_REPLACE;
	change->document = document;
	change->done = committed;
	if (engine_submit(engine, change) < 0)
		die("policy", "the queue is full");
	engine_commit(engine);
}

/* As the daemon's loop: link events, and a tick every second. Never returns. */
static void serve(const char *directory, json_t *document, int ready_fd)
{
	char message[DP_MESSAGE_SIZE] = "", pins[64], state[64];
	struct engine_options options = {
		.state_directory = state,
		.dp = {.bpffs = pins, .max_sessions = 1024, .table_memory_bytes = 64 << 20},
	};
	struct engine *engine = NULL;
	double tick = now_ms();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(pins, sizeof(pins), "%s/bpf/secgd", directory);
	snprintf(state, sizeof(state), "%s/state", directory);
	if (engine_open(&engine, &options, message) < 0)
		die("engine", message);
	commit(engine, document);
	if (write(ready_fd, "", 1) != 1)
		die("engine", strerror(errno));
	for (;;) {
		struct pollfd events = {.fd = engine_fd(engine), .events = POLLIN};

		if (poll(&events, 1, 100) > 0)
			engine_dispatch(engine);
		if (now_ms() - tick >= 1000) {
			engine_tick(engine);
			tick = now_ms();
		}
	}
}

static pid_t start(const char *directory, json_t *document)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		die("pipe", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork", strerror(errno));
	if (pid == 0)
		serve(directory, document, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("engine", "has ended");
	close(ready[0]);
	return pid;
}

/* ── links ──────────────────────────────────────────────────────────────────────────────────────── */

struct observer {
	struct mnl_socket *events;
	struct mnl_socket *requests;
	const char *wanted;
	int ifindex; /* of the wanted link; 0: not heard of yet */
};

static struct mnl_socket *open_socket(unsigned int groups)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);

	if (!socket || mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0)
		die("rtnetlink", strerror(errno));
	return socket;
}

static void make_link(struct observer *observer, const char *name, const char *peer)
{
	char buffer[1024];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct nlattr *info, *data, *other;

	request->nlmsg_type = RTM_NEWLINK;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL;
	mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(request, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(request, IFLA_LINKINFO);
	mnl_attr_put_strz(request, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(request, IFLA_INFO_DATA);
	other = mnl_attr_nest_start(request, 1 /* VETH_INFO_PEER */);
	mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(request, IFLA_IFNAME, peer);
	mnl_attr_nest_end(request, other);
	mnl_attr_nest_end(request, data);
	mnl_attr_nest_end(request, info);
	if (mnl_socket_sendto(observer->requests, request, request->nlmsg_len) < 0)
		die(name, strerror(errno));
}

static int see(const struct nlmsghdr *header, void *data)
{
	const struct ifinfomsg *message = mnl_nlmsg_get_payload(header);
	struct observer *observer = data;
	const struct nlattr *attribute;

	if (header->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	mnl_attr_for_each(attribute, header, sizeof(*message))
	{
		if (mnl_attr_get_type(attribute) == IFLA_IFNAME &&
		    strcmp(mnl_attr_get_str(attribute), observer->wanted) == 0)
			observer->ifindex = message->ifi_index;
	}
	return MNL_CB_OK;
}

/* When the kernel told of the link. */
static double hear(struct observer *observer)
{
	char buffer[32768];

	while (!observer->ifindex) {
		ssize_t size = mnl_socket_recvfrom(observer->events, buffer, sizeof(buffer));

		if (size < 0)
			die("rtnetlink", strerror(errno));
		mnl_cb_run(buffer, (size_t)size, 0, 0, see, observer);
	}
	return now_ms();
}

static bool is_guarded(int ifindex)
{
	for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
		struct attached attached;

		if (attached_open(&attached, ifindex, (enum secg_direction)direction) < 0)
			return false;
		attached_close(&attached);
	}
	return true;
}

static double measure(struct observer *observer, int number)
{
	const struct timespec pause = {.tv_nsec = ASK_NS};
	char name[IF_NAMESIZE], peer[IF_NAMESIZE];
	double heard;

	snprintf(name, sizeof(name), "new%d", number);
	snprintf(peer, sizeof(peer), "end%d", number);
	observer->wanted = name;
	observer->ifindex = 0;
	make_link(observer, name, peer);
	heard = hear(observer);
	while (!is_guarded(observer->ifindex)) {
		if (now_ms() - heard > PATIENCE_S * 1e3)
			die(name, "is not guarded");
		nanosleep(&pause, NULL);
	}
	return now_ms() - heard;
}

/* ── cases ──────────────────────────────────────────────────────────────────────────────────────── */

static void measure_case(struct bench_report *report, const char *name, json_t *document)
{
	static double samples[LINKS];
	struct observer observer = {0};
	struct bench_row row = {.name = name, .unit = "ms"};
	char directory[] = "/tmp/secg-bench-XXXXXX", command[128], tail[80];
	pid_t engine;

	if (unshare(CLONE_NEWNET) < 0 || !mkdtemp(directory))
		die(directory, strerror(errno));
	observer.events = open_socket(RTMGRP_LINK);
	observer.requests = open_socket(0);
	snprintf(
		command, sizeof(command),
		"cd %s && mkdir -m 700 state bpf && mount -t bpf bpf bpf && mkdir -m 700 bpf/secgd",
		directory);
	run(command);
	engine = start(directory, document);
	for (int i = 0; i < LINKS; i++)
		samples[i] = measure(&observer, i);
	kill(engine, SIGTERM);
	waitpid(engine, NULL, 0);
	bench_spread(&row, samples, LINKS);
	bench_write(report, &row);
	snprintf(tail, sizeof(tail), "%s, p99", name);
	row.name = tail;
	row.median = samples[LINKS * 99 / 100 - 1];
	row.kind = BENCH_BUDGET_MEDIAN;
	row.budget = BUDGET_MS;
	bench_write(report, &row);
	mnl_socket_close(observer.events);
	mnl_socket_close(observer.requests);
	snprintf(command, sizeof(command), "umount %s/bpf && rm -r %s", directory, directory);
	run(command);
}

int main(void)
{
	struct bench_report report;

	/* The pins go with the mount. */
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("a mount namespace", strerror(errno));
	bench_open(&report, "guard");
	measure_case(&report, "template alone", policy(0, 1));
	measure_case(&report, "beside 1000 ports, 10000 rules", policy(PORTS, RULES));
	bench_close(&report);
	return 0;
}
