/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about one port: its state, its hooks, what its interface does to frames. Pure. */
#include <stdio.h>
#include <string.h>

#include "engine/doctor.h"

/*
 * Bytes of a frame that fit into one page beside the headroom of XDP and the kernel's own data about it:
 * 4096 - 256 - 320, less the Ethernet header. Drivers differ by a few.
 */
#define XDP_MTU_MAX 3498

/* Takes the port's name and the hook. */
#define HOOK_FIX "echo '{\"ports\":{\"%s\":{\"hook\":\"%s\"}}}' | sgctl apply -f -"

static const char *const hook_words[] = {
	[PORT_HOOK_AUTO] = "auto",
	[PORT_HOOK_XDP] = "xdp",
	[PORT_HOOK_TC] = "tc",
};

static bool is_kind(const struct doctor_port *port, const char *kind)
{
	return port->device && strcmp(port->device->link.kind, kind) == 0;
}

static bool is_guarded(const struct doctor_port *port)
{
	return port_state_is_attached(port->state);
}

/* XDP is what was asked for, or what auto would take. */
static bool wants_xdp(const struct doctor_port *port)
{
	if (port->hook != PORT_HOOK_AUTO || port->attachment.is_xdp)
		return port->hook == PORT_HOOK_XDP || port->attachment.is_xdp;
	return port->device && !port->device->link.kind[0] &&
	       net_link_has_ethernet(&port->device->link);
}

/* ── state ──────────────────────────────────────────────────────────────────────────────────────── */

static void judge_state(struct doctor_findings *findings, const struct doctor_port *port)
{
	if (port->state == PORT_FAILED) {
		doctor_add(findings, DOCTOR_PORT_FAILED, DOCTOR_ERROR, port->name,
			   "interface %s is NOT guarded: %s", port->interface, port->message);
		doctor_fix(findings, "sgctl get port %s; bpftool net show dev %s", port->name,
			   port->interface);
	}
	if (port->state == PORT_AMBIGUOUS) {
		doctor_add(findings, DOCTOR_PORT_AMBIGUOUS, DOCTOR_ERROR, port->name,
			   "it is not told which interface it is for, so it guards NONE: %s",
			   port->message);
		doctor_fix(findings, "sgctl get port %s; then make its match more specific",
			   port->name);
	}
	if (port->state == PORT_WAITING) {
		doctor_add(
			findings, DOCTOR_PORT_WAITING, DOCTOR_WARNING, port->name,
			"there is no interface %s in this network namespace; it is guarded when it "
			"appears",
			port->interface[0] ? port->interface : "that fits its match");
		doctor_fix(findings, "ip link show; or: sgctl delete port %s", port->name);
	}
}

/* ── hooks ──────────────────────────────────────────────────────────────────────────────────────── */

static void why_auto_is_tc(char *text, size_t size, const struct doctor_port *port,
			   const struct doctor_host *host)
{
	const char *kind = port->device->link.kind;

	if (!net_link_has_ethernet(&port->device->link))
		snprintf(text, size, "the device has no Ethernet header, which XDP needs");
	else if (is_kind(port, "veth") || is_kind(port, "tun"))
		snprintf(text, size, "XDP on a %s switches off TSO behind it, which slows TCP",
			 is_kind(port, "tun") ? "tap" : kind);
	else if (is_kind(port, "bridge") || is_kind(port, "vlan"))
		snprintf(text, size, "a %s has no XDP in its driver", kind);
	else if (is_kind(port, "bond"))
		snprintf(text, size,
			 "XDP on a bond runs on its members, where the bond is not known");
	else if (port->strangers.xdp)
		snprintf(text, size, "XDP program %u of somebody else is attached",
			 port->strangers.xdp);
	else if (!host->has_feature[DP_FEATURE_XDP_LINK])
		snprintf(text, size, "the kernel has no XDP links");
	else
		snprintf(text, size,
			 "the driver took no native XDP program when the port was attached");
}

static void judge_hook(struct doctor_findings *findings, const struct doctor_port *port,
		       const struct doctor_host *host)
{
	const struct dp_attachment *attachment = &port->attachment;
	char why[160] = "it is asked for";

	if (port->hook == PORT_HOOK_AUTO && attachment->is_xdp)
		snprintf(why, sizeof(why), "the driver takes native XDP programs");
	else if (port->hook == PORT_HOOK_AUTO)
		why_auto_is_tc(why, sizeof(why), port, host);
	doctor_add(
		findings, DOCTOR_HOOK, DOCTOR_INFO, port->name,
		"direction from of %s is judged in %s (%s), direction to in tc (%s); hook %s: %s",
		port->interface, attachment->is_xdp ? "xdp" : "tc", dp_mode_names[attachment->mode],
		dp_mode_names[attachment->mode_to], hook_words[port->hook], why);
	doctor_fix(findings, "bpftool net show dev %s", port->interface);
}

/* True where it is why the port is degraded. */
static bool judge_xdp(struct doctor_findings *findings, const struct doctor_port *port,
		      const struct doctor_host *host)
{
	if (port->attachment.mode == DP_MODE_GENERIC) {
		doctor_add(
			findings, DOCTOR_GENERIC_XDP, DOCTOR_WARNING, port->name,
			"the driver of %s took no native XDP program: generic XDP is used, which is "
			"slower than hook tc",
			port->interface);
		doctor_fix(findings, HOOK_FIX, port->name, "tc");
	}
	if (port->attachment.mode == DP_MODE_NATIVE &&
	    (is_kind(port, "veth") || is_kind(port, "tun"))) {
		doctor_add(
			findings, DOCTOR_XDP_ON_VETH, DOCTOR_WARNING, port->name,
			"an XDP program on %s switches off TSO on what is behind it: one TCP stream "
			"falls to about a fifth",
			port->interface);
		doctor_fix(findings, HOOK_FIX, port->name, "auto");
	}
	if (!host->has_feature[DP_FEATURE_XDP_FRAGS] && wants_xdp(port) &&
	    port->device->link.mtu > XDP_MTU_MAX) {
		doctor_add(
			findings, DOCTOR_MTU_XDP, DOCTOR_WARNING, port->name,
			"%s has MTU %u; without XDP on frames of several buffers drivers take native "
			"XDP up to about %d",
			port->interface, port->device->link.mtu, XDP_MTU_MAX);
		doctor_fix(findings, HOOK_FIX "; or: ip link set dev %s mtu %d", port->name, "tc",
			   port->interface, XDP_MTU_MAX);
	}
	return port->attachment.mode == DP_MODE_GENERIC;
}

