/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces held against the attached programs. Random policies and packets, sessions among them that are
 * new, answered, closing, or judged by an older policy:
 *
 *   1. packets run by the attached programs make sessions; then the policy changes a little
 *   2. packets are traced: /v1/stats and /v1/sessions say the same before and after
 *   3. each packet is traced and then run: same verdict, and the reasons and rules that the traces named
 *      add up to what the runs have counted
 *
 * Exit: 0 all agree, 1 they differ or the packets prove too little, 2 it could not run.
 */
#include <getopt.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attached.h"
#include "model/config.h"
#include "packet_random.h"
#include "policy_random.h"
#include "rest.h"

#define PORTS        2
#define FLOWS_MAX    256
#define WARM_UP      300 /* packets that make sessions */
#define ROUNDS       2   /* with a change of the policy before each */
#define PACKETS      250 /* of a round, traced and run */
#define REPORTS_MAX  10
#define EXIT_DIFFERS 1

static struct rest rest = {.tool = "trace"};

/* A packet that was sent, so that others can belong to it. */
struct flow {
	struct wire wire;
	int port;
	enum secg_direction direction;
};

struct shot {
	int port;
	enum secg_direction direction;
	uint8_t bytes[WIRE_MAX_SIZE];
	size_t size;
};

struct tally {
	uint64_t policies, traced, pairs, refused, passed, created, sums;
	uint64_t session[3]; /* found, related, cut */
	uint64_t reasons[SECG_REASON_COUNT];
	uint64_t wrong;
};

struct trial {
	struct rng rng;
	const struct policy_port *ports;
	struct tally *tally;
	uint64_t seed, number;
	struct config *config;
	struct attached attached[PORTS][SECG_DIRECTIONS];
	struct flow flows[FLOWS_MAX];
	uint32_t flow_count;
	json_t *rules;   /* packets by the rule that traces named */
	json_t *reasons; /* and by reason */
};

static const char *const directions[] = {"from", "to"};
static const char *const sessions[] = {"found", "related", "cut"};
static const char *const reason_names[SECG_REASON_COUNT] = {
#define REASON_NAME(name, label, text) [SECG_REASON_##name] = label,
	SECG_REASONS(REASON_NAME)
#undef REASON_NAME
};

