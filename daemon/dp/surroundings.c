/* SPDX-License-Identifier: Apache-2.0 */
/* What is around our programs: those of others at the same hooks, and how the kernel runs ours. */
#include <bpf/bpf.h>
#include <string.h>

#include "dp/internal.h"

/* How many programs run before ours; all of them where ours is not there. */
static uint32_t count_before(const uint32_t *ids, uint32_t count, uint32_t own)
{
	for (uint32_t i = 0; i < count; i++)
		if (ids[i] == own)
			return i;
	return count;
}

static void see_direction(const struct dp *dp, int ifindex, enum secg_direction direction,
			  struct dp_strangers *strangers)
{
	bool is_egress = direction == SECG_TO;
	uint32_t own = dp->programs[is_egress ? DP_PROGRAM_TC_TO : DP_PROGRAM_TC_FROM].id;
	uint32_t ids[SYS_MPROG_MAX], count = 0, before;
	uint32_t clsact = sys_clsact_before(ifindex, is_egress);

	/* EINVAL: a kernel without TCX. */
	if (sys_tcx_query(ifindex, is_egress ? SYS_ATTACH_TCX_EGRESS : SYS_ATTACH_TCX_INGRESS, ids,
			  &count) < 0)
		count = 0;
	before = count_before(ids, count, own);
	strangers->has_tc[direction] = clsact || count > (before < count ? 1u : 0u);
	/* A kernel with TCX runs what is there before clsact: ours there is before all of clsact. */
	if (before < count)
		clsact = 0;
	for (uint32_t i = 0; i < before && strangers->before_count[direction] < DP_STRANGERS; i++)
		strangers->before[direction][strangers->before_count[direction]++] = ids[i];
	if (clsact && strangers->before_count[direction] < DP_STRANGERS)
		strangers->before[direction][strangers->before_count[direction]++] = clsact;
}

void dp_find_strangers(const struct dp *dp, int ifindex, struct dp_strangers *ret_strangers)
{
	struct dp_strangers strangers = {0};
	bool is_native;
	uint32_t id = 0;

	if (sys_xdp_query(ifindex, &id, &is_native) == 0 && id != dp->programs[DP_PROGRAM_XDP].id)
		strangers.xdp = id;
	see_direction(dp, ifindex, SECG_FROM, &strangers);
	see_direction(dp, ifindex, SECG_TO, &strangers);
	*ret_strangers = strangers;
}

int dp_is_compiled(const struct dp *dp)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(dp->programs[DP_PROGRAM_TC_FROM].fd, &info, &size) < 0)
		return -errno;
	return info.jited_prog_len > 0;
}

const char *dp_folder(const struct dp *dp)
{
	return dp->folder;
}
