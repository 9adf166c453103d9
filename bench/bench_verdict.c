/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does a packet cost? The programs that the engine has attached are run over and over on one frame
 * (BPF_PROG_TEST_RUN), and beside them, in the same rounds, empty programs and a bare lookup in an LRU hash
 * of the same key. A figure is the difference to the empty program of its round. bench/README.md says
 * what each case is.
 */
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <secg/flow.h>

#include "../tests/support/attached.h"
#include "../tests/support/bench_program.h"
#include "../tests/support/bench_row.h"
#include "../tests/support/wire.h"
#include "engine/engine.h"

#define ROUNDS         9
#define REPEAT         400000
#define FLOWS          1000
#define SERVICE_PORT   80
#define STATELESS_PORT 53
#define SENDERS        1000
#define CLIENT         0x0a000001u
#define SERVER         0x0a000002u
#define SUBJECTS_MAX   24

static void die(const char *what, const char *why)
{
	fprintf(stderr, "verdict: %s: %s\n", what, why);
	exit(2);
}

/* ── ports and their policies ───────────────────────────────────────────────────────────────────── */

/* One pair of veths each: one end guarded by XDP, the other by TC. */
enum setup {
	SETUP_ESTABLISHED,
	SETUP_10,
	SETUP_1000,
	SETUP_10_MIXED, /* beside a rule that tracks: sessions are looked up first */
	SETUP_1000_MIXED,
	SETUP_PAIR,    /* the sender is one of the port's two exact pairs */
	SETUP_SENDERS, /* the last of a list of senders */
	SETUPS,
};
static const struct {
	const char *acls[2];
	int senders;
} setups[SETUPS] = {
	[SETUP_ESTABLISHED] = {{"tracked"}},
	[SETUP_10] = {{"rules10"}},
	[SETUP_1000] = {{"rules1000"}},
	[SETUP_10_MIXED] = {{"tracked", "rules10"}},
	[SETUP_1000_MIXED] = {{"tracked", "rules1000"}},
	[SETUP_PAIR] = {{"rules10"}, 1},
	[SETUP_SENDERS] = {{"rules10"}, SENDERS},
};
static const char *const hooks[] = {"xdp", "tc"};

static void run(const char *command)
{
	int r = system(command);

	if (r)
		die(command, "failed");
}

static void make_links(void)
{
	char command[128];

	if (unshare(CLONE_NEWNET) < 0)
		die("a network namespace", strerror(errno));
	/* No frames but the bench's own. */
	run("sysctl -q net.ipv6.conf.default.disable_ipv6=1");
	for (int i = 0; i < SETUPS; i++) {
		snprintf(command, sizeof(command),
			 "ip link add xdp%d up type veth peer name tc%d && ip link set tc%d up", i,
			 i, i);
		run(command);
	}
}

static json_t *rule(const char *id, const char *action, const char *protocol, int port)
{
	return json_pack("{s:s, s:s, s:s, s:[i]}", "id", id, "action", action, "protocol", protocol,
			 "dst_ports", port);
}

/* `count` rules that differ in source and port; the last one takes the frame. */
static json_t *stateless_acl(int count)
{
	json_t *rules = json_array();
	char id[16], src[32];

	for (int i = 0; i < count - 1; i++) {
		json_t *item;

		snprintf(id, sizeof(id), "r%d", i);
		snprintf(src, sizeof(src), "10.%d.%d.0/24", 1 + i / 256, i % 256);
		item = rule(id, "allow-stateless", "udp", 2000 + i);
		json_object_set_new(item, "src", json_string(src));
		json_array_append_new(rules, item);
	}
	json_array_append_new(rules, rule("last", "allow-stateless", "udp", STATELESS_PORT));
	return json_pack("{s:o}", "rules", rules);
}

/* `count` senders, the last of which is the frame's. */
static json_t *senders(int count)
{
	json_t *list = json_array();
	char mac[32], ip[32];

	for (int i = 1; i < count; i++) {
		snprintf(mac, sizeof(mac), "02:00:00:01:%02x:%02x", i / 256, i % 256);
		snprintf(ip, sizeof(ip), "10.1.%d.%d", i / 256, i % 256);
		json_array_append_new(list, json_pack("{s:s, s:[s]}", "mac", mac, "ips", ip));
	}
	json_array_append_new(
		list, json_pack("{s:s, s:[s]}", "mac", "02:00:00:00:00:01", "ips", "10.0.0.1"));
	return list;
}

