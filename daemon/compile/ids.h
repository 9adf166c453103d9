/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small numbers for names that the data path and its counters use, stable as long as the name lives and
 * across restarts: port ids, and counter indices of (port, rule key). Pure bookkeeping; the store keeps
 * it, so every change can be listed. A copy is made for each commit and replaces the live one when the
 * commit is durable.
 */
#ifndef SECG_COMPILE_IDS_H
#define SECG_COMPILE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"

struct ids;

/* Numbers handed out are first..limit-1, lowest free first. */
int ids_new(struct ids **ret_ids, uint32_t first, uint32_t limit);
void ids_free(struct ids *ids);
DEFINE_CLEANUP(struct ids *, ids_free);
int ids_copy(struct ids **ret_copy, const struct ids *ids);

/* The number of a name, handed out when it has none; marks the name used. -ENOSPC: none left. */
int ids_get(struct ids *ids, const char *name, uint32_t *ret_id);
/* Marks the name of a number that is handed out. */
void ids_mark(struct ids *ids, uint32_t id);
/* -ENOENT. Does not mark. */
int ids_find(const struct ids *ids, const char *name, uint32_t *ret_id);
/* Lends; NULL where the number is free. */
const char *ids_name(const struct ids *ids, uint32_t id);
/* Puts a name with a known number in, as read from the store. -EEXIST, -ERANGE. */
int ids_load(struct ids *ids, const char *name, uint32_t id);

/* What is remembered beside a number; both 0 at first. Copies have it too, the store keeps it. */
struct ids_note {
	uint64_t digest;
	uint32_t revision;
};
/* The number has a name. */
struct ids_note ids_note(const struct ids *ids, uint32_t id);
void ids_set_note(struct ids *ids, uint32_t id, struct ids_note note);

/* Forget all marks; afterwards ids_get marks. */
void ids_unmark(struct ids *ids);
/* Removes unmarked names. Their numbers are not handed out again before ids_settle, because the data
 * path may still use them. Calls `removed` for each. */
void ids_sweep(struct ids *ids, void (*removed)(const char *name, uint32_t id, void *data),
	       void *data);
/* A grace period has passed: removed numbers may be handed out again. */
void ids_settle(struct ids *ids);
/* Calls `each` for every name. */
void ids_each(const struct ids *ids,
	      void (*each)(const char *name, uint32_t id, bool is_new, void *data), void *data);
/* Names handed out since the last ids_clear_new are "new" for ids_each. */
void ids_clear_new(struct ids *ids);

#endif
