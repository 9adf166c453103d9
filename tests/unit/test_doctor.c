/* SPDX-License-Identifier: Apache-2.0 */
/* Doctor's judgement on facts that are made up here: each finding once, and none where all is well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "engine/doctor.h"

/* ── a host on which all is well: NIC eth0 with native XDP, tap tap1 with TC ────────────────────── */

struct lab {
	struct net_device devices[5];
	struct doctor_port ports[2];
	struct doctor_interface interfaces[3];
	struct doctor_facts facts;
};

enum {
	NIC,
	TAP,
	LOOP,
	OTHER,
	MASTER,
};

static struct net_device make_device(int ifindex, const char *name, const char *kind)
{
	struct net_device device = {
		.link = {.ifindex = ifindex, .type = ARPHRD_ETHER, .mtu = 1500, .flags = IFF_UP}};

	snprintf(device.link.name, sizeof(device.link.name), "%s", name);
	snprintf(device.link.kind, sizeof(device.link.kind), "%s", kind);
	return device;
}

static void make_host(struct doctor_host *host)
{
	*host = (struct doctor_host){
		.has_feature = {true, true, true},
		.has_btf = DOCTOR_YES,
		.is_jit_on = DOCTOR_YES,
		.is_bpf_unprivileged = DOCTOR_NO,
		.folder = "/sys/fs/bpf/secgd/v1",
		.bpffs = {.mount = "/sys/fs/bpf", .is_outside_known = true, .is_outside = true},
		.socket = "/run/secgd/secgd.sock",
		.socket_mode = 0140666,
		.has_admin_group = true,
		.has_read_group = true,
		.table_used_bytes = 79 << 10,
		.table_size_bytes = 100 << 10,
		.has_sessions = true,
		.sessions = {.used = 799, .max = 1000, .new_used = 799, .new_max = 1000},
	};
}

static struct lab *setup(struct lab *lab)
{
	*lab = (struct lab){0};
	lab->devices[NIC] = make_device(2, "eth0", "");
	lab->devices[TAP] = make_device(3, "tap1", "tun");
	lab->devices[LOOP] = make_device(1, "lo", "");
	lab->devices[LOOP].link.flags |= IFF_LOOPBACK;
	lab->devices[OTHER] = make_device(4, "mv0", "macvtap");
	lab->devices[MASTER] = make_device(5, "br0", "bridge");
	lab->ports[0] = (struct doctor_port){
		.name = "uplink",
		.interface = "eth0",
		.state = PORT_GUARDED,
		.attachment = {.is_xdp = true, .mode = DP_MODE_NATIVE, .mode_to = DP_MODE_TCX},
		.message = "",
		.device = &lab->devices[NIC],
		.has_offloads = true,
		.offloads = {.gro = true, .tso = true},
	};
	lab->ports[1] = (struct doctor_port){
		.name = "vm1",
		.interface = "tap1",
		.state = PORT_GUARDED,
		.attachment = {.mode = DP_MODE_TCX, .mode_to = DP_MODE_TCX},
		.message = "",
		.device = &lab->devices[TAP],
		.has_offloads = true,
	};
	lab->interfaces[0] = (struct doctor_interface){&lab->devices[NIC], {0}, true};
	lab->interfaces[1] = (struct doctor_interface){&lab->devices[TAP], {0}, true};
	lab->interfaces[2] = (struct doctor_interface){&lab->devices[LOOP], {0}, false};
	lab->facts.ports = lab->ports;
	lab->facts.port_count = 2;
	lab->facts.interfaces = lab->interfaces;
	lab->facts.interface_count = 3;
	make_host(&lab->facts.host);
	return lab;
}

/* ── what goes wrong ────────────────────────────────────────────────────────────────────────────── */

#define BREAK(name, ...)                                     \
	static void break_##name(struct lab *lab)            \
	{                                                    \
		struct doctor_host *host = &lab->facts.host; \
		struct doctor_port *nic = &lab->ports[0];    \
		struct doctor_port *tap = &lab->ports[1];    \
		(void)host;                                  \
		(void)nic;                                   \
		(void)tap;                                   \
		__VA_ARGS__;                                 \
	}

