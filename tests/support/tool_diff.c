/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differential test. Random policies go through the REST socket of a running daemon; random packets are
 * run by the programs attached to two guarded interfaces, and each verdict is held against the reference
 * matcher, which has nothing in common with compiler and data path but the parsed rules. The counters
 * of every rule and the reasons of every drop must add up as well.
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
#include "core/cleanup.h"
#include "core/error.h"
#include "model/config.h"
#include "packet_random.h"
#include "policy_random.h"
#include "reference.h"
#include "rest.h"
#include "tally.h"

#define PORTS        2
#define REPORTS_MAX  5
#define SEEN_SLOTS   4096 /* more than twice the packets of a direction */

#define EXIT_DIFFERS 1
#define EXIT_BROKEN  REST_EXIT_BROKEN

/* ── REST ───────────────────────────────────────────────────────────────────────────────────────── */

static struct rest connection = {.tool = "diff"};

static void broken(const char *what, const char *why)
{
	rest_broken(&connection, what, why);
}

/* The answer; the caller owns it. Anything but 200 ends the program. */
static json_t *rest(const char *method, const char *path, const json_t *document)
{
	return rest_ask(&connection, method, path, document);
}

/* ── one policy ─────────────────────────────────────────────────────────────────────────────────── */

/* What is being run; expectations are sums over its packets. */
struct trial {
	struct rng *rng;
	const struct policy_port *ports;
	struct tally *tally;
	uint64_t number;
	uint64_t seed;
	json_t *document;
	struct config *config;
	/* Packets by rule; ACLs by index in the config, then those of security groups, two each. */
	uint64_t *expected[2 * SECG_MAX_ACLS];
	uint64_t reasons[SECG_REASON_COUNT];
	uint64_t seen[SEEN_SLOTS]; /* hashes of the packets of this direction; 0: free */
};

static const char *const reason_names[SECG_REASON_COUNT] = {
#define REASON_NAME(name, label, text) [SECG_REASON_##name] = label,
	SECG_REASONS(REASON_NAME)
#undef REASON_NAME
};

