/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory a policy is compiled into: a growing array of lines, referred to by line number because
 * the array moves when it grows.
 */
#ifndef SECG_COMPILE_LINES_H
#define SECG_COMPILE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include <secg/policy.h>

/*
 * 512 MiB. A reference could name 2^28 lines, 16 GiB, but 10 240 rules that differ in every field in
 * both families take 200 MiB, and a commit must not drive the host out of memory before it is refused.
 */
#define COMPILE_MAX_LINES (1u << 23)
_Static_assert(COMPILE_MAX_LINES <= SECG_TREE_LINE_MASK, "references hold every line number");

struct lines {
	struct secg_line *line;
	size_t count;
	size_t capacity;
};

/* Appends zeroed lines; pointers into the array become invalid. -E2BIG: over COMPILE_MAX_LINES.
 * -ENOMEM. */
int lines_add(struct lines *lines, size_t count, uint32_t *ret_first);
void lines_fini(struct lines *lines);

#endif
