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
static inline int lab_setup(void **state)
{
	mkdir(LAB_PINS, 0700);
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

static inline struct net_link lab_link(const char *name, const char *kind)
{
	struct net_link link = {.ifindex = (int)if_nametoindex(name), .type = 1 /* ARPHRD_ETHER */};

	assert_true(link.ifindex > 0);
	snprintf(link.name, sizeof(link.name), "%s", name);
	snprintf(link.kind, sizeof(link.kind), "%s", kind);
	return link;
}

#endif
