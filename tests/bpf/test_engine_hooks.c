/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's ports: restarts, interfaces that come and go, hooks that are taken away or resist. */
#include "engine_lab.h"

/* ── restart ────────────────────────────────────────────────────────────────────────────────────── */

static void test_restart_keeps_numbers_counters_and_sessions(void **state)
{
	struct engine *engine = *state;
	struct session_filter filter = any;
	uint64_t generation, changed;
	struct listing listing;
	int ifindex;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	generation = merge_well(engine, "{\"groups\":{\"g\":{}}}").generation;
	changed = port(engine, "a").generation;
	assert_int_equal(changed, generation - 1);
	ifindex = port(engine, "a").ifindex;
	send_udp(53, 3);
	engine = restart(engine);
	*state = engine;
	assert_int_equal(engine_generation(engine), generation);
	assert_int_equal(engine_etag(engine), 2);
	assert_int_equal(port(engine, "a").generation, changed);
	assert_int_equal(port(engine, "a").ifindex, ifindex);
	assert_state(engine, "a", PORT_GUARDED);
	assert_int_equal(tcx_count("secg-a"), 1);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 3);
	filter.dport = 53;
	listing = sessions(engine, &filter);
	assert_int_equal(listing.count, 1);
	assert_string_equal(listing.rule, "web/dns");
	send_udp(53, 2);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 5);
	assert_int_equal(sessions(engine, &filter).last.orig.packets, 5);
	/* a second time, because the first one wrote nothing */
	engine = restart(engine);
	*state = engine;
	assert_int_equal(engine_generation(engine), generation);
	assert_int_equal(port(engine, "a").generation, changed);
}

/* While no daemon runs the hooks go on; a port that was removed from the store meanwhile goes at start. */
static void test_ports_that_the_store_does_not_know_are_detached(void **state)
{
	struct engine *engine = *state;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	engine_close(engine);
	assert_int_equal(tcx_count("secg-a"), 1);
	lab_run("rm -rf " STATE);
	*state = open_engine();
	assert_int_equal(tcx_count("secg-a"), 0);
	assert_int_equal(engine_config(*state)->port_count, 0);
}

static void test_store_that_is_not_valid_refuses_and_keeps_the_hooks(void **state)
{
	char message[DP_MESSAGE_SIZE] = "";
	struct engine *engine = NULL;

	merge_well(*state, "{" WEB ",\"ports\":{" PORT_A "}}");
	engine_close(*state);
	*state = NULL;
	lab_run("/usr/bin/python3 -c \"import sqlite3; d = sqlite3.connect('" STATE "/secg.db'); "
		"d.execute('UPDATE objects SET json = ? WHERE kind = ?', "
		"('{\\\"interface\\\":\\\"secg-a\\\",\\\"from\\\":[\\\"gone\\\"]}', 'ports')); d.commit()\"");
	assert_true(engine_open(&engine, &options, message) < 0);
	assert_non_null(strstr(message, "ports.a.from[0]"));
	assert_null(engine);
	assert_int_equal(tcx_count("secg-a"), 1);
}

static void test_interface_renamed_while_no_daemon_ran_is_let_go(void **state)
{
	merge_well(*state, "{" WEB ",\"ports\":{" PORT_A "}}");
	engine_close(*state);
	lab_run("ip link set secg-a down && ip link set secg-a name secg-c && ip link set secg-c up");
	*state = open_engine();
	assert_state(*state, "a", PORT_WAITING);
	assert_int_equal(tcx_count("secg-c"), 0);
}

/* ── interfaces ─────────────────────────────────────────────────────────────────────────────────── */

static void settle_links(struct engine *engine)
{
	usleep(20000);
	engine_dispatch(engine);
}

