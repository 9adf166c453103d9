/* SPDX-License-Identifier: Apache-2.0 */
/* Traced runs in the rig. */
#include "rig_trace.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/cleanup.h"
#include "rig_internal.h"
#include "secg.skel.h"

struct rig_tracer {
	struct rig *rig;
	struct secg *skel;
};

void rig_tracer_open(struct rig_tracer **ret_tracer, struct rig *rig)
{
	struct rig_tracer *tracer = calloc(1, sizeof(*tracer));
	struct secg *skel = secg__open();
	struct bpf_map *map;

	if (!tracer || !skel)
		rig_die("open the object: %m");
	tracer->rig = rig;
	tracer->skel = skel;
	memcpy(skel->rodata, rig->skel->rodata, sizeof(*skel->rodata));
	skel->rodata->secg_is_trace = 1;
	bpf_object__for_each_map(map, skel->obj)
	{
		const struct bpf_map *shared =
			bpf_object__find_map_by_name(rig->skel->obj, bpf_map__name(map));

		if (!bpf_map__is_internal(map) && map != skel->maps.secg_trace &&
		    map != skel->maps.secg_scratch &&
		    bpf_map__reuse_fd(map, bpf_map__fd(shared)) < 0)
			rig_die("share %s: %m", bpf_map__name(map));
	}
	if (secg__load(skel))
		rig_die("load the traced object: %m");
	*ret_tracer = tracer;
}

void rig_tracer_close(struct rig_tracer *tracer)
{
	secg__destroy(tracer->skel);
	free(tracer);
}

static bool passes(const struct bpf_program *program, bool is_xdp, uint32_t ifindex,
		   const struct frame *frame)
{
	struct __sk_buff skb = {.ifindex = ifindex};
	struct xdp_md md = {.ingress_ifindex = ifindex, .data_end = frame->size};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame->data, .data_size_in = frame->size,
		    .repeat = 1);

	opts.ctx_in = is_xdp ? (void *)&md : (void *)&skb;
	opts.ctx_size_in = is_xdp ? sizeof(md) : sizeof(skb);
	if (bpf_prog_test_run_opts(bpf_program__fd(program), &opts) < 0)
		rig_die("test run of %u bytes: %m", frame->size);
	return is_xdp ? opts.retval == XDP_PASS : (int32_t)opts.retval == -1;
}

struct secg_trace rig_trace(struct rig_tracer *tracer, enum secg_direction direction,
			    const struct rig_way *way, const struct layer *layers)
{
	const struct secg *skel = tracer->skel;
	bool is_xdp = direction == SECG_FROM && tracer->rig->from == RIG_XDP;
	const struct bpf_program *program = is_xdp                 ? skel->progs.secg_xdp
					    : direction == SECG_TO ? skel->progs.secg_tc_to
								   : skel->progs.secg_tc_from;
	int fd = bpf_map__fd(skel->maps.secg_trace);
	static struct frame frame;
	struct secg_trace told = {0};
	uint32_t zero = 0;
	bool has_passed;

	frame_build(&frame, layers);
	bpf_map_update_elem(fd, &zero, &told, BPF_ANY);
	has_passed = passes(program, is_xdp, if_nametoindex(way->interface ? way->interface : "p1"),
			    &frame);
	if (bpf_map_lookup_elem(fd, &zero, &told) < 0)
		rig_die("secg_trace: %m");
	if (has_passed != (told.reason == SECG_REASON_NONE))
		rig_die("traced verdict and reason %u differ", told.reason);
	return told;
}

/* ── snapshots ──────────────────────────────────────────────────────────────────────────────────── */

/* Sizes of keys and values are multiples of four. */
static uint64_t add(uint64_t digest, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, (const uint8_t *)bytes + i, sizeof(word));
		digest = (digest ^ word) * UINT64_C(0x100000001b3);
	}
	return digest;
}

static bool is_per_cpu(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY;
}

/* Tests have few rules: the rest of that array is not worth the time. */
#define ENTRIES_MAX 1024

static uint64_t digest_of(const struct bpf_map *map)
{
	size_t keys = bpf_map__key_size(map);
	size_t values = bpf_map__value_size(map) *
			(is_per_cpu(map) ? (size_t)libbpf_num_possible_cpus() : 1);
	_cleanup_free_ uint8_t *value = malloc(values);
	_cleanup_free_ uint8_t *key = calloc(1, keys);
	uint64_t digest = UINT64_C(0xcbf29ce484222325);
	int count = 0;

	if (!value || !key)
		rig_die("no memory");
	while (count < ENTRIES_MAX &&
	       bpf_map_get_next_key(bpf_map__fd(map), count ? key : NULL, key) == 0) {
		count++;
		if (bpf_map_lookup_elem(bpf_map__fd(map), key, value) < 0)
			rig_die("%s: %m", bpf_map__name(map));
		digest = add(add(digest, key, keys), value, values);
	}
	return digest;
}

/* Bytes that have been written into a ring: what its second page, which is for the reader, begins with. */
static uint64_t written(const struct bpf_map *ring)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(ring), (off_t)size);
	uint64_t position;

	if (page == MAP_FAILED)
		rig_die("mmap of %s: %m", bpf_map__name(ring));
	memcpy(&position, page, sizeof(position));
	munmap(page, size);
	return position;
}

struct rig_snapshot rig_snapshot(struct rig *rig)
{
	const struct bpf_map *const maps[] = {
		rig->skel->maps.secg_port_counters, rig->skel->maps.secg_rule_counters,
		rig->skel->maps.secg_new,           rig->skel->maps.secg_established,
		rig->skel->maps.secg_overflow,      rig->skel->maps.secg_fragments,
		rig->skel->maps.secg_usage,         rig->skel->maps.secg_sources,
		rig->skel->maps.secg_watch,         rig->skel->maps.secg_events_lost,
	};
	struct rig_snapshot snapshot;
	uint64_t tables = 0;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		snapshot.digest[i] = digest_of(maps[i]);
	snapshot.digest[ARRAY_SIZE(maps)] = written(rig->skel->maps.secg_events);
	tables = add(tables, rig->lines,
		     bpf_map__max_entries(rig->skel->maps.secg_table) * sizeof(*rig->lines));
	tables = add(tables, rig->selector, SECG_SELECTOR_ITEMS * sizeof(*rig->selector));
	tables = add(tables, rig->ifindex, SECG_IFINDEX_SLOTS * sizeof(*rig->ifindex));
	snapshot.digest[ARRAY_SIZE(maps) + 1] = add(
		tables, &(uint64_t){digest_of(rig->skel->maps.secg_ifindex_far)}, sizeof(uint64_t));
	return snapshot;
}

uint32_t rig_changes(const struct rig_snapshot *before, const struct rig_snapshot *after)
{
	uint32_t changes = 0;

	for (int i = 0; i < RIG_MAPS; i++)
		changes |= before->digest[i] != after->digest[i] ? 1u << i : 0;
	return changes;
}
