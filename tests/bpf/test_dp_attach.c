/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks on real interfaces: chosen, first in line, beside foreign programs, adopted, taken off. */
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include "dp_lab.h"

#define PORT 7u

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

static int link_foreign(int program_fd, int ifindex, uint32_t type, uint32_t flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
	int fd = bpf_link_create(program_fd, ifindex, type, &opts);

	assert_true(fd >= 0);
	return fd;
}

static uint32_t first_tcx(int ifindex, uint32_t type, uint32_t *ret_count)
{
	uint32_t ids[SYS_MPROG_MAX] = {0};

	assert_int_equal(sys_tcx_query(ifindex, type, ids, ret_count), 0);
	return *ret_count ? ids[0] : 0;
}

static void assert_bare(int ifindex)
{
	bool is_native;
	uint32_t count, id;

	first_tcx(ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 0);
	first_tcx(ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 0);
	assert_int_equal(sys_xdp_query(ifindex, &id, &is_native), 0);
	assert_int_equal(id, 0);
	assert_int_equal(sys_clsact_query(ifindex, false), 0);
	assert_int_equal(sys_clsact_query(ifindex, true), 0);
}

static struct dp_attachment attach(struct dp *dp, const struct net_link *link, enum port_hook hook)
{
	struct dp_attachment attachment;
	int r = dp_attach(dp, PORT, link, hook, &attachment);

	if (r < 0)
		fail_msg("dp_attach: %s: %s", strerror(-r), attachment.message);
	return attachment;
}

static uint32_t pinned_link_id(const char *name)
{
	_cleanup_close_ int fd = -1;
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);
	char path[PATH_MAX];

	assert_int_equal(pin_path(path, "%s/v%d/links/%s", LAB_PINS, SECG_LAYOUT, name), 0);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return 0;
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	return info.id;
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
	earlier = link_foreign(foreign, link.ifindex, SYS_ATTACH_TCX_INGRESS, 0);
	attachment = attach(dp, &link, PORT_HOOK_AUTO);
	later = link_foreign(foreign, link.ifindex, SYS_ATTACH_TCX_EGRESS, 0);
	assert_false(attachment.is_xdp);
	assert_int_equal(attachment.mode, DP_MODE_TCX);
	assert_int_equal(attachment.mode_to, DP_MODE_TCX);
	assert_string_equal(attachment.message, "");
	assert_false(attachment.is_degraded);
	assert_int_equal(first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_equal(count, 2);
	assert_int_equal(first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_TO].id);
	assert_int_equal(count, 2);

	before = link_foreign(other, link.ifindex, SYS_ATTACH_TCX_EGRESS, SYS_F_BEFORE);
	attachment = attach(dp, &link, PORT_HOOK_AUTO);
	assert_true(attachment.is_degraded);
	assert_non_null(strstr(attachment.message, "direction to"));
	assert_non_null(strstr(attachment.message, "(foreigner)"));
	assert_null(strstr(attachment.message, "direction from"));
}

static void test_prog_tag(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment = attach(dp, &link, PORT_HOOK_TC);

	(void)state;
	assert_int_equal(strspn(attachment.prog_tag, "0123456789abcdef"), 16);
	assert_int_equal(strspn(attachment.prog_tag_to, "0123456789abcdef"), 16);
	assert_string_not_equal(attachment.prog_tag, attachment.prog_tag_to);
}

static void test_clsact(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment = attach(dp, &link, PORT_HOOK_AUTO);
	uint32_t count;

	(void)state;
	assert_false(dp_has_feature(dp, DP_FEATURE_TCX));
	assert_int_equal(attachment.mode, DP_MODE_CLSACT);
	assert_int_equal(attachment.mode_to, DP_MODE_CLSACT);
	assert_string_equal(attachment.message, "");
	assert_int_equal(sys_clsact_query(link.ifindex, false),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_equal(sys_clsact_query(link.ifindex, true), dp->programs[DP_PROGRAM_TC_TO].id);
	first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 0);
	/* Again: the same filter, not a second one. */
	attach(dp, &link, PORT_HOOK_AUTO);
	lab_run("test $(tc filter show dev secg-a ingress | grep -c 'handle 0x73656367') = 1");
	assert_int_equal(dp_detach(dp, PORT, link.ifindex), 0);
	assert_bare(link.ifindex);
	lab_run("! tc qdisc show dev secg-a | grep -q clsact");
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
	attachment = attach(dp, &link, PORT_HOOK_AUTO);
	assert_string_equal(attachment.message, "");
	add_foreign_filter(link.ifindex, 1);
	attachment = attach(dp, &link, PORT_HOOK_AUTO);
	assert_true(attachment.is_degraded);
	assert_non_null(strstr(attachment.message, "foreigner"));
	assert_int_equal(dp_detach(dp, PORT, link.ifindex), 0);
	/* What is not ours stays. */
	lab_run("test $(tc filter show dev secg-a ingress | grep -c foreigner) = 2");
}

