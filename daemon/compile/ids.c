/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and their small numbers: an array by number, a hash table by name. The texts are shared between
 * copies and counted, so that a copy for each commit allocates twice, not once a name.
 */
#include "compile/ids.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct name {
	atomic_uint references;
	uint32_t hash;
	char text[];
};

#define IS_MARKED  0x1u
#define IS_NEW     0x2u
#define IS_REMOVED 0x4u /* no name, but not to be handed out before ids_settle */

struct slot {
	struct name *name;
	uint32_t flags;
	uint32_t revision; /* with `digest`: struct ids_note */
	uint64_t digest;
};

struct ids {
	uint32_t first;
	uint32_t limit;
	struct slot *slots; /* number n at n - first */
	uint32_t slot_count;
	uint32_t slot_capacity;
	uint32_t lowest;         /* no slot below it is free */
	uint32_t *table;         /* hash of a name ─► its slot + 1; linear probing */
	uint32_t table_capacity; /* power of two */
	uint32_t name_count;
};

/* ── names ──────────────────────────────────────────────────────────────────────────────────────── */

/* FNV-1a, the high bits folded in because the table uses the low ones. */
static uint32_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	return (uint32_t)(hash ^ hash >> 32);
}

static struct name *name_new(const char *text, uint32_t hash)
{
	size_t size = strlen(text) + 1;
	struct name *name = malloc(sizeof(*name) + size);

	if (!name)
		return NULL;
	atomic_init(&name->references, 1);
	name->hash = hash;
	memcpy(name->text, text, size);
	return name;
}

static void name_unref(struct name *name)
{
	if (name && atomic_fetch_sub(&name->references, 1) == 1)
		free(name);
}

/* ── the table ──────────────────────────────────────────────────────────────────────────────────── */

/* Where the name is in the table, or the empty place where it would be. The table has one. */
static uint32_t probe(const struct ids *ids, const char *text, uint32_t hash)
{
	uint32_t at = hash & (ids->table_capacity - 1);

	for (; ids->table[at]; at = (at + 1) & (ids->table_capacity - 1)) {
		const struct name *name = ids->slots[ids->table[at] - 1].name;

		if (name->hash == hash && !strcmp(name->text, text))
			break;
	}
	return at;
}

static int table_reserve(struct ids *ids)
{
	uint32_t *old = ids->table;
	uint32_t *table;

	if (ids->name_count < ids->table_capacity / 2)
		return 0;
	table = calloc((size_t)ids->table_capacity * 2, sizeof(*table));
	if (!table)
		return -ENOMEM;
	ids->table = table;
	ids->table_capacity *= 2;
	for (uint32_t i = 0; i < ids->slot_count; i++)
		if (ids->slots[i].name)
			table[probe(ids, ids->slots[i].name->text, ids->slots[i].name->hash)] =
				i + 1;
	free(old);
	return 0;
}

/* Empties a place and moves up what was pushed behind it, so that no probe stops short. */
static void table_remove(struct ids *ids, uint32_t hole)
{
	uint32_t mask = ids->table_capacity - 1;

	for (uint32_t at = (hole + 1) & mask; ids->table[at]; at = (at + 1) & mask) {
		uint32_t home = ids->slots[ids->table[at] - 1].name->hash & mask;

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			ids->table[hole] = ids->table[at];
			hole = at;
		}
	}
	ids->table[hole] = 0;
}

/* ── life of a set ──────────────────────────────────────────────────────────────────────────────── */

int ids_new(struct ids **ret_ids, uint32_t first, uint32_t limit)
{
	_cleanup_(ids_freep) struct ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	ids->first = first;
	ids->limit = limit;
	ids->table_capacity = 64;
	ids->table = calloc(ids->table_capacity, sizeof(*ids->table));
	if (!ids->table)
		return -ENOMEM;
	*ret_ids = TAKE_PTR(ids);
	return 0;
}

void ids_free(struct ids *ids)
{
	for (uint32_t i = 0; i < ids->slot_count; i++)
		name_unref(ids->slots[i].name);
	free(ids->slots);
	free(ids->table);
	free(ids);
}

int ids_copy(struct ids **ret_copy, const struct ids *ids)
{
	_cleanup_(ids_freep) struct ids *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *ids;
	copy->slot_count = 0;
	copy->slots = malloc((ids->slot_count + 1) * sizeof(*copy->slots));
	copy->table = malloc(ids->table_capacity * sizeof(*copy->table));
	if (!copy->slots || !copy->table)
		return -ENOMEM;
	memcpy(copy->table, ids->table, ids->table_capacity * sizeof(*copy->table));
	for (uint32_t i = 0; i < ids->slot_count; i++) {
		copy->slots[i] = ids->slots[i];
		if (copy->slots[i].name)
			atomic_fetch_add(&copy->slots[i].name->references, 1);
	}
	copy->slot_count = ids->slot_count;
	copy->slot_capacity = ids->slot_count + 1;
	*ret_copy = TAKE_PTR(copy);
	return 0;
}

/* ── handing out ────────────────────────────────────────────────────────────────────────────────── */

static bool is_free(const struct slot *slot)
{
	return !slot->name && !(slot->flags & IS_REMOVED);
}

