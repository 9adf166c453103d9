/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions as people see them: who opened, what state, which filter meets it. Also the digest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <string.h>

#include "engine/digest.h"
#include "engine/view.h"

#define LOW  0x0a000001u /* 10.0.0.1 */
#define HIGH 0x0a000002u

static const uint32_t timeouts[8] = {10, 20, 30, 40, 50, 60, 70};

static const struct view_context context = {
	.port = "vm1",
	.rule = "web/https",
	.timeout = timeouts,
	.now = 5,
	.ticks_per_second = 10,
};

static const struct session_filter any = {.domain = -1, .protocol = -1, .sport = -1, .dport = -1};

static struct dp_session make_session(uint8_t protocol, uint32_t state, bool has_parity)
{
	return (struct dp_session){
		.key = {.addr = {{htonl(LOW)}, {htonl(HIGH)}},
			.port = {htons(1000), htons(443)},
			.domain = 9,
			.proto = protocol,
			.flags = has_parity ? SECG_KEY_PARITY : 0},
		.flow = {.s = {.state = state, .seen = 3, .rule = 4},
			 .a = {.packets = {7, 8},
			       .bytes = {70, 80},
			       .created = 0xfffffffbu,
			       .port = 9}},
		.position = 77,
	};
}

/* parity = direction XOR endpoint of the opener, in all four combinations */
static void test_opener_is_told_from_parity_and_direction(void **state)
{
	(void)state;
	for (int is_to = 0; is_to < 2; is_to++) {
		for (int opener = 0; opener < 2; opener++) {
			struct dp_session session = make_session(
				IPPROTO_TCP,
				SECG_FLOW_ESTABLISHED | (is_to ? SECG_FLOW_OPENED_TO : 0),
				is_to ^ opener);
			struct session_view view;

			view_fill(&view, &session, &context);
			assert_int_equal(view.opened, is_to ? SECG_TO : SECG_FROM);
			assert_int_equal((uint32_t)view.src, opener ? HIGH : LOW);
			assert_int_equal((uint32_t)view.dst, opener ? LOW : HIGH);
			assert_int_equal(view.sport, opener ? 443 : 1000);
			assert_int_equal(view.dport, opener ? 1000 : 443);
		}
	}
}