static json_t *policy(void)
{
	json_t *ports = json_object();
	char name[16];

	for (int i = 0; i < SETUPS; i++)
		for (size_t h = 0; h < ARRAY_SIZE(hooks); h++) {
			json_t *from = json_pack("[s, s*]", setups[i].acls[0], setups[i].acls[1]);
			json_t *port;

			snprintf(name, sizeof(name), "%s%d", hooks[h], i);
			port = json_pack("{s:s, s:s, s:o, s:[]}", "interface", name, "hook",
					 hooks[h], "from", from, "to");
			if (setups[i].senders)
				json_object_set_new(port, "addresses", senders(setups[i].senders));
			json_object_set_new(ports, name, port);
		}
	return json_pack("{s:{s:{s:[o]}, s:o, s:o}, s:o}", "acls", "tracked", "rules",
			 rule("web", "allow", "tcp", SERVICE_PORT), "rules10", stateless_acl(10),
			 "rules1000", stateless_acl(1000), "ports", ports);
}

static void committed(struct change *change, void *data)
{
	(void)data;
	if (change->result.status == 200)
		return;
	if (change->result.errors.count)
		die(change->result.errors.items[0].field, change->result.errors.items[0].message);
	die("the commit", "failed");
}

static struct engine *guard(const char *directory)
{
	const struct engine_options options = {
		.state_directory = directory,
		.dp = {.max_sessions = 262144, .table_memory_bytes = (size_t)64 << 20},
	};
	char message[DP_MESSAGE_SIZE] = "";
	struct change *change = change_new();
	struct engine *engine = NULL;
	int r = engine_open(&engine, &options, message);

	if (r < 0)
		die("the engine", message[0] ? message : strerror(-r));
	if (!change)
		die("the policy", "no memory");
	change->kind = CHANGE_REPLACE;
	change->document = policy();
	change->done = committed;
	if (!change->document || engine_submit(engine, change) < 0)
		die("the policy", "cannot be submitted");
	engine_commit(engine);
	return engine;
}

/* ── frames and sessions ────────────────────────────────────────────────────────────────────────── */

static size_t make_frame(uint8_t bytes[WIRE_MAX_SIZE], uint8_t protocol, int flow, bool is_reply,
			 uint8_t flags)
{
	struct wire wire = {
		.src_mac = {2, 0, 0, 0, 0, 1},
		.dst_mac = {2, 0, 0, 0, 0, 2},
		.family = 4,
		.src = is_reply ? SERVER : CLIENT,
		.dst = is_reply ? CLIENT : SERVER,
		.protocol = protocol,
		.sport = (uint16_t)(BENCH_FIRST_PORT + flow),
		.dport = protocol == IPPROTO_TCP ? SERVICE_PORT : STATELESS_PORT,
		.tcp_flags = flags,
		.seq = 1,
		.ack = 1,
		.min_size = 64,
	};

	if (is_reply) {
		wire.dport = wire.sport;
		wire.sport = SERVICE_PORT;
	}
	return wire_build(bytes, &wire);
}

/* Three packets: a session is established from the third on. */
static void open_sessions(const struct attached *from, const struct attached *to)
{
	static const uint8_t flags[] = {WIRE_TCP_SYN, WIRE_TCP_SYN | WIRE_TCP_ACK, WIRE_TCP_ACK};
	uint8_t bytes[WIRE_MAX_SIZE];

	for (int flow = 0; flow < FLOWS; flow++)
		for (int i = 0; i < 3; i++) {
			size_t size = make_frame(bytes, IPPROTO_TCP, flow, i == 1, flags[i]);
			bool drops = true;
			int r = attached_verdict(i == 1 ? to : from, bytes, size, &drops);

			if (r < 0 || drops)
				die("a session", r < 0 ? strerror(-r) : "is refused");
		}
}

/* ── measuring ──────────────────────────────────────────────────────────────────────────────────── */