static void test_xdp_native(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	struct dp_attachment attachment = attach(dp, &link, PORT_HOOK_XDP);
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
	first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
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
	attachment = attach(dp, &link, PORT_HOOK_XDP);
	assert_int_equal(attachment.mode, DP_MODE_GENERIC);
	assert_true(attachment.is_degraded);
	assert_non_null(strstr(attachment.message, "generic"));
	/* Again: kept, and still said. */
	attachment = attach(dp, &link, PORT_HOOK_XDP);
	assert_int_equal(attachment.mode, DP_MODE_GENERIC);
	assert_true(attachment.is_degraded);
	/* `auto` tries native XDP on what looks like a NIC, and takes TC without a word. */
	dp_detach(dp, PORT, link.ifindex);
	link.kind[0] = '\0';
	attachment = attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_equal(attachment.mode, DP_MODE_TCX);
	assert_string_equal(attachment.message, "");
	lab_run("ip link del secg-br");
}

/* What `auto` does on a NIC with native XDP, which a veth looks like when its kind is not told. */
static void test_auto_native(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "");
	struct dp_attachment attachment = attach(dp, &link, PORT_HOOK_AUTO);

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
	foreign_link = link_foreign(foreign, link.ifindex, SYS_ATTACH_XDP, XDP_FLAGS_DRV_MODE);
	assert_int_equal(dp_attach(dp, PORT, &link, PORT_HOOK_XDP, &attachment), -EBUSY);
	assert_non_null(strstr(attachment.message, "(foreigner)"));
	first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 0);
	assert_int_equal(ifindex_port(dp, link.ifindex), 0);
	assert_int_equal(pinned_link_id("7_to"), 0);

	attachment = attach(dp, &link, PORT_HOOK_AUTO);
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
	attach(dp, &link, PORT_HOOK_TC);
	foreign_link = link_foreign(foreign, link.ifindex, SYS_ATTACH_XDP, XDP_FLAGS_DRV_MODE);
	assert_int_equal(dp_attach(dp, PORT, &link, PORT_HOOK_XDP, &attachment), -EBUSY);
	assert_int_equal(first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_equal(first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_TO].id);
	assert_int_equal(ifindex_port(dp, link.ifindex), PORT);
}

static void test_change_of_hook(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	uint32_t count, id, to;
	bool is_native;

	(void)state;
	attach(dp, &link, PORT_HOOK_TC);
	to = pinned_link_id("7_to");
	assert_true(to > 0);
	assert_int_equal(attach(dp, &link, PORT_HOOK_XDP).mode, DP_MODE_NATIVE);
	first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 0);
	assert_int_equal(attach(dp, &link, PORT_HOOK_TC).mode, DP_MODE_TCX);
	assert_int_equal(sys_xdp_query(link.ifindex, &id, &is_native), 0);
	assert_int_equal(id, 0);
	first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 1);
	assert_int_equal(pinned_link_id("7_to"), to);
	assert_int_equal(pinned_link_id("7_from_new"), 0);
}

/* From a daemon that did without TCX to one that has it, and back. */
static void test_change_between_tc_kinds(void **state)
{
	struct net_link link = lab_link("secg-a", "veth");
	struct dp *dp = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	uint32_t count;

	(void)state;
	attach(dp, &link, PORT_HOOK_TC);
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 0);
	assert_int_equal(attach(dp, &link, PORT_HOOK_TC).mode, DP_MODE_TCX);
	assert_int_equal(sys_clsact_query(link.ifindex, false), 0);
	first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 1);
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	assert_int_equal(attach(dp, &link, PORT_HOOK_TC).mode, DP_MODE_CLSACT);
	assert_true(sys_clsact_query(link.ifindex, true) > 0);
	first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 0);
	dp_detach(dp, PORT, link.ifindex);
	assert_bare(link.ifindex);
	dp_close(dp);
}