static void report(struct trial *trial, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void report(struct trial *trial, const char *format, ...)
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

static void address_text(char text[PREFIX_STRING_SIZE], const struct compile_packet *packet,
			 addr_t address)
{
	bool is_v4 = packet->family == SECG_FAMILY_IPV4;
	struct prefix prefix = {
		.family = is_v4 ? 4 : 6,
		.length = is_v4 ? 32 : 128,
		.address = address,
	};

	prefix_format(text, &prefix);
}

static void report_verdict(struct trial *trial, const struct policy_port *port,
			   enum secg_direction direction, const struct compile_packet *packet,
			   const struct compile_verdict *verdict, bool drops)
{
	char src[PREFIX_STRING_SIZE], dst[PREFIX_STRING_SIZE];

	address_text(src, packet, packet->src);
	address_text(dst, packet, packet->dst);
	report(trial,
	       "hook %s %s: family %d, %s > %s, protocol %u, %s %u %u, flags %#x, traffic %#x, "
	       "VLAN %u, EtherType %#x, MACs %02x:%02x..%02x > %02x:%02x..%02x: "
	       "reference action %d of rule %u, the program %s",
	       port->hook, direction == SECG_FROM ? "from" : "to", packet->family, src, dst,
	       packet->protocol, packet->has_l4 ? "shows" : "shows no", packet->high, packet->low,
	       packet->tcp_flags, packet->traffic, packet->vlan, packet->ethertype,
	       packet->src_mac[0], packet->src_mac[1], packet->src_mac[5], packet->dst_mac[0],
	       packet->dst_mac[1], packet->dst_mac[5], verdict->action, verdict->slot,
	       drops ? "drops" : "passes");
}

/* RFC 792, RFC 4443 §3: an error that belongs to no session is not let through by `allow`. */
static bool is_icmp_error(const struct compile_packet *packet)
{
	static const uint8_t errors[] = {3, 4, 11, 12};

	if (packet->family == SECG_FAMILY_IPV6)
		return packet->protocol == IPPROTO_ICMPV6 && packet->high >= 1 && packet->high <= 4;
	if (packet->family != SECG_FAMILY_IPV4 || packet->protocol != IPPROTO_ICMP)
		return false;
	return memchr(errors, packet->high, sizeof(errors)) != NULL;
}

static size_t list_count(const struct config *config)
{
	return config->acl_count + SECG_DIRECTIONS * config->security_group_count;
}

static const struct acl *list_at(const struct config *config, size_t index)
{
	size_t behind = index - config->acl_count;

	return index < config->acl_count ? &config->acls[index]
					 : &config->security_groups[behind / SECG_DIRECTIONS]
						    .rules[behind % SECG_DIRECTIONS];
}

static size_t list_index(const struct config *config, const struct acl *acl)
{
	size_t index = 0;

	while (list_at(config, index) != acl)
		index++;
	return index;
}

/* Where a rule of a slot of a port's list is counted. */
static uint64_t *expected_of(struct trial *trial, const struct port_list *list, uint32_t slot)
{
	for (size_t i = 0; i < list->acl_count; i++) {
		if (slot < list->acls[i]->rule_count)
			return &trial->expected[list_index(trial->config, list->acls[i])][slot];
		slot -= (uint32_t)list->acls[i]->rule_count;
	}
	broken("reference", "a slot beyond the list");
	return NULL;
}

static bool is_refusal(enum secg_action action)
{
	return action == SECG_ACTION_DROP || action == SECG_ACTION_REJECT;
}

/* An audited port lets pass what any of its ACLs would drop, as by allow. */
static void audit(const struct port *port, struct compile_verdict *verdict)
{
	if (!port->is_audited || !is_refusal(verdict->action))
		return;
	verdict->action = SECG_ACTION_ALLOW;
	verdict->flags |= SECG_ENTRY_AUDIT;
}

/* Why the packet must be dropped, SECG_REASON_NONE: it must pass. Counts on its rule. */
static enum secg_reason expect(struct trial *trial, const struct port *port,
			       const struct port_list *list, const struct compile_packet *packet,
			       const struct compile_verdict *verdict)
{
	if (verdict->action == SECG_ACTION_NONE)
		return list->is_given && is_refusal(list->otherwise) && !port->is_audited
			       ? SECG_REASON_DEFAULT
			       : SECG_REASON_NONE;
	if (verdict->action == SECG_ACTION_ALLOW && is_icmp_error(packet) &&
	    !(verdict->flags & SECG_ENTRY_AUDIT))
		return SECG_REASON_ICMP_UNRELATED;
	++*expected_of(trial, list, verdict->slot);
	if (verdict->action == SECG_ACTION_REJECT)
		return SECG_REASON_RULE_REJECT;
	return verdict->action == SECG_ACTION_DROP ? SECG_REASON_RULE_DROP : SECG_REASON_NONE;
}

/* Whether the direction has seen the packet's tuple. A session that it opened would answer for the rules
 * then, and pass rules on the way would not count. */
static bool is_repeated(struct trial *trial, const struct compile_packet *packet)
{
	const uint64_t words[] = {
		(uint64_t)packet->src,
		(uint64_t)(packet->src >> 64),
		(uint64_t)packet->dst,
		(uint64_t)(packet->dst >> 64),
		(uint64_t)packet->family << 40 | (uint64_t)packet->protocol << 32 |
			(uint64_t)packet->high << 16 | packet->low,
	};
	uint64_t hash = 1;

	if (packet->family == SECG_FAMILY_OTHER)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	for (uint64_t at = hash % SEEN_SLOTS; hash; at = (at + 1) % SEEN_SLOTS) {
		if (trial->seen[at] == hash)
			return true;
		if (!trial->seen[at]) {
			trial->seen[at] = hash;
			return false;
		}
	}
	return true;
}

static void one_direction(struct trial *trial, const struct policy_port *port,
			  enum secg_direction direction, uint32_t packets)
{
	const struct port *conf = config_find_port(trial->config, port->name);
	const struct port_list *list = &conf->list[direction];
	_cleanup_free_ uint64_t *passes = calloc(SECG_MAX_ENTRIES, sizeof(*passes));
	int ifindex = (int)if_nametoindex(port->interface);
	uint8_t bytes[WIRE_MAX_SIZE];
	struct attached attached;
	int r = attached_open(&attached, ifindex, direction);

	memset(trial->seen, 0, sizeof(trial->seen));
	if (r < 0 || !passes)
		broken(port->interface, r < 0 ? "no program is attached" : "no memory");
	if (direction == SECG_FROM && attached.is_xdp != !strcmp(port->hook, "xdp"))
		broken(port->interface, "not the hook that was asked for");
	for (uint32_t i = 0; i < packets; i++) {
		struct compile_packet packet;
		struct compile_verdict verdict;
		struct wire wire;
		bool drops;

		packet_random(trial->rng, list, &packet, &wire);
		if (is_repeated(trial, &packet))
			continue;
		/* No two ICMP queries of a policy share a session: it would hide the rules' answer. */
		wire.icmp_id = (uint16_t)i;
		verdict = reference_match_without(list->acls, list->acl_count, &packet, 0, passes);
		audit(conf, &verdict);
		r = attached_verdict(&attached, bytes, wire_build(bytes, &wire), &drops);
		if (r < 0)
			broken("a test run", strerror(-r));
		enum secg_reason reason = expect(trial, conf, list, &packet, &verdict);

		trial->reasons[reason]++;
		if (drops != (reason != SECG_REASON_NONE))
			report_verdict(trial, port, direction, &packet, &verdict, drops);
		trial->tally->hook[attached.is_xdp]++;
		tally_pair(trial->tally, list, &packet, &verdict);
	}
	attached_close(&attached);
	for (uint32_t slot = 0; slot < SECG_MAX_ENTRIES; slot++)
		if (passes[slot])
			*expected_of(trial, list, slot) += passes[slot];
}

/* ── counters ───────────────────────────────────────────────────────────────────────────────────── */

static int64_t stat_of(const json_t *stats, const char *kind, const char *key)
{
	const json_t *value = json_object_get(json_object_get(stats, kind), key);

	return json_integer_value(json_is_object(value) ? json_object_get(value, "packets")
							: value);
}

static void check_counters(struct trial *trial, const json_t *before, const json_t *after)
{
	for (size_t i = 0; i < list_count(trial->config); i++) {
		const struct acl *acl = list_at(trial->config, i);

		for (size_t j = 0; j < acl->rule_count; j++) {
			char key[2 * NAME_MAX_LENGTH + 2];
			int64_t delta;

			snprintf(key, sizeof(key), "%s/%s", acl->name, acl->rules[j].id);
			delta = stat_of(after, "rules", key) - stat_of(before, "rules", key);
			trial->tally->counters++;
			if (delta != (int64_t)trial->expected[i][j])
				report(trial, "rule %s counted %" PRId64 ", reference %" PRIu64,
				       key, delta, trial->expected[i][j]);
		}
	}
	for (int i = SECG_REASON_NONE + 1; i < SECG_REASON_COUNT; i++) {
		int64_t delta = stat_of(after, "reasons", reason_names[i]) -
				stat_of(before, "reasons", reason_names[i]);

		trial->tally->counters++;
		if (delta != (int64_t)trial->reasons[i])
			report(trial, "reason %s counted %" PRId64 ", reference %" PRIu64,
			       reason_names[i], delta, trial->reasons[i]);
	}
}

/* ── the run ────────────────────────────────────────────────────────────────────────────────────── */

static void parse_policy(struct trial *trial)
{
	struct errors errors = {0};

	if (config_parse(&trial->config, trial->document, NULL, &errors) < 0)
		broken(errors.count ? errors.items[0].field : "policy",
		       errors.count ? errors.items[0].message : "no memory");
	if (list_count(trial->config) > ARRAY_SIZE(trial->expected))
		broken("policy", "too many ACLs");
	for (size_t i = 0; i < list_count(trial->config); i++) {
		trial->expected[i] =
			calloc(list_at(trial->config, i)->rule_count + 1, sizeof(uint64_t));
		if (!trial->expected[i])
			broken("policy", "no memory");
	}
}

static void clear_sessions(void)
{
	json_decref(rest("DELETE", "/v1/sessions?all=1", NULL));
}

/* Sessions of one direction would answer for the other: they are cleared in between. */
static void run_trial(struct trial *trial, size_t rules, uint32_t packets)
{
	json_auto_t *before = NULL, *after = NULL;

	trial->document = policy_random(trial->rng, rules, trial->ports, PORTS);
	parse_policy(trial);
	clear_sessions();
	json_decref(rest("PUT", "/v1/config", trial->document));
	before = rest("GET", "/v1/stats", NULL);
	for (int direction = SECG_FROM; direction <= SECG_TO; direction++) {
		for (int i = 0; i < PORTS; i++)
			one_direction(trial, &trial->ports[i], direction, packets);
		clear_sessions();
	}
	after = rest("GET", "/v1/stats", NULL);
	check_counters(trial, before, after);
	trial->tally->policies++;
	trial->tally->rules += rules;
	for (size_t i = 0; i < list_count(trial->config); i++)
		free(trial->expected[i]);
	config_free(trial->config);
	json_decref(trial->document);
}

struct options {
	uint64_t seed;
	uint64_t pairs;
	int64_t only; /* number of the one policy to run; -1: all */
	bool stops;   /* after the first policy with a difference */
};

static void run_all(const struct options *options, const struct policy_port ports[PORTS],
		    struct tally *tally)
{
	/* Least and most rules; small policies end in their defaults, large ones fill vectors. */
	static const uint16_t sizes[][2] = {{2, 5},    {6, 20},      {20, 80},
					    {80, 300}, {300, 1000},  {20, 200},
					    {60, 200}, {1000, 1000}, {0, 1}};
	uint64_t number = options->only >= 0 ? (uint64_t)options->only : 0;

	do {
		const uint16_t *size = sizes[number % ARRAY_SIZE(sizes)];
		struct rng rng;
		struct trial trial = {
			.rng = &rng,
			.ports = ports,
			.tally = tally,
			.number = number,
			.seed = options->seed,
		};
		uint32_t rules;

		rng_seed(&rng, options->seed + number);
		rules = size[0] + rng_below(&rng, size[1] - size[0] + 1u);
		run_trial(&trial, rules, 400 + rules);
		number++;
	} while (options->only < 0 && tally->pairs < options->pairs &&
		 !(options->stops && tally->wrong));
}

static void usage(void)
{
	fputs("usage: diff --socket PATH --xdp INTERFACE --tc INTERFACE [--seed N] [--pairs N | --quick]\n"
	      "            [--only N] [--stop]\n"
	      "  --only N  the one policy of that number, as a failure names it\n"
	      "  --stop    after the first policy with a difference\n",
	      stderr);
	exit(EXIT_BROKEN);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"socket", required_argument, NULL, 's'},
		{"xdp", required_argument, NULL, 'x'},
		{"tc", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 'S'},
		{"pairs", required_argument, NULL, 'p'},
		{"quick", no_argument, NULL, 'q'},
		{"only", required_argument, NULL, 'o'},
		{"stop", no_argument, NULL, 'e'},
		{0},
	};
	struct options options = {
		.seed = ((uint64_t)time(NULL) << 16 | (uint64_t)getpid()) & 0xffffffffffff,
		.pairs = 200000,
		.only = -1,
	};
	struct policy_port ports[PORTS] = {{"x", NULL, "xdp"}, {"t", NULL, "tc"}};
	struct tally tally = {0};

	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		if (c == 's')
			connection.socket = optarg;
		else if (c == 'x')
			ports[0].interface = optarg;
		else if (c == 't')
			ports[1].interface = optarg;
		else if (c == 'S')
			options.seed = strtoull(optarg, NULL, 0);
		else if (c == 'p')
			options.pairs = strtoull(optarg, NULL, 0);
		else if (c == 'q')
			options.pairs = 20000;
		else if (c == 'o')
			options.only = strtoll(optarg, NULL, 0);
		else if (c == 'e')
			options.stops = true;
		else
			usage();
	}
	if (!connection.socket || !ports[0].interface || !ports[1].interface || optind < argc)
		usage();
	connection.curl = curl_easy_init();
	if (!connection.curl)
		broken("libcurl", "no memory");
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("differential test, seed %" PRIu64 "\n", options.seed);
	run_all(&options, ports, &tally);
	tally_print(&tally);
	curl_easy_cleanup(connection.curl);
	return tally_judge(&tally) ? 0 : EXIT_DIFFERS;
}
