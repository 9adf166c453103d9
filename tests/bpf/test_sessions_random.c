/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random packets, times and policies through the real programs and the reference of sessions: after each
 * packet both have the same verdict, the same sessions in the same state, the same counts of limits.
 * SEED and COUNT (of sequences) come from the environment; a sequence is repeated by its own seed.
 */
#include <time.h>
#include <unistd.h>

#include "check.h"

#include "../support/session_random.h"

#define STEPS         200
#define COUNT_DEFAULT 120
#define SECONDS_MAX   20 /* of a run without COUNT */
#define LOG_LINES     16
#define STRANGERS     9999 /* a domain of nobody, whose sessions take room */

static struct session_random random_;
static struct ref reference;
static uint64_t reasons[SECG_REASON_COUNT];
static uint64_t places[3], phases[4];

/* The last steps, told where one goes wrong. */
static char log_lines[LOG_LINES][256];
static unsigned int log_next;

static const char *port_name(int port)
{
	static const char *const names[REF_PORTS] = {"p1", "p2", "p3"};

	return names[port];
}

static struct secg_flow_key key_of(const struct ref_flow *flow)
{
	const struct ref_packet *opener = &flow->opener;
	bool is_query = opener->kind == REF_QUERY;
	struct secg_flow_key key = rig_key(
		rig, port_name(flow->port), flow->opened, opener->proto,
		session_host(opener->family, opener->src), is_query ? opener->id : opener->sport,
		session_host(opener->family, opener->dst),
		is_query ? (uint16_t)(opener->type << 8 | opener->code) : opener->dport);

	key.domain = rig_port(rig, port_name(flow->port))->domain;
	if (is_query && flow->opened == SECG_TO)
		key.flags |= SECG_KEY_ASKED_TO;
	return key;
}

static uint32_t bucket_of(const struct ref_flow *flow, void *data)
{
	struct secg_flow_key key = key_of(flow);

	(void)data;
	return rig_bucket(rig, &key);
}

/* ── comparing ──────────────────────────────────────────────────────────────────────────────────── */

static const struct ref_flow *flow_of(const struct secg_flow_key *key)
{
	for (int i = 0; i < reference.count; i++) {
		struct secg_flow_key other = key_of(&reference.flows[i]);

		if (memcmp(key, &other, sizeof(other)) == 0)
			return &reference.flows[i];
	}
	return NULL;
}

/* The bits of the state word that the reference knows. */
static uint32_t word_of(const struct ref_flow *flow)
{
	return flow->phase | (flow->opened == SECG_TO ? SECG_FLOW_OPENED_TO : 0) |
	       (flow->is_picked_up ? SECG_FLOW_PICKUP : 0) |
	       (flow->has_syn_reply ? SECG_FLOW_SYN_REPLY : 0) |
	       (flow->has_fin[SECG_ORIG] ? SECG_FLOW_FIN_ORIG : 0) |
	       (flow->has_fin[SECG_REPLY] ? SECG_FLOW_FIN_REPLY : 0) |
	       (flow->timeout ? SECG_FLOW_OWN_TIMEOUT : 0) |
	       (flow->again == SECG_ORIG    ? SECG_FLOW_SYN_AGAIN_ORIG
		: flow->again == SECG_REPLY ? SECG_FLOW_SYN_AGAIN_REPLY
					    : 0);
}

/* The counter of the rule that the session is of; only while its port has that rule. */
static bool has_rule(const struct ref_flow *flow, uint32_t word)
{
	char key[32];

	if (flow->rule < 0)
		return word == 0;
	snprintf(key, sizeof(key), "p%d%s/r%d", flow->port + 1,
		 flow->opened == SECG_TO ? "to" : "from", flow->rule);
	return rig_rule_number(rig, port_name(flow->port), key) == (word & SECG_RULE_NUMBER_MASK);
}

