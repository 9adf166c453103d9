/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Hook TC, both directions: entry points only. Works as TCX and as a clsact classifier alike. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* What the shared headers need of a hook. */
#define hook_context                      __sk_buff
#define HOOK(name)                        tc_##name
#define load_bytes(ctx, offset, to, size) bpf_skb_load_bytes(ctx, offset, to, size)
#define hook_tag_type(ctx)                ((ctx)->vlan_present ? bpf_ntohs((ctx)->vlan_proto) : 0)
#define hook_tag(ctx)                     ((ctx)->vlan_present ? (ctx)->vlan_tci : 0)

#include "verdict.h"

#define VERDICT_NEXT -1 /* TCX_NEXT, TC_ACT_UNSPEC: whoever comes after us decides too */
#define VERDICT_DROP 2  /* TCX_DROP, TC_ACT_SHOT */

#define HEADER_BYTES 256u /* headers beyond these are read where they are, or are malformed */

/*
 * Of a frame without Ethernet header a test run takes for the protocol what lies where that has it. The
 * devices tell the family by the first half-byte, and so does a traced run.
 */
static __always_inline __u16 traced_l3_type(const struct frame *f)
{
	const __u8 *first = f->data;

	if (f->data + 1 > f->data_end)
		return ETH_P_IP;
	return *first >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP;
}

static __always_inline int guard_skb(struct __sk_buff *skb, __u32 direction)
{
	const struct secg_ifindex *entry = ifindex_find(skb->ifindex);
	__u32 head = skb->len < HEADER_BYTES ? skb->len : HEADER_BYTES;
	struct frame f = {
		.length = skb->len,
		.segments = skb->gso_segs,
		.gso_size = skb->gso_size,
		.tags = skb->vlan_present,
		.vlan = hook_tag(skb) & VLAN_ID_MASK,
	};

	/*
	 * Headers that lie in page fragments are pulled into the linear part. Pointers, because the fields
	 * are numbers of 32 bits and the verifier takes no pointer arithmetic of 32.
	 */
	if ((void *)(long)skb->data + head > (void *)(long)skb->data_end)
		bpf_skb_pull_data(skb, head);
	f.data = (void *)(long)skb->data;
	f.data_end = (void *)(long)skb->data_end;
	if (entry && (entry->flags & SECG_IFINDEX_L3)) {
		f.is_l3 = 1;
		f.l3_type = is_traced() ? traced_l3_type(&f) : bpf_ntohs(skb->protocol);
	}
	return verdict(skb, &f, entry, direction) ? VERDICT_DROP : VERDICT_NEXT;
}

SEC("tc")
int secg_tc_from(struct __sk_buff *skb)
{
	return guard_skb(skb, SECG_FROM);
}

SEC("tc")
int secg_tc_to(struct __sk_buff *skb)
{
	return guard_skb(skb, SECG_TO);
}

char LICENSE[] SEC("license") __attribute__((weak)) = "Dual BSD/GPL";
