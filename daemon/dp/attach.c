/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port's hooks on its interface: chosen, put on, checked. Called by the engine when a port meets its
 * interface and when either changes.
 */
#include <bpf/bpf.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>

#include "dp/internal.h"

const char *const dp_mode_names[] = {
	[DP_MODE_NONE] = "none", [DP_MODE_NATIVE] = "native", [DP_MODE_GENERIC] = "generic",
	[DP_MODE_TCX] = "tcx",   [DP_MODE_CLSACT] = "clsact",
};

static int attach_link(struct side *side, enum dp_program program, uint32_t type, uint32_t flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);

	side->new_fd = bpf_link_create(side->dp->programs[program].fd, side->ifindex, type, &opts);
	return side->new_fd < 0 ? -errno : 0;
}

/* Puts this build's program into a link that is there. */
static int update_link(const struct side *side, enum dp_program program)
{
	return bpf_link_update(side->old_fd, side->dp->programs[program].fd, NULL) < 0 ? -errno : 0;
}

/*
 * What XDP the interface offers. Native support shows by attaching, and what is attached then is kept
 * in the side, so that a NIC does not stop twice to rebuild its rings.
 */
static int probe_xdp(struct side *side, struct dp_probe *probe, char name[SYS_NAME_SIZE + 1])
{
	bool is_native = false;
	uint32_t id = 0;
	int r = sys_xdp_query(side->ifindex, &id, &is_native);

	if (r < 0)
		return r;
	if (id && side->old_fd >= 0 && side->old.type == SYS_LINK_XDP && side->old.program == id) {
		probe->is_native_xdp = is_native;
		return 0;
	}
	if (!id) {
		r = attach_link(side, DP_PROGRAM_XDP, BPF_XDP, XDP_FLAGS_DRV_MODE);
		probe->is_native_xdp = r == 0;
		if (r != -EBUSY && r != -EEXIST)
			return 0;
		r = sys_xdp_query(side->ifindex, &id, &is_native);
		if (r < 0)
			return r;
	}
	probe->has_foreign_xdp = true;
	probe->foreign_xdp_id = id;
	sys_program_name(id, name);
	probe->foreign_xdp_name = name;
	return 0;
}

static int choose(struct side *side, const struct net_link *link, enum port_hook hook,
		  struct dp_choice *ret_choice)
{
	struct dp_probe probe = {
		.has_ethernet = net_link_has_ethernet(link),
		.kind = link->kind,
	};
	char name[SYS_NAME_SIZE + 1];
	int r;

	if (!dp_has_feature(side->dp, DP_FEATURE_XDP_LINK) && hook != PORT_HOOK_TC) {
		*ret_choice = (struct dp_choice){.is_failed = hook == PORT_HOOK_XDP};
		if (ret_choice->is_failed)
			snprintf(ret_choice->message, sizeof(ret_choice->message),
				 "this kernel has no XDP links: use hook tc or auto");
		return 0;
	}
	if (hook_wants_xdp(hook, &probe) && probe.has_ethernet) {
		r = probe_xdp(side, &probe, name);
		if (r < 0)
			return r;
	}
	dp_choose_hook(ret_choice, hook, &probe);
	return 0;
}

