/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks on real interfaces: chosen, first in line, beside foreign programs, adopted, taken off. */
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <sys/resource.h>

#include "dp_lab.h"

/* A program of somebody else, that lets everything go on. */
static int load_foreign(enum bpf_prog_type type, int verdict)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(type, "foreigner", "GPL", code, ARRAY_SIZE(code), NULL);

	assert_true(fd >= 0);
	return fd;
}

static void test_tcx_first_in_line(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	_cleanup_close_ int foreign = load_foreign(BPF_PROG_TYPE_SCHED_CLS, -1);
	_cleanup_close_ int other = load_foreign(BPF_PROG_TYPE_SCHED_CLS, -1);
	_cleanup_close_ int earlier = -1, later = -1, before = -1;
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment;
	uint32_t count;

	(void)state;
	earlier = lab_link_foreign(foreign, link.ifindex, SYS_ATTACH_TCX_INGRESS, 0);
	attachment = lab_attach(dp, &link, PORT_HOOK_AUTO);
	later = lab_link_foreign(foreign, link.ifindex, SYS_ATTACH_TCX_EGRESS, 0);
	assert_false(attachment.is_xdp);
	assert_int_equal(attachment.mode, DP_MODE_TCX);
	assert_int_equal(attachment.mode_to, DP_MODE_TCX);
	assert_string_equal(attachment.message, "");
	assert_false(attachment.is_degraded);
	assert_int_equal(lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_equal(count, 2);
	assert_int_equal(lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_TO].id);
	assert_int_equal(count, 2);

	before = lab_link_foreign(other, link.ifindex, SYS_ATTACH_TCX_EGRESS, SYS_F_BEFORE);
	attachment = lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_true(attachment.is_degraded);
	assert_non_null(strstr(attachment.message, "direction to"));
	assert_non_null(strstr(attachment.message, "(foreigner)"));
	assert_null(strstr(attachment.message, "direction from"));
}

static void test_prog_tag(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment = lab_attach(dp, &link, PORT_HOOK_TC);

	(void)state;
	assert_int_equal(strspn(attachment.prog_tag, "0123456789abcdef"), 16);
	assert_int_equal(strspn(attachment.prog_tag_to, "0123456789abcdef"), 16);
	assert_string_not_equal(attachment.prog_tag, attachment.prog_tag_to);
}

static void test_clsact(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment = lab_attach(dp, &link, PORT_HOOK_AUTO);
	uint32_t count;

	(void)state;
	assert_false(dp_has_feature(dp, DP_FEATURE_TCX));
	assert_int_equal(attachment.mode, DP_MODE_CLSACT);
	assert_int_equal(attachment.mode_to, DP_MODE_CLSACT);
	assert_string_equal(attachment.message, "");
	assert_int_equal(sys_clsact_query(link.ifindex, false),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_equal(sys_clsact_query(link.ifindex, true), dp->programs[DP_PROGRAM_TC_TO].id);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 0);
	/* Again: the same filter, not a second one. */
	lab_attach(dp, &link, PORT_HOOK_AUTO);
	lab_run("test $(tc filter show dev secg-a ingress | grep -c 'handle 0x73656367') = 1");
	assert_int_equal(dp_detach(dp, LAB_PORT, link.ifindex), 0);
	lab_assert_bare(link.ifindex);
	lab_run("! tc qdisc show dev secg-a | grep -q clsact");
}

