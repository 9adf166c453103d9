/* SPDX-License-Identifier: Apache-2.0 */
/* One reading of all links with their details. */
#include "net/device.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "net/ask.h"

#define READ_TRIES 10 /* a reading that changes interrupted is begun again */

struct reading {
	struct net_devices devices;
	size_t capacity;
	int error;
};

static void parse_macvlan(struct net_device *device, const struct nlattr *info)
{
	const struct nlattr *data, *attribute;

	mnl_attr_for_each_nested(data, info)
	{
		if (mnl_attr_get_type(data) != IFLA_INFO_DATA)
			continue;
		mnl_attr_for_each_nested(attribute, data)
		{
			if (mnl_attr_get_type(attribute) == IFLA_MACVLAN_MODE)
				device->is_passthru =
					mnl_attr_get_u32(attribute) == MACVLAN_MODE_PASSTHRU;
		}
	}
}

static void parse_xdp(struct net_device *device, const struct nlattr *xdp)
{
	const struct nlattr *attribute;

	mnl_attr_for_each_nested(attribute, xdp)
	{
		switch (mnl_attr_get_type(attribute)) {
		case IFLA_XDP_PROG_ID:
		case IFLA_XDP_DRV_PROG_ID:
		case IFLA_XDP_SKB_PROG_ID:
		case IFLA_XDP_HW_PROG_ID:
			device->xdp_id = mnl_attr_get_u32(attribute);
			break;
		}
	}
}

static void parse_details(struct net_device *device, const struct nlmsghdr *header)
{
	const struct nlattr *attribute;
	bool is_lower_elsewhere = false;

	mnl_attr_for_each(attribute, header, sizeof(struct ifinfomsg))
	{
		switch (mnl_attr_get_type(attribute)) {
		case IFLA_LINK:
			device->lower = (int)mnl_attr_get_u32(attribute);
			break;
		case IFLA_LINK_NETNSID:
			is_lower_elsewhere = true;
			break;
		case IFLA_NUM_VF:
			device->vf_count = mnl_attr_get_u32(attribute);
			break;
		case IFLA_PHYS_SWITCH_ID:
			device->has_switch = true;
			break;
		case IFLA_XDP:
			parse_xdp(device, attribute);
			break;
		case IFLA_LINKINFO:
			if (!strncmp(device->link.kind, "macv", 4))
				parse_macvlan(device, attribute);
			break;
		}
	}
	if (is_lower_elsewhere || device->lower == device->link.ifindex)
		device->lower = 0;
}

static int see_device(const struct nlmsghdr *header, void *data)
{
	const struct ifinfomsg *message = mnl_nlmsg_get_payload(header);
	struct reading *reading = data;
	struct net_devices *devices = &reading->devices;
	struct net_device *device;

	if (header->nlmsg_type != RTM_NEWLINK || message->ifi_family != AF_UNSPEC)
		return MNL_CB_OK;
	if (devices->count == reading->capacity) {
		size_t capacity = reading->capacity ? reading->capacity * 2 : 64;
		struct net_device *items = reallocarray(devices->items, capacity, sizeof(*items));

		if (!items) {
			reading->error = -ENOMEM;
			return MNL_CB_OK;
		}
		devices->items = items;
		reading->capacity = capacity;
	}
	device = &devices->items[devices->count++];
	*device = (struct net_device){0};
	net_link_parse(&device->link, header);
	parse_details(device, header);
	return MNL_CB_OK;
}

static int compare(const void *a, const void *b)
{
	const struct net_device *left = a, *right = b;

	return (left->link.ifindex > right->link.ifindex) -
	       (left->link.ifindex < right->link.ifindex);
}

static int read_once(struct reading *reading)
{
	char buffer[NET_ASK_SIZE];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	int r;

	request->nlmsg_type = RTM_GETLINK;
	request->nlmsg_flags = NLM_F_DUMP;
	message->ifi_family = AF_UNSPEC;
	/* The number of virtual functions comes only with the list of them. */
	mnl_attr_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS | RTEXT_FILTER_VF);
	reading->devices.count = 0;
	reading->error = 0;
	r = net_ask(NETLINK_ROUTE, request, see_device, reading);
	return r < 0 ? r : reading->error;
}

int net_devices_read(struct net_devices *ret_devices)
{
	struct reading reading = {0};
	int r = -EINTR;

	for (int i = 0; i < READ_TRIES && r == -EINTR; i++)
		r = read_once(&reading);
	if (r < 0) {
		net_devices_fini(&reading.devices);
		return r;
	}
	if (reading.devices.count > 0)
		qsort(reading.devices.items, reading.devices.count, sizeof(struct net_device),
		      compare);
	*ret_devices = reading.devices;
	return 0;
}

void net_devices_fini(struct net_devices *devices)
{
	free(devices->items);
	*devices = (struct net_devices){0};
}

const struct net_device *net_devices_find(const struct net_devices *devices, int ifindex)
{
	const struct net_device key = {.link = {.ifindex = ifindex}};

	if (devices->count == 0)
		return NULL;
	return bsearch(&key, devices->items, devices->count, sizeof(key), compare);
}