static void test_interface_comes_goes_and_comes_again(void **state)
{
	struct engine *engine = *state;
	struct answer answer;

	answer = merge_well(engine, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]}}}");
	assert_int_equal(answer.waiting, 1);
	assert_state(engine, "c", PORT_WAITING);
	assert_true(engine_is_healthy(engine));
	for (int round = 0; round < 2; round++) {
		lab_run("ip link add secg-c type veth peer name secg-d");
		settle_links(engine);
		assert_state(engine, "c", PORT_GUARDED);
		assert_int_equal(port(engine, "c").ifindex, if_nametoindex("secg-c"));
		assert_int_equal(tcx_count("secg-c"), 1);
		lab_run("ip link del secg-c");
		settle_links(engine);
		assert_state(engine, "c", PORT_WAITING);
		assert_int_equal(port(engine, "c").ifindex, 0);
	}
}

static void test_interface_is_deleted_and_made_between_two_looks(void **state)
{
	struct engine *engine = *state;

	lab_run("ip link add secg-c type veth peer name secg-d");
	settle_links(engine);
	merge_well(engine, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]}}}");
	assert_state(engine, "c", PORT_GUARDED);
	lab_run("ip link del secg-c && ip link add secg-c type veth peer name secg-d");
	settle_links(engine);
	assert_state(engine, "c", PORT_GUARDED);
	assert_int_equal(port(engine, "c").ifindex, if_nametoindex("secg-c"));
	assert_int_equal(tcx_count("secg-c"), 1);
}

static void test_port_follows_the_name(void **state)
{
	struct engine *engine = *state;

	merge_well(engine, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]},"
			   "\"d\":{\"interface\":\"secg-d\",\"to\":[]}}}");
	lab_run("ip link add secg-c type veth peer name secg-e");
	settle_links(engine);
	assert_state(engine, "c", PORT_GUARDED);
	lab_run("ip link set secg-c name secg-d");
	settle_links(engine);
	assert_state(engine, "c", PORT_WAITING);
	assert_state(engine, "d", PORT_GUARDED);
	assert_int_equal(tcx_count("secg-d"), 1);
}

/* The side of an interface that is not there is not known; the flip for it is nobody's change. */
static void test_side_is_set_right_when_the_interface_appears(void **state)
{
	struct engine *engine = *state;
	struct answer answer;

	answer = merge_well(engine, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]}}}");
	lab_run("ip link add secg-c type bridge");
	settle_links(engine);
	assert_state(engine, "c", PORT_GUARDED);
	assert_int_equal(engine_generation(engine), answer.generation + 1);
	assert_int_equal(engine_etag(engine), answer.etag);
	assert_int_equal(port(engine, "c").generation, answer.generation);
	/* the number does not go back */
	engine = restart(engine);
	*state = engine;
	assert_int_equal(engine_generation(engine), answer.generation + 1);
	assert_int_equal(port(engine, "c").generation, answer.generation);
	assert_int_equal(merge_well(engine, "{\"groups\":{\"g\":{}}}").generation,
			 answer.generation + 2);
}

static void test_ports_swap_interfaces_in_one_commit(void **state)
{
	struct engine *engine = *state;

	merge_well(engine,
		   "{" WEB ",\"ports\":{" PORT_A ",\"b\":{\"interface\":\"secg-b\",\"to\":[]}}}");
	merge_well(
		engine,
		"{\"ports\":{\"a\":{\"interface\":\"secg-b\"},\"b\":{\"interface\":\"secg-a\"}}}");
	assert_state(engine, "a", PORT_GUARDED);
	assert_state(engine, "b", PORT_GUARDED);
	assert_int_equal(port(engine, "a").ifindex, if_nametoindex("secg-b"));
	assert_int_equal(port(engine, "b").ifindex, if_nametoindex("secg-a"));
	assert_int_equal(tcx_count("secg-a"), 1);
	assert_int_equal(tcx_count("secg-b"), 1);
}

static void test_hook_changes_in_place(void **state)
{
	struct engine *engine = *state;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	assert_false(port(engine, "a").attachment.is_xdp);
	merge_well(engine, "{\"ports\":{\"a\":{\"hook\":\"xdp\"}}}");
	assert_state(engine, "a", PORT_GUARDED);
	assert_true(port(engine, "a").attachment.is_xdp);
	assert_int_equal(tcx_count("secg-a"), 0);
}

