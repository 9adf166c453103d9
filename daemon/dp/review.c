/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a port's hooks are still as attach.c has left them: there, and first in line. Called by the
 * engine, since neither what is taken away nor what is put before ours makes an event.
 */
#include <errno.h>
#include <string.h>

#include "dp/internal.h"

static uint32_t tcx_type(enum secg_direction direction)
{
	return direction == SECG_TO ? SYS_ATTACH_TCX_EGRESS : SYS_ATTACH_TCX_INGRESS;
}

static uint32_t own_tc(const struct dp *dp, enum secg_direction direction)
{
	return dp->programs[direction == SECG_TO ? DP_PROGRAM_TC_TO : DP_PROGRAM_TC_FROM].id;
}

static bool has_tcx(const struct dp *dp, int ifindex, enum secg_direction direction)
{
	uint32_t ids[SYS_MPROG_MAX], count = 0;

	if (sys_tcx_query(ifindex, tcx_type(direction), ids, &count) < 0)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (ids[i] == own_tc(dp, direction))
			return true;
	return false;
}

static bool has_xdp(const struct dp *dp, uint32_t id, int ifindex)
{
	struct sys_link link;
	int r = side_find(dp, id, SECG_FROM, &link);

	if (r < 0)
		return r != -ENOENT;
	return link.ifindex == ifindex && link.program == dp->programs[DP_PROGRAM_XDP].id;
}

static bool has_hook(const struct dp *dp, uint32_t id, int ifindex, enum secg_direction direction,
		     enum dp_mode mode)
{
	int64_t filter;

	switch (mode) {
	case DP_MODE_NATIVE:
	case DP_MODE_GENERIC:
		return has_xdp(dp, id, ifindex);
	case DP_MODE_TCX:
		return has_tcx(dp, ifindex, direction);
	case DP_MODE_CLSACT:
		filter = sys_clsact_query(ifindex, direction == SECG_TO);
		return filter < 0 || filter == own_tc(dp, direction);
	case DP_MODE_NONE:
		break;
	}
	return false;
}

bool dp_is_attached(const struct dp *dp, uint32_t id, int ifindex,
		    const struct dp_attachment *attachment)
{
	return has_hook(dp, id, ifindex, SECG_FROM, attachment->mode) &&
	       has_hook(dp, id, ifindex, SECG_TO, attachment->mode_to);
}

/* Id of a program that sees packets before a TC program of ours and may keep them from it; 0 none. */
static uint32_t program_before(const struct dp *dp, int ifindex, enum secg_direction direction,
			       enum dp_mode mode)
{
	uint32_t ids[SYS_MPROG_MAX], count = 0;

	if (mode != DP_MODE_TCX && mode != DP_MODE_CLSACT)
		return 0;
	/* A kernel with TCX runs what is there before clsact. */
	if (sys_tcx_query(ifindex, tcx_type(direction), ids, &count) == 0 && count &&
	    ids[0] != own_tc(dp, direction))
		return ids[0];
	return mode == DP_MODE_CLSACT ? sys_clsact_before(ifindex, direction == SECG_TO) : 0;
}

bool dp_review(const struct dp *dp, int ifindex, struct dp_attachment *attachment)
{
	static const char *const words[SECG_DIRECTIONS] = {"from", "to"};
	uint32_t before[SECG_DIRECTIONS] = {
		program_before(dp, ifindex, SECG_FROM, attachment->mode),
		program_before(dp, ifindex, SECG_TO, attachment->mode_to),
	};

	if (!memcmp(before, attachment->before, sizeof(before)))
		return false;
	memcpy(attachment->before, before, sizeof(before));
	memcpy(attachment->message, attachment->standing, sizeof(attachment->message));
	for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
		char name[SYS_NAME_SIZE + 1], text[PROGRAM_TEXT_SIZE];

		if (!before[direction])
			continue;
		sys_program_name(before[direction], name);
		program_text(text, before[direction], name);
		message_add(attachment->message,
			    "direction %s: TC program %s stands before ours and may decide first",
			    words[direction], text);
	}
	attachment->is_degraded = attachment->message[0];
	return true;
}
