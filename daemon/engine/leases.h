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

/* Reference counted and immutable, so that drafts and generations share them. */
struct leases;

struct leases *leases_new(void); /* none; NULL: no memory */
struct leases *leases_ref(struct leases *leases);
void leases_unref(struct leases *leases);
DEFINE_CLEANUP(struct leases *, leases_unref);

/* What becomes of one prefix in a group. */
struct lease_edit {
	struct prefix prefix;
	uint64_t end_ms; /* of the lease that is made or gets another end; 0: there is none */
	size_t rank;     /* set by leases_edit */
};

/*
 * The leases with edits of one group, of which the last of a prefix counts; sorts `edits`. -ENOSPC: more
 * than LEASES_MAX; -ENOMEM.
 */
int leases_edit(struct leases **ret_leases, const struct leases *leases, const char *group,
		struct lease_edit *edits, size_t count);
/* Those that still run at `now_ms` and whose group the document has; the same ones where that is all. -ENOMEM. */
int leases_keep(struct leases **ret_leases, struct leases *leases, uint64_t now_ms,
		const json_t *document);

/* Whether leases_keep would leave one out for its time. */
bool leases_has_ended(const struct leases *leases, uint64_t now_ms);
/* Same groups and prefixes; when they end does not count. */
bool leases_are_same(const struct leases *a, const struct leases *b);
/* As config_parse takes them, by group and prefix; lent. */
const struct config_member *leases_members(const struct leases *leases, size_t *ret_count);
/* When a member of leases_members ends. */
uint64_t leases_end_ms(const struct leases *leases, size_t index);

#endif