static void test_adoption(void **state)
{
	struct net_link link = lab_link("secg-a", "veth");
	struct dp *dp = lab_dp(LAB_PINS, 0);
	uint32_t from, to, count, old;

	(void)state;
	attach(dp, &link, PORT_HOOK_AUTO);
	from = pinned_link_id("7_from");
	to = pinned_link_id("7_to");
	old = dp->programs[DP_PROGRAM_TC_FROM].id;
	dp_close(dp);
	assert_int_equal(first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count), old);

	dp = lab_dp(LAB_PINS, 0);
	assert_int_equal(ifindex_port(dp, link.ifindex), PORT);
	attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_equal(pinned_link_id("7_from"), from);
	assert_int_equal(pinned_link_id("7_to"), to);
	assert_int_equal(first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count),
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
	attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_equal(pin_path(path, "%s/links/7_to", dp->folder), 0);
	assert_int_equal(pin_path(fresh, "%s/links/7_from_new", dp->folder), 0);
	link_remove(-1, path);
	{
		_cleanup_close_ int half = link_foreign(dp->programs[DP_PROGRAM_XDP].fd,
							link.ifindex, SYS_ATTACH_XDP, 0);

		assert_int_equal(bpf_obj_pin(half, fresh), 0);
	}
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 0);
	attach(dp, &link, PORT_HOOK_AUTO);
	assert_true(pinned_link_id("7_to") > 0);
	assert_int_equal(pinned_link_id("7_from_new"), 0);
	first_tcx(link.ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 1);
	dp_detach(dp, PORT, link.ifindex);
	assert_bare(link.ifindex);
	dp_close(dp);
}

static void test_severed_pin(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");
	uint32_t from, count;

	attach(dp, &link, PORT_HOOK_AUTO);
	from = pinned_link_id("7_from");
	lab_run("ip link del secg-a");
	assert_int_equal(pinned_link_id("7_from"), from);
	lab_make_links(state);
	link = lab_link("secg-a", "veth");
	attach(dp, &link, PORT_HOOK_AUTO);
	assert_int_not_equal(pinned_link_id("7_from"), from);
	assert_int_equal(first_tcx(link.ifindex, SYS_ATTACH_TCX_INGRESS, &count),
			 dp->programs[DP_PROGRAM_TC_FROM].id);
	assert_int_equal(ifindex_port(dp, link.ifindex), PORT);
}

static void test_forget(void **state)
{
	_cleanup_(dp_closep) struct dp *dp = lab_dp(LAB_PINS, 0);
	struct net_link link = lab_link("secg-a", "veth");

	(void)state;
	attach(dp, &link, PORT_HOOK_AUTO);
	lab_run("ip link del secg-a");
	dp_forget(dp, PORT, link.ifindex);
	assert_int_equal(pinned_link_id("7_from"), 0);
	assert_int_equal(pinned_link_id("7_to"), 0);
	assert_int_equal(ifindex_port(dp, link.ifindex), 0);
}

/* The port moves to another interface while no daemon looks. */
static void test_moved_port(void **state)
{
	struct net_link a = lab_link("secg-a", "veth"), b = lab_link("secg-b", "veth");
	struct dp *dp = lab_dp(LAB_PINS, 0);

	(void)state;
	attach(dp, &a, PORT_HOOK_XDP);
	dp_close(dp);
	dp = lab_dp(LAB_PINS, 0);
	attach(dp, &b, PORT_HOOK_TC);
	assert_bare(a.ifindex);
	assert_int_equal(ifindex_port(dp, a.ifindex), 0);
	assert_int_equal(ifindex_port(dp, b.ifindex), PORT);
	dp_close(dp);
}

static bool is_other(uint32_t id, void *data)
{
	(void)data;
	return id != PORT;
}