/* What cannot be taken off is told, and goes on as that port's. */
static void test_detach_that_fails(void **state)
{
	_cleanup_(dp_closep) struct dp *clsact = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment;
	struct rlimit limit, none;

	(void)state;
	lab_attach(clsact, &link, PORT_HOOK_AUTO);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_true(dp_detach(clsact, LAB_PORT, link.ifindex) < 0);
	assert_true(dp_attach(clsact, LAB_PORT, &link, PORT_HOOK_AUTO, &attachment) < 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(sys_clsact_query(link.ifindex, false) > 0);
	assert_true(sys_clsact_query(link.ifindex, true) > 0);
	assert_int_equal(dp_interface_port(clsact, link.ifindex), LAB_PORT);
	assert_int_equal(dp_detach(clsact, LAB_PORT, link.ifindex), 0);
	lab_assert_bare(link.ifindex);
	assert_int_equal(dp_interface_port(clsact, link.ifindex), 0);
}

/* An attach that cannot look at what is there leaves it. */
static void test_attach_that_cannot_look(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment;
	struct rlimit limit, none;
	uint32_t count;

	(void)state;
	lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_true(dp_attach(dp, LAB_PORT, &link, PORT_HOOK_AUTO, &attachment) < 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 1);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 1);
	assert_true(lab_pinned_link_id("3_to") > 0);
	assert_int_equal(dp_interface_port(dp, link.ifindex), LAB_PORT);
}

static void add_foreign_filter(int ifindex, uint32_t priority)
{
	_cleanup_close_ int foreign = load_foreign(BPF_PROG_TYPE_SCHED_CLS, -1);
	struct bpf_tc_hook hook = {
		.sz = sizeof(hook),
		.ifindex = ifindex,
		.attach_point = BPF_TC_INGRESS,
	};
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = foreign, .priority = priority, .handle = 1);

	bpf_tc_hook_create(&hook);
	assert_int_equal(bpf_tc_attach(&hook, &opts), 0);
}

static void test_clsact_beside_foreign(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment;

	(void)state;
	add_foreign_filter(link.ifindex, 2);
	attachment = lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_string_equal(attachment.message, "");
	add_foreign_filter(link.ifindex, 1);
	attachment = lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_true(attachment.is_degraded);
	assert_non_null(strstr(attachment.message, "foreigner"));
	assert_int_equal(dp_detach(dp, LAB_PORT, link.ifindex), 0);
	/* What is not ours stays. */
	lab_run("test $(tc filter show dev secg-a ingress | grep -c foreigner) = 2");
}

static void test_xdp_native(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment = lab_attach(dp, &link, PORT_HOOK_XDP);
	bool is_native = false;
	uint32_t id = 0, count;

	(void)state;
	assert_true(attachment.is_xdp);
	assert_int_equal(attachment.mode, DP_MODE_NATIVE);
	assert_int_equal(attachment.mode_to, DP_MODE_TCX);
	assert_string_equal(attachment.message, "");
	assert_int_equal(sys_xdp_query(link.ifindex, &id, &is_native), 0);
	assert_true(is_native);
	assert_int_equal(id, dp->programs[DP_PROGRAM_XDP].id);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 0);
}

/* A bridge has no native XDP. */
static void test_xdp_generic(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct dp_attachment attachment;
	struct net_link link;

	(void)state;
	lab_run("ip link add secg-br type bridge");
	link = lab_link("secg-br", "bridge");
	attachment = lab_attach(dp, &link, PORT_HOOK_XDP);
	assert_int_equal(attachment.mode, DP_MODE_GENERIC);
	assert_true(attachment.is_degraded);
	assert_non_null(strstr(attachment.message, "generic"));
	/* Again: kept, and still said. */
	attachment = lab_attach(dp, &link, PORT_HOOK_XDP);
	assert_int_equal(attachment.mode, DP_MODE_GENERIC);
	assert_true(attachment.is_degraded);
	/* `auto` tries native XDP on what looks like a NIC, and takes TC without a word. */
	dp_detach(dp, LAB_PORT, link.ifindex);
	link.kind[0] = '\0';
	attachment = lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_equal(attachment.mode, DP_MODE_TCX);
	assert_string_equal(attachment.message, "");
	lab_run("ip link del secg-br");
}

/* What `auto` does on a NIC with native XDP, which a veth looks like when its kind is not told. */
static void test_auto_native(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "");
	struct dp_attachment attachment = lab_attach(dp, &link, PORT_HOOK_AUTO);

	(void)state;
	assert_int_equal(attachment.mode, DP_MODE_NATIVE);
	assert_true(attachment.is_xdp);
}

