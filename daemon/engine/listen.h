/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening to the data path: which watches it keeps, its records as events with the names of the moment,
 * what was kept back or lost. And what the engine itself tells.
 */
#ifndef SECG_ENGINE_LISTEN_H
#define SECG_ENGINE_LISTEN_H

#include "dp/events.h"
#include "engine/events.h"
#include "engine/watches.h"

struct engine;

#define LISTEN_EVENTS_MAX 16384
#define LISTEN_BYTES_MAX  ((size_t)8 << 20)

struct listener {
	struct events *events;
	struct watches watches;          /* as the data path has them */
	size_t next_watch;               /* index of the one that is looked at next */
	uint64_t lost[SECG_EVENT_KINDS]; /* as the last event has told it */
	uint64_t suppressed;             /* kept back for a rate, as told */
	bool is_full;                    /* sessions: 80 % has been told */
	bool is_watch_broken;            /* the last change of watches failed */
};

/* Before anything can happen. -ENOMEM, -EIO. */
int listen_open(struct engine *engine);
void listen_close(struct engine *engine);
/* After the data path is open: what an earlier daemon lost is none of our news. */
int listen_start(struct engine *engine);
/* After a flip: the watches of the live generation. */
void listen_follow(struct engine *engine);
/* Every second: tells what was lost and kept back, and when the session table fills. */
void listen_tick(struct engine *engine);

/* ── tell.c: events of the engine's own ── */

/* Wall clock, ns. */
uint64_t tell_now(void);
/* The live generation is a new one. */
void tell_commit(struct engine *engine);
void tell_port_state(struct engine *engine, const char *port, const char *state,
		     const char *message);
/* Sessions in use beside their limit, of a port or, NULL, of the table: told once near it. `is_full` remembers. */
void tell_session_80(struct engine *engine, const char *port, bool *is_full, uint64_t used,
		     uint64_t max);
/* `fields` says what kind of thing was lost, and is taken. */
void tell_lost(struct engine *engine, uint64_t count, json_t *fields);

#endif
