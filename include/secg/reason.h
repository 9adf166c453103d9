/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Why a packet was dropped: the one list behind the enum, the counters, the metrics labels and the
 * answers of the API. Append only: the position is the index of a counter that outlives the daemon.
 */
#ifndef SECG_REASON_H
#define SECG_REASON_H

#define SECG_REASONS(X)                                                                            \
	X(MALFORMED, "malformed", "a header is cut off or contradicts itself")                     \
	X(TAG_DEPTH, "tag_depth", "more than two VLAN tags")                                       \
	X(EXT_DEPTH, "ext_depth", "more than eight IPv6 extension headers")                        \
	X(HOP_LIMIT, "hop_limit",                                                                  \
	  "neighbour discovery, router or VRRP message that crossed a router")                     \
	X(DEFAULT, "default", "no rule matched")                                                   \
	X(RULE_DROP, "rule_drop", "a rule says drop")                                              \
	X(POLICY_CHANGE, "policy_change", "a session that the present rules no longer admit")      \
	X(TCP_NOT_SYN, "tcp_not_syn", "strict TCP: the first packet of a flow is not a SYN")       \
	X(TCP_BAD_FLAGS, "tcp_bad_flags", "a combination of TCP flags that no stack sends")        \
	X(TCP_RST_WINDOW, "tcp_rst_window", "a TCP reset outside the session's window")            \
	X(SESSION_FULL, "session_full", "the table of established sessions is full")               \
	X(ICMP_UNRELATED, "icmp_unrelated", "an ICMP error that belongs to no session")            \
	X(FRAG_EARLY, "frag_early", "a fragment that came before the first of its datagram")       \
	X(FRAG_TINY, "frag_tiny", "a first fragment too short for its transport header")           \
	X(UNDECIDED, "undecided", "the port has no policy to decide by")                           \
	X(FRAG_OVERLAP, "frag_overlap", "a fragment that overwrites a part of the first")          \
	X(SPOOF_MAC, "spoof_mac", "a source MAC that the port may not use")                        \
	X(SPOOF_IP, "spoof_ip", "a source address that the port may not use")                      \
	X(SPOOF_ARP, "spoof_arp", "an ARP sender that the port may not be")                        \
	X(SPOOF_ND, "spoof_nd", "neighbour discovery about an address that is not the port's")     \
	X(RA_GUARD, "ra_guard", "a router advertisement or redirect from a workload")              \
	X(DHCP_GUARD, "dhcp_guard", "a DHCP server's answer from a workload")                      \
	X(RULE_REJECT, "rule_reject", "a rule says reject")                                        \
	X(LIMIT_PORT, "limit_port", "the port has as many sessions as it may")                     \
	X(LIMIT_SOURCE, "limit_source", "the source has as many sessions as it may")               \
	X(LIMIT_HALF_OPEN, "limit_half_open", "the port has as many half-open sessions as it may") \
	X(FRAG_FULL, "frag_full", "a first fragment that could not be remembered")                 \
	X(FRAG_VERDICT, "frag_verdict", "a fragment of a datagram whose first was dropped")

enum secg_reason {
	SECG_REASON_NONE = 0,
#define SECG_REASON_ENUM(name, label, text) SECG_REASON_##name,
	SECG_REASONS(SECG_REASON_ENUM)
#undef SECG_REASON_ENUM
		SECG_REASON_COUNT,
};

#define SECG_REASON_SLOTS 64 /* room for reasons to come, so that adding one keeps the layout */
_Static_assert(SECG_REASON_COUNT <= SECG_REASON_SLOTS, "reasons fit their counters");

#endif