struct subject {
	char name[64];
	const struct attached *attached;
	int program;
	int empty;     /* the program it is compared with; -1: the figure is absolute */
	int base;      /* subject of the ratio; -1: none */
	double budget; /* of the ratio; 0: none */
	bool is_secg;  /* the attached program has a part in it */
	uint8_t frame[WIRE_MAX_SIZE];
	size_t size;
	double samples[ROUNDS];
};

struct suite {
	const char *hook;
	bool is_xdp;
	struct attached from[SETUPS];
	struct subject subjects[SUBJECTS_MAX];
	int count;
};

static int add(struct suite *suite, const char *name, enum setup setup, uint8_t protocol,
	       int program, int empty)
{
	struct subject *subject = &suite->subjects[suite->count];

	*subject = (struct subject){
		.attached = &suite->from[setup],
		.program = program,
		.empty = empty,
		.base = -1,
	};
	snprintf(subject->name, sizeof(subject->name), "%s: %s", suite->hook, name);
	subject->size = make_frame(subject->frame, protocol, 0, false, WIRE_TCP_ACK);
	return suite->count++;
}

static int add_secg(struct suite *suite, const char *name, enum setup setup, uint8_t protocol,
		    int program, int empty, int base, double budget)
{
	int number = add(suite, name, setup, protocol, program, empty);

	suite->subjects[number].base = base;
	suite->subjects[number].budget = budget;
	suite->subjects[number].is_secg = true;
	return number;
}

static double measure(const struct subject *subject, int program)
{
	uint32_t value, duration;
	int r = attached_run_fd(subject->attached, program, subject->frame, subject->size, REPEAT,
				&value, &duration);

	if (r < 0)
		die(subject->name, strerror(-r));
	if (value != bench_pass(subject->attached->is_xdp))
		die(subject->name, "the frame does not pass");
	return duration;
}

struct wanted_tag {
	const char *port;
	const char *tag;
};

static void compare_tag(const struct port_status *status, void *data)
{
	const struct wanted_tag *wanted = data;

	if (strcmp(status->name, wanted->port))
		return;
	if (strcmp(status->attachment.prog_tag, wanted->tag))
		die(wanted->port, "the program on the interface is not the one of the status");
}

static void open_programs(struct suite *suite, const struct engine *engine)
{
	struct attached to;
	char name[16];

	for (int i = 0; i < SETUPS; i++) {
		struct wanted_tag wanted = {name, suite->from[i].tag};

		snprintf(name, sizeof(name), "%s%d", suite->hook, i);
		if (attached_open(&suite->from[i], (int)if_nametoindex(name), SECG_FROM) < 0)
			die(name, "no program is attached");
		if (suite->from[i].is_xdp != suite->is_xdp)
			die(name, "not the hook that was asked for");
		engine_each_port(engine, compare_tag, &wanted);
	}
	snprintf(name, sizeof(name), "%s%d", suite->hook, SETUP_ESTABLISHED);
	if (attached_open(&to, (int)if_nametoindex(name), SECG_TO) < 0)
		die(name, "no program is attached in direction to");
	open_sessions(&suite->from[SETUP_ESTABLISHED], &to);
	attached_close(&to);
}

