/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that guard an interface of the caller's network namespace, found as anybody would: by
 * asking the interface. Runs them on frames through BPF_PROG_TEST_RUN.
 */
#ifndef SECG_TESTS_ATTACHED_H
#define SECG_TESTS_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <secg/abi.h>

#define ATTACHED_TAG_SIZE 17

struct attached {
	int fd;
	bool is_xdp;
	int ifindex;
	char tag[ATTACHED_TAG_SIZE];
};

/* The first program of the direction: XDP for from where there is one, else TCX. -ENOENT: none. */
int attached_open(struct attached *ret_attached, int ifindex, enum secg_direction direction);
void attached_close(struct attached *attached);

/* `fd` is that of the program to run, of the type that `attached` is: its own, or one to compare with.
 * Runs it `repeat` times; *ret_duration_ns is the mean of a run and may be NULL. */
int attached_run_fd(const struct attached *attached, int fd, const void *bytes, size_t size,
		    uint32_t repeat, uint32_t *ret_value, uint32_t *ret_duration_ns);
/* One run; *ret_drops is the verdict. -EPROTO: neither of the two verdicts that secg gives. */
int attached_verdict(const struct attached *attached, const void *bytes, size_t size,
		     bool *ret_drops);

#endif