BREAK(nothing, )
BREAK(tcx, host->has_feature[DP_FEATURE_TCX] = false)
BREAK(link, host->has_feature[DP_FEATURE_XDP_LINK] = false)
BREAK(frags, host->has_feature[DP_FEATURE_XDP_FRAGS] = false)
BREAK(btf, host->has_btf = DOCTOR_NO)
BREAK(jit, host->is_jit_on = DOCTOR_NO)
BREAK(jit_unknown, host->is_jit_on = DOCTOR_UNKNOWN)
BREAK(unprivileged, host->is_bpf_unprivileged = DOCTOR_YES)
BREAK(unprivileged_unknown, host->is_bpf_unprivileged = DOCTOR_UNKNOWN)
BREAK(private, host->bpffs.is_private = true, host->bpffs.is_outside = false)
BREAK(private_unknown, host->bpffs = (struct bpffs_place){.is_private = true})
BREAK(private_shared, host->bpffs.is_private = true)
BREAK(ephemeral, host->folder = NULL)
BREAK(mode, host->socket_mode = 0140600)
BREAK(socket, host->socket_error = ENOENT)
BREAK(admin, host->has_admin_group = false)
BREAK(reader, host->has_read_group = false)
BREAK(store, host->is_store_broken = true)
BREAK(path, host->is_path_broken = true)
BREAK(net, host->is_net_broken = true)
BREAK(claim, host->is_claim_broken = true)
BREAK(ambiguous, nic->state = PORT_AMBIGUOUS, nic->message = "eth0 and eth1 fit")
BREAK(memory, host->table_used_bytes = 80 << 10)
BREAK(sessions, host->sessions.used = 800)
BREAK(new_sessions, host->sessions.new_used = 800)
BREAK(vhost, strcpy(host->vhost_user, "/run/vm1-vhost.sock"))
BREAK(unguarded, lab->interfaces[0].is_guarded = false)
BREAK(failed, nic->state = PORT_FAILED, nic->message = "it resists")
BREAK(waiting, nic->state = PORT_WAITING, nic->device = NULL)
BREAK(degraded, nic->state = PORT_DEGRADED, strcpy(nic->attachment.standing, "it was not alone"))
BREAK(asked_xdp, nic->hook = PORT_HOOK_XDP)
BREAK(asked_tc, nic->hook = PORT_HOOK_TC, nic->attachment.is_xdp = false,
      nic->attachment.mode = DP_MODE_TCX)
BREAK(no_driver_xdp, nic->attachment.is_xdp = false, nic->attachment.mode = DP_MODE_TCX)
BREAK(no_ethernet, lab->devices[TAP].link.type = ARPHRD_NONE)
BREAK(bridge, strcpy(lab->devices[TAP].link.kind, "bridge"))
BREAK(generic, nic->attachment.mode = DP_MODE_GENERIC, strcpy(nic->attachment.standing, "slow"))
BREAK(veth, strcpy(lab->devices[TAP].link.kind, "veth"), tap->attachment.is_xdp = true,
      tap->attachment.mode = DP_MODE_NATIVE)
BREAK(mtu, host->has_feature[DP_FEATURE_XDP_FRAGS] = false, lab->devices[NIC].link.mtu = 9000)
BREAK(mtu_tap, host->has_feature[DP_FEATURE_XDP_FRAGS] = false, lab->devices[TAP].link.mtu = 9000)
BREAK(rxvlan, nic->offloads.rxvlan = true, strcpy(nic->attachment.standing, "tags"))
BREAK(rxvlan_tap, tap->offloads.rxvlan = true)
BREAK(lro_xdp, nic->offloads.lro = true)
BREAK(lro_routed, tap->offloads.lro = true, tap->is_routed = true)
BREAK(lro_bridged, tap->offloads.lro = true, tap->master = &lab->devices[MASTER])
BREAK(lro_host, tap->offloads.lro = true)
BREAK(mute, nic->has_offloads = false)
BREAK(foreign_xdp, tap->strangers.xdp = 42, strcpy(tap->attachment.standing, "42"))
BREAK(foreign_from, tap->strangers.before[SECG_FROM][0] = 7,
      tap->strangers.before[SECG_FROM][1] = 8, tap->strangers.before_count[SECG_FROM] = 2,
      tap->state = PORT_DEGRADED)
