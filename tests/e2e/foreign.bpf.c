/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Programs of somebody else, beside which ours must work: TC programs that count and end the chain as
 * Cilium's do or let it go on, and an XDP program that passes. Compiled and attached by the tests.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} foreign_seen SEC(".maps");

static __always_inline void count(void)
{
	__u32 zero = 0;
	__u64 *seen = bpf_map_lookup_elem(&foreign_seen, &zero);

	if (seen)
		__sync_fetch_and_add(seen, 1);
}

SEC("tc")
int foreign_ok(struct __sk_buff *skb)
{
	count();
	return 0; /* TC_ACT_OK: no program after this one runs */
}

SEC("tc")
int foreign_next(struct __sk_buff *skb)
{
	count();
	return -1; /* TCX_NEXT */
}

SEC("xdp")
int foreign_xdp(struct xdp_md *xdp)
{
	count();
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
