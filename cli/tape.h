/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of one YAML document, written down in order, so that what an alias names can be read again.
 *
 *   a: &x [1]      MAPPING  SCALAR a  SEQUENCE  SCALAR 1  END  SCALAR b  ALIAS→2  END
 *   b: *x             0        1         2         3       4      5         6      7
 */
#ifndef CLI_TAPE_H
#define CLI_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "problems.h"

enum tape_kind {
	TAPE_SCALAR,
	TAPE_ALIAS,
	TAPE_SEQUENCE,
	TAPE_MAPPING,
	TAPE_END, /* of the sequence or mapping that points here */
};

struct tape_item {
	enum tape_kind kind;
	bool is_plain;   /* scalar without quotes */
	uint32_t line;   /* from 1 */
	uint32_t column; /* from 1, in characters */
	char *text;      /* scalar; ends in NUL and may hold more of them */
	size_t size;     /* of the text */
	char *tag;       /* scalar, sequence, mapping; NULL: none */
	size_t link;     /* sequence, mapping: index of its END; alias: index of what it names */
};

struct tape {
	struct tape_item *items;
	size_t count, room;
};

/*
 * Reads the one document of the bytes; 0 items where there is none. -EINVAL, with the mistake in
 * *reterr, on bad syntax, a second document, unknown anchors, aliases inside their own anchor, and more
 * than `max_depth` levels.
 */
int tape_read(struct tape **ret_tape, const char *bytes, size_t size, const char *file,
	      size_t max_depth, struct problems *reterr);
void tape_free(struct tape *tape);
DEFINE_CLEANUP(struct tape *, tape_free);

/* Index after the value at `index`, whatever it holds. */
size_t tape_next(const struct tape *tape, size_t index);

#endif
