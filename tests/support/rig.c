/* SPDX-License-Identifier: Apache-2.0 */
/* Loading the programs, running them, reading counters. Policies are in rig_policy.c, sessions in
 * rig_sessions.c. */
#include "rig.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "core/cleanup.h"
#include "engine/generation.h"
#include "rig_internal.h"
#include "secg.skel.h"

#define TABLE_LINES (1u << 16)
#define NEW_FLOWS   4096u
#define SEED        UINT64_C(0x5ec65ec65ec65ec7)

void rig_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("rig: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

/* ── opening ────────────────────────────────────────────────────────────────────────────────────── */

/* Per-CPU counters and the scratch are those of one CPU. */
static void stay_on_one_cpu(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		rig_die("sched_getaffinity: %m");
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		rig_die("sched_setaffinity: %m");
}

/* Bridges, because they need one ioctl each; any device will do. The namespace ends with the process. */
static void make_interfaces(void)
{
	static const char *const names[] = {"p1", "p2", "p3"};
	_cleanup_close_ int fd = -1;

	if (if_nametoindex(names[0]))
		return; /* an earlier rig of this process made them */
	if (unshare(CLONE_NEWNET) < 0)
		rig_die("a network namespace: %m; these tests need root");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (fd < 0 || ioctl(fd, SIOCBRADDBR, names[i]) < 0)
			rig_die("interface %s: %m", names[i]);
}

static void load(struct rig *rig, bool has_few_fragments)
{
	struct secg *skel = secg__open();

	if (!skel)
		rig_die("open the object: %m");
	rig->skel = skel;
	skel->rodata->secg_bucket_mask = RIG_BUCKETS - 1;
	skel->rodata->secg_hash_seed = SEED;
	bpf_map__set_max_entries(skel->maps.secg_table, TABLE_LINES);
	bpf_map__set_max_entries(skel->maps.secg_rule_counters, RIG_COUNTERS);
	bpf_map__set_max_entries(skel->maps.secg_port_counters, RIG_PORTS);
	bpf_map__set_max_entries(skel->maps.secg_new, NEW_FLOWS);
	bpf_map__set_max_entries(skel->maps.secg_established, RIG_BUCKETS * SECG_WAYS);
	bpf_map__set_max_entries(skel->maps.secg_overflow, RIG_OVERFLOW);
	bpf_map__set_max_entries(skel->maps.secg_usage, RIG_PORTS);
	bpf_map__set_max_entries(skel->maps.secg_events, RIG_RING_BYTES);
	if (has_few_fragments) {
		bpf_map__set_type(skel->maps.secg_fragments, BPF_MAP_TYPE_HASH);
		bpf_map__set_max_entries(skel->maps.secg_fragments, 4);
	}
	if (secg__load(skel))
		rig_die("load the object: %m");
}

static void *map_memory(const struct bpf_map *map)
{
	size_t size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	void *memory = mmap(NULL, (size + 4095) & ~(size_t)4095, PROT_READ | PROT_WRITE, MAP_SHARED,
			    bpf_map__fd(map), 0);

	if (memory == MAP_FAILED)
		rig_die("mmap of %s: %m", bpf_map__name(map));
	return memory;
}

static void open_rig(struct rig **ret_rig, bool has_few_fragments)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	if (!rig)
		rig_die("no memory");
	rig_init_policy(rig);
	stay_on_one_cpu();
	make_interfaces();
	load(rig, has_few_fragments);
	rig->lines = map_memory(rig->skel->maps.secg_table);
	rig->selector = map_memory(rig->skel->maps.secg_selector);
	rig->ifindex = map_memory(rig->skel->maps.secg_ifindex);
	rig->slots = map_memory(rig->skel->maps.secg_established);
	rig->selector[SECG_SELECTOR_SEED] = SEED;
	memset(rig->lines, 0xff, SECG_ONES_LINES * sizeof(*rig->lines));
	*ret_rig = rig;
}

void rig_open(struct rig **ret_rig)
{
	open_rig(ret_rig, false);
}

void rig_open_few_fragments(struct rig **ret_rig)
{
	open_rig(ret_rig, true);
}

void rig_close(struct rig *rig)
{
	rig_clear(rig);
	generation_free(rig->live);
	rig_close_events(rig);
	secg__destroy(rig->skel);
	free(rig);
}

