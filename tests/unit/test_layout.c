/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of what kernel programs and daemon share, as docs/abi.md has it. A pinned map of one build
 * is read by the next: a change here is a new SECG_LAYOUT.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <secg/abi.h>
#include <secg/event.h>
#include <secg/flow.h>
#include <secg/infra.h>
#include <secg/policy.h>
#include <secg/reason.h>
#include <secg/trace.h>

#define SIZE(type, bytes)         assert_int_equal(sizeof(struct type), bytes)
#define AT(type, member, offset_) assert_int_equal(offsetof(struct type, member), offset_)

static void test_version(void **state)
{
	(void)state;
	assert_int_equal(SECG_LAYOUT, 2);
	assert_int_equal(SECG_MAGIC, 0x73656367u);
	assert_int_equal(SECG_ONES_LINES, 20);
	assert_int_equal(SECG_WAYS, 4);
	assert_int_equal(SECG_TICK_SHIFT, 3);
	assert_int_equal(SECG_SELECTOR_ROOT, 0);
	assert_int_equal(SECG_SELECTOR_SEED, 1);
}

static void test_abi(void **state)
{
	(void)state;
	SIZE(secg_line, 64);
	SIZE(secg_ifindex, 8);
	AT(secg_ifindex, ifindex, 0);
	AT(secg_ifindex, port, 4);
	AT(secg_ifindex, flags, 6);
	SIZE(secg_counter, 16);
	AT(secg_counter, packets, 0);
	AT(secg_counter, bytes, 8);
}

static void test_events(void **state)
{
	(void)state;
	assert_int_equal(SECG_EVENT_KINDS, 7);
	SIZE(secg_event, 112);
	AT(secg_event, kind, 8);
	AT(secg_event, rule, 16);
	AT(secg_event, suppressed, 20);
	AT(secg_event, port, 24);
	AT(secg_event, direction, 26);
	AT(secg_event, flags, 29);
	AT(secg_event, src, 32);
	AT(secg_event, dst, 48);
	AT(secg_event, sport, 64);
	AT(secg_event, ethertype, 68);
	AT(secg_event, src_mac, 72);
	AT(secg_event, icmp_type, 84);
	AT(secg_event, l3_offset, 86);
	AT(secg_event, length, 88);
	AT(secg_event, tag_type, 92);
	AT(secg_event, tag, 94);
	SIZE(secg_event_reject, 392);
	AT(secg_event_reject, l4_offset, 112);
	AT(secg_event_reject, seq, 116);
	AT(secg_event_reject, ack, 120);
	AT(secg_event_reject, payload, 124);
	AT(secg_event_reject, head_size, 128);
	AT(secg_event_reject, head, 136);
	SIZE(secg_watch, 32);
	AT(secg_watch, suppressed, 12);
	AT(secg_watch, sample, 16);
	AT(secg_watch, log_all, 24);
}

static void test_root_and_ports(void **state)
{
	(void)state;
	SIZE(secg_extent, 8);
	AT(secg_extent, line, 0);
	AT(secg_extent, lines, 4);
	SIZE(secg_root, 64);
	AT(secg_root, magic, 0);
	AT(secg_root, layout, 4);
	AT(secg_root, generation, 8);
	AT(secg_root, ports, 16);
	AT(secg_root, port_count, 20);
	AT(secg_root, extents, 24);
	AT(secg_root, extent_count, 28);
	AT(secg_root, ticks_q8, 32);
	SIZE(secg_port, 192);
	AT(secg_port, flags, 0);
	AT(secg_port, policy_generation, 4);
	AT(secg_port, domain, 8);
	AT(secg_port, infra, 10);
	AT(secg_port, timeout, 16);
	AT(secg_port, pickup_until, 48);
	AT(secg_port, rules, 64);
	AT(secg_port, spoof, 128);
	SIZE(secg_port_rules, 64);
	AT(secg_port_rules, policy, 0);
	AT(secg_port_rules, counters, 8);
	AT(secg_port_rules, own, 16);
	AT(secg_port_rules, otherwise, 24);
	AT(secg_port_rules, limit_sessions, 28);
	AT(secg_port_rules, limit_source, 32);
	AT(secg_port_rules, limit_half_open, 36);
	SIZE(secg_port_spoof, 64);
	AT(secg_port_spoof, policy, 0);
	AT(secg_port_spoof, pair, 16);
	SIZE(secg_pair, 24);
	AT(secg_pair, mac, 0);
	AT(secg_pair, family, 6);
	AT(secg_pair, address, 8);
}

