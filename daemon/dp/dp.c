/* SPDX-License-Identifier: Apache-2.0 */
/* The data path opened and closed: programs loaded, maps made or adopted and seen through memory. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "dp/internal.h"
#include "secg.skel.h"

#define TABLE_BYTES_DEFAULT (64u << 20)
#define TABLE_LINES_MIN     16384u
#define TABLE_LINES_MAX     (1u << 28) /* SECG_TREE_LINE_MASK */
#define SLOTS_MIN           1024u
#define SLOTS_MAX           (1u << 26)
#define NEW_MIN             16384u

/* What libbpf said last, for the message of a load that failed. libbpf knows one callback a process. */
static char complaint[DP_MESSAGE_SIZE];

static int keep_complaint(enum libbpf_print_level level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
static int keep_complaint(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(complaint, sizeof(complaint), format, args);
	complaint[strcspn(complaint, "\n")] = '\0';
	return 0;
}

static uint32_t clamp(uint64_t value, uint32_t min, uint32_t max)
{
	return value < min ? min : value > max ? max : (uint32_t)value;
}

static int set_sizes(struct secg *skel, const struct dp_options *options)
{
	uint64_t bytes =
		options->table_memory_bytes ? options->table_memory_bytes : TABLE_BYTES_DEFAULT;
	uint32_t lines = clamp(bytes / sizeof(struct secg_line), TABLE_LINES_MIN, TABLE_LINES_MAX);
	uint32_t slots = SLOTS_MIN;
	int r;

	while (slots < options->max_sessions && slots < SLOTS_MAX)
		slots *= 2;
	r = bpf_map__set_max_entries(skel->maps.secg_table, lines);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.secg_established, slots);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.secg_overflow, slots / 4);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.secg_new,
					     slots / 4 > NEW_MIN ? slots / 4 : NEW_MIN);
	return r;
}

static int view(const struct bpf_map *map, void **ret_view)
{
	size_t size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (memory == MAP_FAILED)
		return -errno;
	*ret_view = memory;
	return 0;
}

static void unview(const struct bpf_map *map, void *memory)
{
	if (memory)
		munmap(memory, (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map));
}

static int view_maps(struct dp *dp)
{
	int r = view(dp->skel->maps.secg_table, (void **)&dp->lines);

	if (r == 0)
		r = view(dp->skel->maps.secg_selector, (void **)&dp->selector);
	if (r == 0)
		r = view(dp->skel->maps.secg_ifindex, (void **)&dp->ifindex);
	if (r == 0)
		r = view(dp->skel->maps.secg_established, (void **)&dp->slots);
	dp->line_count = bpf_map__max_entries(dp->skel->maps.secg_table);
	dp->slot_count = bpf_map__max_entries(dp->skel->maps.secg_established);
	return r;
}

/*
 * The seed is compiled into the programs and kept in the selector, so that the next programs look where
 * these have stored. A selector that is not adopted has none yet.
 */
static int set_seed(struct secg *skel)
{
	uint32_t item = SECG_SELECTOR_SEED;
	uint64_t seed = 0;

	if (bpf_map__fd(skel->maps.secg_selector) >= 0)
		bpf_map_lookup_elem(bpf_map__fd(skel->maps.secg_selector), &item, &seed);
	if (!seed && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return -EIO;
	skel->rodata->secg_hash_seed = seed | 1;
	return 0;
}

/* Maps that nobody has used: seed and lines of ones are written before they are pinned. */
static void fill_new_maps(struct dp *dp)
{
	if (dp->selector[SECG_SELECTOR_SEED])
		return;
	memset(dp->lines, 0xff, SECG_ONES_LINES * sizeof(*dp->lines));
	dp->selector[SECG_SELECTOR_SEED] = dp->skel->rodata->secg_hash_seed;
}

static int load_programs(struct dp *dp)
{
	for (int i = 0; i < DP_PROGRAM_COUNT; i++) {
		int r = program_loaded(&dp->programs[i], program_of(dp->skel, (enum dp_program)i));

		if (r < 0)
			return r;
	}
	return 0;
}

static int make_held(struct dp *dp)
{
	dp->held = calloc(SECG_MAX_PORTS, sizeof(*dp->held));
	if (!dp->held)
		return -ENOMEM;
	for (uint32_t id = 0; id < SECG_MAX_PORTS; id++)
		dp->held[id].fd[SECG_FROM] = dp->held[id].fd[SECG_TO] = -1;
	return 0;
}

/* Opens the object and loads it. */
static int load(struct dp *dp, const struct dp_options *options, bool has_frags,
		char message[DP_MESSAGE_SIZE])
{
	int r;

	dp->skel = secg__open();
	if (!dp->skel)
		return -errno;
	r = set_sizes(dp->skel, options);
	if (r == 0 && dp->folder)
		r = pins_adopt(dp->skel, dp->folder, message);
	if (r == 0)
		r = set_seed(dp->skel);
	if (r < 0)
		return r;
	dp->skel->rodata->secg_bucket_mask =
		bpf_map__max_entries(dp->skel->maps.secg_established) / SECG_WAYS - 1;
	r = secg__load(dp->skel);
	/* A kernel before 5.18 refuses the flag. */
	if (r == -EINVAL && has_frags)
		return -EAGAIN;
	if (r < 0)
		message_add(message, "cannot load the BPF programs: %s%s%s", strerror(-r),
			    complaint[0] ? ": " : "", complaint);
	return r;
}

static int load_without_frags(struct dp *dp, const struct dp_options *options,
			      char message[DP_MESSAGE_SIZE])
{
	int handler = frags_hide(), r;

	if (handler < 0)
		return handler;
	r = load(dp, options, false, message);
	frags_show(handler);
	return r;
}

static int load_with_or_without_frags(struct dp *dp, const struct dp_options *options,
				      bool *ret_frags, char message[DP_MESSAGE_SIZE])
{
	int r = -EAGAIN;

	if (!(options->without & 1u << DP_FEATURE_XDP_FRAGS))
		r = load(dp, options, true, message);
	*ret_frags = r == 0;
	if (r != -EAGAIN)
		return r;
	if (dp->skel)
		secg__destroy(TAKE_PTR(dp->skel));
	message[0] = '\0';
	return load_without_frags(dp, options, message);
}

/* What secg_grace takes: a map of the shape of its template. */
static int make_grace(struct dp *dp)
{
	dp->grace_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "secg_grace", 4, 4, 1, NULL);
	return dp->grace_fd < 0 ? -errno : 0;
}

