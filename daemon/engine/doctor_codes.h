/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that doctor can find: the one list from which code, API and documentation are made. A word is
 * never given another meaning.
 */
#ifndef SECG_ENGINE_DOCTOR_CODES_H
#define SECG_ENGINE_DOCTOR_CODES_H

#define DOCTOR_CODES(X)                                                                         \
	X(KERNEL_TCX, "kernel_tcx", "TC programs as links, first in line, are there or not")    \
	X(KERNEL_XDP_LINK, "kernel_xdp_link", "XDP programs as links are there or not")         \
	X(KERNEL_XDP_FRAGS, "kernel_xdp_frags",                                                 \
	  "XDP on frames of several buffers is there or not")                                   \
	X(KERNEL_BTF, "kernel_btf", "the kernel describes its types or not")                    \
	X(KERNEL_JIT, "kernel_jit", "BPF programs are compiled to machine code or interpreted") \
	X(UNPRIVILEGED_BPF, "unprivileged_bpf",                                                 \
	  "users without rights may load BPF programs or not")                                  \
	X(BPFFS, "bpffs", "where the pins lie that let the policy outlive the daemon")          \
	X(BPFFS_PRIVATE, "bpffs_private", "the pins die with the daemon's mount namespace")     \
	X(EPHEMERAL, "ephemeral", "nothing is pinned: the policy ends with the daemon")         \
	X(SOCKET_MODE, "socket_mode", "the socket does not let members of the groups connect")  \
	X(SOCKET_GONE, "socket_gone", "the daemon's socket is not where it was made")           \
	X(GROUP_ADMIN, "group_admin", "the group that may change the policy does not exist")    \
	X(GROUP_READ, "group_read", "the group that may read does not exist")                   \
	X(STORE_BROKEN, "store_broken", "the last policy could not be written to disk")         \
	X(PATH_BROKEN, "path_broken", "the data path did not take the last policy")             \
	X(NET_BROKEN, "net_broken", "the kernel's news about interfaces do not arrive")         \
	X(CLAIM_BROKEN, "claim_broken", "interfaces are not guarded as they should be")         \
	X(TABLE_MEMORY, "table_memory", "the memory of compiled policies is nearly full")       \
	X(SESSIONS_FULL, "sessions_full", "the table of answered sessions is nearly full")      \
	X(NEW_SESSIONS_FULL, "new_sessions_full",                                               \
	  "the table of half-open and one-way sessions is nearly full")                         \
	X(UNGUARDED, "unguarded", "interfaces are up and no port names them")                   \
	X(PORT_FAILED, "port_failed", "the port does not guard its interface")                  \
	X(PORT_AMBIGUOUS, "port_ambiguous", "several interfaces fit, or several ports")         \
	X(PORT_WAITING, "port_waiting", "the port's interface is not there")                    \
	X(PORT_DEGRADED, "port_degraded",                                                       \
	  "the port guards, but not as asked when it was attached")                             \
	X(HOOK, "hook", "which hooks and modes the port has, and why")                          \
	X(GENERIC_XDP, "generic_xdp", "XDP runs behind the driver, slower than hook tc")        \
	X(XDP_ON_VETH, "xdp_on_veth", "XDP on a veth or tap slows TCP behind it")               \
	X(MTU_XDP, "mtu_xdp", "the MTU is too large for XDP on this kernel")                    \
	X(RXVLAN, "rxvlan", "the NIC takes VLAN tags out before XDP sees them")                 \
	X(LRO, "lro", "the NIC joins received packets in a way that forwarding cannot undo")    \
	X(OFFLOADS, "offloads", "which offloads are on")                                        \
	X(FOREIGN_XDP, "foreign_xdp", "an XDP program of somebody else sees packets first")     \
	X(FOREIGN_TC, "foreign_tc", "TC programs of somebody else run before ours")             \
	X(XDP_REDIRECT, "xdp_redirect",                                                         \
	  "an XDP program elsewhere could send packets past the hooks of ports")                \
	X(REDIRECT_PEER, "redirect_peer",                                                       \
	  "a TC program elsewhere could send packets past the hooks of ports")                  \
	X(NETKIT, "netkit", "a netkit device's own program decides what reaches the hooks")     \
	X(OVS_PORT, "ovs_port", "the interface belongs to an Open vSwitch datapath")            \
	X(HW_OFFLOAD, "hw_offload", "the NIC may forward flows by itself, past every hook")     \
	X(HW_SWITCH, "hw_switch", "the interface is a port of a switch chip")                   \
	X(VIRTUAL_FUNCTIONS, "virtual_functions", "virtual functions of the NIC pass no hook")  \
	X(MACVTAP, "macvtap", "a macvtap or macvlan device turns directions or bypasses hooks") \
	X(VHOST_USER, "vhost_user", "a virtual machine may be connected past every interface")  \
	X(SSH_CUT, "ssh_cut", "the policy does not admit an SSH connection that is open")       \
	X(SSH_UNKNOWN, "ssh_unknown", "it cannot be told whether SSH connections are admitted")

enum doctor_code {
#define DOCTOR_CODE_ENUM(name, word, text) DOCTOR_##name,
	DOCTOR_CODES(DOCTOR_CODE_ENUM)
#undef DOCTOR_CODE_ENUM
		DOCTOR_CODE_COUNT,
};

#endif
