/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs tell: logs, samples, audit, odd drops, rejected packets. */
#include <arpa/inet.h>

#include "check.h"
#include "flows.h"

#define MANY 4096
static struct secg_event_reject events[MANY];

/* The only record since the last look. */
#define ONE(kind_) one(SECG_EVENT_##kind_, __FILE__, __LINE__)
static const struct secg_event *one(uint32_t kind, const char *file, int line)
{
	size_t count = rig_events(rig, events, MANY);

	if (count != 1 || events[0].event.kind != kind) {
		print_error("%zu records, the first of kind %u\n", count, events[0].event.kind);
		_fail(file, line);
	}
	return &events[0].event;
}

#define NOTHING() assert_int_equal(rig_events(rig, NULL, 0), 0)

static void watch_rule(const char *key, struct secg_watch watch)
{
	rig_watch(rig, rig_rule_number(rig, "p1", key), &watch);
}

static void watch_default(struct secg_watch watch)
{
	rig_watch(rig, SECG_WATCH_DEFAULT | rig_port_id(rig, "p1") << 1 | out, &watch);
}

static void watch_reason(enum secg_reason reason, struct secg_watch watch)
{
	rig_watch(rig, SECG_WATCH_REASON | reason, &watch);
}

#define LOGGED(action, more) \
	"{'id': 'r', 'action': '" action "', 'dst': ['10.0.0.2', '2001:db8::2']" more "}"

/* ── log ────────────────────────────────────────────────────────────────────────────────────────── */

/* Of a session only what opens it, unless all is asked for. */
FOR_ALL(test_log)
{
	const struct secg_event *event;

	policy(LOGGED("allow", ", 'log': true"), "");
	watch_rule("a/r", (struct secg_watch){.rate = 10});
	OUT_TCP(PASS, SYN, .seq = 100);
	event = ONE(LOG);
	assert_int_equal(event->rule & SECG_RULE_NUMBER_MASK, rig_rule_number(rig, "p1", "a/r"));
	assert_int_equal(event->port, rig_port_id(rig, "p1"));
	assert_int_equal(event->direction, out);
	assert_int_equal(event->reason, SECG_REASON_NONE);
	assert_int_equal(event->action, SECG_ACTION_ALLOW);
	assert_int_equal(event->proto, 6);
	assert_int_equal(event->tcp_flags, SYN);
	assert_int_equal(ntohs(event->sport), 1000);
	assert_int_equal(ntohs(event->dport), 80);
	assert_int_equal(event->flags, family == 6 ? SECG_EVENT_IPV6 : 0);
	assert_int_equal(event->ethertype, family == 6 ? 0x86dd : 0x0800);
	assert_int_equal(event->l3_offset, 14);
	assert_int_equal(event->length, family == 6 ? 74 : 54);
	assert_true(event->ifindex > 0 && event->time_ns > 0);
	assert_int_equal(event->suppressed, 0);
	if (family == 4) {
		assert_int_equal(ntohl(event->src[0]), 0x0a000001);
		assert_int_equal(ntohl(event->dst[0]), 0x0a000002);
	}
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	NOTHING();
}

FOR_ALL(test_log_all)
{
	policy(LOGGED("allow", ", 'log': {'rate': 10, 'what': 'all'}"), "");
	watch_rule("a/r", (struct secg_watch){.rate = 10, .log_all = 1});
	OUT_TCP(PASS, SYN, .seq = 100);
	assert_false(ONE(LOG)->flags & SECG_EVENT_ESTABLISHED);
	BACK_TCP(PASS, SYN | ACK, .seq = 500, .ack = 101);
	assert_true(ONE(LOG)->flags & SECG_EVENT_ESTABLISHED);
	OUT_TCP(PASS, ACK, .seq = 101, .ack = 501);
	ONE(LOG);
	BACK(PASS, ETH, IP(C, A), UNREACHABLE, AB(), TCP(1000, 80, ACK));
	assert_int_equal(ONE(LOG)->icmp_type, family == 6 ? 1 : 3);
	/* A reset out of its window is dropped: told as that, and as what the rule's session had. */
	watch_reason(SECG_REASON_TCP_RST_WINDOW, (struct secg_watch){.rate = 10});
	BACK_TCP(TCP_RST_WINDOW, RST, .seq = 5);
	assert_int_equal(ONE(DROP)->reason, SECG_REASON_TCP_RST_WINDOW);
}

