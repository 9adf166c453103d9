/* SPDX-License-Identifier: Apache-2.0 */
/* Features of a driver by their names, through the ethtool ioctl. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "net/device.h"

static int call(int fd, const char *interface, void *command)
{
	struct ifreq request = {.ifr_data = command};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static int read_count(int fd, const char *interface, uint32_t *ret_count)
{
	struct {
		struct ethtool_sset_info head;
		uint32_t count;
	} info = {.head = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_FEATURES}};
	int r = call(fd, interface, &info);

	if (r < 0)
		return r;
	if (!info.head.sset_mask)
		return -EOPNOTSUPP;
	*ret_count = info.count;
	return 0;
}

static void take(struct net_offloads *offloads, const char *name, bool is_on)
{
#define NET_OFFLOAD_TAKE(field, kernel, ethtool)         \
	if (strncmp(name, kernel, ETH_GSTRING_LEN) == 0) \
		offloads->field = is_on;
	NET_OFFLOADS(NET_OFFLOAD_TAKE)
#undef NET_OFFLOAD_TAKE
}

int net_offloads_read(struct net_offloads *ret_offloads, const char *interface)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	_cleanup_free_ struct ethtool_gstrings *names = NULL;
	_cleanup_free_ struct ethtool_gfeatures *features = NULL;
	struct net_offloads offloads = {0};
	uint32_t count = 0, blocks;
	int r;

	if (fd < 0)
		return -errno;
	r = read_count(fd, interface, &count);
	if (r < 0)
		return r;
	blocks = (count + 31) / 32;
	names = calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN);
	features = calloc(1, sizeof(*features) + blocks * sizeof(features->features[0]));
	if (!names || !features)
		return -ENOMEM;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = count;
	r = call(fd, interface, names);
	if (r < 0)
		return r;
	features->cmd = ETHTOOL_GFEATURES;
	features->size = blocks;
	r = call(fd, interface, features);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count; i++)
		take(&offloads, (const char *)names->data + i * ETH_GSTRING_LEN,
		     features->features[i / 32].active >> i % 32 & 1);
	*ret_offloads = offloads;
	return 0;
}