static void test_foreign_xdp(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	_cleanup_close_ int foreign = load_foreign(BPF_PROG_TYPE_XDP, XDP_PASS);
	_cleanup_close_ int foreign_link = -1;
	struct net_link link = lab_link("secg-a", "");
	struct dp_attachment attachment;
	uint32_t count;

	(void)state;
	foreign_link = lab_link_foreign(foreign, link.ifindex, SYS_ATTACH_XDP, XDP_FLAGS_DRV_MODE);
	assert_int_equal(dp_attach(dp, LAB_PORT, &link, PORT_HOOK_XDP, &attachment), -EBUSY);
	assert_non_null(strstr(attachment.message, "(foreigner)"));
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 0);
	assert_int_equal(dp_interface_port(dp, link.ifindex), 0);
	assert_int_equal(lab_pinned_link_id("3_to"), 0);

	attachment = lab_attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_equal(attachment.mode, DP_MODE_TCX);
	assert_true(attachment.is_degraded);
	assert_non_null(strstr(attachment.message, "hook tc is used"));
}

/* A change that cannot be made leaves the hooks that are there. */
static void test_failed_change_keeps_hooks(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	_cleanup_close_ int foreign = load_foreign(BPF_PROG_TYPE_XDP, XDP_PASS);
	_cleanup_close_ int foreign_link = -1;
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment;
	uint32_t count;

	(void)state;
	lab_attach(dp, &link, PORT_HOOK_TC);
	foreign_link = lab_link_foreign(foreign, link.ifindex, SYS_ATTACH_XDP, XDP_FLAGS_DRV_MODE);
	assert_int_equal(dp_attach(dp, LAB_PORT, &link, PORT_HOOK_XDP, &attachment), -EBUSY);
	assert_int_equal(lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_equal(lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_TO].id);
	assert_int_equal(dp_interface_port(dp, link.ifindex), LAB_PORT);
}

static void test_change_of_hook(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	uint32_t count, id, to;
	bool is_native;

	(void)state;
	lab_attach(dp, &link, PORT_HOOK_TC);
	to = lab_pinned_link_id("3_to");
	assert_true(to > 0);
	assert_int_equal(lab_attach(dp, &link, PORT_HOOK_XDP).mode, DP_MODE_NATIVE);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 0);
	assert_int_equal(lab_attach(dp, &link, PORT_HOOK_TC).mode, DP_MODE_TCX);
	assert_int_equal(sys_xdp_query(link.ifindex, &id, &is_native), 0);
	assert_int_equal(id, 0);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 1);
	assert_int_equal(lab_pinned_link_id("3_to"), to);
	assert_int_equal(lab_pinned_link_id("3_from_new"), 0);
}

/* From a daemon that did without TCX to one that has it, and back. */
static void test_change_between_tc_kinds(void **state)
{
	struct net_link link = lab_link("secg-a", "veth");
	struct dp *dp = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	uint32_t count;

	(void)state;
	lab_attach(dp, &link, PORT_HOOK_TC);
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 0);
	assert_int_equal(lab_attach(dp, &link, PORT_HOOK_TC).mode, DP_MODE_TCX);
	assert_int_equal(sys_clsact_query(link.ifindex, false), 0);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 1);
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	assert_int_equal(lab_attach(dp, &link, PORT_HOOK_TC).mode, DP_MODE_CLSACT);
	assert_true(sys_clsact_query(link.ifindex, true) > 0);
	lab_first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 0);
	dp_detach(dp, LAB_PORT, link.ifindex);
	lab_assert_bare(link.ifindex);
	dp_close(dp);
}

