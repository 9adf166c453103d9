/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share. Nobody outside includes it.
 */
#ifndef SECG_DP_INTERNAL_H
#define SECG_DP_INTERNAL_H

#include <linux/limits.h>

#include "dp/dp.h"
#include "dp/extents.h"
#include "dp/sys.h"

enum dp_program {
	DP_PROGRAM_XDP,
	DP_PROGRAM_TC_FROM,
	DP_PROGRAM_TC_TO,
	DP_PROGRAM_COUNT,
};

struct loaded {
	int fd;
	uint32_t id;
	char tag[DP_TAG_SIZE];
};

struct bpf_program;
struct secg; /* the skeleton */
struct tables;
struct tracer;
struct drain;

struct dp {
	struct secg *skel;
	char *folder;      /* <bpffs>/v<SECG_LAYOUT>; NULL: nothing is pinned */
	uint32_t features; /* mask of 1 << enum dp_feature: there, and not to be done without */
	struct loaded programs[DP_PROGRAM_COUNT];
	double ticks_per_second;
	unsigned int cpus; /* possible ones: values of a per-CPU map */

	/* Maps seen through memory. */
	struct secg_line *lines;
	uint32_t line_count;
	uint64_t *selector; /* by enum secg_selector_item */
	struct secg_ifindex *ifindex;
	struct secg_slot *slots;
	uint32_t slot_count;

	struct tables *tables;
	int grace_fd;      /* map to put into secg_grace; -1 */
	struct held *held; /* links of ports by id, where nothing is pinned; else NULL */
	void *scratch;     /* values of one per-CPU entry */
	struct tracer *tracers[DP_PROGRAM_COUNT]; /* NULL before the first trace */
	uint64_t sweep;                           /* position at which the next sweep starts */
	uint64_t sweep_used; /* sessions that this round has met so far, and the last one in all */
	uint64_t swept_used;
	struct drain *drain; /* reader of secg_events */
};

/* Without pins the descriptors keep the links; closing them takes the hooks off. */
struct held {
	int fd[SECG_DIRECTIONS]; /* -1: none */
	int clsact_ifindex;      /* interface with a filter of ours; 0: none */
};

/* ── programs.c ── */
struct bpf_program *program_of(const struct secg *skel, enum dp_program program);
/* Descriptor (lent), id and tag of a program after its load. */
int program_loaded(struct loaded *ret_loaded, const struct bpf_program *program);
/* Between the two, an object that is opened has its XDP program for frames of one buffer. Returns what
 * frags_show takes, or negative errno. */
int frags_hide(void);
void frags_show(int handler);

/* ── trace.c ── */
void tracer_free(struct tracer *tracer);
DEFINE_CLEANUP(struct tracer *, tracer_free);

/* ── tables.c ── */
/* Table memory as it was left: nothing live, or the lines of the live root reserved. -EUCLEAN: the root
 * contradicts itself. */
int tables_new(struct tables **ret_tables, const struct secg_line *lines, uint32_t line_count,
	       uint64_t root);
void tables_free(struct tables *tables);
DEFINE_CLEANUP(struct tables *, tables_free);

/* ── pins.c ── */
/* printf into a path; -ENAMETOOLONG. */
int pin_path(char ret_path[PATH_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Makes the folders and hands pinned maps to `skel`, which is open and not loaded. */
int pins_adopt(struct secg *skel, const char *folder, char message[DP_MESSAGE_SIZE]);
/* Pins the maps that this load has made. */
int pins_keep(struct secg *skel, const char *folder, char message[DP_MESSAGE_SIZE]);
/* Lets go of tables and sessions that cannot be read. Programs that use them go on with them. */
int pins_drop_unit(const char *folder);
/* Adds a sentence to what is there. */
void message_add(char message[DP_MESSAGE_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ── clock.c ── */
int clock_calibrate(struct dp *dp);

/* ── probe.c ── */
uint32_t probe_features(int xdp_fd, bool has_frags);

/* ── side.c ── */
/* One direction of a port while its hook is looked for, put on or taken off. */
struct side {
	struct dp *dp;
	uint32_t id;
	int ifindex;
	enum secg_direction direction;
	int old_fd; /* link that was there before, on this interface; -1: none */
	struct sys_link old;
	int new_fd; /* link made now; -1: none */
	bool has_old_clsact;
	bool has_new_clsact;
	enum dp_mode mode; /* what it has in the end */
};
/* Nothing is known of it yet; side_close does nothing. */
void side_init(struct side *side, struct dp *dp, uint32_t id, int ifindex,
	       enum secg_direction direction);
/* Finds what is there. Pins and held links of another interface, and severed ones, are removed. Negative
 * errno: it cannot be told, nothing has changed. */
int side_open(struct side *side);
/* Takes off what was put on since side_open; closes. After side_keep only the latter. */
void side_close(struct side *side);
/* Pins what was put on in place of what was there, and takes the latter off. */
int side_keep(struct side *side);
/* Takes everything off: link, pin, filter. Negative errno: something may be left. */
int side_remove(struct side *side);
/* The link of a port as it is now. -ENOENT: none is held or pinned. */
int side_find(const struct dp *dp, uint32_t id, enum secg_direction direction,
	      struct sys_link *ret_link);

/* ── detach.c ── */
/* Takes a link off its hook at once (a last close may be late), and removes its pin. */
int link_remove(int fd, const char *pin);

/* ── hook.c ── */
/* XDP is to be tried: the choice depends on native support and on foreign programs. */
bool hook_wants_xdp(enum port_hook hook, const struct dp_probe *probe);
#define PROGRAM_TEXT_SIZE 64
/* "7 (name)", or how to learn the name where it is NULL or "". */
void program_text(char ret_text[PROGRAM_TEXT_SIZE], uint32_t id, const char *name);

/* ── events.c ── */
int drain_new(struct drain **ret_drain, const struct dp *dp);
void drain_free(struct drain *drain);

/* ── ifindex.c ── */
int ifindex_set(struct dp *dp, int ifindex, uint32_t id, bool has_ethernet);
void ifindex_clear(struct dp *dp, int ifindex);

#endif