#define DIFFER(what, real, expected)                                                             \
	do {                                                                                     \
		if ((real) == (expected))                                                        \
			break;                                                                   \
		snprintf(ret_text, 256, "%s %#llx, not %#llx", what, (unsigned long long)(real), \
			 (unsigned long long)(expected));                                        \
		return false;                                                                    \
	} while (0)

static bool is_same(const struct rig_session *real, const struct ref_flow *flow, char *ret_text)
{
	const struct secg_flow_account *a = &real->flow.a;

	DIFFER("place", (int)real->where,
	       flow->place == REF_NEW    ? (int)RIG_NEW
	       : flow->place == REF_SLOT ? (int)RIG_ESTABLISHED
					 : (int)RIG_OVERFLOWN);
	if (flow->place == REF_SLOT)
		DIFFER("slot", real->slot, flow->bucket * SECG_WAYS + (uint32_t)flow->way);
	DIFFER("state", real->flow.s.state & 0xffff, word_of(flow));
	DIFFER("seen", real->flow.s.seen, flow->seen);
	DIFFER("generation", real->flow.s.generation, flow->generation);
	DIFFER("port", a->port, rig_port_id(rig, port_name(flow->port)));
	if (flow->timeout)
		DIFFER("timeout", a->timeout, flow->timeout);
	for (int side = 0; side < 2; side++)
		DIFFER("packets", a->packets[side], flow->packets[side]);
	for (int side = 0; side < 2 && flow->opener.proto == SECG_PROTO_TCP; side++)
		DIFFER(side ? "edge of the reply" : "edge of the opener", a->edge[side],
		       flow->acked[side]);
	if (flow->again >= 0)
		DIFFER("number of a new SYN", a->syn, flow->again_ack);
	if (flow->generation == reference.ports[flow->port].generation &&
	    !has_rule(flow, real->flow.s.rule))
		DIFFER("rule", real->flow.s.rule, (uint32_t)flow->rule);
	return true;
}

static bool counts_are_same(int port, char *ret_text)
{
	const struct ref_port *p = &reference.ports[port];
	struct secg_usage usage = rig_usage(rig, port_name(port));

	if (!p->limit_sessions && !p->limit_source && !p->limit_half_open)
		return true;
	DIFFER("sessions of the port", usage.sessions, ref_sessions(&reference, port, 0, 0));
	DIFFER("half-open of the port", usage.half_open, ref_half_open(&reference, port));
	for (int host = 0; host < 2 * REF_HOSTS && p->limit_source; host++) {
		int family = host & 1 ? 6 : 4;
		int64_t count =
			rig_source(rig, port_name(port), session_host((uint8_t)family, host / 2));

		DIFFER("sessions of a source", count < 0 ? 0 : count,
		       (int64_t)ref_sessions(&reference, port, family, host / 2));
	}
	return true;
}

static bool agrees(enum secg_reason real, enum secg_reason expected, char *ret_text)
{
	static struct rig_session sessions[REF_FLOWS];
	size_t count = rig_sessions(rig, sessions, REF_FLOWS), strangers = 0;

	if (real != expected) {
		snprintf(ret_text, 256, "verdict %s, not %s", reason_name(real),
			 reason_name(expected));
		return false;
	}
	for (size_t i = 0; i < count && i < REF_FLOWS; i++) {
		const struct ref_flow *flow = flow_of(&sessions[i].key);

		if (sessions[i].key.domain == STRANGERS) {
			strangers++;
			continue;
		}
		if (!flow) {
			snprintf(ret_text, 256, "a session that is none");
			return false;
		}
		if (!is_same(&sessions[i], flow, ret_text))
			return false;
	}
	DIFFER("sessions", count - strangers, (size_t)reference.count);
	for (int port = 0; port < REF_PORTS; port++)
		if (!counts_are_same(port, ret_text))
			return false;
	return true;
}

/* ── running ────────────────────────────────────────────────────────────────────────────────────── */

