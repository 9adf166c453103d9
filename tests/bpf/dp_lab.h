/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the tests of the data path's rim run: a network and a mount namespace of their own with a bpffs,
 * so that whatever a test leaves is gone with the process.
 */
#ifndef SECG_TESTS_DP_LAB_H
#define SECG_TESTS_DP_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dp/internal.h"

#define LAB_PINS  "/tmp/secg-dp-lab/pins"
#define LAB_MOUNT "/tmp/secg-dp-lab"

static inline void lab_run(const char *command)
{
	int r = system(command);

	if (r)
		fail_msg("%s: exit %d", command, r);
}

static inline int lab_open(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	/* A mount point that other processes do not see. */
	if (mount("lab", "/tmp", "tmpfs", 0, NULL) < 0 || mkdir(LAB_MOUNT, 0700) < 0 ||
	    mount("lab", LAB_MOUNT, "bpf", 0, NULL) < 0)
		return -errno;
	return 0;
}

static inline int lab_make_links(void **state)
{
	(void)state;
	lab_run("ip link add secg-a type veth peer name secg-b && ip link set secg-a up && "
		"ip link set secg-b up");
	return 0;
}

static inline int lab_clean(void **state)
{
	char message[DP_MESSAGE_SIZE];

	(void)state;
	if (if_nametoindex("secg-a"))
		lab_run("ip link del secg-a");
	return dp_detach_all(LAB_PINS, message);
}

/* A folder for the pins is main's business; here it is made for each test. */
static inline int lab_make_pins(void **state)
{
	(void)state;
	mkdir(LAB_PINS, 0700);
	return 0;
}

static inline int lab_setup(void **state)
{
	lab_make_pins(state);
	return lab_make_links(state);
}

static inline struct dp *lab_dp(const char *bpffs, uint32_t without)
{
	struct dp_options options = {.bpffs = bpffs, .max_sessions = 1024, .without = without};
	char message[DP_MESSAGE_SIZE];
	struct dp *dp = NULL;
	int r = dp_open(&dp, &options, message);

	if (r < 0)
		fail_msg("dp_open: %s: %s", strerror(-r), message);
	if (message[0])
		fail_msg("dp_open says: %s", message);
	return dp;
}

#define LAB_PORT 3u

/* A pinned map; the caller closes it. */
static inline int lab_map(const char *map)
{
	char path[PATH_MAX];
	int fd;

	assert_int_equal(pin_path(path, "%s/v%d/maps/%s", LAB_PINS, SECG_LAYOUT, map), 0);
	fd = bpf_obj_get(path);
	assert_true(fd >= 0);
	return fd;
}

/* Opens with whatever it says. */
static inline struct dp *lab_open_saying(const struct dp_options *options,
					 char message[DP_MESSAGE_SIZE])
{
	struct dp *dp = NULL;

	assert_int_equal(dp_open(&dp, options, message), 0);
	return dp;
}

/* A port table in which LAB_PORT lives; timeouts of `seconds`. */
static inline void lab_flip(struct dp *dp, uint64_t generation, uint32_t seconds)
{
	struct secg_port ports[LAB_PORT + 1] = {0};

	ports[LAB_PORT].flags = SECG_PORT_VALID;
	for (int i = 0; i < SECG_TIMEOUT_COUNT; i++)
		ports[LAB_PORT].timeout[i] = (uint32_t)(seconds * dp_ticks_per_second(dp));
	assert_int_equal(dp_tables_flip(dp, generation, ports, LAB_PORT + 1), 0);
}

static inline struct net_link lab_link(const char *name, const char *kind)
{
	struct net_link link = {.ifindex = (int)if_nametoindex(name), .type = 1 /* ARPHRD_ETHER */};

	assert_true(link.ifindex > 0);
	snprintf(link.name, sizeof(link.name), "%s", name);
	snprintf(link.kind, sizeof(link.kind), "%s", kind);
	return link;
}

/* ── hooks ──────────────────────────────────────────────────────────────────────────────────────── */

static inline int lab_link_foreign(int program_fd, int ifindex, uint32_t type, uint32_t flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
	int fd = bpf_link_create(program_fd, ifindex, type, &opts);

	assert_true(fd >= 0);
	return fd;
}

static inline uint32_t lab_first_tcx(int ifindex, uint32_t type, uint32_t *ret_count)
{
	uint32_t ids[SYS_MPROG_MAX] = {0};
	int r = sys_tcx_query(ifindex, type, ids, ret_count);

	/* Before 6.6 there is no TCX, and nothing in its line. */
	if (r == -EINVAL)
		*ret_count = 0;
	else
		assert_int_equal(r, 0);
	return *ret_count ? ids[0] : 0;
}

static inline void lab_assert_bare(int ifindex)
{
	bool is_native;
	uint32_t count, id;

	lab_first_tcx(ifindex, SYS_ATTACH_TCX_INGRESS, &count);
	assert_int_equal(count, 0);
	lab_first_tcx(ifindex, SYS_ATTACH_TCX_EGRESS, &count);
	assert_int_equal(count, 0);
	assert_int_equal(sys_xdp_query(ifindex, &id, &is_native), 0);
	assert_int_equal(id, 0);
	assert_int_equal(sys_clsact_query(ifindex, false), 0);
	assert_int_equal(sys_clsact_query(ifindex, true), 0);
}

static inline struct dp_attachment lab_attach(struct dp *dp, const struct net_link *link,
					      enum port_hook hook)
{
	struct dp_attachment attachment;
	int r = dp_attach(dp, LAB_PORT, link, hook, &attachment);

	if (r < 0)
		fail_msg("dp_attach: %s: %s", strerror(-r), attachment.message);
	return attachment;
}

static inline uint32_t lab_pinned_link_id(const char *name)
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

#endif