BREAK(foreign_to, tap->strangers.before[SECG_TO][0] = 9, tap->strangers.before_count[SECG_TO] = 1)
BREAK(redirect, lab->interfaces[0].is_guarded = false, lab->interfaces[0].strangers.xdp = 77)
BREAK(redirect_guarded, lab->interfaces[0].strangers.xdp = 77)
BREAK(peer, strcpy(lab->devices[TAP].link.kind, "veth"),
      lab->interfaces[0].strangers.has_tc[SECG_FROM] = true)
BREAK(peer_of_none, lab->interfaces[0].strangers.has_tc[SECG_FROM] = true)
BREAK(netkit, strcpy(lab->devices[TAP].link.kind, "netkit"))
BREAK(ovs, strcpy(lab->devices[MASTER].link.kind, "openvswitch"),
      nic->master = &lab->devices[MASTER])
BREAK(ovs_internal, strcpy(lab->devices[TAP].link.kind, "openvswitch"))
BREAK(hw, nic->offloads.hw_tc = true)
BREAK(chip, lab->devices[NIC].has_switch = true)
BREAK(vf, lab->devices[NIC].vf_count = 4)
BREAK(macvtap, strcpy(lab->devices[TAP].link.kind, "macvtap"))
BREAK(passthru, nic->upper = &lab->devices[OTHER])
BREAK(passthru_hw, nic->upper = &lab->devices[OTHER], nic->offloads.l2_forward = true)

static void add_cut(struct lab *lab, const char *port, const char *address, bool is_certain)
{
	struct ssh_report *report = &lab->facts.ssh;
	struct ssh_cut *cut = &report->cut[report->cut_count++];

	report->count++;
	*cut = (struct ssh_cut){.acl = "ssh-in", .lists = ",\"web\"", .is_certain = is_certain};
	snprintf(cut->port, sizeof(cut->port), "%s", port);
	snprintf(cut->address, sizeof(cut->address), "%s", address);
	snprintf(cut->peer, sizeof(cut->peer), "%s:40022", address);
}

BREAK(ssh, add_cut(lab, "uplink", "192.0.2.7", true), add_cut(lab, "uplink", "192.0.2.8", true),
      add_cut(lab, "uplink", "192.0.2.7", true))
BREAK(ssh_to, add_cut(lab, "uplink", "192.0.2.7", true), lab->facts.ssh.cut[0].direction = SECG_TO)
BREAK(ssh_long, add_cut(lab, "uplink", "192.0.2.7", true), lab->facts.ssh.cut[0].acl[0] = '\0')
BREAK(ssh_member, add_cut(lab, "vm1", "192.0.2.7", false))
BREAK(ssh_many, lab->facts.ssh.cut_count = SSH_CUT_MAX + 3)
BREAK(ssh_deaf, lab->facts.ssh.error = -ENOENT)
BREAK(ssh_unrouted, lab->facts.ssh.unrouted = 2)
BREAK(ssh_flood, lab->facts.ssh.count = SSH_MAX + 1)

/* ── what is found ──────────────────────────────────────────────────────────────────────────────── */

#define I  DOCTOR_INFO
#define W  DOCTOR_WARNING
#define E  DOCTOR_ERROR
#define NO (-1) /* must not be found at all */

#define HOOK_COMMAND(port, hook) \
	"echo '{\"ports\":{\"" port "\":{\"hook\":\"" hook "\"}}}' | sgctl apply -f -"