FOR_ALL(test_log_of_a_drop)
{
	policy(LOGGED("drop", ", 'log': true"), "");
	OUT(RULE_DROP, ETH, AB(), UDP(1, 2));
	NOTHING(); /* the daemon has made no entry */
	watch_rule("a/r", (struct secg_watch){.rate = 10});
	OUT(RULE_DROP, ETH, AB(), UDP(1, 2));
	assert_int_equal(ONE(LOG)->reason, SECG_REASON_RULE_DROP);
	assert_int_equal(events[0].event.action, SECG_ACTION_DROP);
	OUT(RULE_DROP, ETH, VLAN(77), AB(), ECHO(9));
	assert_int_equal(ONE(LOG)->vlan, 77);
	assert_int_equal(events[0].event.l3_offset, 18);
	assert_int_equal(ntohs(events[0].event.sport), 9);
	assert_int_equal(events[0].event.icmp_type, family == 6 ? 128 : 8);
	/* Another rule's number is another key. */
	OUT(DEFAULT, ETH, BA(), UDP(1, 2));
	NOTHING();
}

FOR_ALL(test_log_of_the_default)
{
	const char *log = out == SECG_FROM
				  ? ", 'default': {'from': {'action': 'drop', 'log': true}}"
				  : ", 'default': {'to': {'action': 'drop', 'log': true}}";

	policy(TO_B, log);
	watch_default((struct secg_watch){.rate = 10});
	OUT(DEFAULT, ETH, BA(), UDP(1, 2));
	assert_int_equal(ONE(LOG)->rule, 0);
	assert_int_equal(events[0].event.reason, SECG_REASON_DEFAULT);
	OUT(PASS, ETH, AB(), UDP(1, 2));
	BACK(DEFAULT, ETH, BA(), UDP(3, 4));
	NOTHING();
}

/* ── rates ──────────────────────────────────────────────────────────────────────────────────────── */

/* acl/49: a second's records, then one that says how many were kept back. */
FOR_ALL(test_rate)
{
	struct secg_watch watch;
	uint32_t key;

	policy(LOGGED("drop", ", 'log': true"), "");
	watch_rule("a/r", (struct secg_watch){.rate = 3});
	key = rig_rule_number(rig, "p1", "a/r");
	for (int i = 0; i < 10; i++)
		OUT(RULE_DROP, ETH, AB(), UDP(1, 2));
	assert_int_equal(rig_events(rig, events, MANY), 3);
	watch = rig_watched(rig, key);
	assert_int_equal(watch.suppressed, 7);
	watch.tick -= RIG_TICKS_PER_SECOND + 1;
	rig_watch(rig, key, &watch);
	OUT(RULE_DROP, ETH, AB(), UDP(1, 2));
	assert_int_equal(ONE(LOG)->suppressed, 7);
	OUT(RULE_DROP, ETH, AB(), UDP(1, 2));
	assert_int_equal(ONE(LOG)->suppressed, 0);
}

/* acl/49: 1 in N, of what the rule decides and of what its sessions carry apart. */
FOR_ALL(test_sample)
{
	size_t count;

	policy(LOGGED("allow", ", 'sample': {'new': 4, 'established': 1}"), "");
	watch_rule("a/r", (struct secg_watch){.sample = {4, 1}});
	for (uint16_t i = 0; i < 1000; i++)
		OUT(PASS, ETH, AB(), UDP((uint16_t)(1000 + i), 53));
	count = rig_events(rig, events, MANY);
	assert_in_range(count, 100, 500);
	assert_int_equal(events[0].event.kind, SECG_EVENT_SAMPLE);
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	assert_true(ONE(SAMPLE)->flags & SECG_EVENT_ESTABLISHED);
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	ONE(SAMPLE);
}

/* A sampled session is not logged beyond what opens it, unless all is asked for. */
FOR_ALL(test_log_and_sample)
{
	policy(LOGGED("allow", ", 'log': true, 'sample': {'established': 1}"), "");
	watch_rule("a/r", (struct secg_watch){.rate = 10, .sample = {0, 1}});
	OUT(PASS, ETH, AB(), UDP(1000, 53));
	ONE(LOG);
	BACK(PASS, ETH, BA(), UDP(53, 1000));
	ONE(SAMPLE);
}

