/* SPDX-License-Identifier: Apache-2.0 */
/* Per-CPU counters summed, and the memory that maps take. Called by the engine for stats and status. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dp/events.h"
#include "dp/internal.h"
#include "secg.skel.h"

/* Values are rows of __u64; adds up those of all CPUs. */
static int sum(const struct dp *dp, const struct bpf_map *map, uint32_t key, void *ret_value,
	       size_t size)
{
	const uint64_t *values = dp->scratch;
	uint64_t *total = ret_value;
	size_t words = size / sizeof(*total);

	if (bpf_map_lookup_elem(bpf_map__fd(map), &key, dp->scratch) < 0)
		return -errno;
	memset(total, 0, size);
	for (unsigned int cpu = 0; cpu < dp->cpus; cpu++)
		for (size_t i = 0; i < words; i++)
			total[i] += values[cpu * words + i];
	return 0;
}

static int zero(struct dp *dp, const struct bpf_map *map, uint32_t key, size_t size)
{
	memset(dp->scratch, 0, dp->cpus * size);
	return bpf_map_update_elem(bpf_map__fd(map), &key, dp->scratch, BPF_EXIST) < 0 ? -errno : 0;
}

int dp_port_counters(const struct dp *dp, uint32_t id, struct secg_port_counters *ret_counters)
{
	return sum(dp, dp->skel->maps.secg_port_counters, id, ret_counters, sizeof(*ret_counters));
}

int dp_rule_counter(const struct dp *dp, uint32_t index, struct secg_counter *ret_counter)
{
	return sum(dp, dp->skel->maps.secg_rule_counters, index, ret_counter, sizeof(*ret_counter));
}

int dp_events_lost(const struct dp *dp, uint64_t ret_lost[SECG_EVENT_KINDS])
{
	int r = 0;

	for (uint32_t kind = 0; kind < SECG_EVENT_KINDS && r == 0; kind++)
		r = sum(dp, dp->skel->maps.secg_events_lost, kind, &ret_lost[kind],
			sizeof(ret_lost[kind]));
	return r;
}

int dp_rule_counter_zero(struct dp *dp, uint32_t index)
{
	return zero(dp, dp->skel->maps.secg_rule_counters, index, sizeof(struct secg_counter));
}

int dp_port_counters_zero(struct dp *dp, uint32_t id)
{
	return zero(dp, dp->skel->maps.secg_port_counters, id, sizeof(struct secg_port_counters));
}

/* proc(5), fdinfo of a map: what it is charged for. */
static uint64_t map_bytes(int fd)
{
	char path[64], line[128];
	uint64_t bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock: %" SCNu64, &bytes) == 1)
			break;
	fclose(file);
	return bytes;
}

void dp_memory(const struct dp *dp, void (*each)(const char *map, uint64_t bytes, void *data),
	       void *data)
{
	const struct bpf_map *map;

	bpf_object__for_each_map(map, dp->skel->obj) if (!bpf_map__is_internal(map) &&
							 bpf_map__fd(map) >= 0)
		each(bpf_map__name(map), map_bytes(bpf_map__fd(map)), data);
}
