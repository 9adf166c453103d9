/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook of one direction of a port: what was there, what is put in its place, and the pin
 * <folder>/links/<id>_<direction> that keeps it. Used by attach.c and detach.c.
 */
#include <bpf/bpf.h>
#include <stdio.h>

#include "dp/internal.h"

static const char *const words[SECG_DIRECTIONS] = {"from", "to"};

static int side_pin(const struct side *side, const char *suffix, char ret_path[PATH_MAX])
{
	return pin_path(ret_path, "%s/links/%u_%s%s", side->dp->folder, side->id,
			words[side->direction], suffix);
}

/* Descriptor of the link that an earlier attach has left; -1. The caller closes it. */
static int find_link(const struct side *side)
{
	char path[PATH_MAX];
	int *held = side->dp->held ? &side->dp->held[side->id].fd[side->direction] : NULL;

	if (held)
		return TAKE_FD(*held);
	if (side_pin(side, "_new", path) < 0)
		return -1;
	/* Left by a daemon that ended while it changed the hook. */
	link_remove(-1, path);
	if (side_pin(side, "", path) < 0)
		return -1;
	return bpf_obj_get(path);
}

/* What was there belongs to an interface that is gone or is not ours any more. */
static void drop_old(struct side *side)
{
	char path[PATH_MAX] = "";

	if (side->dp->folder && side_pin(side, "", path) < 0)
		return;
	link_remove(TAKE_FD(side->old_fd), path);
	if (side->old.ifindex && ifindex_port(side->dp, side->old.ifindex) == side->id)
		ifindex_clear(side->dp, side->old.ifindex);
}

int side_open(struct side *side, struct dp *dp, uint32_t id, int ifindex,
	      enum secg_direction direction)
{
	*side = (struct side){
		.dp = dp,
		.id = id,
		.ifindex = ifindex,
		.direction = direction,
		.old_fd = -1,
		.new_fd = -1,
	};
	side->old_fd = find_link(side);
	if (side->old_fd >= 0) {
		int r = sys_link_info(side->old_fd, &side->old);

		if (r < 0)
			return r;
		if (side->old.ifindex != ifindex)
			drop_old(side);
	}
	side->has_old_clsact = ifindex && sys_clsact_query(ifindex, direction == SECG_TO);
	return 0;
}

void side_close(struct side *side)
{
	/* What is still here as new was not kept. */
	link_remove(TAKE_FD(side->new_fd), "");
	if (side->has_new_clsact && !side->has_old_clsact)
		sys_clsact_detach(side->ifindex, side->direction == SECG_TO);
	if (side->old_fd >= 0 && side->dp->held)
		side->dp->held[side->id].fd[side->direction] = TAKE_FD(side->old_fd);
	closep(&side->old_fd);
}

static int pin_new(const struct side *side, const char *pin)
{
	char fresh[PATH_MAX];
	int r = side_pin(side, "_new", fresh);

	if (r < 0)
		return r;
	if (bpf_obj_pin(side->new_fd, fresh) < 0)
		return -errno;
	if (rename(fresh, pin) < 0) {
		r = -errno;
		unlink(fresh);
		return r;
	}
	return 0;
}

int side_keep(struct side *side)
{
	bool is_clsact = side->mode == DP_MODE_CLSACT;
	char pin[PATH_MAX] = "";
	int r;

	if (side->dp->folder) {
		r = side_pin(side, "", pin);
		if (r == 0 && side->new_fd >= 0)
			r = pin_new(side, pin);
		if (r < 0)
			return r;
	}
	if (side->new_fd >= 0 || is_clsact)
		/* The pin is the new link's by now, if there is one. */
		link_remove(TAKE_FD(side->old_fd), is_clsact ? pin : "");
	if (side->new_fd >= 0 && side->dp->held)
		side->old_fd = TAKE_FD(side->new_fd);
	closep(&side->new_fd);
	side->new_fd = -1;
	if (side->has_old_clsact && !is_clsact)
		sys_clsact_detach(side->ifindex, side->direction == SECG_TO);
	if (side->dp->held && is_clsact)
		side->dp->held[side->id].clsact_ifindex = side->ifindex;
	side->has_new_clsact = false;
	return 0;
}

void side_remove(struct side *side)
{
	char pin[PATH_MAX] = "";

	if (!side->dp->folder || side_pin(side, "", pin) == 0)
		link_remove(TAKE_FD(side->old_fd), pin);
	if (side->has_old_clsact)
		sys_clsact_detach(side->ifindex, side->direction == SECG_TO);
}
