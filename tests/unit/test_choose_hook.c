/* SPDX-License-Identifier: Apache-2.0 */
/* Which hook a port gets, for what a probe may find: kernels and NICs that are not at hand included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dp/dp.h"

struct row {
	const char *what;
	enum port_hook hook;
	struct dp_probe probe;
	bool is_xdp, is_generic, is_failed;
	const char *message; /* a part of it; NULL: there must be none */
};

#define NATIVE  .is_native_xdp = true
#define FOREIGN .has_foreign_xdp = true, .foreign_xdp_id = 42, .foreign_xdp_name = "xdp_other"
/* An interface with an Ethernet header, and one without. */
#define ETHER(name, ...) .probe = {.has_ethernet = true, .kind = name, ##__VA_ARGS__}
#define L3(name, ...)    .probe = {.kind = name, ##__VA_ARGS__}
#define AUTO(text)       .what = "auto, " text, .hook = PORT_HOOK_AUTO
#define XDP(text)        .what = "xdp, " text, .hook = PORT_HOOK_XDP, .is_xdp = true
#define TC(text)         .what = "tc, " text, .hook = PORT_HOOK_TC

static const struct row rows[] = {
	{AUTO("native NIC"), ETHER("", NATIVE), .is_xdp = true},
	{AUTO("NIC without native XDP"), ETHER("")},
	{AUTO("bond"), ETHER("bond", NATIVE)},
	{AUTO("veth"), ETHER("veth", NATIVE)},
	{AUTO("tap"), ETHER("tun", NATIVE)},
	{AUTO("bridge"), ETHER("bridge", NATIVE)},
	{AUTO("VLAN device"), ETHER("vlan", NATIVE)},
	{AUTO("tun"), L3("tun", NATIVE)},
	{AUTO("WireGuard"), L3("wireguard", NATIVE)},
	{AUTO("L3 NIC"), L3("", NATIVE)},
	{AUTO("foreign XDP"), ETHER("", NATIVE, FOREIGN),
	 .message = "42 (xdp_other) of somebody else is attached: hook tc"},
	{AUTO("veth, foreign XDP"), ETHER("veth", NATIVE, FOREIGN)},
	{XDP("native NIC"), ETHER("", NATIVE)},
	{XDP("veth"), ETHER("veth", NATIVE)},
	{XDP("no native"), ETHER(""), .is_generic = true, .message = "generic XDP is used"},
	{XDP("bridge"), ETHER("bridge"), .is_generic = true, .message = "generic XDP is used"},
	{XDP("bond"), ETHER("bond", NATIVE), .is_failed = true, .message = "runs on its members"},
	{XDP("foreign XDP"), ETHER("", NATIVE, FOREIGN), .is_failed = true,
	 .message = "42 (xdp_other)"},
	{XDP("foreign XDP, no native"), ETHER("", FOREIGN), .is_failed = true,
	 .message = "remove it"},
	{XDP("no Ethernet header"), L3("tun"), .is_failed = true, .message = "no Ethernet header"},
	{TC("native NIC"), ETHER("", NATIVE)},
	{TC("foreign XDP"), ETHER("", NATIVE, FOREIGN)},
	{TC("tun"), L3("tun")},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct dp_choice choice;

		memset(&choice, 0xff, sizeof(choice));
		dp_choose_hook(&choice, row->hook, &row->probe);
		if (choice.is_xdp != row->is_xdp || choice.is_generic != row->is_generic ||
		    choice.is_failed != row->is_failed)
			fail_msg("%s: xdp %d generic %d failed %d", row->what, choice.is_xdp,
				 choice.is_generic, choice.is_failed);
		if (row->message ? !strstr(choice.message, row->message)
				 : choice.message[0] != '\0')
			fail_msg("%s: message \"%s\"", row->what, choice.message);
	}
}

static void test_foreign_without_name(void **state)
{
	const struct dp_probe probe = {
		.has_ethernet = true,
		.kind = "",
		.has_foreign_xdp = true,
		.foreign_xdp_id = 42,
	};
	struct dp_choice choice;

	(void)state;
	dp_choose_hook(&choice, PORT_HOOK_XDP, &probe);
	assert_true(choice.is_failed);
	assert_non_null(strstr(choice.message, "program 42 (bpftool prog show id 42"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_foreign_without_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