static const struct row {
	void (*cause)(struct lab *lab);
	enum doctor_code code;
	int severity;
	const char *port;
	const char *message; /* a part */
	const char *fix;     /* a part; NULL: nothing to type */
} rows[] = {
	{break_nothing, DOCTOR_KERNEL_TCX, I, NULL, "TCX is there", NULL},
	{break_tcx, DOCTOR_KERNEL_TCX, I, NULL, "TCX is not there", "uname -r"},
	{break_nothing, DOCTOR_KERNEL_XDP_LINK, I, NULL, "links are there", NULL},
	{break_link, DOCTOR_KERNEL_XDP_LINK, I, NULL, "every port uses hook tc", "uname -r"},
	{break_nothing, DOCTOR_KERNEL_XDP_FRAGS, I, NULL, "any MTU", NULL},
	{break_frags, DOCTOR_KERNEL_XDP_FRAGS, I, NULL, "does not take", "uname -r"},
	{break_nothing, DOCTOR_KERNEL_BTF, I, NULL, "describes its types", NULL},
	{break_btf, DOCTOR_KERNEL_BTF, I, NULL, "does not describe", NULL},
	{break_nothing, DOCTOR_KERNEL_JIT, I, NULL, "has compiled", NULL},
	{break_jit, DOCTOR_KERNEL_JIT, W, NULL, "interprets", "bpf_jit_enable=1"},
	{break_jit_unknown, DOCTOR_KERNEL_JIT, I, NULL, "cannot be told", "bpf_jit_enable"},
	{break_nothing, DOCTOR_UNPRIVILEGED_BPF, I, NULL, "only users with", NULL},
	{break_unprivileged, DOCTOR_UNPRIVILEGED_BPF, W, NULL, "every user", "disabled=2"},
	{break_unprivileged_unknown, DOCTOR_UNPRIVILEGED_BPF, I, NULL, "cannot be told",
	 "sysctl kernel.unprivileged_bpf_disabled"},
	{break_nothing, DOCTOR_BPFFS, I, NULL, "mounted at /sys/fs/bpf", "ls /sys/fs/bpf/secgd/v1"},
	{break_private, DOCTOR_BPFFS_PRIVATE, W, NULL, "process 1 does not have", "nsenter -t 1"},
	{break_private_unknown, DOCTOR_BPFFS_PRIVATE, W, NULL, "may go", "nsenter -t 1"},
	{break_private_shared, DOCTOR_BPFFS_PRIVATE, NO, NULL, NULL, NULL},
	{break_private_shared, DOCTOR_BPFFS, I, NULL, "process 1 has the same", "ls "},
	{break_ephemeral, DOCTOR_EPHEMERAL, W, NULL, "--ephemeral", "restart secgd"},
	{break_ephemeral, DOCTOR_BPFFS, NO, NULL, NULL, NULL},
	{break_mode, DOCTOR_SOCKET_MODE, W, NULL, "mode 0600", "chmod 0666 /run/secgd/secgd.sock"},
	{break_socket, DOCTOR_SOCKET_GONE, E, NULL, "No such file", "restart secgd"},
	{break_admin, DOCTOR_GROUP_ADMIN, I, NULL, "only root", "groupadd --system secg-admin"},
	{break_reader, DOCTOR_GROUP_READ, I, NULL, "no group", "groupadd --system secg-read"},
	{break_store, DOCTOR_STORE_BROKEN, E, NULL, "written to disk", "df "},
	{break_path, DOCTOR_PATH_BROKEN, E, NULL, "data path", "journalctl"},
	{break_net, DOCTOR_NET_BROKEN, E, NULL, "interfaces", "restart secgd"},
	{break_claim, DOCTOR_CLAIM_BROKEN, E, NULL, "not guarded as they should be", "journalctl"},
	{break_ambiguous, DOCTOR_PORT_AMBIGUOUS, E, "uplink", "NONE: eth0 and eth1 fit",
	 "more specific"},
	{break_memory, DOCTOR_TABLE_MEMORY, W, NULL, "80 %", "--table-memory"},
	{break_sessions, DOCTOR_SESSIONS_FULL, W, NULL, "800 of 1000", "--max-sessions 2000"},
	{break_new_sessions, DOCTOR_NEW_SESSIONS_FULL, W, NULL, "80 %", "half_open"},
	{break_vhost, DOCTOR_VHOST_USER, W, NULL, "/run/vm1-vhost.sock", "ss -xp"},
	{break_unguarded, DOCTOR_UNGUARDED, I, NULL, "no port names eth0:", "interface: eth0"},
	{break_failed, DOCTOR_PORT_FAILED, E, "uplink", "NOT guarded: it resists",
	 "sgctl get port"},
	{break_failed, DOCTOR_HOOK, NO, "uplink", NULL, NULL},
	{break_waiting, DOCTOR_PORT_WAITING, W, "uplink", "no interface eth0", "ip link"},
	{break_degraded, DOCTOR_PORT_DEGRADED, W, "uplink", "it was not alone", "restart secgd"},
	{break_nothing, DOCTOR_HOOK, I, "uplink",
	 "xdp (native), direction to in tc (tcx); hook auto: the driver takes",
	 "bpftool net show dev eth0"},
	{break_nothing, DOCTOR_HOOK, I, "vm1", "XDP on a tap switches off TSO", "dev tap1"},
	{break_asked_xdp, DOCTOR_HOOK, I, "uplink", "hook xdp: it is asked for", "dev eth0"},
	{break_asked_tc, DOCTOR_HOOK, I, "uplink", "hook tc: it is asked for", "dev eth0"},
	{break_no_driver_xdp, DOCTOR_HOOK, I, "uplink", "the driver took no native", "dev eth0"},
	{break_no_ethernet, DOCTOR_HOOK, I, "vm1", "no Ethernet header", "dev tap1"},
	{break_bridge, DOCTOR_HOOK, I, "vm1", "a bridge has no XDP", "dev tap1"},
	{break_foreign_xdp, DOCTOR_PORT_DEGRADED, NO, "vm1", NULL, NULL},
	{break_foreign_xdp, DOCTOR_HOOK, I, "vm1", "XDP on a tap", "dev tap1"},
	{break_generic, DOCTOR_GENERIC_XDP, W, "uplink", "generic XDP",
	 HOOK_COMMAND("uplink", "tc")},
	{break_generic, DOCTOR_PORT_DEGRADED, NO, "uplink", NULL, NULL},
	{break_veth, DOCTOR_XDP_ON_VETH, W, "vm1", "TSO", HOOK_COMMAND("vm1", "auto")},
	{break_mtu, DOCTOR_MTU_XDP, W, "uplink", "MTU 9000", "ip link set dev eth0 mtu 3498"},
	{break_mtu_tap, DOCTOR_MTU_XDP, NO, "vm1", NULL, NULL},
	{break_rxvlan, DOCTOR_RXVLAN, W, "uplink", "VLAN tags", "ethtool -K eth0 rxvlan off"},
	{break_rxvlan, DOCTOR_PORT_DEGRADED, NO, "uplink", NULL, NULL},
	{break_rxvlan_tap, DOCTOR_RXVLAN, NO, "vm1", NULL, NULL},
	{break_lro_xdp, DOCTOR_LRO, W, "uplink", "judged in XDP", "ethtool -K eth0 lro off"},
	{break_lro_routed, DOCTOR_LRO, W, "vm1", "forwarded", "ethtool -K tap1 lro off"},
	{break_lro_bridged, DOCTOR_LRO, W, "vm1", "bridged", "ethtool -K tap1 lro off"},
	{break_lro_host, DOCTOR_LRO, NO, "vm1", NULL, NULL},
	{break_nothing, DOCTOR_OFFLOADS, I, "uplink", "on: gro tso; off: rxvlan lro",
	 "ethtool -k eth0"},
	{break_mute, DOCTOR_OFFLOADS, I, "uplink", "does not tell", NULL},
	{break_foreign_xdp, DOCTOR_FOREIGN_XDP, W, "vm1", "program 42", "bpftool prog show id 42"},
	{break_foreign_from, DOCTOR_FOREIGN_TC, W, "vm1", "direction from: ", "show id 7"},
	{break_foreign_from, DOCTOR_FOREIGN_TC, W, "vm1", "on tap1: 7 8;", "show id 7"},
	{break_foreign_from, DOCTOR_PORT_DEGRADED, NO, "vm1", NULL, NULL},
	{break_foreign_to, DOCTOR_FOREIGN_TC, W, "vm1", "direction to: ", "show id 9"},
	{break_redirect, DOCTOR_XDP_REDIRECT, W, NULL, "eth0 (program 77)", "dev eth0"},
	{break_redirect_guarded, DOCTOR_XDP_REDIRECT, NO, NULL, NULL, NULL},
	{break_peer, DOCTOR_REDIRECT_PEER, W, NULL, "bpf_redirect_peer", "dev eth0"},
	{break_peer_of_none, DOCTOR_REDIRECT_PEER, NO, NULL, NULL, NULL},
	{break_netkit, DOCTOR_NETKIT, W, "vm1", "netkit", "bpftool net show dev tap1"},
	{break_ovs, DOCTOR_OVS_PORT, I, "uplink", "Open vSwitch", "ovs-vsctl"},
	{break_ovs_internal, DOCTOR_OVS_PORT, I, "vm1", "Open vSwitch", "ovs-vsctl"},
	{break_hw, DOCTOR_HW_OFFLOAD, W, "uplink", "pass no hook", "hw-tc-offload off"},
	{break_chip, DOCTOR_HW_SWITCH, W, "uplink", "switch chip", "ip -d link"},
	{break_vf, DOCTOR_VIRTUAL_FUNCTIONS, W, "uplink", "4 virtual functions", "sriov_numvfs"},
	{break_macvtap, DOCTOR_MACVTAP, W, "vm1", "from is to the machine", "swap from and to"},
	{break_passthru, DOCTOR_MACVTAP, W, "uplink", "not those of the host", "dev mv0"},
	{break_passthru_hw, DOCTOR_MACVTAP, W, "uplink", "pass no hook", "dev mv0"},
	{break_ssh, DOCTOR_SSH_CUT, E, "uplink", "192.0.2.7:40022",
	 "echo '{\"acls\":{\"ssh-in\":{\"rules\":[{\"id\":\"ssh\",\"action\":\"allow\","
	 "\"src\":[\"192.0.2.7\",\"192.0.2.8\"],\"protocol\":\"tcp\",\"dst_ports\":22}]}},"
	 "\"ports\":{\"uplink\":{\"from\":[\"ssh-in\",\"web\"]}}}' | sgctl apply -f -"},
	{break_ssh_to, DOCTOR_SSH_CUT, E, "uplink", "192.0.2.7",
	 "\"action\":\"allow-stateless\",\"dst\":[\"192.0.2.7\"],\"protocol\":\"tcp\",\"src_ports\":22"},
	{break_ssh_to, DOCTOR_SSH_CUT, E, "uplink", "192.0.2.7", "{\"to\":[\"ssh-in\",\"web\"]}"},
	{break_ssh_long, DOCTOR_SSH_CUT, E, "uplink", "192.0.2.7", "sgctl get port uplink"},
	{break_ssh_member, DOCTOR_SSH_CUT, W, "vm1", "another of its bridge", "sgctl apply"},
	{break_ssh_many, DOCTOR_SSH_CUT, E, NULL, "3 more", NULL},
	{break_ssh_deaf, DOCTOR_SSH_UNKNOWN, I, NULL, "does not list", "ss -tn"},
	{break_ssh_unrouted, DOCTOR_SSH_UNKNOWN, I, NULL, "no route", "ss -tn"},
	{break_ssh_flood, DOCTOR_SSH_UNKNOWN, I, NULL, "of 257 SSH", "ss -tn"},
};