FOR_ALL(test_lost)
{
	uint64_t before = rig_events_lost(rig, SECG_EVENT_LOG);
	size_t told = 0;

	policy(LOGGED("drop", ", 'log': true"), "");
	watch_rule("a/r", (struct secg_watch){.rate = UINT32_MAX});
	while (rig_events_lost(rig, SECG_EVENT_LOG) == before && told++ < 20000)
		OUT(RULE_DROP, ETH, AB(), UDP(1, 2));
	assert_int_equal(rig_events(rig, events, MANY), told - 1);
	assert_int_equal(rig_events_lost(rig, SECG_EVENT_DROP), 0);
	OUT(RULE_DROP, ETH, AB(), UDP(1, 2));
	ONE(LOG);
}

/* ── odd drops ──────────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_drops)
{
	policy(TO_B, ", 'tcp': 'strict'");
	watch_reason(SECG_REASON_TCP_NOT_SYN, (struct secg_watch){.rate = 10});
	watch_reason(SECG_REASON_MALFORMED, (struct secg_watch){.rate = 10});
	OUT_TCP(TCP_NOT_SYN, ACK, .seq = 1);
	assert_int_equal(ONE(DROP)->reason, SECG_REASON_TCP_NOT_SYN);
	OUT(MALFORMED, ETH, AB(), UDP(1, 2, .length = 4));
	assert_int_equal(ONE(DROP)->reason, SECG_REASON_MALFORMED);
	/* Rules and defaults are told by themselves alone. */
	watch_reason(SECG_REASON_DEFAULT, (struct secg_watch){.rate = 10});
	OUT(DEFAULT, ETH, BA(), UDP(1, 2));
	NOTHING();
}

/* ── audit ──────────────────────────────────────────────────────────────────────────────────────── */

FOR_ALL(test_audit_of_a_port)
{
	policy("{'id': 'no', 'action': 'drop', 'dst': ['10.0.0.3', '2001:db8::3']}",
	       ", 'audit': true");
	watch_rule("a/no", (struct secg_watch){.rate = 10});
	watch_default((struct secg_watch){.rate = 10});
	OUT(PASS, ETH, IP(A, C), UDP(1, 2));
	assert_int_equal(ONE(AUDIT)->action, SECG_ACTION_ALLOW);
	assert_int_equal(hits("a/no"), 1);
	/* It passes as by allow: the answer too, and quietly. */
	BACK(PASS, ETH, IP(C, A), UDP(2, 1));
	NOTHING();
	OUT(PASS, ETH, AB(), UDP(1, 2));
	assert_int_equal(ONE(AUDIT)->rule, 0);
	BACK(PASS, ETH, BA(), UDP(2, 1));
	NOTHING();
	/* What no rule says drops as ever. */
	OUT_TCP(TCP_BAD_FLAGS, 0);
}

FOR_ALL(test_audit_of_an_acl)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "{'acls': {'a': {'audit': true, 'rules': [{'id': 'no', 'action': 'reject'}]}},"
		 " 'ports': {'p1': {'interface': 'p1', '%s': ['a'], '%s': []}}}",
		 out == SECG_FROM ? "from" : "to", out == SECG_FROM ? "to" : "from");
	rig_policy(rig, text);
	watch_rule("a/no", (struct secg_watch){.rate = 10});
	OUT(PASS, ETH, AB(), UDP(1, 2));
	ONE(AUDIT);
	BACK(PASS, ETH, BA(), UDP(2, 1));
	BACK(DEFAULT, ETH, BA(), UDP(2, 9));
	NOTHING();
}

/* ── reject ─────────────────────────────────────────────────────────────────────────────────────── */

static void watch_reject(void)
{
	rig_watch(rig, SECG_WATCH_REJECT | rig_port_id(rig, "p1"),
		  &(struct secg_watch){.rate = 1000});
}

