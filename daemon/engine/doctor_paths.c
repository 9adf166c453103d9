/* SPDX-License-Identifier: Apache-2.0 */
/* Ways of packets on which no hook of ours sees them, or sees them turned round. Pure. */
#include <stdio.h>
#include <string.h>

#include "engine/doctor.h"

#define LIST_SIZE 256
#define LIST_MAX  8 /* interfaces that are named */

struct list {
	char text[LIST_SIZE];
	size_t length;
	size_t count;
	const char *first;
};

static void list_add(struct list *list, const char *interface, uint32_t program)
{
	int size = 0;

	if (list->count++ == 0)
		list->first = interface;
	if (list->count > LIST_MAX || list->length >= sizeof(list->text))
		return;
	size = program ? snprintf(list->text + list->length, sizeof(list->text) - list->length,
				  "%s%s (program %u)", list->length ? ", " : "", interface, program)
		       : snprintf(list->text + list->length, sizeof(list->text) - list->length,
				  "%s%s", list->length ? ", " : "", interface);
	list->length += (size_t)size;
}

/* ", …" */
static const char *rest_of(const struct list *list)
{
	return list->count > LIST_MAX ? " and more" : "";
}

static bool is_kind(const struct net_device *device, const char *kind)
{
	return device && strcmp(device->link.kind, kind) == 0;
}

/* ── programs elsewhere ─────────────────────────────────────────────────────────────────────────── */

static bool has_peers(const struct doctor_facts *facts)
{
	for (size_t i = 0; i < facts->port_count; i++)
		if (is_kind(facts->ports[i].device, "veth") ||
		    is_kind(facts->ports[i].device, "netkit"))
			return true;
	return false;
}

static void judge_redirects(struct doctor_findings *findings, const struct doctor_facts *facts)
{
	struct list xdp = {0}, tc = {0};

	for (size_t i = 0; i < facts->interface_count; i++) {
		const struct doctor_interface *interface = &facts->interfaces[i];
		const struct dp_strangers *strangers = &interface->strangers;
		const char *name = interface->device->link.name;

		/* On a guarded interface it is said of the port. */
		if (strangers->xdp && !interface->is_guarded)
			list_add(&xdp, name, strangers->xdp);
		if (strangers->has_tc[SECG_FROM])
			list_add(&tc, name,
				 strangers->before_count[SECG_FROM]
					 ? strangers->before[SECG_FROM][0]
					 : 0);
	}
	if (xdp.count > 0 && facts->port_count > 0) {
		doctor_add(
			findings, DOCTOR_XDP_REDIRECT, DOCTOR_WARNING, NULL,
			"XDP programs of somebody else on %s%s: what they send to a guarded interface "
			"(XDP_REDIRECT) leaves without being judged; secg cannot see whether they do",
			xdp.text, rest_of(&xdp));
		doctor_fix(findings, "bpftool net show dev %s", xdp.first);
	}
	if (tc.count > 0 && has_peers(facts)) {
		doctor_add(
			findings, DOCTOR_REDIRECT_PEER, DOCTOR_WARNING, NULL,
			"TC programs of somebody else on %s%s: what they hand to the far end of a veth "
			"or netkit (bpf_redirect_peer, as Cilium does) passes the port's hooks by; "
			"secg cannot see whether they do",
			tc.text, rest_of(&tc));
		doctor_fix(findings, "bpftool net show dev %s", tc.first);
	}
}

static void judge_unguarded(struct doctor_findings *findings, const struct doctor_facts *facts)
{
	struct list list = {0};

	for (size_t i = 0; i < facts->interface_count; i++) {
		const struct doctor_interface *interface = &facts->interfaces[i];

		if (!interface->is_guarded && !(interface->device->link.flags & IFF_LOOPBACK))
			list_add(&list, interface->device->link.name, 0);
	}
	if (list.count == 0)
		return;
	doctor_add(findings, DOCTOR_UNGUARDED, DOCTOR_INFO, NULL,
		   "no port names %s%s: everything passes there", list.text, rest_of(&list));
	doctor_fix(findings, "sgctl apply -f FILE with ports: {NAME: {interface: %s, from: [ACL]}}",
		   list.first);
}

/* ── hardware ───────────────────────────────────────────────────────────────────────────────────── */