static void test_removed_port_is_detached_and_its_sessions_gone(void **state)
{
	struct engine *engine = *state;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	send_udp(53, 1);
	assert_true(sessions(engine, &any).count >= 1);
	merge_well(engine, "{\"ports\":{\"a\":null}}");
	assert_int_equal(tcx_count("secg-a"), 0);
	/* another port gets the number, and nothing of its former owner */
	merge_well(engine, "{\"ports\":{\"b\":{\"interface\":\"secg-a\",\"from\":[\"web\"],"
			   "\"on_change\":\"keep\"}}}");
	assert_int_equal(sessions(engine, &any).count, 0);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 0);
	send_udp(53, 1);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 1);
}

/* ── ports that resist ──────────────────────────────────────────────────────────────────────────── */

static int foreign_xdp(const char *name)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	_cleanup_close_ int program =
		bpf_prog_load(BPF_PROG_TYPE_XDP, "foreigner", "GPL", code, ARRAY_SIZE(code), NULL);
	int fd = bpf_link_create(program, (int)if_nametoindex(name), BPF_XDP, NULL);

	assert_true(fd >= 0);
	return fd;
}

static void test_failed_port_does_not_hold_up_the_others(void **state)
{
	struct engine *engine = *state;
	int foreign = foreign_xdp("secg-b");
	struct answer answer;

	answer = merge_well(engine,
			    "{" WEB ",\"ports\":{" PORT_A
			    ",\"b\":{\"interface\":\"secg-b\",\"from\":[],\"hook\":\"xdp\"}}}");
	assert_int_equal(answer.failed, 1);
	assert_state(engine, "a", PORT_GUARDED);
	assert_state(engine, "b", PORT_FAILED);
	assert_non_null(strstr(port(engine, "b").message, "foreigner"));
	assert_false(engine_is_healthy(engine));
	for (int i = 0; i < 5; i++)
		engine_tick(engine);
	assert_state(engine, "b", PORT_FAILED);
	close(foreign);
	usleep(20000);
	/* backoff: 1, 2, 4, 8 seconds */
	for (int i = 0; i < 9; i++)
		engine_tick(engine);
	assert_state(engine, "b", PORT_GUARDED);
	assert_true(engine_is_healthy(engine));
}

/* ── hooks that somebody takes away ─────────────────────────────────────────────────────────────── */

#define NO_TCX (1u << DP_FEATURE_TCX)

static void take_away(const char *pin)
{
	char path[PATH_MAX];
	_cleanup_close_ int fd = -1;

	assert_int_equal(pin_path(path, "%s/v%d/links/%s", LAB_PINS, SECG_LAYOUT, pin), 0);
	fd = bpf_obj_get(path);
	assert_true(fd >= 0);
	assert_int_equal(bpf_link_detach(fd), 0);
}

static uint32_t hook_count(bool is_xdp, const char *pin)
{
	uint32_t ids[SYS_MPROG_MAX], count = 0, id = 0;
	int ifindex = (int)if_nametoindex("secg-a");
	bool is_from = strstr(pin, "from");
	bool is_native;

	if (is_xdp && is_from) {
		assert_int_equal(sys_xdp_query(ifindex, &id, &is_native), 0);
		return id != 0;
	}
	assert_int_equal(sys_tcx_query(ifindex,
				       is_from ? SYS_ATTACH_TCX_INGRESS : SYS_ATTACH_TCX_EGRESS,
				       ids, &count),
			 0);
	return count;
}

static void assert_put_back(const struct engine *engine)
{
	assert_state(engine, "a", PORT_GUARDED);
	assert_non_null(strstr(port(engine, "a").message, "put back"));
	assert_true(engine_is_healthy(engine));
}

