/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that belong to one daemon at a time. */
#include "core/directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "core/cleanup.h"

static int fail(char message[DIRECTORY_MESSAGE_SIZE], int error, const char *path, const char *what)
{
	snprintf(message, DIRECTORY_MESSAGE_SIZE, "directory %.150s: %s", path,
		 what ? what : strerror(error));
	return -error;
}

/* 0 also where it is there already. */
static int make_one(const char *path, mode_t mode)
{
	if (mkdir(path, mode) < 0)
		return errno == EEXIST ? 0 : -errno;
	/* the umask took bits away */
	return chmod(path, mode) < 0 ? -errno : 0;
}

int directory_make(const char *path, mode_t mode, char message[DIRECTORY_MESSAGE_SIZE])
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat info;
	int r;

	if (!copy)
		return fail(message, ENOMEM, path, NULL);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		r = make_one(copy, 0755);
		if (r < 0)
			return fail(message, -r, copy, NULL);
		*slash = '/';
	}
	r = make_one(path, mode);
	if (r < 0)
		return fail(message, -r, path, NULL);
	if (stat(path, &info) < 0)
		return fail(message, errno, path, NULL);
	if (!S_ISDIR(info.st_mode))
		return fail(message, ENOTDIR, path, NULL);
	if (info.st_mode & (S_IWGRP | S_IWOTH))
		return fail(message, EPERM, path, "others may write to it, chmod it");
	return 0;
}

int directory_lock(int *ret_fd, const char *path, char message[DIRECTORY_MESSAGE_SIZE])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fail(message, errno, path, NULL);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return fail(message, EBUSY, path, "another secgd uses it");
		return fail(message, errno, path, NULL);
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}
