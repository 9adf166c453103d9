/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls into the kernel around hooks, and the constants that Debian 12's headers lack. Knows no port.
 */
#ifndef SECG_DP_SYS_H
#define SECG_DP_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"

#define SYS_ATTACH_XDP         37
#define SYS_ATTACH_TCX_INGRESS 46 /* Linux 6.6 */
#define SYS_ATTACH_TCX_EGRESS  47
#define SYS_LINK_XDP           6
#define SYS_LINK_TCX           11
#define SYS_F_BEFORE           (1u << 3)
#define SYS_MPROG_MAX          64 /* programs of one TCX hook */
#define SYS_NAME_SIZE          16

struct sys_link {
	uint32_t type;    /* SYS_LINK_* */
	uint32_t program; /* id */
	int ifindex;      /* 0: severed */
};
int sys_link_info(int link_fd, struct sys_link *ret_link);

/* Ids of the programs of a TCX hook in the order in which they run. `ret_ids` has SYS_MPROG_MAX. */
int sys_tcx_query(int ifindex, uint32_t attach_type, uint32_t *ret_ids, uint32_t *ret_count);
/* Id of the XDP program of an interface, 0 for none, and whether it runs in the driver. */
int sys_xdp_query(int ifindex, uint32_t *ret_id, bool *ret_is_native);
/* "" where the kernel does not let us look. */
void sys_program_name(uint32_t id, char ret_name[SYS_NAME_SIZE + 1]);

/* ── clsact ── */

/* Our filters: priority 1 and a handle that nobody takes by chance, so that they are known as ours. */
#define SYS_CLSACT_HANDLE   0x73656367u
#define SYS_CLSACT_PRIORITY 1u

/* Puts the program first on clsact, in place of ours of an earlier build. */
int sys_clsact_attach(int ifindex, bool is_egress, int program_fd);
/* Removes our filter; one that is not there is no error. A clsact without filters is removed too. */
int sys_clsact_detach(int ifindex, bool is_egress);
/* Id of our program there; 0: none. Negative errno: it cannot be told. */
int64_t sys_clsact_query(int ifindex, bool is_egress);
/* Id of a program that runs before ours; 0 none. */
uint32_t sys_clsact_before(int ifindex, bool is_egress);

/* ── driver ── */

/* Switches removal of VLAN tags by the NIC off. -EOPNOTSUPP: it cannot be switched and is on. */
int sys_rxvlan_off(int ifindex);

#endif
