/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the data path as fields of events. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <secg/policy.h>
#include <secg/reason.h>

#include "engine/record.h"

static struct secg_event tcp_event(void)
{
	return (struct secg_event){
		.kind = SECG_EVENT_LOG,
		.port = 3,
		.direction = SECG_TO,
		.action = SECG_ACTION_ALLOW,
		.proto = 6,
		.tcp_flags = 0x12,
		.src = {htonl(0x0a000001)},
		.dst = {htonl(0x0a000002)},
		.sport = htons(1234),
		.dport = htons(443),
		.ethertype = 0x0800,
		.src_mac = {2, 0, 0, 0, 0, 0xa},
		.dst_mac = {2, 0, 0, 0, 0, 0xb},
		.length = 74,
	};
}

static void assert_fields(const struct secg_event *event, const char *rule, const char *expected)
{
	json_t *fields = record_fields(event, "vm1", rule);
	json_t *wanted = json_loads(expected, 0, NULL);
	char *text = json_dumps(fields, JSON_COMPACT);

	assert_non_null(wanted);
	if (!json_equal(fields, wanted))
		fail_msg("%s", text);
	free(text);
	json_decref(fields);
	json_decref(wanted);
}

#define PACKET                                                                    \
	"\"port\":\"vm1\",\"direction\":\"to\",\"proto\":\"tcp\","                \
	"\"src\":\"10.0.0.1\",\"dst\":\"10.0.0.2\",\"sport\":1234,\"dport\":443," \
	"\"tcp_flags\":\"syn,ack\","
#define FRAME "\"src_mac\":\"02:00:00:00:00:0a\",\"dst_mac\":\"02:00:00:00:00:0b\",\"length\":74"

static void test_a_logged_packet(void **state)
{
	struct secg_event event = tcp_event();

	(void)state;
	assert_int_equal(record_type(&event), EVENT_RULE_LOG);
	assert_fields(&event, "web/https",
		      "{" PACKET FRAME ",\"verdict\":\"pass\",\"session\":false,"
		      "\"acl\":\"web\",\"rule\":\"web/https\"}");
	event.flags = SECG_EVENT_ESTABLISHED;
	event.suppressed = 9;
	event.vlan = 7;
	assert_fields(&event, "sg:db/app",
		      "{" PACKET FRAME ",\"verdict\":\"pass\",\"session\":true,\"vlan\":7,"
		      "\"suppressed\":9,\"acl\":\"sg:db\",\"rule\":\"sg:db/app\"}");
}

static void test_a_verdict_is_what_became_of_it(void **state)
{
	struct secg_event event = tcp_event();

	(void)state;
	event.action = SECG_ACTION_DROP;
	event.reason = SECG_REASON_DEFAULT;
	assert_fields(&event, NULL,
		      "{" PACKET FRAME
		      ",\"verdict\":\"drop\",\"reason\":\"default\",\"session\":false}");
	event.action = SECG_ACTION_REJECT;
	event.reason = SECG_REASON_RULE_REJECT;
	assert_fields(&event, NULL,
		      "{" PACKET FRAME
		      ",\"verdict\":\"reject\",\"reason\":\"rule_reject\",\"session\":false}");
	event.kind = SECG_EVENT_AUDIT;
	assert_int_equal(record_type(&event), EVENT_AUDIT);
	assert_fields(&event, NULL,
		      "{" PACKET FRAME
		      ",\"verdict\":\"pass\",\"reason\":\"rule_reject\",\"session\":false}");
}

static void test_other_packets(void **state)
{
	struct secg_event event = {.kind = SECG_EVENT_DROP,
				   .reason = SECG_REASON_SPOOF_ARP,
				   .ethertype = 0x0806,
				   .src_mac = {2, 0, 0, 0, 0, 0xa},
				   .dst_mac = {2, 0, 0, 0, 0, 0xb},
				   .length = 74};

	(void)state;
	assert_int_equal(record_type(&event), EVENT_DROP);
	assert_fields(&event, NULL,
		      "{\"port\":\"vm1\",\"direction\":\"from\",\"verdict\":\"drop\","
		      "\"reason\":\"spoof_arp\",\"ethertype\":\"0x0806\",\"session\":false," FRAME
		      "}");
	/* ICMPv6 on a device without Ethernet */
	event = (struct secg_event){.kind = SECG_EVENT_DROP,
				    .reason = SECG_REASON_ICMP_UNRELATED,
				    .flags = SECG_EVENT_L3 | SECG_EVENT_IPV6,
				    .ethertype = 0x86dd,
				    .proto = 58,
				    .src = {htonl(0x20010db8), 0, 0, htonl(1)},
				    .dst = {htonl(0x20010db8), 0, 0, htonl(2)},
				    .icmp_type = 3,
				    .icmp_code = 1,
				    .length = 90};
	assert_fields(&event, NULL,
		      "{\"port\":\"vm1\",\"direction\":\"from\",\"verdict\":\"drop\","
		      "\"reason\":\"icmp_unrelated\",\"proto\":\"icmpv6\",\"src\":\"2001:db8::1\","
		      "\"dst\":\"2001:db8::2\",\"icmp_type\":3,\"icmp_code\":1,\"length\":90,"
		      "\"session\":false}");
	/* a protocol without a name, a later fragment: no ports */
	event = tcp_event();
	event.proto = 17;
	event.sport = event.dport = 0;
	assert_fields(&event, NULL,
		      "{\"port\":\"vm1\",\"direction\":\"to\",\"verdict\":\"pass\",\"proto\":"
		      "\"udp\",\"src\":\"10.0.0.1\",\"dst\":\"10.0.0.2\",\"session\":false," FRAME
		      "}");
	event.proto = 200;
	assert_fields(&event, NULL,
		      "{\"port\":\"vm1\",\"direction\":\"to\",\"verdict\":\"pass\",\"proto\":"
		      "\"200\",\"src\":\"10.0.0.1\",\"dst\":\"10.0.0.2\",\"session\":false," FRAME
		      "}");
}

static void test_kinds_are_types(void **state)
{
	struct secg_event event = {.kind = SECG_EVENT_REJECT};

	(void)state;
	assert_int_equal(record_type(&event), -1);
	event.kind = SECG_EVENT_SESSION_FULL;
	assert_int_equal(record_type(&event), EVENT_SESSION_FULL);
	event.kind = SECG_EVENT_SAMPLE;
	assert_int_equal(record_type(&event), EVENT_SAMPLE);
	event.kind = 0;
	assert_int_equal(record_type(&event), -1);
	event.kind = SECG_EVENT_KINDS;
	assert_int_equal(record_type(&event), -1);
	assert_string_equal(record_reason(SECG_REASON_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_logged_packet),
		cmocka_unit_test(test_a_verdict_is_what_became_of_it),
		cmocka_unit_test(test_other_packets),
		cmocka_unit_test(test_kinds_are_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
