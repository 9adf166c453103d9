/* SPDX-License-Identifier: Apache-2.0 */
/* Which port an interface is, as the programs look it up. Used by attach.c and detach.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "dp/internal.h"
#include "secg.skel.h"

static struct secg_ifindex *slot_of(const struct dp *dp, int ifindex)
{
	return &dp->ifindex[(uint32_t)ifindex % SECG_IFINDEX_SLOTS];
}

/* Programs read an entry while it changes: eight bytes in one store. */
static void store(struct secg_ifindex *slot, const struct secg_ifindex *entry)
{
	uint64_t word;

	memcpy(&word, entry, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)slot, word, __ATOMIC_RELEASE);
}

int ifindex_set(struct dp *dp, int ifindex, uint32_t id, bool has_ethernet)
{
	struct secg_ifindex *slot = slot_of(dp, ifindex);
	struct secg_ifindex entry = {
		.ifindex = (uint32_t)ifindex,
		.port = (uint16_t)id,
		.flags = has_ethernet ? 0 : SECG_IFINDEX_L3,
	};
	int fd = bpf_map__fd(dp->skel->maps.secg_ifindex_far);

	if (slot->ifindex && slot->ifindex != entry.ifindex)
		return bpf_map_update_elem(fd, &entry.ifindex, &entry, BPF_ANY) < 0 ? -errno : 0;
	store(slot, &entry);
	bpf_map_delete_elem(fd, &entry.ifindex);
	return 0;
}

void ifindex_clear(struct dp *dp, int ifindex)
{
	static const struct secg_ifindex none;
	struct secg_ifindex *slot = slot_of(dp, ifindex);
	uint32_t key = (uint32_t)ifindex;

	if (slot->ifindex == key)
		store(slot, &none);
	bpf_map_delete_elem(bpf_map__fd(dp->skel->maps.secg_ifindex_far), &key);
}

uint32_t dp_interface_port(const struct dp *dp, int ifindex)
{
	const struct secg_ifindex *slot = slot_of(dp, ifindex);
	struct secg_ifindex entry = {0};
	uint32_t key = (uint32_t)ifindex;

	if (slot->ifindex == key)
		return slot->port;
	bpf_map_lookup_elem(bpf_map__fd(dp->skel->maps.secg_ifindex_far), &key, &entry);
	return entry.port;
}
