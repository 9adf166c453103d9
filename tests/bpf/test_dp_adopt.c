/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks that an earlier daemon has left: adopted, completed, replaced, taken off. */
#include "dp_lab.h"

static void test_adoption(void **state)
{
	struct net_link link = lab_link("secg-a", "veth");
	struct dp *dp = lab_dp(LAB_PINS, 0);
	uint32_t from, to, count, old;

	(void)state;
	lab_attach(dp, &link, PORT_HOOK_AUTO);
	from = lab_pinned_link_id("3_from");
	to = lab_pinned_link_id("3_to");
	old = dp->programs[DP_PROGRAM_TC_FROM].id;
	dp_close(dp);
	assert_int_equal(lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count), old);

	dp = lab_dp(LAB_PINS, 0);
	assert_int_equal(dp_interface_port(dp, link.ifindex), LAB_PORT);
	lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_equal(lab_pinned_link_id("3_from"), from);
	assert_int_equal(lab_pinned_link_id("3_to"), to);
	assert_int_equal(lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_not_equal(dp->programs[DP_PROGRAM_TC_FROM].id, old);
	assert_int_equal(count, 1);
	dp_close(dp);
}

/* A daemon that ended between the two directions, or while it changed a hook. */
static void test_half_attached(void **state)
{
	struct net_link link = lab_link("secg-a", "veth");
	struct dp *dp = lab_dp(LAB_PINS, 0);
	char path[PATH_MAX], fresh[PATH_MAX];
	uint32_t count;

	(void)state;
	lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_equal(pin_path(path, "%s/links/3_to", dp->folder), 0);
	assert_int_equal(pin_path(fresh, "%s/links/3_from_new", dp->folder), 0);
	link_remove(-1, path);
	{
		_cleanup_close_ int half = lab_link_foreign(dp->programs[DP_PROGRAM_XDP].fd,
							    link.ifindex, SYS_ATTACH_XDP, 0);

		assert_int_equal(bpf_obj_pin(half, fresh), 0);
	}
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 0);
	lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_true(lab_pinned_link_id("3_to") > 0);
	assert_int_equal(lab_pinned_link_id("3_from_new"), 0);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 1);
	dp_detach(dp, LAB_PORT, link.ifindex);
	lab_assert_bare(link.ifindex);
	dp_close(dp);
}

static void test_severed_pin(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	uint32_t from, count;

	lab_attach(dp, &link, PORT_HOOK_AUTO);
	from = lab_pinned_link_id("3_from");
	lab_run("ip link del secg-a");
	assert_int_equal(lab_pinned_link_id("3_from"), from);
	lab_make_links(state);
	link = lab_link("secg-a", "veth");
	lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_not_equal(lab_pinned_link_id("3_from"), from);
	assert_int_equal(lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_equal(dp_interface_port(dp, link.ifindex), LAB_PORT);
}

static void test_detach_after_its_interface(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");

	(void)state;
	lab_attach(dp, &link, PORT_HOOK_AUTO);
	lab_run("ip link del secg-a");
	dp_detach(dp, LAB_PORT, link.ifindex);
	assert_int_equal(lab_pinned_link_id("3_from"), 0);
	assert_int_equal(lab_pinned_link_id("3_to"), 0);
	assert_int_equal(dp_interface_port(dp, link.ifindex), 0);
}

/* The port moves to another interface while no daemon looks. */
static void test_moved_port(void **state)
{
	struct net_link a = lab_link("secg-a", "veth"), b = lab_link("secg-b", "veth");
	struct dp *dp = lab_dp(LAB_PINS, 0);

	(void)state;
	lab_attach(dp, &a, PORT_HOOK_XDP);
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 0);
	lab_attach(dp, &b, PORT_HOOK_TC);
	lab_assert_bare(a.ifindex);
	assert_int_equal(dp_interface_port(dp, a.ifindex), 0);
	assert_int_equal(dp_interface_port(dp, b.ifindex), LAB_PORT);
	dp_close(dp);
}