static void check_taken_away(struct engine *engine, bool is_xdp, const char *pin)
{
	char text[256];

	snprintf(text, sizeof(text), "{" WEB ",\"ports\":{" PORT_A "}}");
	merge_well(engine, text);
	merge_well(engine, is_xdp ? "{\"ports\":{\"a\":{\"hook\":\"xdp\"}}}"
				  : "{\"ports\":{\"a\":{\"hook\":\"tc\"}}}");
	assert_int_equal(hook_count(is_xdp, pin), 1);
	take_away(pin);
	assert_int_equal(hook_count(is_xdp, pin), 0);
	engine_tick(engine);
	assert_int_equal(hook_count(is_xdp, pin), 1);
	assert_put_back(engine);
	/* Again, and this time the policy is given once more before a second has passed. */
	take_away(pin);
	assert_false(merge_well(engine, text).is_changed);
	assert_int_equal(hook_count(is_xdp, pin), 1);
	assert_put_back(engine);
}

static void test_links_taken_away_are_put_back(void **state)
{
	check_taken_away(*state, false, "1_from");
	check_taken_away(*state, false, "1_to");
	check_taken_away(*state, true, "1_from");
	check_taken_away(*state, true, "1_to");
	/* The pin itself. */
	lab_run("rm " LAB_PINS "/v*/links/1_from");
	usleep(50000);
	engine_tick(*state);
	assert_int_equal(hook_count(true, "1_from"), 1);
	assert_true(lab_pinned_link_id("1_from") > 0);
}

static void test_filters_taken_away_are_put_back(void **state)
{
	int ifindex = (int)if_nametoindex("secg-a");
	struct engine *engine = restart_without(*state, NO_TCX);

	*state = engine;
	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	assert_true(sys_clsact_query(ifindex, false) > 0);
	for (int i = 0; i < 2; i++) {
		lab_run(i ? "tc filter del dev secg-a egress" : "tc qdisc del dev secg-a clsact");
		engine_tick(engine);
		assert_true(sys_clsact_query(ifindex, false) > 0);
		assert_true(sys_clsact_query(ifindex, true) > 0);
		assert_put_back(engine);
	}
	send_udp(53, 1);
	assert_int_equal(rule_packets(engine, "a", "web/dns"), 1);
}

/* Nothing is known of hooks that cannot be asked for: they are not torn down for that. */
static void test_hooks_that_cannot_be_asked_for_stay(void **state)
{
	struct rlimit limit, none;
	struct engine *engine = restart_without(*state, NO_TCX);

	*state = engine;
	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	engine_tick(engine);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_state(engine, "a", PORT_GUARDED);
	assert_string_equal(port(engine, "a").message, "");
	assert_true(sys_clsact_query((int)if_nametoindex("secg-a"), false) > 0);
}

static void test_hook_that_cannot_be_put_back_is_failed(void **state)
{
	struct engine *engine = *state;
	int foreign;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	merge_well(engine, "{\"ports\":{\"a\":{\"hook\":\"xdp\"}}}");
	take_away("1_from");
	foreign = foreign_xdp("secg-a");
	engine_tick(engine);
	assert_state(engine, "a", PORT_FAILED);
	assert_non_null(strstr(port(engine, "a").message, "foreigner"));
	assert_false(engine_is_healthy(engine));
	/* What can be guarded still is. */
	assert_int_equal(hook_count(true, "1_to"), 1);
	close(foreign);
	usleep(50000);
	/* The same policy again does not wait for the next try. */
	assert_false(merge_well(engine, "{" WEB "}").is_changed);
	assert_state(engine, "a", PORT_GUARDED);
	assert_int_equal(hook_count(true, "1_from"), 1);
}

static void test_port_that_resists_is_detached_in_the_end(void **state)
{
	struct engine *engine = restart_without(*state, NO_TCX);
	int ifindex = (int)if_nametoindex("secg-a");
	struct rlimit limit, none;
	uint64_t dropped;

	*state = engine;
	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	merge_well(engine, "{\"ports\":{\"a\":null}}");
	engine_tick(engine);
	merge_well(engine, "{\"groups\":{\"g\":{}}}");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	/* It lets everything pass meanwhile. */
	assert_true(sys_clsact_query(ifindex, false) > 0);
	dropped = reason_packets(engine, SECG_REASON_UNDECIDED);
	send_udp(123, 2);
	assert_int_equal(reason_packets(engine, SECG_REASON_UNDECIDED), dropped);
	engine_tick(engine);
	assert_int_equal(sys_clsact_query(ifindex, false), 0);
	assert_int_equal(sys_clsact_query(ifindex, true), 0);
}

