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

/* Descriptor of the link that an earlier attach has left; the caller closes it. -ENOENT: none. */
static int find_link(const struct side *side)
{
	char path[PATH_MAX];
	int *held = side->dp->held ? &side->dp->held[side->id].fd[side->direction] : NULL;
	int r, fd;

	if (held)
		return *held < 0 ? -ENOENT : TAKE_FD(*held);
	r = side_pin(side, "_new", path);
	if (r == 0)
		/* Left by a daemon that ended while it changed the hook. */
		r = link_remove(-1, path);
	if (r == 0)
		r = side_pin(side, "", path);
	if (r < 0)
		return r;
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

/* What was there belongs to an interface that is gone or is not ours any more. */
static int drop_old(struct side *side)
{
	char path[PATH_MAX] = "";
	int r = side->dp->folder ? side_pin(side, "", path) : 0;

	if (r == 0)
		r = link_remove(TAKE_FD(side->old_fd), path);
	if (r == 0 && side->old.ifindex &&
	    dp_interface_port(side->dp, side->old.ifindex) == side->id)
		ifindex_clear(side->dp, side->old.ifindex);
	return r;
}

void side_init(struct side *side, struct dp *dp, uint32_t id, int ifindex,
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
}

int side_open(struct side *side)
{
	int64_t filter = 0;
	int r = find_link(side);

	if (r < 0 && r != -ENOENT)
		return r;
	side->old_fd = r < 0 ? -1 : r;
	if (side->old_fd >= 0) {
		r = sys_link_info(side->old_fd, &side->old);
		if (r == 0 && side->old.ifindex != side->ifindex)
			r = drop_old(side);
		if (r < 0)
			return r;
	}
	if (side->ifindex)
		filter = sys_clsact_query(side->ifindex, side->direction == SECG_TO);
	if (filter < 0)
		return (int)filter;
	side->has_old_clsact = filter > 0;
	return 0;
}

int side_find(const struct dp *dp, uint32_t id, enum secg_direction direction,
	      struct sys_link *ret_link)
{
	_cleanup_close_ int pinned = -1;
	char path[PATH_MAX];
	int r;

	if (dp->held)
		return dp->held[id].fd[direction] < 0
			       ? -ENOENT
			       : sys_link_info(dp->held[id].fd[direction], ret_link);
	r = pin_path(path, "%s/links/%u_%s", dp->folder, id, words[direction]);
	if (r < 0)
		return r;
	pinned = bpf_obj_get(path);
	return pinned < 0 ? -errno : sys_link_info(pinned, ret_link);
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

int side_remove(struct side *side)
{
	char pin[PATH_MAX] = "";
	int r = side->dp->folder ? side_pin(side, "", pin) : 0;

	if (r == 0)
		r = link_remove(TAKE_FD(side->old_fd), pin);
	if (r == 0 && side->has_old_clsact)
		r = sys_clsact_detach(side->ifindex, side->direction == SECG_TO);
	return r;
}

static bool has_hook(const struct dp *dp, uint32_t id, enum secg_direction direction)
{
	char path[PATH_MAX];

	if (dp->held)
		return dp->held[id].fd[direction] >= 0;
	return pin_path(path, "%s/links/%u_%s", dp->folder, id, words[direction]) < 0 ||
	       access(path, F_OK) == 0;
}

static int hand_over(struct dp *dp, uint32_t from, uint32_t to, enum secg_direction direction)
{
	char old[PATH_MAX], fresh[PATH_MAX];
	int r;

	if (dp->held) {
		dp->held[to].fd[direction] = TAKE_FD(dp->held[from].fd[direction]);
		return 0;
	}
	r = pin_path(old, "%s/links/%u_%s", dp->folder, from, words[direction]);
	if (r == 0)
		r = pin_path(fresh, "%s/links/%u_%s", dp->folder, to, words[direction]);
	if (r < 0)
		return r;
	/* Filters on clsact have no pin. */
	return rename(old, fresh) < 0 && errno != ENOENT ? -errno : 0;
}

int dp_hand_over(struct dp *dp, uint32_t from, uint32_t to)
{
	int r = 0;

	for (int direction = 0; direction < SECG_DIRECTIONS; direction++)
		if (has_hook(dp, to, (enum secg_direction)direction))
			return -EEXIST;
	for (int direction = 0; r == 0 && direction < SECG_DIRECTIONS; direction++)
		r = hand_over(dp, from, to, (enum secg_direction)direction);
	if (r == 0 && dp->held) {
		dp->held[to].clsact_ifindex = dp->held[from].clsact_ifindex;
		dp->held[from].clsact_ifindex = 0;
	}
	return r;
}