static bool is_port(const struct doctor_finding *finding, const char *port)
{
	return port ? finding->port && strcmp(finding->port, port) == 0 : !finding->port;
}

static bool is_found(const struct doctor_finding *finding, const struct row *row)
{
	if (finding->code != row->code || !is_port(finding, row->port))
		return false;
	if (row->severity == NO)
		return true;
	return (int)finding->severity == row->severity && strstr(finding->message, row->message) &&
	       (row->fix ? finding->fix && strstr(finding->fix, row->fix) : !finding->fix);
}

static void print(const struct doctor_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		print_error("%s %s %s: %s [%s]\n",
			    doctor_severity_words[findings->items[i].severity],
			    doctor_code_words[findings->items[i].code],
			    findings->items[i].port ? findings->items[i].port : "",
			    findings->items[i].message,
			    findings->items[i].fix ? findings->items[i].fix : "");
}

static void test_each_fact_has_its_finding(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(doctor_findings_fini) struct doctor_findings findings = {0};
		struct lab lab;
		size_t found = 0;

		rows[i].cause(setup(&lab));
		doctor_judge(&findings, &lab.facts);
		assert_false(findings.is_incomplete);
		for (size_t k = 0; k < findings.count; k++)
			found += is_found(&findings.items[k], &rows[i]);
		if (rows[i].severity == NO ? found > 0 : found == 0) {
			print(&findings);
			fail_msg("row %zu: %s of %s found %zu times", i,
				 doctor_code_words[rows[i].code],
				 rows[i].port ? rows[i].port : "the host", found);
		}
	}
}

