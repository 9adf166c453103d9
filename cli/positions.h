/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each field of a policy stands in its file, so that an error can name the line. Paths are those
 * of the API ("acls.web.rules[2].dst_ports[0]"); only their hashes are kept, so a million fields cost
 * 24 bytes each. Two paths with one hash would merely point an error at the wrong line.
 */
#ifndef CLI_POSITIONS_H
#define CLI_POSITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "memory.h"

struct position {
	uint64_t path; /* hash */
	uint32_t file; /* index of positions_add_file */
	uint32_t line; /* from 1 */
	uint32_t column;
};

struct positions;

struct positions *positions_new(void);
void positions_free(struct positions *positions);
DEFINE_CLEANUP(struct positions *, positions_free);

/* Copies the name; returns the file's index. */
uint32_t positions_add_file(struct positions *positions, const char *name);
const char *positions_file_name(const struct positions *positions, uint32_t file);
/* Keeps the file's text, which changes hands. */
void positions_take_text(struct positions *positions, uint32_t file, char *text, size_t size);
/* Text of the first file of this name, lent; NULL where there is none. */
const char *positions_file_text(const struct positions *positions, const char *name,
				size_t *ret_size);

/* Hash of a path, grown field by field: the root, then members and elements. */
#define POSITIONS_ROOT 0xcbf29ce484222325ULL
uint64_t positions_member(uint64_t parent, const char *name);
uint64_t positions_element(uint64_t parent, size_t index);
/* Of a member's value, where that is a scalar; the member's own place is its key's. */
uint64_t positions_value(uint64_t member);

void positions_add(struct positions *positions, struct position position);
/* The place of exactly this path in the earliest file that gives it; NULL where there is none. The
 * result lives until the next positions_add. */
const struct position *positions_find(struct positions *positions, const char *path);
/* The same of the member's scalar value. */
const struct position *positions_find_value(struct positions *positions, const char *path);
/* positions_find in one file. */
const struct position *positions_find_in(struct positions *positions, const char *path,
					 uint32_t file);
/* positions_find, or else the place of the closest field above it that has a place: where a missing field
 * belongs. Not that of the whole kind ("acls:"): an object that no file gives is not in one. */
const struct position *positions_nearest(struct positions *positions, const char *path);

#endif
