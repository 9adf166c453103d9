/* SPDX-License-Identifier: Apache-2.0 */
/* What the generator is asked for, and the frames it makes of it. */
#ifndef SECG_BENCH_GENERATE_H
#define SECG_BENCH_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../tests/support/wire.h"
#include "generate.bpf.h"

#define GENERATE_SECONDS_MAX 86400

/* A size and how often it comes. */
struct generate_size {
	uint32_t bytes;
	uint32_t weight;
};

struct generate_options {
	const char *device;
	struct wire wire; /* of the first flow; sport is also the ICMP identifier */
	bool has_src_mac, has_dst_mac;
	uint32_t spi;
	uint32_t srcs, dsts, sports, dports; /* sports: of identifiers and SPIs too */
	bool is_random;
	uint64_t seed;
	uint16_t vids[2]; /* outer first; wire.tags says how many */
	bool is_payload;  /* sizes are of the payload, not of the frame */
	struct generate_size sizes[GENERATE_SHAPES_MAX];
	size_t size_count;
	uint64_t rate;     /* frames a second; 0: as fast as possible */
	uint64_t count;    /* 0: none given */
	uint64_t duration; /* seconds; 0: none given */
};

/* Where in a frame the program writes; 0: nowhere. */
struct generate_layout {
	uint32_t ip_sum, src, dst, sport, dport, spi, sequence, sum, number;
};

/* Exits with 2 and a sentence on stderr if it cannot be done. */
void generate_parse(struct generate_options *ret_options, int argc, char **argv);
__attribute__((noreturn)) void generate_die(const char *what, const char *why);

/* Writes a frame for each size, those parts zero that vary; returns the size of the largest. */
uint32_t generate_build(struct generate_shape shapes[GENERATE_SHAPES_MAX],
			struct generate_layout *ret_layout, const struct generate_options *options);

#endif
