/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks, pins and entries taken away. Called by the engine, by dp_close and for --detach-all. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "dp/internal.h"

DEFINE_CLEANUP(DIR *, closedir);

int link_remove(int fd, const char *pin)
{
	_cleanup_close_ int link_fd = fd;
	int r = 0;

	if (link_fd < 0 && pin[0]) {
		link_fd = bpf_obj_get(pin);
		if (link_fd < 0 && errno != ENOENT)
			return -errno;
	}
	if (link_fd >= 0 && bpf_link_detach(link_fd) < 0)
		r = -errno;
	if (pin[0] && unlink(pin) < 0 && errno != ENOENT)
		r = -errno;
	return r;
}

static int detach_side(struct dp *dp, uint32_t id, int ifindex, enum secg_direction direction)
{
	struct side side;
	int r;

	side_init(&side, dp, id, ifindex, direction);
	r = side_open(&side);
	if (r == 0)
		r = side_remove(&side);
	side_close(&side);
	return r;
}

int dp_detach(struct dp *dp, uint32_t id, int ifindex)
{
	int r, other;

	if (!id || id >= SECG_MAX_PORTS)
		return -EINVAL;
	r = detach_side(dp, id, ifindex, SECG_FROM);
	other = detach_side(dp, id, ifindex, SECG_TO);
	if (r < 0 || other < 0)
		return r < 0 ? r : other;
	if (dp->held)
		dp->held[id].clsact_ifindex = 0;
	/* Last: with a hook and without an entry, a packet would be nobody's. */
	if (ifindex && dp_interface_port(dp, ifindex) == id)
		ifindex_clear(dp, ifindex);
	return 0;
}

int dp_release_interface(struct dp *dp, int ifindex)
{
	int r = sys_clsact_detach(ifindex, false);
	int other = sys_clsact_detach(ifindex, true);

	if (r < 0 || other < 0)
		return r < 0 ? r : other;
	ifindex_clear(dp, ifindex);
	return 0;
}

/* Interface of a pinned link; 0: severed, or no link. */
static int pinned_ifindex(const char *path)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct sys_link link;

	return fd >= 0 && sys_link_info(fd, &link) == 0 ? link.ifindex : 0;
}

/* Ports that are known by their pins. */
static int detach_unwanted_pins(struct dp *dp, bool (*is_wanted)(uint32_t id, void *data),
				void *data)
{
	_cleanup_(closedirp) DIR *folder = NULL;
	const struct dirent *entry;
	char path[PATH_MAX];
	int first = 0, r = pin_path(path, "%s/links", dp->folder);

	if (r < 0)
		return r;
	folder = opendir(path);
	if (!folder)
		return -errno;
	while ((entry = readdir(folder))) {
		char *end;
		unsigned long id = strtoul(entry->d_name, &end, 10);

		if (*end != '_' || !id || id >= SECG_MAX_PORTS || is_wanted((uint32_t)id, data))
			continue;
		r = pin_path(path, "%s/links/%s", dp->folder, entry->d_name);
		if (r < 0)
			return r;
		r = dp_detach(dp, (uint32_t)id, pinned_ifindex(path));
		first = first < 0 ? first : r;
	}
	return first;
}

/* Calls `each` for the interfaces that have an entry; the first negative value is the result. */
static int each_guarded(struct dp *dp,
			int (*each)(struct dp *dp, uint32_t id, int ifindex, void *data),
			void *data)
{
	struct if_nameindex *interfaces = if_nameindex();
	int first = 0;

	if (!interfaces)
		return -errno;
	for (const struct if_nameindex *i = interfaces; i->if_index; i++) {
		uint32_t id = dp_interface_port(dp, (int)i->if_index);
		int r = id ? each(dp, id, (int)i->if_index, data) : 0;

		first = first < 0 ? first : r;
	}
	if_freenameindex(interfaces);
	return first;
}

