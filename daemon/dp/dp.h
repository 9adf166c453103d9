/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path as the daemon holds it: programs loaded, maps pinned or adopted, programs attached to
 * interfaces, tables placed and flipped, counters and sessions read. One control thread. Errors are
 * negative errno; a sentence for people goes to `message` where one is given.
 *
 *   dp.c        open, close, features        hook.c      the choice of a hook
 *   pins.c      maps kept and adopted        attach.c    hooks put on      side.c  one direction's hook
 *   probe.c     kernel features              detach.c    hooks taken off   clsact.c, sys.c  the kernel
 *   review.c    hooks looked after
 *   clock.c     ticks                        tables.c    table memory, the flip, the grace period
 *   counters.c  ports, rules, memory         extents.c   free lines
 *   sessions.c, sweep.c  session tables      ifindex.c   which port an interface is
 *   programs.c  the programs of the object   trace.c     judging without consequences (trace.h)
 *   surroundings.c  programs of others   events.c, watch.c  what the programs tell (events.h)
 */
#ifndef SECG_DP_DP_H
#define SECG_DP_DP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <secg/flow.h>
#include <secg/policy.h>

#include "core/cleanup.h"
#include "model/config.h"
#include "net/net.h"

/* Kernel features that change what is chosen; found by trying, never by version. */
#define DP_FEATURES(X)                                                \
	X(TCX, "tcx", "TC programs as links, first in line")          \
	X(XDP_FRAGS, "xdp_frags", "XDP on frames of several buffers") \
	X(XDP_LINK, "xdp_link", "XDP programs as links, which can be pinned")

enum dp_feature {
#define DP_FEATURE_ENUM(name, word, text) DP_FEATURE_##name,
	DP_FEATURES(DP_FEATURE_ENUM)
#undef DP_FEATURE_ENUM
		DP_FEATURE_COUNT,
};
extern const char *const dp_feature_names[DP_FEATURE_COUNT];

struct dp_options {
	const char *bpffs; /* folder of the pins; NULL: nothing is pinned (--ephemeral) */
	uint32_t max_sessions;
	size_t table_memory_bytes;
	uint32_t without; /* mask of 1 << enum dp_feature: do not use although present */
};

struct dp;

#define DP_MESSAGE_SIZE 256

/*
 * Loads the programs and opens or adopts the pinned maps under <bpffs>/v<SECG_LAYOUT>/. Adopted maps
 * keep their sizes; where an option asks for another size, `message` says so and the call succeeds. A
 * map of another shape than this build knows: -EINVAL and a message. Nothing is attached or changed.
 */
int dp_open(struct dp **ret_dp, const struct dp_options *options, char message[DP_MESSAGE_SIZE]);
/* Closes descriptors; pinned programs go on filtering. */
void dp_close(struct dp *dp);
DEFINE_CLEANUP(struct dp *, dp_close);

bool dp_has_feature(const struct dp *dp, enum dp_feature feature);
/* Ticks (SECG_TICK_SHIFT) a second, and the present tick, as the programs see it. */
double dp_ticks_per_second(const struct dp *dp);
uint32_t dp_now(const struct dp *dp);
/* Kernel memory of each map, in bytes; calls `each` with its name. */
void dp_memory(const struct dp *dp, void (*each)(const char *map, uint64_t bytes, void *data),
	       void *data);

/* ── tables ─────────────────────────────────────────────────────────────────────────────────────── */

/* Copies lines into free table memory for the next flip. -ENOSPC. */
int dp_tables_place(struct dp *dp, const void *lines, uint32_t count, uint32_t *ret_line);
/* Writes lines anew that were placed since the last flip. */
void dp_tables_rewrite(struct dp *dp, uint32_t line, const void *lines, uint32_t count);
/* A placed extent is not used by the next flip; it becomes free after that flip's grace period. */
void dp_tables_release(struct dp *dp, uint32_t line);
/* Undoes places and releases since the last flip. */
void dp_tables_abort(struct dp *dp);
/*
 * Writes root and ports beside the live ones and moves the selector. Entry i of `ports` is port id i.
 * The release of what the previous generation used is finished by dp_tables_settle. -ENOSPC: nothing
 * has changed. Lines in use by an adopted generation stay reserved until the first flip.
 */
int dp_tables_flip(struct dp *dp, uint64_t generation, const struct secg_port *ports,
		   uint32_t count);