static void note(int step, const struct session_step *s, enum secg_reason reason)
{
	const struct ref_packet *p = s->packet.inner ? s->packet.inner : &s->packet;

	snprintf(log_lines[log_next++ % LOG_LINES], sizeof(log_lines[0]),
		 "%3d %s %-4s %sIPv%u %d>%d proto %u %u>%u type %u/%u id %#x flags %#x seq %u ack "
		 "%u: %s",
		 step, port_name(s->port), s->direction == SECG_TO ? "to" : "from",
		 s->packet.inner ? "error about " : "", p->family, p->src, p->dst, p->proto,
		 p->sport, p->dport, p->type, p->code, p->id, p->flags, p->seq, p->ack,
		 reason_name(reason));
}

static void put_pickups(void)
{
	for (int i = 0; i < REF_PORTS; i++)
		rig_port(rig, port_name(i))->pickup_until = reference.ports[i].pickup_until;
}

/* As the daemon does every second. */
static void count_anew(void)
{
	for (int port = 0; port < REF_PORTS; port++) {
		struct secg_usage usage = {ref_sessions(&reference, port, 0, 0),
					   ref_half_open(&reference, port)};

		rig_set_usage(rig, port_name(port), usage);
		for (int host = 0; host < 2 * REF_HOSTS; host++) {
			int family = host & 1 ? 6 : 4;

			rig_set_source(rig, port_name(port),
				       session_host((uint8_t)family, host / 2),
				       ref_sessions(&reference, port, family, host / 2));
		}
	}
}

static void go_live(void)
{
	static char document[SESSION_DOCUMENT_MAX];

	session_random_document(&random_, &reference, document);
	rig_policy(rig, document);
	for (int i = 0; i < REF_PORTS; i++) {
		struct ref_port *port = &reference.ports[i];

		port->generation = rig_port(rig, port_name(i))->policy_generation;
		port->pickup_until = rig_now(rig) - 500 + rng_below(&random_.rng, 4000);
	}
	put_pickups();
	count_anew();
	snprintf(log_lines[log_next++ % LOG_LINES], sizeof(log_lines[0]), "another policy");
}

/* Most often the table is as it is; else few buckets have room for one, and few find room beside it. */
static void set_room(void)
{
	static const struct secg_flow flow = {.s.state = SECG_FLOW_ESTABLISHED};
	struct secg_flow_key key = {.domain = STRANGERS};
	bool is_wide = rng_chance(&random_.rng, 60);

	for (uint32_t bucket = 0; bucket < RIG_BUCKETS; bucket++)
		for (uint32_t way = 0; way < SECG_WAYS; way++) {
			bool usable = is_wide || (bucket < 8 && way == 1);

			reference.usable[bucket][way] = usable;
			/* Odd: somebody is filling it. */
			rig->slots[bucket * SECG_WAYS + way].version = usable ? 0 : 1;
		}
	reference.room_beside = RIG_OVERFLOW;
	while (!is_wide && reference.room_beside > 2) {
		key.proto++;
		rig_overflow_put(rig, &key, &flow);
		reference.room_beside--;
	}
}

/* The reference is asked for each tick in which the program may have run. */
static bool step_agrees(const struct session_step *step, int number, char *ret_text)
{
	static struct layer layers[SESSION_LAYERS_MAX];
	struct rig_way way = {.interface = port_name(step->port)};
	static struct ref before;
	struct rig_verdict verdict;
	uint32_t first, last;

	session_layers(&step->packet, layers);
	before = reference;
	first = rig_now(rig);
	verdict = rig_judge(rig, step->direction, &way, layers);
	last = rig_now(rig);
	note(number, step, verdict.reason);
	reasons[verdict.reason]++;
	for (uint32_t now = first; now != last + 1; now++) {
		enum secg_reason expected;

		reference = before;
		expected = ref_judge(&reference, step->port, step->direction, &step->packet, now);
		if (agrees(verdict.reason, expected, ret_text))
			return true;
	}
	return false;
}