static void test_policy(void **state)
{
	(void)state;
	SIZE(secg_tree_inner, 64);
	AT(secg_tree_inner, separator, 0);
	AT(secg_tree_inner, meta, 60);
	SIZE(secg_tree_leaf, 64);
	AT(secg_tree_leaf, start, 0);
	AT(secg_tree_leaf, value, 32);
	SIZE(secg_vector_line, 64);
	SIZE(secg_section, 64);
	AT(secg_section, entries, 0);
	AT(secg_section, vector_lines, 4);
	AT(secg_section, dims, 8);
	AT(secg_section, entry, 12);
	AT(secg_section, src, 16);
	AT(secg_section, dst, 20);
	AT(secg_section, proto, 24);
	AT(secg_section, l4, 28);
	AT(secg_section, no_l4, 36);
	AT(secg_section, vlan, 44);
	AT(secg_section, ethertype, 48);
	AT(secg_section, bytes, 52);
	AT(secg_section, byte_count, 56);
	AT(secg_section, own, 60);
	SIZE(secg_byte_table, 16);
	AT(secg_byte_table, byte, 0);
	AT(secg_byte_table, table, 4);
	AT(secg_byte_table, absent, 8);
	SIZE(secg_policy, 192);
	SIZE(secg_entry, 16);
	AT(secg_entry, slot, 0);
	AT(secg_entry, next, 4);
	AT(secg_entry, action, 8);
	AT(secg_entry, flags, 9);
	AT(secg_entry, timeout_s, 12);
	SIZE(secg_port_counters, 832);
	AT(secg_port_counters, passed, 0);
	AT(secg_port_counters, dropped, 32);
	AT(secg_port_counters, infra, 64);
	AT(secg_port_counters, reasons, 320);
}

static void test_flows(void **state)
{
	(void)state;
	SIZE(secg_flow_key, 40);
	AT(secg_flow_key, addr, 0);
	AT(secg_flow_key, port, 32);
	AT(secg_flow_key, domain, 36);
	AT(secg_flow_key, proto, 38);
	AT(secg_flow_key, flags, 39);
	SIZE(secg_flow_state, 16);
	AT(secg_flow_state, state, 0);
	AT(secg_flow_state, seen, 4);
	AT(secg_flow_state, rule, 8);
	AT(secg_flow_state, generation, 12);
	SIZE(secg_flow_account, 64);
	AT(secg_flow_account, packets, 0);
	AT(secg_flow_account, bytes, 16);
	AT(secg_flow_account, edge, 32);
	AT(secg_flow_account, created, 40);
	AT(secg_flow_account, port, 44);
	AT(secg_flow_account, timeout, 48);
	AT(secg_flow_account, mac, 52);
	SIZE(secg_flow, 80);
	AT(secg_flow, a, 16);
	SIZE(secg_slot, 128);
	AT(secg_slot, key, 0);
	AT(secg_slot, version, 40);
	AT(secg_slot, overflow, 44);
	AT(secg_slot, s, 48);
	AT(secg_slot, a, 64);
	SIZE(secg_fragment_key, 40);
	AT(secg_fragment_key, src, 0);
	AT(secg_fragment_key, dst, 16);
	AT(secg_fragment_key, id, 32);
	AT(secg_fragment_key, port, 36);
	AT(secg_fragment_key, proto, 38);
	AT(secg_fragment_key, flags, 39);
	SIZE(secg_fragment, 16);
	AT(secg_fragment, rule, 4);
	AT(secg_fragment, end, 8);
}

