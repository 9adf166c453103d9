/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to the kernel over netlink, on a socket of its own. For what is asked now and then; what is
 * followed all the time has its own socket (net.c).
 */
#ifndef SECG_NET_ASK_H
#define SECG_NET_ASK_H

#include <libmnl/libmnl.h>

#define NET_ASK_SIZE 256 /* bytes that a request may take */

/*
 * Sends `request` (NLM_F_REQUEST is added; with NLM_F_DUMP many answers come) and calls `each` for every
 * answer. -EINTR: the kernel's list changed while it was read, so what was seen is not to be trusted.
 * Other negative errno: the kernel's, or of the socket.
 */
int net_ask(int bus, struct nlmsghdr *request, mnl_cb_t each, void *data);

#endif
