/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Programs of somebody else, beside which ours must work: TC programs that count and end the chain as
 * Cilium's do or let it go on, that send packets on to another interface, and an XDP program that passes.
 * Compiled and attached by the tests.
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

/* Number of the interface that foreign_redirect and foreign_peer send to. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} foreign_target SEC(".maps");

static __always_inline __u32 target(void)
{
	__u32 zero = 0;
	__u32 *found = bpf_map_lookup_elem(&foreign_target, &zero);

	return found ? *found : 0;
}

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

SEC("tc")
int foreign_redirect(struct __sk_buff *skb)
{
	return bpf_redirect(target(), 0);
}

SEC("tc")
int foreign_peer(struct __sk_buff *skb)
{
	return bpf_redirect_peer(target(), 0);
}

SEC("xdp")
int foreign_xdp(struct xdp_md *xdp)
{
	count();
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
