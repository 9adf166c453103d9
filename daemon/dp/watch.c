/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what is told, and how often. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "dp/events.h"
#include "dp/internal.h"
#include "secg.skel.h"

static int table_fd(const struct dp *dp)
{
	return bpf_map__fd(dp->skel->maps.secg_watch);
}

int dp_watch_set(struct dp *dp, const struct dp_watch *watch)
{
	return bpf_map_update_elem(table_fd(dp), &watch->key, &watch->watch, BPF_ANY) < 0 ? -errno
											  : 0;
}

int dp_watch_clear(struct dp *dp, uint32_t key)
{
	return bpf_map_delete_elem(table_fd(dp), &key) < 0 && errno != ENOENT ? -errno : 0;
}

int dp_watch_get(const struct dp *dp, uint32_t key, struct secg_watch *ret_watch)
{
	return bpf_map_lookup_elem(table_fd(dp), &key, ret_watch) < 0 ? -errno : 0;
}

/* Nobody else makes or removes entries, so walking from key to key meets each once. */
int dp_watch_keys(const struct dp *dp, uint32_t **ret_keys, size_t *ret_count)
{
	_cleanup_free_ uint32_t *keys = NULL;
	size_t count = 0, room = 0;

	for (;;) {
		if (count == room) {
			size_t more = room ? 2 * room : 256;
			uint32_t *grown = reallocarray(keys, more, sizeof(*keys));

			if (!grown)
				return -ENOMEM;
			keys = grown;
			room = more;
		}
		if (bpf_map_get_next_key(table_fd(dp), count ? &keys[count - 1] : NULL,
					 &keys[count]) < 0)
			break;
		count++;
	}
	if (errno != ENOENT)
		return -errno;
	*ret_keys = TAKE_PTR(keys);
	*ret_count = count;
	return 0;
}
