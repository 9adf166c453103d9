/* SPDX-License-Identifier: Apache-2.0 */
/* What programs of the rig tell, what is to be told, and counts of limits. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "engine/generation.h"
#include "rig_internal.h"
#include "secg.skel.h"

void rig_watch(struct rig *rig, uint32_t key, const struct secg_watch *watch)
{
	int fd = bpf_map__fd(rig->skel->maps.secg_watch);

	if (!watch)
		bpf_map_delete_elem(fd, &key);
	else if (bpf_map_update_elem(fd, &key, watch, BPF_ANY) < 0)
		rig_die("secg_watch: %m");
}

struct secg_watch rig_watched(struct rig *rig, uint32_t key)
{
	struct secg_watch watch;

	if (bpf_map_lookup_elem(bpf_map__fd(rig->skel->maps.secg_watch), &key, &watch) < 0)
		rig_die("nothing is watched under %#x", key);
	return watch;
}

struct taking {
	struct secg_event_reject *events;
	size_t count;
	size_t max;
};

static int take(void *data, void *record, size_t size)
{
	struct taking *taking = data;

	if (size != sizeof(struct secg_event) && size != sizeof(struct secg_event_reject))
		rig_die("a record of %zu bytes", size);
	if (taking->count < taking->max) {
		memset(&taking->events[taking->count], 0, sizeof(*taking->events));
		memcpy(&taking->events[taking->count], record, size);
	}
	taking->count++;
	return 0;
}

size_t rig_events(struct rig *rig, struct secg_event_reject *ret_events, size_t max)
{
	static struct taking taking; /* the ring keeps its address */

	taking = (struct taking){ret_events, 0, max};
	if (!rig->ring)
		rig->ring = ring_buffer__new(bpf_map__fd(rig->skel->maps.secg_events), take,
					     &taking, NULL);
	if (!rig->ring || ring_buffer__consume(rig->ring) < 0)
		rig_die("secg_events: %m");
	return taking.count;
}

uint64_t rig_events_lost(struct rig *rig, uint32_t kind)
{
	uint64_t lost[512], sum = 0;
	int cpus = libbpf_num_possible_cpus();

	if (cpus > 512 ||
	    bpf_map_lookup_elem(bpf_map__fd(rig->skel->maps.secg_events_lost), &kind, lost) < 0)
		rig_die("secg_events_lost: %m");
	for (int i = 0; i < cpus; i++)
		sum += lost[i];
	return sum;
}

struct secg_usage rig_usage(struct rig *rig, const char *port)
{
	uint32_t id = rig_port_id(rig, port);
	struct secg_usage usage;

	if (bpf_map_lookup_elem(bpf_map__fd(rig->skel->maps.secg_usage), &id, &usage) < 0)
		rig_die("secg_usage: %m");
	return usage;
}

void rig_set_usage(struct rig *rig, const char *port, struct secg_usage usage)
{
	uint32_t id = rig_port_id(rig, port);

	if (bpf_map_update_elem(bpf_map__fd(rig->skel->maps.secg_usage), &id, &usage, BPF_ANY) < 0)
		rig_die("secg_usage: %m");
}

static struct secg_source_key source_key(struct rig *rig, const char *port, const char *address)
{
	int family = strchr(address, ':') ? AF_INET6 : AF_INET;
	struct secg_source_key key = {
		.port = (uint16_t)rig_port_id(rig, port),
		.family = family == AF_INET6 ? 6 : 4,
	};

	if (inet_pton(family, address, key.addr) != 1)
		rig_die("no address: %s", address);
	return key;
}

int64_t rig_source(struct rig *rig, const char *port, const char *address)
{
	struct secg_source_key key = source_key(rig, port, address);
	int32_t count;

	if (bpf_map_lookup_elem(bpf_map__fd(rig->skel->maps.secg_sources), &key, &count) < 0)
		return -1;
	return count;
}

void rig_set_source(struct rig *rig, const char *port, const char *address, uint32_t sessions)
{
	struct secg_source_key key = source_key(rig, port, address);

	if (bpf_map_update_elem(bpf_map__fd(rig->skel->maps.secg_sources), &key, &sessions,
				BPF_ANY) < 0)
		rig_die("secg_sources: %m");
}

void rig_clear_events(struct rig *rig)
{
	static const struct secg_usage none;
	struct secg_source_key source;
	uint32_t key;
	int fd = bpf_map__fd(rig->skel->maps.secg_watch);

	while (bpf_map_get_next_key(fd, NULL, &key) == 0)
		bpf_map_delete_elem(fd, &key);
	fd = bpf_map__fd(rig->skel->maps.secg_sources);
	while (bpf_map_get_next_key(fd, NULL, &source) == 0)
		bpf_map_delete_elem(fd, &source);
	for (uint32_t id = 0; id < RIG_PORTS; id++)
		bpf_map_update_elem(bpf_map__fd(rig->skel->maps.secg_usage), &id, &none, BPF_ANY);
	rig_events(rig, NULL, 0);
}

void rig_close_events(struct rig *rig)
{
	ring_buffer__free(rig->ring);
}
