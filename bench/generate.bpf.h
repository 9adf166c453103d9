/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What the generator and its program both know of a frame. */
#ifndef SECG_BENCH_GENERATE_BPF_H
#define SECG_BENCH_GENERATE_BPF_H

#include <linux/types.h>

#define GENERATE_SIZE_MAX   3400 /* one page less the kernel's head and tail room */
#define GENERATE_SHAPES_MAX 16
#define GENERATE_SLOTS_MAX  256
#define GENERATE_NUMBER     8 /* bytes of the number, at the head of the payload */

/*
 * Frames of one size. What varies from frame to frame is zero at first; the program overwrites it in
 * place and copies the whole. The sums are those of the checksums without what varies: 16-bit words in the
 * order of memory, folded.
 */
struct generate_shape {
	__u32 size;    /* bytes of the frame */
	__u16 sum;     /* of the transport's checksum */
	__u16 ip_sum;  /* of the IPv4 header's */
	__u8 has_room; /* for the number */
	__u8 pad;      /* puts the IP header of a frame without tags on a multiple of four */
	__u8 bytes[GENERATE_SIZE_MAX];
	__u8 tail[2];
};

#endif