/* acl/42: the numbers that an answer is made of, and the head of the packet. */
FOR_ALL(test_reject)
{
	policy(LOGGED("reject", ""), "");
	OUT_TCP(RULE_REJECT, SYN, .seq = 100);
	NOTHING();
	watch_reject();
	OUT(RULE_REJECT, ETH, AB(), TCP(1000, 80, SYN | ACK, .seq = 100, .ack = 7, .options = 8),
	    RAW(300));
	ONE(REJECT);
	assert_int_equal(events[0].event.reason, SECG_REASON_RULE_REJECT);
	assert_int_equal(events[0].event.action, SECG_ACTION_REJECT);
	assert_int_equal(events[0].seq, 100);
	assert_int_equal(events[0].ack, 7);
	assert_int_equal(events[0].payload, 300);
	assert_int_equal(events[0].l4_offset, family == 6 ? 54 : 34);
	assert_int_equal(events[0].head_size, 256);
	assert_int_equal(events[0].head[12], family == 6 ? 0x86 : 0x08);
	assert_int_equal(events[0].head[events[0].l4_offset + 3], 80);
	OUT(RULE_REJECT, ETH, AB(), UDP(1, 2), RAW(5));
	ONE(REJECT);
	assert_int_equal(events[0].head_size, (family == 6 ? 54 : 34) + 13);
	assert_int_equal(hits("a/r"), 3);
	NO_SESSION();
}

FOR_ALL(test_reject_of_the_default)
{
	policy(TO_B, out == SECG_FROM ? ", 'default': {'from': {'action': 'reject'}}"
				      : ", 'default': {'to': {'action': 'reject'}}");
	watch_reject();
	OUT(DEFAULT, ETH, BA(), UDP(1, 2));
	assert_int_equal(ONE(REJECT)->action, SECG_ACTION_REJECT);
	assert_int_equal(events[0].event.reason, SECG_REASON_DEFAULT);
	assert_int_equal(events[0].event.rule, 0);
}

/* acl/42: no answer to a reset, an error, a later fragment, to many or from nobody. */
FOR_ALL(test_reject_without_an_answer)
{
	policy("{'id': 'r', 'action': 'reject'}", ", 'infrastructure': []");
	watch_reject();
	OUT_TCP(RULE_REJECT, RST, .seq = 1);
	OUT_TCP(RULE_REJECT, RST | ACK, .seq = 1);
	OUT(RULE_REJECT, ETH, AB(), UNREACHABLE, BA(), UDP(1, 2));
	OUT(RULE_REJECT, ETH, AB(), ICMP_OF(5, 137, 0));
	OUT(RULE_REJECT, ETH, ARP);
	if (family == 4) {
		OUT(RULE_REJECT, ETH, IP4(A, "224.0.0.5"), UDP(1, 2));
		OUT(RULE_REJECT, ETH, IP4(A, "255.255.255.255"), UDP(1, 2));
		OUT(RULE_REJECT, ETH, IP4("0.0.0.0", B), UDP(1, 2));
		OUT(RULE_REJECT, ETH, IP4("127.0.0.1", B), UDP(1, 2));
		OUT(RULE_REJECT, ETH, IP4("239.1.1.1", B), UDP(1, 2));
		OUT(RULE_REJECT, ETH, IP4(A, B, .id = 7, .more = 1), UDP(1, 2, .length = 120),
		    RAW(72));
		ONE(REJECT);
		OUT(FRAG_VERDICT, ETH, IP4(A, B, .id = 7, .offset = 10, .next = 17), RAW(40));
	} else {
		OUT(RULE_REJECT, ETH, IP6(A6, "ff02::5"), UDP(1, 2));
		OUT(RULE_REJECT, ETH, IP6("::", B6), UDP(1, 2));
		OUT(RULE_REJECT, ETH, IP6("ff05::1", B6), UDP(1, 2));
		OUT(RULE_REJECT, ETH, AB(), ICMP6(100, 0));
	}
	NOTHING();
	OUT(RULE_REJECT, ETH, AB(), ECHO(3));
	ONE(REJECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_log),
		TEST(test_log_all),
		TEST(test_log_of_a_drop),
		TEST(test_log_of_the_default),
		TEST(test_rate),
		TEST(test_sample),
		TEST(test_log_and_sample),
		TEST(test_lost),
		TEST(test_drops),
		TEST(test_audit_of_a_port),
		TEST(test_audit_of_an_acl),
		TEST(test_reject),
		TEST(test_reject_of_the_default),
		TEST(test_reject_without_an_answer),
	};

	return RUN("events", tests);
}