static void suite_init(struct suite *suite, const struct engine *engine, const char *hook)
{
	const struct secg_flow_key key = {
		.addr = {{htonl(CLIENT)}, {htonl(SERVER)}},
		.port = {0, htons(SERVICE_PORT)},
		.domain = 1,
		.proto = IPPROTO_TCP,
	};
	const uint8_t tcp = IPPROTO_TCP, udp = IPPROTO_UDP;
	int empty, lru = bench_make_lru(&key, FLOWS), one, many, ten;
	struct attached *from = suite->from;

	suite->hook = hook;
	suite->is_xdp = !strcmp(hook, "xdp");
	suite->count = 0;
	open_programs(suite, engine);
	empty = bench_load_empty(suite->is_xdp);
	add(suite, "empty program", SETUP_ESTABLISHED, tcp, empty, -1);
	one = add(suite, "LRU-hash lookup, 1 flow", SETUP_ESTABLISHED, tcp,
		  bench_load_lookup(suite->is_xdp, &key, 1, lru),
		  bench_load_lookup(suite->is_xdp, &key, 1, -1));
	many = add(suite, "LRU-hash lookup, 1 k flows", SETUP_ESTABLISHED, tcp,
		   bench_load_lookup(suite->is_xdp, &key, FLOWS, lru),
		   bench_load_lookup(suite->is_xdp, &key, FLOWS, -1));
	add_secg(suite, "established, 1 flow", SETUP_ESTABLISHED, tcp, from[SETUP_ESTABLISHED].fd,
		 empty, one, 0);
	add_secg(suite, "established, 1 k flows", SETUP_ESTABLISHED, tcp,
		 bench_load_wrapper(suite->is_xdp, FLOWS, from[SETUP_ESTABLISHED].fd),
		 bench_load_wrapper(suite->is_xdp, FLOWS, empty), many, 2);
	ten = add_secg(suite, "stateless, last of 10 rules", SETUP_10, udp, from[SETUP_10].fd,
		       empty, -1, 0);
	add_secg(suite, "stateless, last of 1000 rules", SETUP_1000, udp, from[SETUP_1000].fd,
		 empty, ten, 2);
	add_secg(suite, "stateless, 10 rules, one sender", SETUP_PAIR, udp, from[SETUP_PAIR].fd,
		 empty, ten, 0);
	add_secg(suite, "stateless, 10 rules, last of 1000 senders", SETUP_SENDERS, udp,
		 from[SETUP_SENDERS].fd, empty, ten, 0);
	ten = add_secg(suite, "stateless beside tracked, 10 rules", SETUP_10_MIXED, udp,
		       from[SETUP_10_MIXED].fd, empty, -1, 0);
	add_secg(suite, "stateless beside tracked, 1000 rules", SETUP_1000_MIXED, udp,
		 from[SETUP_1000_MIXED].fd, empty, ten, 2);
}

static void suite_report(struct suite *suite, struct bench_report *report)
{
	double median[SUBJECTS_MAX];

	for (int i = 0; i < suite->count; i++) {
		struct subject *subject = &suite->subjects[i];
		struct bench_row row = {
			.name = subject->name,
			.unit = "ns",
			.base = subject->base < 0 ? 0 : median[subject->base],
			.kind = subject->budget > 0 ? BENCH_BUDGET_RATIO : BENCH_NO_BUDGET,
			.budget = subject->budget,
			.prog_tag = subject->is_secg ? subject->attached->tag : NULL,
		};

		bench_spread(&row, subject->samples, ROUNDS);
		median[i] = row.median;
		bench_write(report, &row);
	}
}

static void measure_all(struct suite suites[], size_t count)
{
	for (int round = 0; round < ROUNDS; round++)
		for (size_t s = 0; s < count; s++)
			for (int i = 0; i < suites[s].count; i++) {
				struct subject *subject = &suites[s].subjects[i];
				double base =
					subject->empty < 0 ? 0 : measure(subject, subject->empty);

				subject->samples[round] = measure(subject, subject->program) - base;
			}
}

/* Rules alone would let the frames pass as well. */
static void check_sessions(const struct engine *engine)
{
	struct dp_session_usage usage;

	if (dp_session_usage(engine_dp(engine), &usage) < 0 ||
	    usage.used != ARRAY_SIZE(hooks) * FLOWS)
		die("sessions", "not as many are established as were opened");
}

static char directory[] = "/tmp/secg-bench-XXXXXX";

static void remove_directory(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	if (system(command))
		fprintf(stderr, "verdict: %s is left behind\n", directory);
}

int main(void)
{
	static struct suite suites[ARRAY_SIZE(hooks)];
	struct bench_report report;
	struct engine *engine;

	make_links();
	if (!mkdtemp(directory))
		die(directory, strerror(errno));
	atexit(remove_directory);
	engine = guard(directory);
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		suite_init(&suites[i], engine, hooks[i]);
	check_sessions(engine);
	measure_all(suites, ARRAY_SIZE(suites));
	bench_open(&report, "verdict");
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		suite_report(&suites[i], &report);
	bench_close(&report);
	engine_close(engine);
	return 0;
}