static void test_each_code_is_tried(void **state)
{
	bool is_tried[DOCTOR_CODE_COUNT] = {false};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].severity != NO)
			is_tried[rows[i].code] = true;
	for (int code = 0; code < DOCTOR_CODE_COUNT; code++)
		if (!is_tried[code])
			fail_msg("no row finds %s", doctor_code_words[code]);
}

static void test_a_host_on_which_all_is_well(void **state)
{
	_cleanup_(doctor_findings_fini) struct doctor_findings findings = {0};
	struct lab lab;

	(void)state;
	doctor_judge(&findings, &setup(&lab)->facts);
	for (size_t i = 0; i < findings.count; i++)
		if (findings.items[i].severity != DOCTOR_INFO) {
			print(&findings);
			fail_msg("something is wrong");
		}
}

/* Of what may be found, no cause brings anything worse than info with it that its row does not name. */
static void test_causes_have_no_other_effect(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(doctor_findings_fini) struct doctor_findings findings = {0};
		struct lab lab;

		if (rows[i].severity == NO)
			continue;
		rows[i].cause(setup(&lab));
		doctor_judge(&findings, &lab.facts);
		for (size_t k = 0; k < findings.count; k++) {
			const struct doctor_finding *finding = &findings.items[k];

			if (finding->severity == DOCTOR_INFO || finding->code == rows[i].code ||
			    rows[i].severity == DOCTOR_INFO)
				continue;
			fail_msg("row %zu (%s) brings %s", i, doctor_code_words[rows[i].code],
				 doctor_code_words[finding->code]);
		}
	}
}