static void test_states_have_the_names_of_the_api(void **state)
{
	static const struct {
		uint8_t protocol;
		uint32_t phase;
		const char *name;
	} rows[] = {
		{IPPROTO_TCP, SECG_FLOW_NEW, "half_open"},
		{IPPROTO_TCP, SECG_FLOW_ESTABLISHED, "established"},
		{IPPROTO_TCP, SECG_FLOW_CLOSING, "closing"},
		{IPPROTO_UDP, SECG_FLOW_NEW, "one_way"},
		{IPPROTO_UDP, SECG_FLOW_ESTABLISHED, "two_way"},
		{IPPROTO_ICMP, SECG_FLOW_NEW, "one_way"},
		{47, SECG_FLOW_ESTABLISHED, "two_way"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dp_session session = make_session(rows[i].protocol, rows[i].phase, false);
		struct session_view view;

		view_fill(&view, &session, &context);
		assert_string_equal(view.state, rows[i].name);
	}
}

/* created 10 ticks before now across the wrap, seen 2 ticks before now */
static void test_times_are_seconds(void **state)
{
	struct dp_session session = make_session(IPPROTO_TCP, SECG_FLOW_NEW, false);
	struct session_view view;

	(void)state;
	view_fill(&view, &session, &context);
	assert_true(view.age_s > 0.99 && view.age_s < 1.01);
	assert_true(view.idle_s > 0.19 && view.idle_s < 0.21);
	assert_true(view.expires_s > 0.79 && view.expires_s < 0.81);
	/* a packet that came after the clock was read */
	session.flow.s.seen = 6;
	view_fill(&view, &session, &context);
	assert_true(view.idle_s == 0);
	assert_true(view.expires_s > 0.99 && view.expires_s < 1.01);
	assert_int_equal(view.orig.packets, 7);
	assert_int_equal(view.reply.bytes, 80);
}

static void test_ipv6_and_icmp(void **state)
{
	struct dp_session session = make_session(IPPROTO_ICMPV6, SECG_FLOW_NEW, false);
	struct session_view view;

	(void)state;
	session.key.flags |= SECG_KEY_IPV6;
	for (int i = 0; i < 4; i++)
		session.key.addr[0][i] = htonl((uint32_t)(0x20010db8 + i));
	/* The opener is endpoint 0; the identifier stands at its side. */
	session.key.port[0] = htons(321);
	session.key.port[1] = 0;
	view_fill(&view, &session, &context);
	assert_int_equal(view.family, 6);
	assert_true(view.src >> 64 == 0x20010db820010db9ull);
	assert_true((uint64_t)view.src == 0x20010dba20010dbbull);
	assert_false(view.has_ports);
	assert_true(view.has_icmp_id);
	assert_int_equal(view.icmp_id, 321);
	assert_int_equal(view.sport, 0);
}

static void test_filters(void **state)
{
	struct dp_session session = make_session(IPPROTO_TCP, SECG_FLOW_ESTABLISHED, false);
	struct session_filter filter = any;
	struct session_view view;

	(void)state;
	view_fill(&view, &session, &context);
	assert_true(view_matches(&view, &any));
#define MEETS(field, good, bad)                             \
	do {                                                \
		filter = any;                               \
		filter.field = good;                        \
		assert_true(view_matches(&view, &filter));  \
		filter.field = bad;                         \
		assert_false(view_matches(&view, &filter)); \
	} while (0)
	MEETS(port, "vm1", "vm");
	MEETS(acl, "web", "we");
	MEETS(acl, "web", "web2");
	MEETS(rule, "web/https", "web/http");
	MEETS(rule, "https", "web");
	MEETS(domain, 9, 0);
	MEETS(protocol, 6, 17);
	MEETS(sport, 1000, 443);
	MEETS(dport, 443, 1000);
	MEETS(state, "established", "closing");
	MEETS(src, ((struct prefix){4, 32, LOW}), ((struct prefix){4, 32, HIGH}));
	MEETS(src, ((struct prefix){4, 0, 0}), ((struct prefix){6, 0, 0}));
	MEETS(dst, ((struct prefix){4, 8, 0x0a000000}), ((struct prefix){4, 8, 0x0b000000}));
#undef MEETS
	/* no rule: neither an ACL nor a rule's name meets it */
	view.rule = NULL;
	filter = any;
	filter.acl = "web";
	assert_false(view_matches(&view, &filter));
	filter = any;
	filter.rule = "https";
	assert_false(view_matches(&view, &filter));
	assert_true(view_matches(&view, &any));
}

/* FIPS 180-4's own examples, and lengths around the padding's edge. */
static void test_digest_is_sha256(void **state)
{
	static const struct {
		size_t size; /* of 'a's where text is NULL */
		const char *text, *hex;
	} rows[] = {
		{3, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{0, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{56, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{55, NULL, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
		{64, NULL, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
		{1000000, NULL, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct digest_context digesting;
		struct digest digest;
		char text[DIGEST_STRING_SIZE];

		digest_init(&digesting);
		if (rows[i].text)
			digest_add(&digesting, rows[i].text, rows[i].size);
		else
			for (size_t j = 0; j < rows[i].size; j++)
				digest_add(&digesting, "a", 1);
		assert_int_equal(digest_finish(&digesting, &digest), 0);
		digest_format(text, &digest);
		assert_string_equal(text, rows[i].hex);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opener_is_told_from_parity_and_direction),
		cmocka_unit_test(test_states_have_the_names_of_the_api),
		cmocka_unit_test(test_times_are_seconds),
		cmocka_unit_test(test_ipv6_and_icmp),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_digest_is_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