/* ── offloads ───────────────────────────────────────────────────────────────────────────────────── */

static void list_offloads(char *text, size_t size, const struct net_offloads *offloads, bool is_on)
{
	size_t length = 0;

	snprintf(text, size, "none");
#define DOCTOR_LIST(field, kernel, ethtool)                                      \
	if (offloads->field == is_on && length < size)                           \
		length += (size_t)snprintf(text + length, size - length, "%s%s", \
					   length ? " " : "", ethtool);
	NET_OFFLOADS(DOCTOR_LIST)
#undef DOCTOR_LIST
}

/* True where it is why the port is degraded. */
static bool judge_rxvlan(struct doctor_findings *findings, const struct doctor_port *port)
{
	/* Software devices pass tags on as they are. */
	if (!port->offloads.rxvlan || port->attachment.mode != DP_MODE_NATIVE ||
	    port->device->link.kind[0])
		return false;
	doctor_add(findings, DOCTOR_RXVLAN, DOCTOR_WARNING, port->name,
		   "%s takes VLAN tags out: XDP takes tagged frames for untagged ones",
		   port->interface);
	doctor_fix(findings, "ethtool -K %s rxvlan off; or " HOOK_FIX, port->interface, port->name,
		   "tc");
	return true;
}

static void judge_offloads(struct doctor_findings *findings, const struct doctor_port *port)
{
	const struct net_offloads *offloads = &port->offloads;
	bool is_xdp = port->attachment.is_xdp;
	char on[160], off[160];

	if (!port->has_offloads) {
		doctor_add(findings, DOCTOR_OFFLOADS, DOCTOR_INFO, port->name,
			   "the driver of %s does not tell which offloads are on", port->interface);
		return;
	}
	list_offloads(on, sizeof(on), offloads, true);
	list_offloads(off, sizeof(off), offloads, false);
	doctor_add(findings, DOCTOR_OFFLOADS, DOCTOR_INFO, port->name,
		   "offloads of %s: on: %s; off: %s", port->interface, on, off);
	doctor_fix(findings, "ethtool -k %s", port->interface);
	if (offloads->lro && (is_xdp || port->is_routed || port->master)) {
		doctor_add(
			findings, DOCTOR_LRO, DOCTOR_WARNING, port->name,
			"LRO is on at %s and its packets are %s: joined packets are not what was sent "
			"and cannot be taken apart again",
			port->interface,
			is_xdp         ? "judged in XDP"
			: port->master ? "bridged"
				       : "forwarded");
		doctor_fix(findings, "ethtool -K %s lro off", port->interface);
	}
}

/* ── programs of others ─────────────────────────────────────────────────────────────────────────── */

static void judge_strangers(struct doctor_findings *findings, const struct doctor_port *port)
{
	static const char *const words[SECG_DIRECTIONS] = {"from", "to"};
	const struct dp_strangers *strangers = &port->strangers;

	if (strangers->xdp) {
		doctor_add(
			findings, DOCTOR_FOREIGN_XDP, DOCTOR_WARNING, port->name,
			"XDP program %u of somebody else is on %s: what it drops, answers or redirects "
			"is never judged",
			strangers->xdp, port->interface);
		doctor_fix(findings, "bpftool prog show id %u", strangers->xdp);
	}
	for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
		char list[DP_STRANGERS * 11 + 1] = "";
		size_t length = 0;

		if (strangers->before_count[direction] == 0 || !is_guarded(port))
			continue;
		for (uint32_t i = 0; i < strangers->before_count[direction]; i++)
			length += (size_t)snprintf(list + length, sizeof(list) - length, " %u",
						   strangers->before[direction][i]);
		doctor_add(
			findings, DOCTOR_FOREIGN_TC, DOCTOR_WARNING, port->name,
			"direction %s: TC programs of somebody else run before ours on %s:%s; what they let "
			"through, drop or redirect by themselves is never judged",
			words[direction], port->interface, list);
		doctor_fix(
			findings,
			"bpftool prog show id %u; ours is first where it is attached anew: systemctl stop "
			"secgd; secgd --detach-all; systemctl start secgd",
			strangers->before[direction][0]);
	}
}

void doctor_judge_port(struct doctor_findings *findings, const struct doctor_port *port,
		       const struct doctor_host *host)
{
	bool is_explained;

	judge_state(findings, port);
	if (!port->device)
		return;
	judge_strangers(findings, port);
	is_explained = judge_xdp(findings, port, host) || port->strangers.xdp;
	if (!is_guarded(port))
		return;
	judge_offloads(findings, port);
	is_explained |= judge_rxvlan(findings, port);
	if (port->attachment.standing[0] && !is_explained) {
		doctor_add(findings, DOCTOR_PORT_DEGRADED, DOCTOR_WARNING, port->name,
			   "when %s was attached: %s; this seems to be over", port->interface,
			   port->attachment.standing);
		doctor_fix(findings, "systemctl restart secgd");
	}
	judge_hook(findings, port, host);
}
