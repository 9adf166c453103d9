/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Infrastructure rules: what keeps a link alive below the policy. Each bit is one kind of message; a
 * port has one mask of bits per direction (struct secg_port). DHCP has two bits per row because a row
 * lets requests one way and answers the other. The bit is also the index of the port's counter.
 */
#ifndef SECG_INFRA_H
#define SECG_INFRA_H

/* bit, row of the API that it belongs to */
#define SECG_INFRA_BITS(X)                    \
	X(ARP, "arp")                         \
	X(ND, "nd")                           \
	X(RA, "ra")                           \
	X(MLD, "mld")                         \
	X(IGMP, "igmp")                       \
	X(DHCP_CLIENT_REQUEST, "dhcp-client") \
	X(DHCP_CLIENT_ANSWER, "dhcp-client")  \
	X(DHCP_SERVER_REQUEST, "dhcp-server") \
	X(DHCP_SERVER_ANSWER, "dhcp-server")  \
	X(LACP, "lacp")                       \
	X(STP, "stp")                         \
	X(LLDP, "lldp")                       \
	X(EAPOL, "eapol")                     \
	X(VRRP, "vrrp")                       \
	X(IKE, "ike")

enum secg_infra {
#define SECG_INFRA_ENUM(name, row) SECG_INFRA_##name,
	SECG_INFRA_BITS(SECG_INFRA_ENUM)
#undef SECG_INFRA_ENUM
		SECG_INFRA_COUNT,
};

#define SECG_INFRA_SLOTS 16
_Static_assert(SECG_INFRA_COUNT <= SECG_INFRA_SLOTS, "bits fit the mask of a port");

#endif