/* Waits for a grace period if one is owed and frees what was released. Milliseconds. */
int dp_tables_settle(struct dp *dp);
/* Generation that is live; 0: none was ever flipped. */
uint64_t dp_tables_generation(const struct dp *dp);
/* Lends the live entry of a port; NULL: none. */
const struct secg_port *dp_tables_port(const struct dp *dp, uint32_t id);
void dp_tables_usage(const struct dp *dp, uint64_t *ret_used_bytes, uint64_t *ret_size_bytes);

/* ── hooks ──────────────────────────────────────────────────────────────────────────────────────── */

enum dp_mode {
	DP_MODE_NONE,
	DP_MODE_NATIVE,
	DP_MODE_GENERIC,
	DP_MODE_TCX,
	DP_MODE_CLSACT,
};
extern const char *const dp_mode_names[]; /* "none" "native" "generic" "tcx" "clsact" */

#define DP_TAG_SIZE 17

struct dp_attachment {
	bool is_xdp;          /* hook of direction from */
	enum dp_mode mode;    /* of from */
	enum dp_mode mode_to; /* of to */
	char prog_tag[DP_TAG_SIZE];
	char prog_tag_to[DP_TAG_SIZE];
	uint32_t before
		[SECG_DIRECTIONS]; /* id of a TC program that sees packets before ours; 0: none */
	char standing[DP_MESSAGE_SIZE]; /* what there was to say when it was attached */
	/* Works, but not as asked: generic XDP, a program before ours. The message is standing and before. */
	bool is_degraded;
	char message[DP_MESSAGE_SIZE];
};

/* What is known of an interface when its hook is chosen; injected by tests. */
struct dp_probe {
	bool is_native_xdp;   /* the driver takes a native XDP program */
	bool has_foreign_xdp; /* an XDP program that is not ours is attached */
	uint32_t foreign_xdp_id;
	const char *foreign_xdp_name; /* NULL or "": not known */
	bool has_ethernet;
	const char *
		kind; /* rtnl kind: "veth", "tun", "bridge", "vlan", "wireguard", ...; "" for a NIC */
};
struct dp_choice {
	bool is_xdp;
	bool is_generic;
	bool is_failed;                /* must not be attached; message says why */
	char message[DP_MESSAGE_SIZE]; /* also a warning where it is not failed; "" none */
};
/* design: hook auto takes XDP on native devices other than veth and tap, TC elsewhere and beside a
 * foreign XDP program; xdp insists, generic as a fallback; tc insists. Pure. */
void dp_choose_hook(struct dp_choice *ret_choice, enum port_hook hook,
		    const struct dp_probe *probe);

/*
 * Guards an interface as port `id`: the ifindex entry first, then the hooks, both directions, pinned as
 * <bpffs>/v<N>/links/<id>_from and _to with the port id. Adopts what is already pinned for this id and
 * interface by updating the link to this build's program; a severed pin is removed and attached anew;
 * a change of hook attaches the new one before it drops the old one. On failure neither direction is left half attached and
 * attachment->message says why in one sentence naming what to do.
 */
int dp_attach(struct dp *dp, uint32_t id, const struct net_link *link, enum port_hook hook,
	      struct dp_attachment *ret_attachment);
/* Asks again which programs stand before ours. True: that has changed, and message and is_degraded with it. */
bool dp_review(const struct dp *dp, int ifindex, struct dp_attachment *attachment);
/* Both directions are there still. True also where the kernel does not answer. */
bool dp_is_attached(const struct dp *dp, uint32_t id, int ifindex,
		    const struct dp_attachment *attachment);
/* Removes hooks, pins and the ifindex entry of a port; absent ones are no error, nor is an interface that
 * is gone. Negative errno: a hook may be left, and with it the entry; to be tried again. */
int dp_detach(struct dp *dp, uint32_t id, int ifindex);
/* Makes the hooks of port `from` those of port `to`, which must have none: -EEXIST. The interface then goes
 * to `to` by dp_attach; until then the packets are still those of `from`. */
int dp_hand_over(struct dp *dp, uint32_t from, uint32_t to);
/* Number of the port to which the packets of an interface go; 0: none. */
uint32_t dp_interface_port(const struct dp *dp, int ifindex);
/* Detaches pinned ports for which `is_wanted` is false (left by an earlier daemon). */
int dp_detach_unwanted(struct dp *dp, bool (*is_wanted)(uint32_t id, void *data), void *data);
/* Filters and entry of an interface whose port is elsewhere by now, links and all. */
int dp_release_interface(struct dp *dp, int ifindex);
/* Releases the interfaces with an entry for which `is_wanted` is false. */
int dp_release_strays(struct dp *dp, bool (*is_wanted)(uint32_t id, int ifindex, void *data),
		      void *data);