static int open_once(struct dp **ret_dp, const struct dp_options *options,
		     char message[DP_MESSAGE_SIZE])
{
	_cleanup_(dp_closep) struct dp *dp = calloc(1, sizeof(*dp));
	bool has_frags = false;
	int r;

	if (!dp)
		return -ENOMEM;
	dp->grace_fd = -1;
	if (options->bpffs && asprintf(&dp->folder, "%s/v%d", options->bpffs, SECG_LAYOUT) < 0)
		return -ENOMEM;
	r = load_with_or_without_frags(dp, options, &has_frags, message);
	if (r == 0)
		r = view_maps(dp);
	if (r < 0)
		return r;
	fill_new_maps(dp);
	r = tables_new(&dp->tables, dp->lines, dp->line_count, dp->selector[SECG_SELECTOR_ROOT]);
	if (r == 0 && dp->folder)
		r = pins_keep(dp->skel, dp->folder, message);
	if (r == 0 && !dp->folder)
		r = make_held(dp);
	if (r == 0)
		r = load_programs(dp);
	if (r == 0)
		r = clock_calibrate(dp);
	if (r == 0)
		r = make_grace(dp);
	if (r == 0)
		r = drain_new(&dp->drain, dp);
	if (r == 0)
		r = dp_tables_settle(dp);
	if (r < 0)
		return r;
	r = libbpf_num_possible_cpus();
	if (r < 0)
		return r;
	dp->cpus = (unsigned int)r;
	dp->scratch = calloc(dp->cpus, sizeof(struct secg_port_counters));
	if (!dp->scratch)
		return -ENOMEM;
	dp->features =
		probe_features(dp->programs[DP_PROGRAM_XDP].fd, has_frags) & ~options->without;
	*ret_dp = TAKE_PTR(dp);
	return 0;
}

int dp_open(struct dp **ret_dp, const struct dp_options *options, char message[DP_MESSAGE_SIZE])
{
	int r;

	message[0] = complaint[0] = '\0';
	libbpf_set_print(keep_complaint);
	r = open_once(ret_dp, options, message);
	if (r == -EUCLEAN && options->bpffs) {
		_cleanup_free_ char *folder = NULL;

		if (asprintf(&folder, "%s/v%d", options->bpffs, SECG_LAYOUT) < 0)
			return -ENOMEM;
		r = pins_drop_unit(folder);
		if (r < 0)
			return r;
		message[0] = '\0';
		message_add(message, "the pinned tables contradict themselves: new ones, without "
				     "sessions, take their place when ports are attached");
		r = open_once(ret_dp, options, message);
	}
	if (r < 0 && !message[0])
		snprintf(message, DP_MESSAGE_SIZE, "cannot open the data path: %s", strerror(-r));
	return r;
}

void dp_close(struct dp *dp)
{
	if (dp->held)
		for (uint32_t id = 0; id < SECG_MAX_PORTS; id++)
			dp_detach(dp, id, dp->held[id].clsact_ifindex);
	free(dp->held);
	for (int i = 0; i < DP_PROGRAM_COUNT; i++)
		tracer_freep(&dp->tracers[i]);
	if (dp->drain)
		drain_free(dp->drain);
	if (dp->tables)
		tables_free(dp->tables);
	if (dp->skel) {
		unview(dp->skel->maps.secg_table, dp->lines);
		unview(dp->skel->maps.secg_selector, dp->selector);
		unview(dp->skel->maps.secg_ifindex, dp->ifindex);
		unview(dp->skel->maps.secg_established, dp->slots);
		secg__destroy(dp->skel);
	}
	closep(&dp->grace_fd);
	free(dp->scratch);
	free(dp->folder);
	free(dp);
}

bool dp_has_feature(const struct dp *dp, enum dp_feature feature)
{
	return dp->features & 1u << feature;
}