static const enum secg_reason provoked[] = {
	SECG_REASON_NONE,          SECG_REASON_DEFAULT,        SECG_REASON_RULE_DROP,
	SECG_REASON_RULE_REJECT,   SECG_REASON_POLICY_CHANGE,  SECG_REASON_TCP_NOT_SYN,
	SECG_REASON_TCP_BAD_FLAGS, SECG_REASON_TCP_RST_WINDOW, SECG_REASON_SESSION_FULL,
	SECG_REASON_LIMIT_PORT,    SECG_REASON_ICMP_UNRELATED,
};

static void show_tally(void)
{
	for (int i = 0; i < SECG_REASON_COUNT; i++)
		if (reasons[i])
			print_message("%s %llu, ", reason_name((enum secg_reason)i),
				      (unsigned long long)reasons[i]);
	print_message("at the end half-open %llu, established %llu, closing %llu; %llu of them "
		      "beside the table\n",
		      (unsigned long long)phases[SECG_FLOW_NEW],
		      (unsigned long long)phases[SECG_FLOW_ESTABLISHED],
		      (unsigned long long)phases[SECG_FLOW_CLOSING],
		      (unsigned long long)places[REF_BESIDE]);
}

static void tally(void)
{
	for (int i = 0; i < reference.count; i++) {
		places[reference.flows[i].place]++;
		phases[reference.flows[i].phase]++;
	}
}

/* To stderr as it is: cmocka cuts what is long. */
static void complain(uint64_t seed, int step, const char *text)
{
	static char document[SESSION_DOCUMENT_MAX];

	for (unsigned int i = log_next > LOG_LINES ? log_next - LOG_LINES : 0; i < log_next; i++)
		fprintf(stderr, "%s\n", log_lines[i % LOG_LINES]);
	session_random_document(&random_, &reference, document);
	fprintf(stderr, "%s\nSEED=%llu COUNT=1, step %d: %s\n", document, (unsigned long long)seed,
		step, text);
}

static void run_sequence(uint64_t seed)
{
	char text[256];

	rig_clear(rig);
	memset(&reference, 0, sizeof(reference));
	reference.ticks_per_second = RIG_TICKS_PER_SECOND;
	reference.bucket = bucket_of;
	log_next = 0;
	session_random_start(&random_, &reference, seed);
	set_room();
	go_live();
	for (int i = 0; i < STEPS; i++) {
		struct session_step step;

		if (rng_chance(&random_.rng, 5)) {
			uint32_t ticks = rng_below(&random_.rng, 30) * RIG_TICKS_PER_SECOND;

			rig_age(rig, (int32_t)ticks);
			ref_age(&reference, ticks);
			put_pickups();
		}
		if (rng_chance(&random_.rng, 6)) {
			session_random_change(&random_, &reference);
			go_live();
		}
		session_random_step(&random_, &reference, &step);
		if (step_agrees(&step, i, text))
			continue;
		complain(seed, i, text);
		fail();
	}
	tally();
}

static void test_random_sequences(void **state)
{
	const char *seed_text = getenv("SEED"), *count_text = getenv("COUNT");
	uint64_t seed = seed_text ? strtoull(seed_text, NULL, 0)
				  : (uint64_t)time(NULL) << 20 | (uint64_t)getpid();
	uint64_t count = count_text ? strtoull(count_text, NULL, 0) : COUNT_DEFAULT, done = 0;
	time_t end = time(NULL) + SECONDS_MAX / 2; /* each hook has a half */

	(void)state;
	while (done < count && (count_text || time(NULL) < end))
		run_sequence(seed + done++);
	print_message("%llu sequences from SEED=%llu\n", (unsigned long long)done,
		      (unsigned long long)seed);
	show_tally();
	/* A comparison of what never happens would prove nothing. */
	for (size_t i = 0; i < sizeof(provoked) / sizeof(provoked[0]) && done >= 50; i++)
		assert_true(reasons[provoked[i]] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_random_sequences),
	};

	return RUN("sessions, random", tests);
}
