/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that guard an interface. */
#include "attached.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdio.h>

#include "dp/sys.h"

#define VERDICT_NEXT UINT32_MAX /* TCX_NEXT */
#define VERDICT_SHOT 2          /* TCX_DROP */

static int find_program(int ifindex, enum secg_direction direction, uint32_t *ret_id,
			bool *ret_is_xdp)
{
	uint32_t ids[SYS_MPROG_MAX], count = 0;
	bool is_native;
	int r;

	*ret_is_xdp = false;
	if (direction == SECG_FROM) {
		r = sys_xdp_query(ifindex, ret_id, &is_native);
		if (r < 0)
			return r;
		*ret_is_xdp = *ret_id != 0;
		if (*ret_is_xdp)
			return 0;
	}
	r = sys_tcx_query(ifindex,
			  direction == SECG_FROM ? SYS_ATTACH_TCX_INGRESS : SYS_ATTACH_TCX_EGRESS,
			  ids, &count);
	if (r < 0)
		return r;
	if (!count)
		return -ENOENT;
	*ret_id = ids[0];
	return 0;
}

int attached_open(struct attached *ret_attached, int ifindex, enum secg_direction direction)
{
	struct attached attached = {.fd = -1, .ifindex = ifindex};
	struct bpf_prog_info info = {0};
	uint32_t id, size = sizeof(info);
	int r = find_program(ifindex, direction, &id, &attached.is_xdp);

	if (r < 0)
		return r;
	attached.fd = bpf_prog_get_fd_by_id(id);
	if (attached.fd < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(attached.fd, &info, &size)) {
		r = -errno;
		close(attached.fd);
		return r;
	}
	for (size_t i = 0; i < BPF_TAG_SIZE; i++)
		snprintf(attached.tag + 2 * i, 3, "%02x", info.tag[i]);
	*ret_attached = attached;
	return 0;
}

void attached_close(struct attached *attached)
{
	closep(&attached->fd);
	attached->fd = -1;
}

int attached_run_fd(const struct attached *attached, int fd, const void *bytes, size_t size,
		    uint32_t repeat, uint32_t *ret_value, uint32_t *ret_duration_ns)
{
	struct xdp_md xdp = {.data_end = (uint32_t)size,
			     .ingress_ifindex = (uint32_t)attached->ifindex};
	struct __sk_buff skb = {.ifindex = (uint32_t)attached->ifindex};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = bytes, .data_size_in = (uint32_t)size,
		    .repeat = (int)repeat);

	if (attached->is_xdp) {
		opts.ctx_in = &xdp;
		opts.ctx_size_in = sizeof(xdp);
	} else {
		opts.ctx_in = &skb;
		opts.ctx_size_in = sizeof(skb);
	}
	if (bpf_prog_test_run_opts(fd, &opts))
		return -errno;
	*ret_value = opts.retval;
	if (ret_duration_ns)
		*ret_duration_ns = opts.duration;
	return 0;
}

int attached_verdict(const struct attached *attached, const void *bytes, size_t size,
		     bool *ret_drops)
{
	uint32_t value, pass = attached->is_xdp ? XDP_PASS : VERDICT_NEXT;
	uint32_t drop = attached->is_xdp ? XDP_DROP : VERDICT_SHOT;
	int r = attached_run_fd(attached, attached->fd, bytes, size, 1, &value, NULL);

	if (r < 0)
		return r;
	if (value != pass && value != drop)
		return -EPROTO;
	*ret_drops = value == drop;
	return 0;
}
