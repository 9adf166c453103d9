/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on clsact, where the kernel has no TCX. Used by attach.c and detach.c. */
#include <bpf/libbpf.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <time.h>

#include "dp/sys.h"
#include "net/ask.h"

#define DUMP_SIZE 32768 /* bytes the kernel fills at most in one read of a dump */

static struct bpf_tc_hook hook_of(int ifindex, bool is_egress)
{
	return (struct bpf_tc_hook){
		.sz = sizeof(struct bpf_tc_hook),
		.ifindex = ifindex,
		.attach_point = is_egress ? BPF_TC_EGRESS : BPF_TC_INGRESS,
	};
}

static int see_qdisc(const struct nlmsghdr *header, void *data)
{
	const struct nlattr *attribute;
	bool *is_clsact = data;

	mnl_attr_for_each(attribute, header, sizeof(struct tcmsg))
	{
		if (mnl_attr_get_type(attribute) == TCA_KIND &&
		    mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) == 0)
			*is_clsact = !strcmp(mnl_attr_get_str(attribute), "clsact");
	}
	return MNL_CB_OK;
}

/*
 * A qdisc ingress stands in the same place, and libbpf takes either for there. It has one list of filters
 * only, so that what is attached to either direction would judge what comes in and nothing what goes out.
 */
static int check_clsact(int ifindex)
{
	char buffer[NET_ASK_SIZE] = {0};
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct tcmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	bool is_clsact = false;
	int r;

	request->nlmsg_type = RTM_GETQDISC;
	request->nlmsg_flags = NLM_F_ECHO | NLM_F_ACK; /* else it is told to the whole group only */
	message->tcm_ifindex = ifindex;
	message->tcm_parent = TC_H_CLSACT;
	r = net_ask(NETLINK_ROUTE, request, see_qdisc, &is_clsact);
	if (r < 0)
		return r;
	return is_clsact ? 0 : -EEXIST;
}

int sys_clsact_attach(int ifindex, bool is_egress, int program_fd)
{
	struct bpf_tc_hook hook = hook_of(ifindex, is_egress);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = program_fd, .flags = BPF_TC_F_REPLACE,
		    .handle = SYS_CLSACT_HANDLE, .priority = SYS_CLSACT_PRIORITY);
	int r = bpf_tc_hook_create(&hook);

	if (r == -EEXIST)
		r = check_clsact(ifindex);
	if (r < 0)
		return r;
	return bpf_tc_attach(&hook, &opts);
}

int64_t sys_clsact_query(int ifindex, bool is_egress)
{
	struct bpf_tc_hook hook = hook_of(ifindex, is_egress);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = SYS_CLSACT_HANDLE,
		    .priority = SYS_CLSACT_PRIORITY);
	int r = bpf_tc_query(&hook, &opts);

	/* No filter, no clsact, no interface. */
	if (r == -ENOENT || r == -EINVAL || r == -ENODEV)
		return 0;
	return r < 0 ? r : (int64_t)opts.prog_id;
}

/* What a walk over the filters of one direction finds. */
struct walk {
	unsigned int filters;
	bool has_ours;
	uint32_t before; /* program of the filter seen first, while ours was not */
};

static int see_filter(const struct nlmsghdr *header, void *data)
{
	const struct tcmsg *message = mnl_nlmsg_get_payload(header);
	const struct nlattr *attribute, *option;
	struct walk *walk = data;
	uint32_t program = 0;

	/* Each priority opens with a line of its own that is no filter. */
	if (!message->tcm_handle)
		return MNL_CB_OK;
	walk->filters++;
	mnl_attr_for_each(attribute, header, sizeof(*message))
	{
		if (mnl_attr_get_type(attribute) != TCA_OPTIONS)
			continue;
		mnl_attr_for_each_nested(option,
					 attribute) if (mnl_attr_get_type(option) == TCA_BPF_ID)
			program = mnl_attr_get_u32(option);
	}
	if (message->tcm_handle == SYS_CLSACT_HANDLE &&
	    message->tcm_info >> 16 == SYS_CLSACT_PRIORITY)
		walk->has_ours = true;
	else if (!walk->has_ours && !walk->before)
		walk->before = program;
	return MNL_CB_OK;
}

static int walk_filters(int ifindex, bool is_egress, struct walk *ret_walk)
{
	char buffer[DUMP_SIZE];
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
	struct tcmsg *message = mnl_nlmsg_put_extra_header(header, sizeof(*message));
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	struct walk walk = {0};
	ssize_t size = -1;
	int r = MNL_CB_ERROR;

	if (!socket)
		return -errno;
	header->nlmsg_type = RTM_GETTFILTER;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	header->nlmsg_seq = 1;
	message->tcm_ifindex = ifindex;
	message->tcm_parent =
		TC_H_MAKE(TC_H_CLSACT, is_egress ? TC_H_MIN_EGRESS : TC_H_MIN_INGRESS);
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) == 0 &&
	    mnl_socket_sendto(socket, header, header->nlmsg_len) >= 0)
		do {
			size = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
			if (size <= 0)
				break;
			r = mnl_cb_run(buffer, (size_t)size, 1, mnl_socket_get_portid(socket),
				       see_filter, &walk);
		} while (r > MNL_CB_STOP);
	if (size <= 0 || r < 0)
		r = errno ? -errno : -EIO;
	mnl_socket_close(socket);
	if (r < 0)
		return r;
	*ret_walk = walk;
	return 0;
}

int sys_clsact_detach(int ifindex, bool is_egress)
{
	struct bpf_tc_hook hook = hook_of(ifindex, is_egress);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = SYS_CLSACT_HANDLE,
		    .priority = SYS_CLSACT_PRIORITY);
	int64_t ours = sys_clsact_query(ifindex, is_egress);
	struct walk from, to;
	int r;

	if (ours <= 0)
		return (int)ours;
	r = bpf_tc_detach(&hook, &opts);
	if (r < 0 && r != -ENOENT)
		return r;
	if (walk_filters(ifindex, false, &from) < 0 || walk_filters(ifindex, true, &to) < 0 ||
	    from.filters || to.filters)
		return 0;
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
	return bpf_tc_hook_destroy(&hook);
}

uint32_t sys_clsact_before(int ifindex, bool is_egress)
{
	struct walk walk;

	return walk_filters(ifindex, is_egress, &walk) < 0 ? 0 : walk.before;
}