/* Numbers that index counters and outlive the daemon: append only. */
static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(SECG_REASON_NONE, 0);
	assert_int_equal(SECG_REASON_MALFORMED, 1);
	assert_int_equal(SECG_REASON_DEFAULT, 5);
	assert_int_equal(SECG_REASON_RULE_DROP, 6);
	assert_int_equal(SECG_REASON_SESSION_FULL, 11);
	assert_int_equal(SECG_REASON_UNDECIDED, 15);
	assert_int_equal(SECG_REASON_FRAG_OVERLAP, 16);
	assert_int_equal(SECG_INFRA_ARP, 0);
	assert_int_equal(SECG_INFRA_DHCP_CLIENT_REQUEST, 5);
	assert_int_equal(SECG_INFRA_IKE, 14);
	assert_int_equal(SECG_ACTION_ALLOW, 1);
	assert_int_equal(SECG_ACTION_ALLOW_STATELESS, 2);
	assert_int_equal(SECG_ACTION_DROP, 3);
	assert_int_equal(SECG_ACTION_PASS, 4);
	assert_int_equal(SECG_TIMEOUT_TCP_HALF_OPEN, 0);
	assert_int_equal(SECG_TIMEOUT_OTHER, 6);
}

#define BUCKETS 65536

/* Whoever owns a few bytes of an IPv6 address cannot fill one bucket without knowing the seed. */
static void test_hash_cannot_be_aimed(void **state)
{
	static const size_t bytes[][2] = {{7, 15}, {3, 7}, {11, 15}, {14, 15}, {15, 31}, {15, 35}};
	static uint8_t seen[BUCKETS];

	(void)state;
	for (uint64_t i = 0, seed = 1; i < 16; i++, seed = seed * 6364136223846793005u | 1) {
		for (size_t pair = 0; pair < sizeof(bytes) / sizeof(bytes[0]); pair++) {
			struct secg_flow_key key = {.proto = 6, .flags = SECG_KEY_IPV6};
			uint32_t buckets = 0;

			memset(seen, 0, sizeof(seen));
			for (uint32_t n = 0; n < BUCKETS; n++) {
				uint32_t bucket;

				((uint8_t *)&key)[bytes[pair][0]] = (uint8_t)(n >> 8);
				((uint8_t *)&key)[bytes[pair][1]] = (uint8_t)n;
				bucket = secg_flow_hash(&key, seed) % BUCKETS;
				buckets += !seen[bucket];
				seen[bucket] = 1;
			}
			/* Chance alone would fill 63 %. */
			assert_in_range(buckets, BUCKETS / 2, BUCKETS);
		}
	}
}

/* The hash of a key under a seed is what finds a session that another build has stored. */
static void test_hash(void **state)
{
	struct secg_flow_key key = {.addr = {{1, 2, 3, 4}, {5, 6, 7, 8}},
				    .port = {9, 10},
				    .domain = 11,
				    .proto = 12,
				    .flags = 1};
	uint32_t hash = secg_flow_hash(&key, 0x5ec65ec65ec65ec7u);

	(void)state;
	assert_int_equal(hash, 0x63232512u);
	/* No bit of the key is without effect. */
	for (size_t bit = 0; bit < sizeof(key) * 8; bit++) {
		((uint8_t *)&key)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(secg_flow_hash(&key, 0x5ec65ec65ec65ec7u), hash);
		((uint8_t *)&key)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void test_trace(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct secg_trace), 40);
	assert_int_equal(offsetof(struct secg_trace, reason), 8);
	assert_int_equal(offsetof(struct secg_trace, session), 20);
	assert_int_equal(offsetof(struct secg_trace, needs_overflow), 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_abi),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_root_and_ports),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_hash_cannot_be_aimed),
		cmocka_unit_test(test_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