static int attach_xdp(struct side *side, bool is_generic)
{
	side->mode = is_generic ? DP_MODE_GENERIC : DP_MODE_NATIVE;
	if (side->new_fd >= 0)
		return 0;
	if (side->old_fd >= 0 && side->old.type == SYS_LINK_XDP)
		return update_link(side, DP_PROGRAM_XDP);
	return attach_link(side, DP_PROGRAM_XDP, BPF_XDP,
			   is_generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
}

static int attach_tc(struct side *side)
{
	bool is_egress = side->direction == SECG_TO;
	enum dp_program program = is_egress ? DP_PROGRAM_TC_TO : DP_PROGRAM_TC_FROM;
	int r;

	if (dp_has_feature(side->dp, DP_FEATURE_TCX)) {
		side->mode = DP_MODE_TCX;
		if (side->old_fd >= 0 && side->old.type == SYS_LINK_TCX)
			return update_link(side, program);
		return attach_link(side, program,
				   is_egress ? SYS_ATTACH_TCX_EGRESS : SYS_ATTACH_TCX_INGRESS,
				   SYS_F_BEFORE);
	}
	side->mode = DP_MODE_CLSACT;
	r = sys_clsact_attach(side->ifindex, is_egress, side->dp->programs[program].fd);
	side->has_new_clsact = r == 0;
	return r;
}

static void report(struct dp_attachment *attachment, const struct side sides[SECG_DIRECTIONS],
		   const struct dp_choice *choice, const struct net_link *link)
{
	const struct loaded *programs = sides[0].dp->programs;
	enum dp_program from = choice->is_xdp ? DP_PROGRAM_XDP : DP_PROGRAM_TC_FROM;

	attachment->is_xdp = choice->is_xdp;
	attachment->mode = sides[SECG_FROM].mode;
	attachment->mode_to = sides[SECG_TO].mode;
	memcpy(attachment->prog_tag, programs[from].tag, DP_TAG_SIZE);
	memcpy(attachment->prog_tag_to, programs[DP_PROGRAM_TC_TO].tag, DP_TAG_SIZE);
	if (choice->message[0])
		message_add(attachment->standing, "%s", choice->message);
	/* A NIC that takes tags out hides them from XDP. Of software devices docs/packet-path.md tells. */
	if (attachment->mode == DP_MODE_NATIVE && !link->kind[0] &&
	    sys_rxvlan_off(link->ifindex) < 0)
		message_add(
			attachment->standing,
			"the NIC removes VLAN tags and will not stop: XDP takes tagged frames for "
			"untagged ones, use hook tc");
	memcpy(attachment->message, attachment->standing, sizeof(attachment->message));
	attachment->is_degraded = attachment->message[0];
	dp_review(sides[0].dp, link->ifindex, attachment);
}

static void say_why(char message[DP_MESSAGE_SIZE], const struct side *side,
		    const struct net_link *link, const char *direction, int r)
{
	if (side->mode == DP_MODE_CLSACT && r == -EEXIST)
		message_add(
			message,
			"a qdisc ingress is on the interface, and this kernel has no room for clsact "
			"beside it: tc qdisc del dev %s ingress",
			link->name);
	else
		message_add(message, "cannot attach direction %s (%s): %s", direction,
			    dp_mode_names[side->mode], strerror(-r));
}

/* Both directions, new hooks first; the old ones stay until all of them are there. */
static int attach_sides(struct side sides[SECG_DIRECTIONS], const struct net_link *link,
			enum port_hook hook, struct dp_choice *choice,
			char message[DP_MESSAGE_SIZE])
{
	int r = choose(&sides[SECG_FROM], link, hook, choice);

	if (r < 0) {
		message_add(message, "cannot ask the interface for XDP programs: %s", strerror(-r));
		return r;
	}
	if (choice->is_failed) {
		message_add(message, "%s", choice->message);
		return -EBUSY;
	}
	r = choice->is_xdp ? attach_xdp(&sides[SECG_FROM], choice->is_generic)
			   : attach_tc(&sides[SECG_FROM]);
	if (r < 0) {
		say_why(message, &sides[SECG_FROM], link, "from", r);
		return r;
	}
	r = attach_tc(&sides[SECG_TO]);
	if (r < 0) {
		say_why(message, &sides[SECG_TO], link, "to", r);
		return r;
	}
	for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
		r = side_keep(&sides[direction]);
		if (r < 0) {
			message_add(message, "cannot pin the hooks in %s: %s", sides[0].dp->folder,
				    strerror(-r));
			return r;
		}
	}
	return 0;
}

static bool has_hooks(const struct side *side)
{
	return side->old_fd >= 0 || side->has_old_clsact;
}

int dp_attach(struct dp *dp, uint32_t id, const struct net_link *link, enum port_hook hook,
	      struct dp_attachment *ret_attachment)
{
	struct dp_attachment attachment = {0};
	struct side sides[SECG_DIRECTIONS];
	struct dp_choice choice = {0};
	bool is_new;
	int r;

	if (!id || id >= SECG_MAX_PORTS)
		return -EINVAL;
	side_init(&sides[SECG_FROM], dp, id, link->ifindex, SECG_FROM);
	side_init(&sides[SECG_TO], dp, id, link->ifindex, SECG_TO);
	r = side_open(&sides[SECG_FROM]);
	if (r == 0)
		r = side_open(&sides[SECG_TO]);
	/* Where nobody could look, there may be some. */
	is_new = r == 0 && !has_hooks(&sides[SECG_FROM]) && !has_hooks(&sides[SECG_TO]);
	if (r == 0)
		r = ifindex_set(dp, link->ifindex, id, net_link_has_ethernet(link));
	if (r == 0)
		r = attach_sides(sides, link, hook, &choice, attachment.message);
	if (r == 0)
		report(&attachment, sides, &choice, link);
	side_close(&sides[SECG_FROM]);
	side_close(&sides[SECG_TO]);
	if (r < 0 && is_new)
		dp_detach(dp, id, link->ifindex);
	if (r < 0 && !attachment.message[0])
		message_add(attachment.message, "cannot attach: %s", strerror(-r));
	*ret_attachment = attachment;
	return r;
}