/* --detach-all: removes every hook and pin under the folder, also of other layouts. */
int dp_detach_all(const char *bpffs, char message[DP_MESSAGE_SIZE]);

/* ── surroundings ───────────────────────────────────────────────────────────────────────────────── */

#define DP_STRANGERS 8 /* ids that are kept per direction */

/* Programs of somebody else on one interface. */
struct dp_strangers {
	uint32_t xdp;                                   /* id; 0: none */
	uint32_t before[SECG_DIRECTIONS][DP_STRANGERS]; /* TC, in order; all of them without ours */
	uint32_t before_count[SECG_DIRECTIONS];
	bool has_tc[SECG_DIRECTIONS]; /* TC program, before or after ours */
};
void dp_find_strangers(const struct dp *dp, int ifindex, struct dp_strangers *ret_strangers);
/* The kernel has compiled our programs to machine code: 1, 0; negative errno: it does not tell. */
int dp_is_compiled(const struct dp *dp);
/* Folder of the pins; NULL: nothing is pinned. */
const char *dp_folder(const struct dp *dp);

/* ── counters ───────────────────────────────────────────────────────────────────────────────────── */

/* Sums over CPUs. */
int dp_port_counters(const struct dp *dp, uint32_t id, struct secg_port_counters *ret_counters);
int dp_rule_counter(const struct dp *dp, uint32_t index, struct secg_counter *ret_counter);
/* Zeroes a counter before its number is handed out anew. */
int dp_rule_counter_zero(struct dp *dp, uint32_t index);
int dp_port_counters_zero(struct dp *dp, uint32_t id);
/* Drops of packets whose port is unknown (interface without an entry), by reason: port id 0. */

/* ── sessions ───────────────────────────────────────────────────────────────────────────────────── */

struct dp_session {
	struct secg_flow_key key;
	struct secg_flow flow;
	uint64_t position; /* opaque; orders a listing */
};
/* Calls `each` for live sessions from `position` on (0: all) until it returns false. Expired ones are
 * skipped; the timeouts are those of the port that the flow names in the live generation. */
int dp_sessions_each(const struct dp *dp, uint64_t position,
		     bool (*each)(const struct dp_session *session, void *data), void *data);
/* Ticks beyond its timeout at tick `now`; negative: it lives. A flow whose port is gone is long dead. */
int64_t dp_session_overdue(const struct dp *dp, const struct dp_session *session, uint32_t now);
/* Frees one; -ENOENT when it is gone or belongs to another flow by now. */
int dp_session_delete(struct dp *dp, const struct dp_session *session);
struct dp_session_usage {
	uint64_t used, max;         /* answered flows: slots and overflow */
	uint64_t new_used, new_max; /* half-open and one-way flows */
};
int dp_session_usage(const struct dp *dp, struct dp_session_usage *ret_usage);
/* Frees expired sessions in at most `budget` slots from where the last call ended; returns how many it
 * freed, having called `expired` with each. Called by the loop every second. */
int dp_sessions_sweep(struct dp *dp, uint32_t budget,
		      void (*expired)(const struct dp_session *session, void *data), void *data);
/* Answered sessions that the last whole round of sweeps left, and room for them. */
void dp_sessions_swept(const struct dp *dp, uint64_t *ret_used, uint64_t *ret_max);

/* ── limits ─────────────────────────────────────────────────────────────────────────────────────── */

struct dp_source {
	struct secg_source_key key;
	uint32_t sessions;
};
int dp_source_compare(const void *a, const void *b); /* by key */
/* Sessions of a port, counted anew. */
int dp_usage_set(struct dp *dp, uint32_t port, const struct secg_usage *usage);
/* What `sources`, sorted, does not name is forgotten. */
int dp_sources_set(struct dp *dp, const struct dp_source *sources, size_t count);

/* Timeout of a flow in ticks: its rule's, or that of the port's table. Shared by listing and tests. */
uint32_t dp_flow_timeout(const struct secg_flow_key *key, const struct secg_flow *flow,
			 const uint32_t timeout[8]);

#endif