static bool is_other(uint32_t id, void *data)
{
	(void)data;
	return id != LAB_PORT;
}

static void check_unwanted(uint32_t without)
{
	struct net_link a = lab_link("secg-a", "veth"), b = lab_link("secg-b", "veth");
	struct dp *dp = lab_dp(LAB_PINS, without);
	struct dp_attachment attachment;

	lab_attach(dp, &a, PORT_HOOK_AUTO);
	assert_int_equal(dp_attach(dp, 8, &b, PORT_HOOK_AUTO, &attachment), 0);
	dp_close(dp);
	dp = lab_dp(LAB_PINS, without);
	assert_int_equal(dp_detach_unwanted(dp, is_other, NULL), 0);
	lab_assert_bare(a.ifindex);
	assert_int_equal(dp_interface_port(dp, a.ifindex), 0);
	assert_int_equal(dp_interface_port(dp, b.ifindex), 8);
	assert_true(without ? sys_clsact_query(b.ifindex, true) : lab_pinned_link_id("8_to"));
	dp_close(dp);
}

static void test_unwanted(void **state)
{
	(void)state;
	check_unwanted(0);
}

static void test_unwanted_clsact(void **state)
{
	(void)state;
	check_unwanted(1u << DP_FEATURE_TCX);
}

static void test_detach_all(void **state)
{
	struct net_link a = lab_link("secg-a", "veth"), b = lab_link("secg-b", "veth");
	struct dp *dp = lab_dp(LAB_PINS, 0), *second;
	char message[DP_MESSAGE_SIZE];
	struct dp_attachment attachment;

	(void)state;
	lab_attach(dp, &a, PORT_HOOK_XDP);
	dp_close(dp);
	second = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	assert_int_equal(dp_attach(second, 8, &b, PORT_HOOK_TC, &attachment), 0);
	dp_close(second);
	/* What another layout has left, and what is none of ours. */
	lab_run("mkdir -p " LAB_PINS "/v0/links " LAB_PINS "/v0/maps " LAB_PINS "/vault");
	assert_int_equal(dp_detach_all(LAB_PINS, message), 0);
	assert_string_equal(message, "");
	lab_assert_bare(a.ifindex);
	lab_assert_bare(b.ifindex);
	lab_run("test \"$(find " LAB_PINS " -mindepth 1)\" = " LAB_PINS "/vault");
	lab_run("rmdir " LAB_PINS "/vault");
	assert_int_equal(dp_detach_all(LAB_PINS "/missing", message), 0);
}

static void test_ephemeral(void **state)
{
	struct net_link a = lab_link("secg-a", "veth"), b = lab_link("secg-b", "veth");
	struct dp *dp = lab_dp(NULL, 0), *clsact = lab_dp(NULL, 1u << DP_FEATURE_TCX);
	struct dp_attachment attachment;
	uint32_t count;

	(void)state;
	assert_int_equal(lab_attach(dp, &a, PORT_HOOK_XDP).mode, DP_MODE_NATIVE);
	assert_int_equal(lab_attach(dp, &a, PORT_HOOK_TC).mode, DP_MODE_TCX);
	lab_attach(dp, &a, PORT_HOOK_TC);
	lab_first_tcx(a.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 1);
	assert_int_equal(dp_attach(clsact, 8, &b, PORT_HOOK_TC, &attachment), 0);
	dp_close(dp);
	dp_close(clsact);
	lab_assert_bare(a.ifindex);
	lab_assert_bare(b.ifindex);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, lab_setup, lab_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_adoption),        TEST(test_half_attached),
		TEST(test_severed_pin),     TEST(test_detach_after_its_interface),
		TEST(test_moved_port),      TEST(test_unwanted),
		TEST(test_unwanted_clsact), TEST(test_detach_all),
		TEST(test_ephemeral),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
