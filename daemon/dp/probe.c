/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel features, found by trying on the loopback device, which is in every namespace and on which
 * nothing is left. Called by dp.c once the programs are loaded.
 */
#include <bpf/bpf.h>
#include <linux/if_link.h>

#include "dp/internal.h"

#define LOOPBACK 1

const char *const dp_feature_names[DP_FEATURE_COUNT] = {
#define DP_FEATURE_NAME(name, word, text) word,
	DP_FEATURES(DP_FEATURE_NAME)
#undef DP_FEATURE_NAME
};

/* A kernel without TCX does not know the attach type: EINVAL. With it, the hook is empty or not. */
static bool has_tcx(void)
{
	uint32_t ids[SYS_MPROG_MAX], count;

	return sys_tcx_query(LOOPBACK, SYS_ATTACH_TCX_INGRESS, ids, &count) != -EINVAL;
}

/* The loopback driver takes no native program: EOPNOTSUPP from a kernel that knows XDP links. */
static bool has_xdp_link(int xdp_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	_cleanup_close_ int fd = bpf_link_create(xdp_fd, LOOPBACK, BPF_XDP, &opts);

	return fd >= 0 || errno == EOPNOTSUPP || errno == EBUSY || errno == EEXIST;
}

uint32_t probe_features(int xdp_fd, bool has_frags)
{
	uint32_t features = has_frags ? 1u << DP_FEATURE_XDP_FRAGS : 0;

	if (has_tcx())
		features |= 1u << DP_FEATURE_TCX;
	if (has_xdp_link(xdp_fd))
		features |= 1u << DP_FEATURE_XDP_LINK;
	return features;
}
