/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of the rig loaded a second time as traced ones, and what any run has changed. */
#ifndef SECG_TESTS_RIG_TRACE_H
#define SECG_TESTS_RIG_TRACE_H

#include <secg/trace.h>

#include "rig.h"

/* Maps that a program can write, and the rest, which none writes. */
enum rig_map {
	RIG_MAP_PORT_COUNTERS = 1 << 0,
	RIG_MAP_RULE_COUNTERS = 1 << 1,
	RIG_MAP_NEW = 1 << 2,
	RIG_MAP_ESTABLISHED = 1 << 3,
	RIG_MAP_OVERFLOW = 1 << 4,
	RIG_MAP_FRAGMENTS = 1 << 5,
	RIG_MAP_USAGE = 1 << 6,
	RIG_MAP_SOURCES = 1 << 7,
	RIG_MAP_WATCH = 1 << 8,
	RIG_MAP_EVENTS_LOST = 1 << 9,
	RIG_MAP_EVENTS = 1 << 10,
	RIG_MAP_TABLES = 1 << 11,
};
#define RIG_MAPS 12

struct rig_tracer;

void rig_tracer_open(struct rig_tracer **ret_tracer, struct rig *rig);
void rig_tracer_close(struct rig_tracer *tracer);

/* Traces the frame of the layers in a direction at the hook in use. The verdict must be that of `reason`. */
struct secg_trace rig_trace(struct rig_tracer *tracer, enum secg_direction direction,
			    const struct rig_way *way, const struct layer *layers);

/* Digests of the contents of all maps that both loads share. */
struct rig_snapshot {
	uint64_t digest[RIG_MAPS];
};
struct rig_snapshot rig_snapshot(struct rig *rig);
/* Mask of enum rig_map. */
uint32_t rig_changes(const struct rig_snapshot *before, const struct rig_snapshot *after);

#endif