/* Makes the array long enough for the slot. */
static int slots_reserve(struct ids *ids, uint32_t slot)
{
	if (slot >= ids->slot_capacity) {
		size_t capacity = (size_t)slot + slot / 2 + 64;
		struct slot *slots = realloc(ids->slots, capacity * sizeof(*slots));

		if (!slots)
			return -ENOMEM;
		ids->slots = slots;
		ids->slot_capacity = (uint32_t)capacity;
	}
	for (; ids->slot_count <= slot; ids->slot_count++)
		ids->slots[ids->slot_count] = (struct slot){0};
	return 0;
}

/* Puts a name that is not there yet into a free slot. */
static int put(struct ids *ids, const char *text, uint32_t slot, uint32_t flags)
{
	uint32_t hash = hash_text(text);
	struct name *name;
	int r;

	r = slots_reserve(ids, slot);
	if (r < 0)
		return r;
	r = table_reserve(ids);
	if (r < 0)
		return r;
	name = name_new(text, hash);
	if (!name)
		return -ENOMEM;
	ids->table[probe(ids, text, hash)] = slot + 1;
	ids->slots[slot] = (struct slot){.name = name, .flags = flags};
	ids->name_count++;
	return 0;
}

int ids_get(struct ids *ids, const char *name, uint32_t *ret_id)
{
	uint32_t at = ids->table[probe(ids, name, hash_text(name))];
	uint32_t slot = ids->lowest;
	int r;

	if (at) {
		ids->slots[at - 1].flags |= IS_MARKED;
		*ret_id = ids->first + at - 1;
		return 0;
	}
	while (slot < ids->slot_count && !is_free(&ids->slots[slot]))
		slot++;
	ids->lowest = slot;
	if (ids->first >= ids->limit || slot >= ids->limit - ids->first)
		return -ENOSPC;
	r = put(ids, name, slot, IS_MARKED | IS_NEW);
	if (r < 0)
		return r;
	*ret_id = ids->first + slot;
	return 0;
}

void ids_mark(struct ids *ids, uint32_t id)
{
	if (ids_name(ids, id))
		ids->slots[id - ids->first].flags |= IS_MARKED;
}

int ids_load(struct ids *ids, const char *name, uint32_t id)
{
	uint32_t slot = id - ids->first;

	if (id < ids->first || id >= ids->limit)
		return -ERANGE;
	if (slot < ids->slot_count && !is_free(&ids->slots[slot]))
		return -EEXIST;
	if (ids->table[probe(ids, name, hash_text(name))])
		return -EEXIST;
	return put(ids, name, slot, 0);
}

/* ── asking ─────────────────────────────────────────────────────────────────────────────────────── */

int ids_find(const struct ids *ids, const char *name, uint32_t *ret_id)
{
	uint32_t at = ids->table[probe(ids, name, hash_text(name))];

	if (!at)
		return -ENOENT;
	*ret_id = ids->first + at - 1;
	return 0;
}

const char *ids_name(const struct ids *ids, uint32_t id)
{
	if (id < ids->first || id - ids->first >= ids->slot_count ||
	    !ids->slots[id - ids->first].name)
		return NULL;
	return ids->slots[id - ids->first].name->text;
}

struct ids_note ids_note(const struct ids *ids, uint32_t id)
{
	const struct slot *slot = &ids->slots[id - ids->first];

	return (struct ids_note){.digest = slot->digest, .revision = slot->revision};
}

void ids_set_note(struct ids *ids, uint32_t id, struct ids_note note)
{
	struct slot *slot = &ids->slots[id - ids->first];

	slot->digest = note.digest;
	slot->revision = note.revision;
}

void ids_each(const struct ids *ids,
	      void (*each)(const char *name, uint32_t id, bool is_new, void *data), void *data)
{
	for (uint32_t i = 0; i < ids->slot_count; i++)
		if (ids->slots[i].name)
			each(ids->slots[i].name->text, ids->first + i, ids->slots[i].flags & IS_NEW,
			     data);
}

/* ── taking back ────────────────────────────────────────────────────────────────────────────────── */

void ids_unmark(struct ids *ids)
{
	for (uint32_t i = 0; i < ids->slot_count; i++)
		ids->slots[i].flags &= ~IS_MARKED;
}

void ids_sweep(struct ids *ids, void (*removed)(const char *name, uint32_t id, void *data),
	       void *data)
{
	for (uint32_t i = 0; i < ids->slot_count; i++) {
		struct name *name = ids->slots[i].name;

		if (!name || ids->slots[i].flags & IS_MARKED)
			continue;
		table_remove(ids, probe(ids, name->text, name->hash));
		ids->slots[i] = (struct slot){.flags = IS_REMOVED};
		ids->name_count--;
		if (removed)
			removed(name->text, ids->first + i, data);
		name_unref(name);
	}
}

void ids_settle(struct ids *ids)
{
	for (uint32_t i = ids->slot_count; i-- > 0;) {
		if (ids->slots[i].flags & IS_REMOVED) {
			ids->slots[i].flags = 0;
			if (i < ids->lowest)
				ids->lowest = i;
		}
	}
}

void ids_clear_new(struct ids *ids)
{
	for (uint32_t i = 0; i < ids->slot_count; i++)
		ids->slots[i].flags &= ~IS_NEW;
}