struct judge {
	bool (*is_wanted)(uint32_t id, void *data);
	bool (*is_wanted_there)(uint32_t id, int ifindex, void *data);
	void *data;
};

static int detach_unwanted(struct dp *dp, uint32_t id, int ifindex, void *data)
{
	const struct judge *judge = data;

	return judge->is_wanted(id, judge->data) ? 0 : dp_detach(dp, id, ifindex);
}

static int release_stray(struct dp *dp, uint32_t id, int ifindex, void *data)
{
	const struct judge *judge = data;

	return judge->is_wanted_there(id, ifindex, judge->data) ? 0
								: dp_release_interface(dp, ifindex);
}

int dp_detach_unwanted(struct dp *dp, bool (*is_wanted)(uint32_t id, void *data), void *data)
{
	struct judge judge = {.is_wanted = is_wanted, .data = data};
	int pins = dp->folder ? detach_unwanted_pins(dp, is_wanted, data) : 0;
	/* Filters on clsact have no pin; their interfaces have an entry. */
	int filters = each_guarded(dp, detach_unwanted, &judge);

	return pins < 0 ? pins : filters;
}

int dp_release_strays(struct dp *dp, bool (*is_wanted)(uint32_t id, int ifindex, void *data),
		      void *data)
{
	struct judge judge = {.is_wanted_there = is_wanted, .data = data};

	return each_guarded(dp, release_stray, &judge);
}

/* Filters of ours on interfaces that the pinned map names. Entries start with the ifindex in any layout. */
static void detach_filters(const char *folder)
{
	_cleanup_close_ int map_fd = -1;
	struct if_nameindex *interfaces;
	char path[PATH_MAX];

	if (pin_path(path, "%s/maps/secg_ifindex", folder) < 0)
		return;
	map_fd = bpf_obj_get(path);
	interfaces = map_fd < 0 ? NULL : if_nameindex();
	if (!interfaces)
		return;
	for (const struct if_nameindex *i = interfaces; i->if_index; i++) {
		uint32_t key = i->if_index % SECG_IFINDEX_SLOTS;
		struct secg_ifindex entry;

		/* A slot in use, by this interface or by one that sent this one to the hash. */
		if (bpf_map_lookup_elem(map_fd, &key, &entry) < 0 || !entry.ifindex)
			continue;
		sys_clsact_detach((int)i->if_index, false);
		sys_clsact_detach((int)i->if_index, true);
	}
	if_freenameindex(interfaces);
}

/* Calls `each` with the path of every entry of a folder; one that is not there is empty. */
static int each_entry(const char *parent, void (*each)(const char *path))
{
	_cleanup_(closedirp) DIR *folder = opendir(parent);
	const struct dirent *entry;
	char path[PATH_MAX];

	if (!folder)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.' && pin_path(path, "%s/%s", parent, entry->d_name) == 0)
			each(path);
	return 0;
}

static void remove_link(const char *path)
{
	link_remove(-1, path);
}

static void remove_map(const char *path)
{
	unlink(path);
}

static void remove_layout(const char *path)
{
	char part[PATH_MAX];
	const char *name = strrchr(path, '/') + 1;

	if (name[0] != 'v' || !name[1] || name[1 + strspn(name + 1, "0123456789")])
		return;
	if (pin_path(part, "%s/links", path) == 0) {
		each_entry(part, remove_link);
		rmdir(part);
	}
	detach_filters(path);
	if (pin_path(part, "%s/maps", path) == 0) {
		each_entry(part, remove_map);
		rmdir(part);
	}
	rmdir(path);
}

int dp_detach_all(const char *bpffs, char message[DP_MESSAGE_SIZE])
{
	/* libbpf complains of every interface that has no clsact, which is as it should be */
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int r;

	message[0] = '\0';
	r = each_entry(bpffs, remove_layout);
	libbpf_set_print(print);
	if (r < 0)
		snprintf(message, DP_MESSAGE_SIZE, "cannot read %s: %s", bpffs, strerror(-r));
	return r;
}
