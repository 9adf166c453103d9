/* SPDX-License-Identifier: Apache-2.0 */
/* Links, XDP programs and driver settings as the kernel tells them. Used by attach.c and probe.c. */
#include "dp/sys.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int sys_link_info(int link_fd, struct sys_link *ret_link)
{
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(link_fd, &info, &size) < 0)
		return -errno;
	ret_link->type = info.type;
	ret_link->program = info.prog_id;
	/* A TCX link tells its interface in the same place. */
	ret_link->ifindex = (int)info.xdp.ifindex;
	return 0;
}

int sys_tcx_query(int ifindex, uint32_t attach_type, uint32_t *ret_ids, uint32_t *ret_count)
{
	uint32_t ids[SYS_MPROG_MAX];
	uint32_t count = SYS_MPROG_MAX;

	if (bpf_prog_query(ifindex, attach_type, 0, NULL, ids, &count) < 0)
		return -errno;
	memcpy(ret_ids, ids, count * sizeof(*ids));
	*ret_count = count;
	return 0;
}

int sys_xdp_query(int ifindex, uint32_t *ret_id, bool *ret_is_native)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);
	int r = bpf_xdp_query(ifindex, 0, &opts);

	if (r < 0)
		return r;
	*ret_id = opts.drv_prog_id ? opts.drv_prog_id : opts.skb_prog_id;
	if (!*ret_id)
		*ret_id = opts.hw_prog_id ? opts.hw_prog_id : opts.prog_id;
	*ret_is_native = opts.attach_mode == XDP_ATTACHED_DRV;
	return 0;
}

void sys_program_name(uint32_t id, char ret_name[SYS_NAME_SIZE + 1])
{
	_cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);
	struct bpf_prog_info info = {0};
	uint32_t info_size = sizeof(info);

	ret_name[0] = '\0';
	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &info_size))
		snprintf(ret_name, SYS_NAME_SIZE + 1, "%.*s", SYS_NAME_SIZE, info.name);
}

int sys_rxvlan_off(int ifindex)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ethtool_value value = {.cmd = ETHTOOL_GFLAGS};
	struct ifreq request = {.ifr_data = (void *)&value};

	if (fd < 0)
		return -errno;
	if (!if_indextoname((unsigned int)ifindex, request.ifr_name))
		return -errno;
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		return errno == EOPNOTSUPP ? 0 : -errno;
	if (!(value.data & ETH_FLAG_RXVLAN))
		return 0;
	value.cmd = ETHTOOL_SFLAGS;
	value.data &= ~(uint32_t)ETH_FLAG_RXVLAN;
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		return errno == EINVAL ? -EOPNOTSUPP : -errno;
	return 0;
}
