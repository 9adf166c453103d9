/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleanup attributes and ownership transfer for the control plane. Not for the hot loops.
 */
#ifndef SECG_CORE_CLEANUP_H
#define SECG_CORE_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* Hands a pointer on: yields its value and leaves NULL behind. */
#define TAKE_PTR(p)                       \
	({                                \
		__typeof__(p) _ptr = (p); \
		(p) = NULL;               \
		_ptr;                     \
	})

/* Hands a file descriptor on: yields it and leaves -1 behind. */
#define TAKE_FD(fd)             \
	({                      \
		int _fd = (fd); \
		(fd) = -1;      \
		_fd;            \
	})

/* Defines func##p, the cleanup function of a pointer to `type`, NULL allowed. */
#define DEFINE_CLEANUP(type, func)          \
	static inline void func##p(type *p) \
	{                                   \
		if (*p)                     \
			func(*p);           \
	}                                   \
	struct secg_cleanup_needs_semicolon

static inline void freep(void *p)
{
	free(*(void **)p);
}

/* Keeps errno. */
static inline void closep(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

#define _cleanup_free_  _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)

#define ARRAY_SIZE(a)   (sizeof(a) / sizeof((a)[0]))

#endif
