/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members that groups have for a while. Not stored: with the daemon they are gone. Pure.
 */
#ifndef SECG_ENGINE_LEASES_H
#define SECG_ENGINE_LEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "model/config.h"

#define LEASES_MAX 65536

/* Reference counted and immutable, so that a draft can share the live ones. */
struct leases;

struct leases *leases_new(void); /* none; NULL: no memory */
struct leases *leases_ref(struct leases *leases);
void leases_unref(struct leases *leases);
DEFINE_CLEANUP(struct leases *, leases_unref);

/* A copy to be changed by the functions below. NULL: no memory. */
struct leases *leases_copy(const struct leases *leases);
/* Makes or extends one. -ENOSPC: there are LEASES_MAX; -ENOMEM. */
int leases_set(struct leases *leases, const char *group, const struct prefix *prefix,
	       uint64_t end_ms);
/* True: there was one. */
bool leases_remove(struct leases *leases, const char *group, const struct prefix *prefix);
/* Removes those that have ended at `now_ms`, and those whose group is not in the document. */
void leases_expire(struct leases *leases, uint64_t now_ms);
void leases_drop_strays(struct leases *leases, const json_t *document);

/* Whether leases_expire would remove any. */
bool leases_has_ended(const struct leases *leases, uint64_t now_ms);
/* Same groups and prefixes; when they end does not count. */
bool leases_are_same(const struct leases *a, const struct leases *b);
/* As config_parse takes them; lent. */
const struct config_member *leases_members(const struct leases *leases, size_t *ret_count);
/* When a member of leases_members ends. */
uint64_t leases_end_ms(const struct leases *leases, size_t index);

#endif
