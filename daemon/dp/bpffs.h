/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The BPF file system in which pins live: found, or mounted. Called by main before dp_open, and
 * by doctor.
 */
#ifndef SECG_DP_BPFFS_H
#define SECG_DP_BPFFS_H

#include <linux/limits.h>
#include <stdbool.h>

#include "dp/dp.h"

/*
 * Makes sure that folder `directory` (an absolute path) exists and lies on a bpffs. Where none is
 * mounted, one is: at /sys/fs/bpf for a folder below it, else at the folder itself. Not in a private
 * mount namespace, whose mounts, pins and all, die with it: -EPERM and a message that says what to do.
 */
int bpffs_prepare(const char *directory, char message[DP_MESSAGE_SIZE]);

/* This process sees other mounts than process 1. False where that cannot be found out. */
bool bpffs_is_private(void);

/* Where a folder of pins lies. */
struct bpffs_place {
	char mount
		[PATH_MAX]; /* mount point of its file system, as this process sees it; "": not found */
	bool is_private;       /* bpffs_is_private() */
	bool is_outside_known; /* process 1's mounts could be read */
	bool is_outside; /* process 1 sees the same file system: pins outlive this process's mounts */
};
void bpffs_find(struct bpffs_place *ret_place, const char *folder);

#endif