static void report(const struct trial *trial, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void report(const struct trial *trial, const char *format, ...)
{
	va_list args;

	if (trial->tally->wrong++ >= REPORTS_MAX)
		return;
	printf("WRONG (--seed %" PRIu64 " --only %" PRIu64 "): ", trial->seed, trial->number);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* ── packets ────────────────────────────────────────────────────────────────────────────────────── */

static void swap_endpoints(struct wire *wire)
{
	struct wire old = *wire;

	wire->src = old.dst;
	wire->dst = old.src;
	wire->sport = old.dport;
	wire->dport = old.sport;
}

/* RFC 792, RFC 4443: what answers a query. */
static void make_reply(struct wire *wire)
{
	swap_endpoints(wire);
	if (!wire_has_icmp(wire->family, wire->protocol))
		return;
	if (wire->family == 4 && wire->icmp_type == 8)
		wire->icmp_type = 0;
	else
		wire->icmp_type++;
}

static void make_tcp(struct rng *rng, struct wire *wire)
{
	static const uint8_t flags[] = {0x02, 0x02, 0x12, 0x12, 0x10, 0x10, 0x10, 0x18,
					0x11, 0x11, 0x14, 0x04, 0x14, 0x04, 0x03, 0x00};
	static const uint32_t numbers[] = {0, 1, 2, 1u << 26, 1u << 30};

	wire->tcp_flags = flags[rng_below(rng, sizeof(flags))];
	wire->seq = numbers[rng_below(rng, 5)];
	wire->ack = numbers[rng_below(rng, 5)];
}

static size_t ip_offset(const struct wire *wire)
{
	return 14 + 4 * wire->tags;
}

/* An ICMP error to who sent the packet of the flow, which it carries. */
static void make_error(struct rng *rng, struct wire *wire, uint8_t payload[WIRE_MAX_SIZE])
{
	struct wire error = {
		.family = wire->family,
		.src = rng_chance(rng, 50) ? wire->dst : policy_address(rng, wire->family),
		.dst = rng_chance(rng, 90) ? wire->src : wire->dst,
		.protocol = wire->family == 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6,
		.icmp_type = wire->family == 4 ? 3 : 1,
		.icmp_code = 1,
	};
	size_t size = wire_build(payload, wire), ip = ip_offset(wire);

	memmove(payload, payload + ip, size - ip);
	error.payload = payload;
	error.payload_size = size - ip;
	*wire = error;
}

/* IPv4: a first or a later fragment of a datagram of few numbers. */
static void make_fragment(struct rng *rng, const struct wire *wire, struct shot *shot)
{
	uint8_t *ip = shot->bytes + ip_offset(wire);
	bool is_first = rng_chance(rng, 50);

	ip[5] = (uint8_t)rng_below(rng, 2);
	ip[6] = is_first ? 0x20 : 0;
	ip[7] = is_first ? 0 : (uint8_t)(1 + rng_below(rng, 8));
}

static void spoil(struct rng *rng, struct shot *shot)
{
	if (rng_chance(rng, 50))
		shot->bytes[12 + rng_below(rng, 40)] ^= (uint8_t)(1u << rng_below(rng, 8));
	else
		shot->size = 10 + rng_below(rng, (uint32_t)shot->size - 10);
}

static void remember(struct trial *trial, const struct flow *flow)
{
	uint32_t at = trial->flow_count < FLOWS_MAX ? trial->flow_count++
						    : rng_below(&trial->rng, FLOWS_MAX);

	trial->flows[at] = *flow;
}

static struct flow new_flow(struct trial *trial)
{
	struct rng *rng = &trial->rng;
	struct flow flow = {
		.port = (int)rng_below(rng, PORTS),
		.direction = (enum secg_direction)rng_below(rng, SECG_DIRECTIONS),
	};
	const struct port *port = config_find_port(trial->config, trial->ports[flow.port].name);
	struct compile_packet packet;

	packet_random(rng, &port->list[flow.direction], &packet, &flow.wire);
	flow.wire.icmp_id = (uint16_t)rng_below(rng, 4);
	flow.wire.seq = 1;
	flow.wire.min_size = 0;
	remember(trial, &flow);
	return flow;
}

/* A packet of the wanted kind: of a new flow, or one that has to do with a flow before it. */
static void make_shot(struct trial *trial, struct shot *shot)
{
	static uint8_t payload[WIRE_MAX_SIZE];
	struct rng *rng = &trial->rng;
	bool is_new = !trial->flow_count || rng_chance(rng, 35);
	struct flow flow =
		is_new ? new_flow(trial) : trial->flows[rng_below(rng, trial->flow_count)];
	uint32_t kind = rng_below(rng, 10);

	if (!is_new && flow.wire.family && kind < 6) {
		if (kind < 4) {
			make_reply(&flow.wire);
			flow.direction = !flow.direction;
		}
		if (flow.wire.protocol == IPPROTO_TCP)
			make_tcp(rng, &flow.wire);
	} else if (!is_new && flow.wire.family && kind == 6) {
		make_error(rng, &flow.wire, payload);
		flow.direction = !flow.direction;
	}
	/* Of few flows, so that they meet; some of the later ones overwrite a part of the first. */
	if (kind == 7) {
		flow = trial->flows[rng_below(rng, trial->flow_count < 4 ? trial->flow_count : 4)];
		flow.wire.payload = payload;
		flow.wire.payload_size = 32;
	}
	shot->port = flow.port;
	shot->direction = flow.direction;
	shot->size = wire_build(shot->bytes, &flow.wire);
	if (kind == 7 && flow.wire.family == 4)
		make_fragment(rng, &flow.wire, shot);
	if (kind == 8 && rng_chance(rng, 50))
		spoil(rng, shot);
}

/* ── judging ────────────────────────────────────────────────────────────────────────────────────── */

static json_t *trace(const struct trial *trial, const struct shot *shot, long *ret_status)
{
	static char hex[2 * WIRE_MAX_SIZE + 1];
	json_auto_t *body = NULL;

	hex[0] = '\0';
	for (size_t i = 0; i < shot->size; i++)
		snprintf(hex + 2 * i, 3, "%02x", shot->bytes[i]);
	body = json_pack("{s:s, s:s, s:s}", "port", trial->ports[shot->port].name, "direction",
			 directions[shot->direction], "packet", hex);
	return rest_call(&rest, "POST", "/v1/trace", body, ret_status);
}

/* -EINVAL: the kernel makes no test run of it. */
static int run(const struct trial *trial, const struct shot *shot, bool *ret_drops)
{
	return attached_verdict(&trial->attached[shot->port][shot->direction], shot->bytes,
				shot->size, ret_drops);
}

static const char *member(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? text : "";
}

static void add_one(json_t *counts, const char *key)
{
	json_object_set_new(counts, key,
			    json_integer(json_integer_value(json_object_get(counts, key)) + 1));
}

/* A rule counts what it lets pass and what it drops; a cut session's drop has another reason. */
static void expect(struct trial *trial, const json_t *answer)
{
	const char *reason = member(answer, "reason"), *rule = member(answer, "rule");

	if (*reason)
		add_one(trial->reasons, reason);
	if (*rule && (!*reason || !strcmp(reason, "rule_drop") || !strcmp(reason, "rule_reject") ||
		      !strcmp(reason, "policy_change")))
		add_one(trial->rules, rule);
}

static void tally_answer(struct tally *tally, const json_t *answer)
{
	tally->passed += !strcmp(member(answer, "verdict"), "pass");
	tally->created += json_is_true(json_object_get(answer, "would_create"));
	for (int i = 0; i < 3; i++)
		tally->session[i] += !strcmp(member(answer, "session"), sessions[i]);
	for (int i = SECG_REASON_NONE + 1; i < SECG_REASON_COUNT; i++)
		tally->reasons[i] += !strcmp(member(answer, "reason"), reason_names[i]);
}

static void one_pair(struct trial *trial)
{
	json_auto_t *answer = NULL;
	struct shot shot;
	bool drops = false;
	const char *tag;
	long status;
	int r;

	make_shot(trial, &shot);
	tag = trial->attached[shot.port][shot.direction].tag;
	answer = trace(trial, &shot, &status);
	r = run(trial, &shot, &drops);
	trial->tally->pairs++;
	if (r == -EINVAL && status == 400) {
		trial->tally->refused++;
		return;
	}
	if (r < 0 || status != 200) {
		report(trial, "port %s %s: the run says %s, the trace %s",
		       trial->ports[shot.port].name, directions[shot.direction], strerror(-r),
		       json_dumps(answer, 0));
		return;
	}
	if (strcmp(member(answer, "verdict"), "pass") ? !drops : drops)
		report(trial, "port %s %s: the attached program %s, the trace says %s",
		       trial->ports[shot.port].name, directions[shot.direction],
		       drops ? "drops" : "passes", json_dumps(answer, 0));
	if (strcmp(member(answer, "attached_tag"), tag) || strcmp(member(answer, "prog_tag"), tag))
		report(trial, "%s is attached, the trace says %s", tag, json_dumps(answer, 0));
	expect(trial, answer);
	tally_answer(trial->tally, answer);
}

/* ── what must not change ───────────────────────────────────────────────────────────────────────── */

/* All sessions, without what time alone changes. */
static json_t *read_sessions(void)
{
	static const char *const times[] = {"age_s", "idle_s", "expires_s"};
	json_t *answer = rest_ask(&rest, "GET", "/v1/sessions?limit=10000", NULL);
	json_t *session;
	size_t i;

	if (json_object_get(answer, "cursor"))
		rest_broken(&rest, "/v1/sessions", "more than one page");
	json_array_foreach(json_object_get(answer, "sessions"), i,
			   session) for (size_t j = 0; j < ARRAY_SIZE(times); j++)
		json_object_del(session, times[j]);
	return answer;
}

static void trace_only(struct trial *trial)
{
	json_auto_t *stats = rest_ask(&rest, "GET", "/v1/stats", NULL);
	json_auto_t *before = read_sessions();
	json_auto_t *later_stats = NULL, *after = NULL;

	for (int i = 0; i < PACKETS; i++) {
		json_auto_t *answer = NULL;
		struct shot shot;
		long status;

		make_shot(trial, &shot);
		answer = trace(trial, &shot, &status);
		if (status != 200 && status != 400)
			report(trial, "a trace is answered %ld %s", status, json_dumps(answer, 0));
		trial->tally->traced++;
	}
	later_stats = rest_ask(&rest, "GET", "/v1/stats", NULL);
	after = read_sessions();
	if (!json_equal(stats, later_stats))
		report(trial, "traces have moved counters");
	if (!json_equal(before, after))
		report(trial, "traces have changed sessions");
}

/* Rules with action pass count on the way, which no trace tells. */
static bool is_pass(const struct config *config, const char *key)
{
	for (size_t i = 0; i < config->acl_count; i++) {
		const struct acl *acl = &config->acls[i];
		size_t size = strlen(acl->name);

		if (strncmp(acl->name, key, size) || key[size] != '/')
			continue;
		for (size_t j = 0; j < acl->rule_count; j++)
			if (!strcmp(acl->rules[j].id, key + size + 1))
				return acl->rules[j].action == SECG_ACTION_PASS;
	}
	return false;
}

static int64_t count_of(const json_t *stats, const char *kind, const char *key)
{
	const json_t *value = json_object_get(json_object_get(stats, kind), key);

	return json_integer_value(json_is_object(value) ? json_object_get(value, "packets")
							: value);
}

static void check_sums(struct trial *trial, const char *kind, const json_t *expected,
		       const json_t *before, const json_t *after)
{
	const char *key;
	json_t *value;

	json_object_foreach(json_object_get(after, kind), key, value)
	{
		int64_t grown = count_of(after, kind, key) - count_of(before, kind, key);
		int64_t traced = json_integer_value(json_object_get(expected, key));

		if (is_pass(trial->config, key))
			continue;
		trial->tally->sums++;
		if (grown != traced)
			report(trial, "%s %s: the runs count %" PRId64 ", the traces %" PRId64,
			       kind, key, grown, traced);
	}
}

static void trace_and_run(struct trial *trial)
{
	json_auto_t *before = rest_ask(&rest, "GET", "/v1/stats", NULL);
	json_auto_t *after = NULL;

	trial->rules = json_object();
	trial->reasons = json_object();
	for (int i = 0; i < PACKETS; i++)
		one_pair(trial);
	after = rest_ask(&rest, "GET", "/v1/stats", NULL);
	check_sums(trial, "rules", trial->rules, before, after);
	check_sums(trial, "reasons", trial->reasons, before, after);
	json_decref(trial->rules);
	json_decref(trial->reasons);
}

/* ── policies ───────────────────────────────────────────────────────────────────────────────────── */

static void apply(struct trial *trial, const json_t *document)
{
	struct errors errors = {0};

	config_freep(&trial->config);
	trial->config = NULL;
	if (config_parse(&trial->config, document, NULL, &errors) < 0)
		rest_broken(&rest, "policy", errors.count ? errors.items[0].message : "no memory");
	json_decref(rest_ask(&rest, "PUT", "/v1/config", document));
}

/* What the generator does not vary. */
static void vary_ports(struct rng *rng, json_t *document)
{
	const char *name;
	json_t *port;

	json_object_foreach(json_object_get(document, "ports"), name, port)
	{
		if (rng_chance(rng, 50))
			json_object_del(port, "infrastructure");
		if (rng_chance(rng, 30))
			json_object_set_new(port, "tcp", json_string("strict"));
		if (rng_chance(rng, 20))
			json_object_set_new(port, "on_change", json_string("keep"));
	}
}

/* Takes some rules away: some sessions fall, others stay, all are judged again. */
static void thin_out(struct rng *rng, json_t *document)
{
	const char *name;
	json_t *acl;

	json_object_foreach(json_object_get(document, "acls"), name, acl)
	{
		json_t *rules = json_object_get(acl, "rules");

		for (size_t i = json_array_size(rules); i-- > 0;)
			if (rng_chance(rng, 30))
				json_array_remove(rules, i);
	}
}

static void open_attached(struct trial *trial)
{
	for (int i = 0; i < PORTS; i++)
		for (int d = 0; d < SECG_DIRECTIONS; d++)
			if (attached_open(&trial->attached[i][d],
					  (int)if_nametoindex(trial->ports[i].interface),
					  (enum secg_direction)d) < 0)
				rest_broken(&rest, trial->ports[i].interface,
					    "no program is attached");
}

static void close_attached(struct trial *trial)
{
	for (int i = 0; i < PORTS; i++)
		for (int d = 0; d < SECG_DIRECTIONS; d++)
			attached_close(&trial->attached[i][d]);
}

static void run_trial(struct trial *trial)
{
	json_auto_t *document = NULL;
	uint32_t rules = 1 + rng_below(&trial->rng, trial->number % 4 ? 30 : 300);

	document = policy_random(&trial->rng, rules, trial->ports, PORTS);
	vary_ports(&trial->rng, document);
	json_decref(rest_ask(&rest, "DELETE", "/v1/sessions?all=1", NULL));
	apply(trial, document);
	open_attached(trial);
	for (int i = 0; i < WARM_UP; i++) {
		struct shot shot;
		bool drops;

		make_shot(trial, &shot);
		run(trial, &shot, &drops);
	}
	for (int round = 0; round < ROUNDS; round++) {
		thin_out(&trial->rng, document);
		apply(trial, document);
		trace_only(trial);
		trace_and_run(trial);
	}
	close_attached(trial);
	config_freep(&trial->config);
	trial->tally->policies++;
}

/* ── the run ────────────────────────────────────────────────────────────────────────────────────── */

static int judge(const struct tally *t)
{
	static const enum secg_reason needed[] = {
		SECG_REASON_DEFAULT,       SECG_REASON_RULE_DROP,      SECG_REASON_RULE_REJECT,
		SECG_REASON_TCP_BAD_FLAGS, SECG_REASON_TCP_RST_WINDOW, SECG_REASON_TCP_NOT_SYN,
		SECG_REASON_MALFORMED,     SECG_REASON_FRAG_EARLY,     SECG_REASON_ICMP_UNRELATED,
	};
	/* a session that is cut is never met: the write that cuts it ends it before it is answered */
	bool has_all = t->session[0] && t->session[1] && t->created && t->refused;

	printf("%" PRIu64 " packets traced, %" PRIu64 " traced and run, under %" PRIu64
	       " policies; %" PRIu64 " sums\n",
	       t->traced, t->pairs, t->policies, t->sums);
	printf("  passed %" PRIu64 ", would create %" PRIu64 ", of a session %" PRIu64
	       ", related %" PRIu64 ", cut %" PRIu64 ", not run %" PRIu64 "\n  dropped:",
	       t->passed, t->created, t->session[0], t->session[1], t->session[2], t->refused);
	for (int i = SECG_REASON_NONE + 1; i < SECG_REASON_COUNT; i++)
		if (t->reasons[i])
			printf(" %s %" PRIu64, reason_names[i], t->reasons[i]);
	putchar('\n');
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		has_all = has_all && t->reasons[needed[i]];
	if (t->wrong)
		printf("FAILED: %" PRIu64 " differences\n", t->wrong);
	else if (!has_all)
		puts("FAILED: some kind of answer never came up");
	else
		puts("passed");
	return t->wrong || !has_all ? EXIT_DIFFERS : 0;
}

static void usage(void)
{
	fputs("usage: trace --socket PATH --xdp INTERFACE --tc INTERFACE [--seed N] [--packets N]\n"
	      "             [--only N]\n",
	      stderr);
	exit(REST_EXIT_BROKEN);
}

static void run_all(const struct policy_port ports[PORTS], uint64_t seed, uint64_t packets,
		    int64_t only, struct tally *tally)
{
	uint64_t number = only >= 0 ? (uint64_t)only : 0;

	do {
		struct trial *trial = calloc(1, sizeof(*trial));

		if (!trial)
			rest_broken(&rest, "trial", "no memory");
		trial->ports = ports;
		trial->tally = tally;
		trial->seed = seed;
		trial->number = number;
		rng_seed(&trial->rng, seed + number);
		run_trial(trial);
		free(trial);
		number++;
	} while (only < 0 && tally->pairs < packets);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"socket", required_argument, NULL, 's'},
		{"xdp", required_argument, NULL, 'x'},
		{"tc", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 'S'},
		{"packets", required_argument, NULL, 'p'},
		{"only", required_argument, NULL, 'o'},
		{0},
	};
	struct policy_port ports[PORTS] = {{"x", NULL, "xdp"}, {"t", NULL, "tc"}};
	uint64_t seed = ((uint64_t)time(NULL) << 16 | (uint64_t)getpid()) & 0xffffffffffff;
	uint64_t packets = 10000;
	struct tally tally = {0};
	int64_t only = -1;

	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		if (c == 's')
			rest.socket = optarg;
		else if (c == 'x')
			ports[0].interface = optarg;
		else if (c == 't')
			ports[1].interface = optarg;
		else if (c == 'S')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 'p')
			packets = strtoull(optarg, NULL, 0);
		else if (c == 'o')
			only = strtoll(optarg, NULL, 0);
		else
			usage();
	}
	if (!rest.socket || !ports[0].interface || !ports[1].interface || optind < argc)
		usage();
	rest.curl = curl_easy_init();
	if (!rest.curl)
		rest_broken(&rest, "libcurl", "no memory");
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("traces against the attached programs, seed %" PRIu64 "\n", seed);
	run_all(ports, seed, packets, only, &tally);
	curl_easy_cleanup(rest.curl);
	return judge(&tally);
}
