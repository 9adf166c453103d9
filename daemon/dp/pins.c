/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps that outlive the daemon: <bpffs>/v<layout>/maps/<name>. Called by dp.c around the load of the
 * programs; knows no hooks.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "dp/internal.h"
#include "secg.skel.h"

/*
 * The first four refer to each other (lines, seed, overflow counts): they are adopted together or not
 * at all. The rest stand alone. secg_grace holds nothing and is made anew by each daemon.
 */
#define UNIT_COUNT 4
static const char *const pinned[] = {
	"secg_table",         "secg_selector",      "secg_established", "secg_overflow",
	"secg_ifindex",       "secg_ifindex_far",   "secg_new",         "secg_fragments",
	"secg_port_counters", "secg_rule_counters", "secg_events",      "secg_events_lost",
	"secg_watch",
};

void message_add(char message[DP_MESSAGE_SIZE], const char *format, ...)
{
	size_t used = strlen(message);
	va_list args;

	if (used && used + 2 < DP_MESSAGE_SIZE) {
		memcpy(message + used, "; ", sizeof("; "));
		used += 2;
	}
	va_start(args, format);
	vsnprintf(message + used, DP_MESSAGE_SIZE - used, format, args);
	va_end(args);
}

int pin_path(char ret_path[PATH_MAX], const char *format, ...)
{
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(ret_path, PATH_MAX, format, args);
	va_end(args);
	return size < 0 || size >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int make_folders(const char *folder)
{
	static const char *const parts[] = {"", "/maps", "/links"};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int r = pin_path(path, "%s%s", folder, parts[i]);

		if (r < 0)
			return r;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

int pins_drop_unit(const char *folder)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < UNIT_COUNT; i++) {
		int r = pin_path(path, "%s/maps/%s", folder, pinned[i]);

		if (r < 0)
			return r;
		if (unlink(path) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* A first start that was cut short leaves a part of the unit, in which nothing lives yet. */
static int drop_partial_unit(const char *folder)
{
	char path[PATH_MAX];
	size_t found = 0;

	for (size_t i = 0; i < UNIT_COUNT; i++) {
		int r = pin_path(path, "%s/maps/%s", folder, pinned[i]);

		if (r < 0)
			return r;
		if (access(path, F_OK) == 0)
			found++;
	}
	return found && found < UNIT_COUNT ? pins_drop_unit(folder) : 0;
}

static bool has_shape(const struct bpf_map *map, const struct bpf_map_info *info)
{
	return info->type == (uint32_t)bpf_map__type(map) &&
	       info->key_size == bpf_map__key_size(map) &&
	       info->value_size == bpf_map__value_size(map) &&
	       info->map_flags == bpf_map__map_flags(map);
}

/* The size may differ where an option sets it; the mask of the session table needs a power of two. */
static bool has_fit_size(const struct bpf_map *map, const struct bpf_map_info *info)
{
	const char *name = bpf_map__name(map);

	if (!strcmp(name, "secg_established"))
		return info->max_entries >= SECG_WAYS &&
		       !(info->max_entries & (info->max_entries - 1));
	if (!strcmp(name, "secg_table") || !strcmp(name, "secg_overflow") ||
	    !strcmp(name, "secg_new"))
		return info->max_entries > 0;
	return info->max_entries == bpf_map__max_entries(map);
}

static int adopt(struct bpf_map *map, const char *path, char message[DP_MESSAGE_SIZE])
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	uint32_t wanted = bpf_map__max_entries(map);

	if (fd < 0) {
		int r = -errno;

		if (r != -ENOENT)
			message_add(message, "cannot open %s: %s", path, strerror(-r));
		return r == -ENOENT ? 0 : r;
	}
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (!has_shape(map, &info) || !has_fit_size(map, &info)) {
		message_add(message,
			    "%s was not made by this build and cannot be adopted: "
			    "secgd --detach-all removes it, and the policy with it",
			    path);
		return -EINVAL;
	}
	if (info.max_entries != wanted)
		message_add(message, "%s keeps its size of %u, not %u", bpf_map__name(map),
			    info.max_entries, wanted);
	return bpf_map__reuse_fd(map, fd);
}

int pins_adopt(struct secg *skel, const char *folder, char message[DP_MESSAGE_SIZE])
{
	char path[PATH_MAX];
	int r;

	r = make_folders(folder);
	if (r == 0)
		r = drop_partial_unit(folder);
	if (r < 0) {
		message_add(message, "cannot prepare %s: %s", folder, strerror(-r));
		return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pinned); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(skel->obj, pinned[i]);

		if (!map)
			return -ENOENT;
		r = pin_path(path, "%s/maps/%s", folder, pinned[i]);
		if (r == 0)
			r = adopt(map, path, message);
		if (r < 0)
			return r;
	}
	return 0;
}

int pins_keep(struct secg *skel, const char *folder, char message[DP_MESSAGE_SIZE])
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(pinned); i++) {
		const struct bpf_map *map = bpf_object__find_map_by_name(skel->obj, pinned[i]);
		int r = pin_path(path, "%s/maps/%s", folder, pinned[i]);

		if (r < 0)
			return r;
		/* One that is there was adopted. */
		if (bpf_obj_pin(bpf_map__fd(map), path) < 0 && errno != EEXIST) {
			r = -errno;
			message_add(message, "cannot pin %s: %s", path, strerror(-r));
			return r;
		}
	}
	return 0;
}