/* ── counters ───────────────────────────────────────────────────────────────────────────────────── */

/* Sums `words` 64-bit numbers of a per-CPU entry over the CPUs. */
static void read_percpu(const struct bpf_map *map, uint32_t key, uint64_t *ret_sum, size_t words)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *values = calloc((size_t)cpus * words, sizeof(*values));

	if (!values || bpf_map_lookup_elem(bpf_map__fd(map), &key, values) < 0)
		rig_die("entry %u of %s: %m", key, bpf_map__name(map));
	memset(ret_sum, 0, words * sizeof(*ret_sum));
	for (int cpu = 0; cpu < cpus; cpu++)
		for (size_t i = 0; i < words; i++)
			ret_sum[i] += values[(size_t)cpu * words + i];
}

static void read_port(struct rig *rig, uint32_t id, struct secg_port_counters *ret_counters)
{
	read_percpu(rig->skel->maps.secg_port_counters, id, (uint64_t *)ret_counters,
		    sizeof(*ret_counters) / sizeof(uint64_t));
}

static void clear_percpu(const struct bpf_map *map, uint32_t key)
{
	_cleanup_free_ void *zeros =
		calloc((size_t)libbpf_num_possible_cpus(), bpf_map__value_size(map));

	if (!zeros || bpf_map_update_elem(bpf_map__fd(map), &key, zeros, BPF_ANY) < 0)
		rig_die("entry %u of %s: %m", key, bpf_map__name(map));
}

void rig_clear_rule(struct rig *rig, uint32_t number)
{
	clear_percpu(rig->skel->maps.secg_rule_counters, number);
}

static void clear_rule(const char *name, uint32_t id, bool is_new, void *data)
{
	(void)name;
	(void)is_new;
	rig_clear_rule(data, id);
}

void rig_clear_counters(struct rig *rig)
{
	ids_each(rig->live->counter_ids, clear_rule, rig);
	for (uint32_t id = 0; id < RIG_PORTS; id++)
		clear_percpu(rig->skel->maps.secg_port_counters, id);
}

uint32_t rig_rule_number(struct rig *rig, const char *port, const char *key)
{
	_cleanup_free_ char *name = NULL;
	uint32_t number;

	if (asprintf(&name, "%s\n%s", port, key) < 0)
		rig_die("no memory");
	if (ids_find(rig->live->counter_ids, name, &number) < 0)
		rig_die("port %s has no rule %s", port, key);
	return number;
}

struct secg_counter rig_rule(struct rig *rig, const char *port, const char *key)
{
	struct secg_counter counter;

	read_percpu(rig->skel->maps.secg_rule_counters, rig_rule_number(rig, port, key),
		    (uint64_t *)&counter, 2);
	return counter;
}

struct secg_counter rig_infra(struct rig *rig, const char *port, enum secg_infra bit)
{
	struct secg_port_counters counters;

	read_port(rig, rig_port_id(rig, port), &counters);
	return counters.infra[bit];
}

uint64_t rig_reason(struct rig *rig, uint32_t port_id, enum secg_reason reason)
{
	struct secg_port_counters counters;

	read_port(rig, port_id, &counters);
	return counters.reasons[reason];
}

/* ── running ────────────────────────────────────────────────────────────────────────────────────── */

static int program_fd(const struct rig *rig, enum rig_hook hook)
{
	const struct bpf_program *const programs[RIG_HOOKS] = {
		[RIG_XDP] = rig->skel->progs.secg_xdp,
		[RIG_TC_FROM] = rig->skel->progs.secg_tc_from,
		[RIG_TC_TO] = rig->skel->progs.secg_tc_to,
	};

	return bpf_program__fd(programs[hook]);
}

bool rig_takes(enum rig_hook hook, const struct frame *frame)
{
	uint32_t type = (uint32_t)frame->data[12] << 8 | frame->data[13], needed = 14;

	if (hook != RIG_XDP && type == 0x0800)
		needed += 20;
	else if (hook != RIG_XDP && type == 0x86dd)
		needed += 40;
	return frame->size >= needed;
}