/* A port moves while its old interface resists: the new one is guarded, the old one is let go later. */
static void test_old_interface_that_resists_is_let_go(void **state)
{
	struct engine *engine = restart_without(*state, NO_TCX);
	int a = (int)if_nametoindex("secg-a"), b = (int)if_nametoindex("secg-b");
	struct rlimit limit, none;

	*state = engine;
	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	merge_well(engine, "{\"ports\":{\"a\":{\"interface\":\"secg-b\"}}}");
	assert_state(engine, "a", PORT_FAILED);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	engine_tick(engine);
	engine_tick(engine);
	assert_state(engine, "a", PORT_GUARDED);
	assert_true(sys_clsact_query(b, false) > 0);
	assert_int_equal(sys_clsact_query(a, false), 0);
	assert_int_equal(sys_clsact_query(a, true), 0);
}

static void test_names_moved_while_no_daemon_ran(void **state)
{
	int a = (int)if_nametoindex("secg-a"), b = (int)if_nametoindex("secg-b");

	*state = restart_without(*state, NO_TCX);
	merge_well(*state, "{" WEB ",\"ports\":{" PORT_A "}}");
	engine_close(*state);
	lab_run("ip link set secg-a down && ip link set secg-b down && "
		"ip link set secg-a name secg-c && ip link set secg-b name secg-a");
	*state = open_engine();
	assert_state(*state, "a", PORT_GUARDED);
	assert_int_equal(port(*state, "a").ifindex, b);
	assert_true(sys_clsact_query(b, false) > 0);
	assert_int_equal(sys_clsact_query(a, false), 0);
	assert_int_equal(sys_clsact_query(a, true), 0);
	/* And a port that waits has none. */
	engine_close(*state);
	lab_run("ip link set secg-a name secg-d");
	*state = open_engine();
	assert_state(*state, "a", PORT_WAITING);
	assert_int_equal(sys_clsact_query(b, false), 0);
}

static void test_number_of_a_side_survives_detach_all(void **state)
{
	char message[DP_MESSAGE_SIZE];
	uint64_t generation;

	merge_well(*state, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]}}}");
	generation = engine_generation(*state);
	lab_run("ip link add secg-c type bridge");
	settle_links(*state);
	assert_int_equal(engine_generation(*state), generation + 1);
	engine_close(*state);
	assert_int_equal(dp_detach_all(LAB_PINS, message), 0);
	*state = open_engine();
	assert_true(engine_generation(*state) > generation);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_restart_keeps_numbers_counters_and_sessions),
		TEST(test_ports_that_the_store_does_not_know_are_detached),
		TEST(test_store_that_is_not_valid_refuses_and_keeps_the_hooks),
		TEST(test_interface_renamed_while_no_daemon_ran_is_let_go),
		TEST(test_interface_comes_goes_and_comes_again),
		TEST(test_interface_is_deleted_and_made_between_two_looks),
		TEST(test_port_follows_the_name),
		TEST(test_side_is_set_right_when_the_interface_appears),
		TEST(test_ports_swap_interfaces_in_one_commit),
		TEST(test_hook_changes_in_place),
		TEST(test_removed_port_is_detached_and_its_sessions_gone),
		TEST(test_failed_port_does_not_hold_up_the_others),
		TEST(test_links_taken_away_are_put_back),
		TEST(test_filters_taken_away_are_put_back),
		TEST(test_hooks_that_cannot_be_asked_for_stay),
		TEST(test_hook_that_cannot_be_put_back_is_failed),
		TEST(test_port_that_resists_is_detached_in_the_end),
		TEST(test_old_interface_that_resists_is_let_go),
		TEST(test_names_moved_while_no_daemon_ran),
		TEST(test_number_of_a_side_survives_detach_all),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
