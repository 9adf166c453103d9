/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Hook XDP, direction from: entry point only. Devices with an Ethernet header only (dp_choose_hook). */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* What the shared headers need of a hook. */
#define hook_context                      xdp_md
#define HOOK(name)                        xdp_##name
#define load_bytes(ctx, offset, to, size) bpf_xdp_load_bytes(ctx, offset, to, size)
#define hook_tag_type(ctx)                0 /* XDP has no metadata: tags are in the frame */
#define hook_tag(ctx)                     0

#include "verdict.h"

SEC("xdp.frags")
int secg_xdp(struct xdp_md *ctx)
{
	const struct secg_ifindex *entry = ifindex_find(ctx->ingress_ifindex);
	struct frame f = {
		.data = (void *)(long)ctx->data,
		.data_end = (void *)(long)ctx->data_end,
		.length = bpf_xdp_get_buff_len(ctx),
	};

	return verdict(ctx, &f, entry, SECG_FROM) ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") __attribute__((weak)) = "Dual BSD/GPL";