/* Whether the program lets the frame pass. */
static bool run(const struct rig *rig, enum rig_hook hook, uint32_t ifindex,
		const struct rig_way *way, const struct frame *frame)
{
	struct __sk_buff skb = {
		.ifindex = ifindex,
		.gso_segs = way->gso_segs,
		.gso_size = way->gso_size,
	};
	struct xdp_md md = {.ingress_ifindex = ifindex, .data_end = frame->size};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame->data, .data_size_in = frame->size,
		    .repeat = 1);

	opts.ctx_in = hook == RIG_XDP ? (void *)&md : (void *)&skb;
	opts.ctx_size_in = hook == RIG_XDP ? sizeof(md) : sizeof(skb);
	if (bpf_prog_test_run_opts(program_fd(rig, hook), &opts) < 0)
		rig_die("test run of %u bytes: %m", frame->size);
	if (hook == RIG_XDP && (opts.retval == XDP_PASS || opts.retval == XDP_DROP))
		return opts.retval == XDP_PASS;
	if (hook != RIG_XDP && ((int32_t)opts.retval == -1 || opts.retval == 2))
		return (int32_t)opts.retval == -1;
	rig_die("the program returned %u", opts.retval);
}

/* What one run added to the counters of a port; anything but one total and one reason is a mistake. */
static struct rig_verdict compare(const struct secg_port_counters *before,
				  const struct secg_port_counters *after, int direction,
				  bool passes)
{
	const struct secg_counter *old = passes ? before->passed : before->dropped;
	const struct secg_counter *new = passes ? after->passed : after->dropped;
	struct rig_verdict verdict = {
		.counted.packets = new[direction].packets - old[direction].packets,
		.counted.bytes = new[direction].bytes - old[direction].bytes,
	};
	uint64_t total = 0, reasons = 0;

	for (int i = 0; i < SECG_REASON_SLOTS; i++) {
		uint64_t grown = after->reasons[i] - before->reasons[i];

		if (grown)
			verdict.reason = (enum secg_reason)i;
		reasons += grown;
	}
	for (int d = 0; d < SECG_DIRECTIONS; d++)
		total += after->passed[d].packets + after->dropped[d].packets -
			 before->passed[d].packets - before->dropped[d].packets;
	if (total != verdict.counted.packets || reasons != (passes ? 0 : total))
		rig_die("verdict and counters differ: %s, %llu packets of %llu, %llu with a reason",
			passes ? "pass" : "drop", (unsigned long long)verdict.counted.packets,
			(unsigned long long)total, (unsigned long long)reasons);
	return verdict;
}

/* The port whose counters a packet on the interface moves; 0: nobody's. */
static uint32_t port_of(const struct rig *rig, uint32_t ifindex)
{
	const struct secg_ifindex *entry = &rig->ifindex[ifindex % SECG_IFINDEX_SLOTS];
	struct secg_ifindex far;

	if (entry->ifindex == ifindex)
		return entry->port;
	if (bpf_map_lookup_elem(bpf_map__fd(rig->skel->maps.secg_ifindex_far), &ifindex, &far) < 0)
		return 0;
	return far.port;
}

struct rig_verdict rig_run(struct rig *rig, enum rig_hook hook, const struct rig_way *way,
			   const struct frame *frame)
{
	uint32_t ifindex = if_nametoindex(way->interface ? way->interface : "p1");
	uint32_t port = port_of(rig, ifindex);
	struct secg_port_counters before, after;
	bool passes;

	if (!ifindex)
		rig_die("no interface %s", way->interface);
	read_port(rig, port, &before);
	passes = run(rig, hook, ifindex, way, frame);
	read_port(rig, port, &after);
	return compare(&before, &after, hook == RIG_TC_TO ? SECG_TO : SECG_FROM, passes);
}

struct rig_verdict rig_judge(struct rig *rig, enum secg_direction direction,
			     const struct rig_way *way, const struct layer *layers)
{
	static struct frame frame;

	frame_build(&frame, layers);
	return rig_run(rig, direction == SECG_TO ? RIG_TC_TO : rig->from, way, &frame);
}

uint32_t rig_now(struct rig *rig)
{
	static const uint8_t frame[64];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame));

	if (bpf_prog_test_run_opts(bpf_program__fd(rig->skel->progs.secg_clock), &opts) < 0)
		rig_die("the clock: %m");
	return (uint32_t)(rig->skel->bss->secg_jiffies >> SECG_TICK_SHIFT);
}