static void judge_hardware(struct doctor_findings *findings, const struct doctor_port *port)
{
	const struct net_device *device = port->device;

	if (port->has_offloads && port->offloads.hw_tc) {
		doctor_add(
			findings, DOCTOR_HW_OFFLOAD, DOCTOR_WARNING, port->name,
			"hw-tc-offload is on at %s: flows that the NIC forwards by itself pass no hook",
			port->interface);
		doctor_fix(findings,
			   "ethtool -K %s hw-tc-offload off; with Open vSwitch: ovs-vsctl set "
			   "Open_vSwitch . other_config:hw-offload=false",
			   port->interface);
	}
	if (device->vf_count > 0) {
		doctor_add(
			findings, DOCTOR_VIRTUAL_FUNCTIONS, DOCTOR_WARNING, port->name,
			"%s has %u virtual functions: packets of those, and between them, stay in the "
			"NIC and pass no hook of %s",
			port->interface, device->vf_count, port->interface);
		doctor_fix(findings,
			   "guard the VF itself where it is in the host, or: echo 0 > "
			   "/sys/class/net/%s/device/sriov_numvfs",
			   port->interface);
	}
	if (device->has_switch) {
		doctor_add(
			findings, DOCTOR_HW_SWITCH, DOCTOR_WARNING, port->name,
			"%s is a port of a switch chip: what the chip forwards by itself passes no hook",
			port->interface);
		doctor_fix(findings, "ip -d link show dev %s", port->interface);
	}
}

/* ── virtual devices ────────────────────────────────────────────────────────────────────────────── */

static void judge_macvtap(struct doctor_findings *findings, const struct doctor_port *port)
{
	if (is_kind(port->device, "macvtap")) {
		doctor_add(
			findings, DOCTOR_MACVTAP, DOCTOR_WARNING, port->name,
			"%s is a macvtap: the kernel receives on it what goes to the virtual machine, "
			"so from is to the machine and to is from it",
			port->interface);
		doctor_fix(findings, "swap from and to in ports.%s, or use a tap on a bridge",
			   port->name);
	}
	if (port->upper) {
		doctor_add(findings, DOCTOR_MACVTAP, DOCTOR_WARNING, port->name,
			   "%s %s has taken over %s (mode passthru)%s", port->upper->link.kind,
			   port->upper->link.name, port->interface,
			   port->has_offloads && port->offloads.l2_forward
				   ? ": with l2-fwd-offload its packets pass no hook"
				   : ": the port judges its packets, not those of the host");
		doctor_fix(findings, "ip -d link show dev %s", port->upper->link.name);
	}
}

static void judge_virtual(struct doctor_findings *findings, const struct doctor_port *port)
{
	judge_macvtap(findings, port);
	if (is_kind(port->device, "netkit")) {
		doctor_add(
			findings, DOCTOR_NETKIT, DOCTOR_WARNING, port->name,
			"%s is a netkit: its own BPF program runs first, and what that redirects, drops "
			"or hands to the peer passes no hook",
			port->interface);
		doctor_fix(findings, "bpftool net show dev %s; or use a veth", port->interface);
	}
	if (is_kind(port->device, "openvswitch") || is_kind(port->master, "openvswitch")) {
		doctor_add(
			findings, DOCTOR_OVS_PORT, DOCTOR_INFO, port->name,
			"%s belongs to Open vSwitch: the hooks see its packets as long as the kernel "
			"forwards them; with hw-offload, AF_XDP or DPDK they do not",
			port->interface);
		doctor_fix(findings, "ovs-vsctl get Open_vSwitch . other_config");
	}
}

void doctor_judge_paths(struct doctor_findings *findings, const struct doctor_facts *facts)
{
	for (size_t i = 0; i < facts->port_count; i++) {
		if (!facts->ports[i].device)
			continue;
		judge_hardware(findings, &facts->ports[i]);
		judge_virtual(findings, &facts->ports[i]);
	}
	judge_redirects(findings, facts);
	judge_unguarded(findings, facts);
	if (facts->host.vhost_user[0]) {
		doctor_add(
			findings, DOCTOR_VHOST_USER, DOCTOR_WARNING, NULL,
			"the socket %s looks like vhost-user: packets of a virtual machine that uses it "
			"go through no interface of the kernel",
			facts->host.vhost_user);
		doctor_fix(findings, "ss -xp | grep vhost; give the machine a tap instead");
	}
}
