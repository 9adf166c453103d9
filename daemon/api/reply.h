/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer before it goes to the wire. Filling one cannot fail: without memory it becomes a 500 whose
 * body is a constant.
 */
#ifndef SECG_API_REPLY_H
#define SECG_API_REPLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct feed; /* api/feed.h */

struct reply {
	unsigned int status; /* 0: not filled */
	char *body;          /* owned; NULL: `size` bytes of a constant in `fixed` */
	const char *fixed;
	size_t size;
	struct feed *feed; /* owned; the body comes from it */
	const char *content_type;
	bool has_etag;
	uint64_t etag;
	char allow[64]; /* Allow header; "": none */
};

/* Takes `value`; NULL counts as no memory. */
void reply_json(struct reply *reply, unsigned int status, json_t *value);
/* Takes `text`. */
void reply_text(struct reply *reply, unsigned int status, const char *content_type, char *text,
		size_t size);
/* `text` stays the caller's, for good. */
void reply_fixed(struct reply *reply, unsigned int status, const char *content_type,
		 const char *text, size_t size);
/* Takes `feed`: 200, and a body without an end. */
void reply_feed(struct reply *reply, const char *content_type, struct feed *feed);
void reply_errors(struct reply *reply, unsigned int status, const struct errors *errors);
void reply_error(struct reply *reply, unsigned int status, enum error_code code, const char *field,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
/* For a failure that is not the client's: 500 `internal`. */
void reply_failure(struct reply *reply, int error);
void reply_set_etag(struct reply *reply, uint64_t etag);
void reply_fini(struct reply *reply);

#endif
