/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The clock of the data path, read by the daemon through BPF_PROG_TEST_RUN to calibrate ticks. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

__u64 secg_jiffies;
__u64 secg_ktime; /* ns, CLOCK_MONOTONIC */

SEC("tc")
int secg_clock(struct __sk_buff *skb)
{
	secg_jiffies = bpf_jiffies64();
	secg_ktime = bpf_ktime_get_ns();
	return 0;
}

char LICENSE[] SEC("license") __attribute__((weak)) = "Dual BSD/GPL";
