/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of sessions on ports with limits, set by the daemon. The programs' side is bpf/limit.h. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "dp/internal.h"
#include "secg.skel.h"

#define BATCH 1024u

int dp_usage_set(struct dp *dp, uint32_t port, const struct secg_usage *usage)
{
	return bpf_map_update_elem(bpf_map__fd(dp->skel->maps.secg_usage), &port, usage,
				   BPF_EXIST) < 0
		       ? -errno
		       : 0;
}

int dp_source_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct secg_source_key));
}

static int forget_unnamed(int map, const struct secg_source_key *keys, uint32_t key_count,
			  const struct dp_source *sources, size_t count)
{
	for (uint32_t i = 0; i < key_count; i++)
		if (!bsearch(&keys[i], sources, count, sizeof(*sources), dp_source_compare) &&
		    bpf_map_delete_elem(map, &keys[i]) < 0 && errno != ENOENT)
			return -errno;
	return 0;
}

/* An entry that a packet makes meanwhile may go with them: one too few, until the next count. */
static int forget_others(int map, const struct dp_source *sources, size_t count)
{
	_cleanup_free_ struct secg_source_key *keys = calloc(BATCH, sizeof(*keys));
	_cleanup_free_ uint32_t *values = calloc(BATCH, sizeof(*values));
	uint32_t token = 0;
	bool is_last = false;
	int r = 0;

	if (!keys || !values)
		return -ENOMEM;
	for (void *from = NULL; !is_last && r == 0; from = &token) {
		uint32_t found = BATCH;

		is_last = bpf_map_lookup_batch(map, from, &token, keys, values, &found, NULL) < 0;
		if (is_last && errno != ENOENT)
			return -errno;
		r = forget_unnamed(map, keys, found, sources, count);
	}
	return r;
}

int dp_sources_set(struct dp *dp, const struct dp_source *sources, size_t count)
{
	int map = bpf_map__fd(dp->skel->maps.secg_sources);
	int r = forget_others(map, sources, count);

	for (size_t i = 0; i < count && r == 0; i++)
		if (bpf_map_update_elem(map, &sources[i].key, &sources[i].sessions, BPF_ANY) < 0)
			r = -errno;
	return r;
}
