/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories that belong to one daemon at a time.
 */
#ifndef SECG_CORE_DIRECTORY_H
#define SECG_CORE_DIRECTORY_H

#include <sys/types.h>

#define DIRECTORY_MESSAGE_SIZE 256

/* Makes the directory, and those above it, where it is missing. One that is there keeps its mode; where
 * others may write it is refused (-EPERM). Negative errno and a message. */
int directory_make(const char *path, mode_t mode, char message[DIRECTORY_MESSAGE_SIZE]);
/*
 * Takes the directory for this process: an flock(2) on the directory itself, held as long as the
 * descriptor. -EBUSY: another process has it.
 */
int directory_lock(int *ret_fd, const char *path, char message[DIRECTORY_MESSAGE_SIZE]);

#endif
