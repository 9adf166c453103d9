/* SPDX-License-Identifier: Apache-2.0 */
/* Time as the programs see it: read through a program, and calibrated to seconds. Used by dp.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <math.h>
#include <time.h>

#include "dp/internal.h"
#include "secg.skel.h"

/* Jiffies and nanoseconds, taken together. */
struct reading {
	uint64_t jiffies;
	uint64_t ns;
};

static int read_clock(const struct dp *dp, struct reading *ret_reading)
{
	uint8_t frame[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame));

	if (bpf_prog_test_run_opts(bpf_program__fd(dp->skel->progs.secg_clock), &opts) < 0)
		return -errno;
	ret_reading->jiffies = *(volatile __u64 *)&dp->skel->bss->secg_jiffies;
	ret_reading->ns = *(volatile __u64 *)&dp->skel->bss->secg_ktime;
	return 0;
}

/* Reads until `jiffies` has passed: the first reading of a jiffy is within one call of its start. */
static int wait_beyond(const struct dp *dp, uint64_t jiffies, struct reading *ret_reading)
{
	int r;

	do {
		r = read_clock(dp, ret_reading);
		if (r < 0)
			return r;
	} while (ret_reading->jiffies <= jiffies);
	return 0;
}

int clock_calibrate(struct dp *dp)
{
	/* What kernels are built with; another value is taken as measured. */
	static const double known[] = {100, 250, 300, 1000};
	struct reading start, end;
	double hz;
	int r;

	r = read_clock(dp, &start);
	if (r == 0)
		r = wait_beyond(dp, start.jiffies, &start);
	if (r == 0)
		r = wait_beyond(dp, start.jiffies + 3, &end);
	if (r < 0)
		return r;
	hz = (double)(end.jiffies - start.jiffies) * 1e9 / (double)(end.ns - start.ns);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (fabs(hz - known[i]) < known[i] * 0.08)
			hz = known[i];
	dp->ticks_per_second = hz / (1 << SECG_TICK_SHIFT);
	return 0;
}

double dp_ticks_per_second(const struct dp *dp)
{
	return dp->ticks_per_second;
}

uint32_t dp_now(const struct dp *dp)
{
	struct reading reading = {0};

	/* A program that ran when it was calibrated runs now; the last reading is the fallback. */
	if (read_clock(dp, &reading) < 0)
		reading.jiffies = dp->skel->bss->secg_jiffies;
	return (uint32_t)(reading.jiffies >> SECG_TICK_SHIFT);
}