static void check_unwanted(uint32_t without)
{
	struct net_link a = lab_link("secg-a", "veth"), b = lab_link("secg-b", "veth");
	struct dp *dp = lab_dp(LAB_PINS, without);
	struct dp_attachment attachment;

	attach(dp, &a, PORT_HOOK_AUTO);
	assert_int_equal(dp_attach(dp, 8, &b, PORT_HOOK_AUTO, &attachment), 0);
	dp_close(dp);
	dp = lab_dp(LAB_PINS, without);
	assert_int_equal(dp_detach_unwanted(dp, is_other, NULL), 0);
	assert_bare(a.ifindex);
	assert_int_equal(ifindex_port(dp, a.ifindex), 0);
	assert_int_equal(ifindex_port(dp, b.ifindex), 8);
	assert_true(without ? sys_clsact_query(b.ifindex, true) : pinned_link_id("8_to"));
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
	attach(dp, &a, PORT_HOOK_XDP);
	dp_close(dp);
	second = lab_dp(LAB_PINS, 1u << DP_FEATURE_TCX);
	assert_int_equal(dp_attach(second, 8, &b, PORT_HOOK_TC, &attachment), 0);
	dp_close(second);
	/* What another layout has left, and what is none of ours. */
	lab_run("mkdir -p " LAB_PINS "/v0/links " LAB_PINS "/v0/maps " LAB_PINS "/vault");
	assert_int_equal(dp_detach_all(LAB_PINS, message), 0);
	assert_string_equal(message, "");
	assert_bare(a.ifindex);
	assert_bare(b.ifindex);
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
	assert_int_equal(attach(dp, &a, PORT_HOOK_XDP).mode, DP_MODE_NATIVE);
	assert_int_equal(attach(dp, &a, PORT_HOOK_TC).mode, DP_MODE_TCX);
	attach(dp, &a, PORT_HOOK_TC);
	first_tcx(a.ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 1);
	assert_int_equal(dp_attach(clsact, 8, &b, PORT_HOOK_TC, &attachment), 0);
	dp_close(dp);
	dp_close(clsact);
	assert_bare(a.ifindex);
	assert_bare(b.ifindex);
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
	assert_int_equal(attach(dp, &link, PORT_HOOK_AUTO).mode, DP_MODE_TCX);
	dp_detach(dp, PORT, link.ifindex);
	assert_true(dp_attach(dp, PORT, &link, PORT_HOOK_XDP, &attachment) < 0);
	assert_non_null(strstr(attachment.message, "XDP links"));
	assert_bare(link.ifindex);
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
	assert_int_equal(attach(dp, &link, PORT_HOOK_XDP).mode, DP_MODE_GENERIC);
	dp_detach(dp, PORT, link.ifindex);
	assert_int_equal(attach(full, &link, PORT_HOOK_XDP).mode, DP_MODE_NATIVE);
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
	assert_int_equal(attach(dp, &link, PORT_HOOK_AUTO).mode, DP_MODE_TCX);
	assert_int_equal(dp->ifindex[link.ifindex].flags, SECG_PORT_L3);
	dp_detach(dp, PORT, link.ifindex);
	assert_true(dp_attach(dp, PORT, &link, PORT_HOOK_XDP, &attachment) < 0);
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
	assert_int_equal(ifindex_port(dp, near), 3);
	assert_int_equal(ifindex_port(dp, far), 4);
	ifindex_clear(dp, near);
	assert_int_equal(ifindex_port(dp, near), 0);
	assert_int_equal(ifindex_port(dp, far), 4);
	/* It moves to the slot, and must not linger in the hash. */
	assert_int_equal(ifindex_set(dp, far, 5, true), 0);
	ifindex_clear(dp, far);
	assert_int_equal(ifindex_port(dp, far), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, lab_setup, lab_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tcx_first_in_line),
		TEST(test_prog_tag),
		TEST(test_clsact),
		TEST(test_clsact_beside_foreign),
		TEST(test_xdp_native),
		TEST(test_xdp_generic),
		TEST(test_auto_native),
		TEST(test_foreign_xdp),
		TEST(test_failed_change_keeps_hooks),
		TEST(test_change_of_hook),
		TEST(test_change_between_tc_kinds),
		TEST(test_adoption),
		TEST(test_half_attached),
		TEST(test_severed_pin),
		TEST(test_forget),
		TEST(test_moved_port),
		TEST(test_unwanted),
		TEST(test_unwanted_clsact),
		TEST(test_detach_all),
		TEST(test_ephemeral),
		TEST(test_without_features),
		TEST(test_frags),
		TEST(test_l3_device),
		TEST(test_ifindex_collision),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