static void test_the_worst_is_first(void **state)
{
	_cleanup_(doctor_findings_fini) struct doctor_findings findings = {0};
	struct lab lab;

	(void)state;
	setup(&lab);
	break_jit(&lab);
	break_failed(&lab);
	break_net(&lab);
	break_foreign_to(&lab);
	doctor_judge(&findings, &lab.facts);
	assert_int_equal(findings.items[0].code, DOCTOR_NET_BROKEN);
	assert_int_equal(findings.items[1].code, DOCTOR_PORT_FAILED);
	assert_int_equal(findings.items[2].code, DOCTOR_KERNEL_JIT);
	assert_int_equal(findings.items[3].code, DOCTOR_FOREIGN_TC);
	assert_int_equal(findings.items[4].severity, DOCTOR_INFO);
}

/* Names of interfaces and programs that are cut short must not end in the middle of memory. */
static void test_long_lists_are_cut(void **state)
{
	_cleanup_(doctor_findings_fini) struct doctor_findings findings = {0};
	struct doctor_interface interfaces[100];
	struct net_device device = make_device(9, "averylongname15", "veth");
	struct lab lab;

	(void)state;
	setup(&lab);
	for (size_t i = 0; i < ARRAY_SIZE(interfaces); i++)
		interfaces[i] = (struct doctor_interface){&device,
							  {.xdp = 4294967295u,
							   .has_tc = {true},
							   .before_count = {1},
							   .before = {{4294967295u}}},
							  false};
	strcpy(lab.devices[TAP].link.kind, "veth");
	lab.ports[1].strangers.before_count[SECG_TO] = DP_STRANGERS;
	for (int i = 0; i < DP_STRANGERS; i++)
		lab.ports[1].strangers.before[SECG_TO][i] = 4294967295u;
	lab.facts.interfaces = interfaces;
	lab.facts.interface_count = ARRAY_SIZE(interfaces);
	doctor_judge(&findings, &lab.facts);
	for (size_t i = 0; i < findings.count; i++)
		if (findings.items[i].code == DOCTOR_UNGUARDED ||
		    findings.items[i].code == DOCTOR_XDP_REDIRECT ||
		    findings.items[i].code == DOCTOR_REDIRECT_PEER)
			assert_non_null(strstr(findings.items[i].message, " and more"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_fact_has_its_finding),
		cmocka_unit_test(test_each_code_is_tried),
		cmocka_unit_test(test_a_host_on_which_all_is_well),
		cmocka_unit_test(test_causes_have_no_other_effect),
		cmocka_unit_test(test_the_worst_is_first),
		cmocka_unit_test(test_long_lists_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
