/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF file system in which pins live. Called by main and doctor; knows no maps. */
#include "dp/bpffs.h"

#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#define USUAL_PLACE "/sys/fs/bpf"

/* Number of the first mount that a process sees; no two namespaces share one. 0: not known. */
static int first_mount(const char *mountinfo)
{
	FILE *file = fopen(mountinfo, "re");
	int id = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%d ", &id) != 1)
		id = 0;
	fclose(file);
	return id;
}

bool bpffs_is_private(void)
{
	char own[64], first[64];
	ssize_t own_size = readlink("/proc/self/ns/mnt", own, sizeof(own));
	ssize_t first_size = readlink("/proc/1/ns/mnt", first, sizeof(first));
	int own_mount, init_mount;

	if (own_size > 0 && first_size > 0)
		return own_size != first_size || memcmp(own, first, (size_t)own_size);
	/* Process 1 has a capability that we lack, as in some containers and machines. */
	own_mount = first_mount("/proc/self/mountinfo");
	init_mount = first_mount("/proc/1/mountinfo");
	return own_mount && init_mount && own_mount != init_mount;
}

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* Makes the folder and those above it. */
static int make_folders(const char *directory)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s", directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	for (char *end = path + 1; *end; end++) {
		if (*end != '/')
			continue;
		*end = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST && access(path, F_OK) < 0)
			return -errno;
		*end = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

static int mount_at(const char *place, const char *directory, char message[DP_MESSAGE_SIZE])
{
	if (bpffs_is_private()) {
		snprintf(
			message, DP_MESSAGE_SIZE,
			"no bpffs at %s, and this mount namespace is private, so pins would die with it: "
			"mount one outside, or run with --ephemeral",
			directory);
		return -EPERM;
	}
	if (mount("bpf", place, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0) {
		int r = -errno;

		snprintf(message, DP_MESSAGE_SIZE, "cannot mount a bpffs at %s: %s", place,
			 strerror(-r));
		return r;
	}
	return 0;
}

int bpffs_prepare(const char *directory, char message[DP_MESSAGE_SIZE])
{
	bool is_usual = !strncmp(directory, USUAL_PLACE "/", sizeof(USUAL_PLACE));
	int r;

	message[0] = '\0';
	if (directory[0] != '/') {
		snprintf(message, DP_MESSAGE_SIZE, "%s is not an absolute path", directory);
		return -EINVAL;
	}
	if (is_usual && !is_bpffs(USUAL_PLACE)) {
		r = mount_at(USUAL_PLACE, directory, message);
		if (r < 0)
			return r;
	}
	r = make_folders(directory);
	if (r < 0) {
		snprintf(message, DP_MESSAGE_SIZE, "cannot make %s: %s", directory, strerror(-r));
		return r;
	}
	return is_bpffs(directory) ? 0 : mount_at(directory, directory, message);
}

/* ── where it is ────────────────────────────────────────────────────────────────────────────────── */

/*
 * Mount point of the file system with a device number: "36 35 0:32 / /sys/fs/bpf rw,…". The last of
 * several, which lies on top. -ENOENT.
 */
static int find_mount(const char *mountinfo, dev_t device, char ret_mount[PATH_MAX])
{
	_cleanup_free_ char *line = NULL;
	FILE *file = fopen(mountinfo, "re");
	bool is_found = false;
	size_t size = 0;

	if (!file)
		return -errno;
	while (getline(&line, &size, file) > 0) {
		char mount[PATH_MAX];
		unsigned int first, second;

		if (sscanf(line, "%*d %*d %u:%u %*s %4095s", &first, &second, mount) != 3 ||
		    makedev(first, second) != device)
			continue;
		memcpy(ret_mount, mount, strlen(mount) + 1);
		is_found = true;
	}
	fclose(file);
	return is_found ? 0 : -ENOENT;
}

void bpffs_find(struct bpffs_place *ret_place, const char *folder)
{
	char outside[PATH_MAX];
	struct stat info;
	int r;

	*ret_place = (struct bpffs_place){.is_private = bpffs_is_private()};
	if (stat(folder, &info) < 0)
		return;
	if (find_mount("/proc/self/mountinfo", info.st_dev, ret_place->mount) < 0)
		ret_place->mount[0] = '\0';
	r = find_mount("/proc/1/mountinfo", info.st_dev, outside);
	ret_place->is_outside = r == 0;
	ret_place->is_outside_known = r == 0 || r == -ENOENT;
}