static void test_without_features(void **state)
{
	_cleanup_(dp_closep) struct dp *dp =
		lab_dp(NULL, 1u << DP_FEATURE_XDP_FRAGS | 1u << DP_FEATURE_XDP_LINK);
	_cleanup_(dp_closep) struct dp *full = lab_dp(NULL, 0);
	struct net_link link = lab_link("secg-a", "");
	struct dp_attachment attachment;

	(void)state;
	assert_true(dp_has_feature(full, DP_FEATURE_XDP_FRAGS));
	assert_true(dp_has_feature(full, DP_FEATURE_XDP_LINK));
	assert_true(dp_has_feature(full, DP_FEATURE_TCX));
	assert_false(dp_has_feature(dp, DP_FEATURE_XDP_FRAGS));
	assert_int_equal(lab_attach(dp, &link, PORT_HOOK_AUTO).mode, DP_MODE_TCX);
	dp_detach(dp, LAB_PORT, link.ifindex);
	assert_true(dp_attach(dp, LAB_PORT, &link, PORT_HOOK_XDP, &attachment) < 0);
	assert_non_null(strstr(attachment.message, "XDP links"));
	lab_assert_bare(link.ifindex);
}

/* Without frags the kernel refuses native XDP on a veth with a large MTU; with them it does not. */
static void test_frags(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(NULL, 1u << DP_FEATURE_XDP_FRAGS);
	_cleanup_(dp_closep) struct dp *full = lab_dp(NULL, 0);
	struct net_link link;

	(void)state;
	lab_run("ip link set secg-a mtu 9000 && ip link set secg-b mtu 9000");
	link = lab_link("secg-a", "veth");
	assert_int_equal(lab_attach(dp, &link, PORT_HOOK_XDP).mode, DP_MODE_GENERIC);
	dp_detach(dp, LAB_PORT, link.ifindex);
	assert_int_equal(lab_attach(full, &link, PORT_HOOK_XDP).mode, DP_MODE_NATIVE);
}

static void test_l3_device(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(NULL, 0);
	struct dp_attachment attachment;
	struct net_link link;

	(void)state;
	lab_run("ip tuntap add secg-tun mode tun");
	link = lab_link("secg-tun", "tun");
	link.type = 0xfffe; /* ARPHRD_NONE */
	assert_int_equal(lab_attach(dp, &link, PORT_HOOK_AUTO).mode, DP_MODE_TCX);
	assert_int_equal(dp->ifindex[link.ifindex].flags, SECG_IFINDEX_L3);
	dp_detach(dp, LAB_PORT, link.ifindex);
	assert_true(dp_attach(dp, LAB_PORT, &link, PORT_HOOK_XDP, &attachment) < 0);
	assert_non_null(strstr(attachment.message, "Ethernet"));
	lab_run("ip tuntap del secg-tun mode tun");
}

/* Two interfaces whose numbers share a slot. */
static void test_ifindex_collision(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(NULL, 0);
	int near = 500, far = 500 + SECG_IFINDEX_SLOTS;

	(void)state;
	assert_int_equal(ifindex_set(dp, near, 3, true), 0);
	assert_int_equal(ifindex_set(dp, far, 4, true), 0);
	assert_int_equal(dp_interface_port(dp, near), 3);
	assert_int_equal(dp_interface_port(dp, far), 4);
	ifindex_clear(dp, near);
	assert_int_equal(dp_interface_port(dp, near), 0);
	assert_int_equal(dp_interface_port(dp, far), 4);
	/* It moves to the slot, and must not linger in the hash. */
	assert_int_equal(ifindex_set(dp, far, 5, true), 0);
	ifindex_clear(dp, far);
	assert_int_equal(dp_interface_port(dp, far), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, lab_setup, lab_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tcx_first_in_line),
		TEST(test_prog_tag),
		TEST(test_clsact),
		TEST(test_detach_that_fails),
		TEST(test_attach_that_cannot_look),
		TEST(test_clsact_beside_foreign),
		TEST(test_xdp_native),
		TEST(test_xdp_generic),
		TEST(test_auto_native),
		TEST(test_foreign_xdp),
		TEST(test_failed_change_keeps_hooks),
		TEST(test_change_of_hook),
		TEST(test_change_between_tc_kinds),
		TEST(test_without_features),
		TEST(test_frags),
		TEST(test_l3_device),
		TEST(test_ifindex_collision),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
