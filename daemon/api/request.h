/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request as its request line and headers say: method, path, query, condition. Pure; knows no socket.
 * Mistakes of the client are added to `reterr` (-EINVAL), fields named `path`, `query.<key>`,
 * `headers.<Name>`.
 */
#ifndef SECG_API_REQUEST_H
#define SECG_API_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

enum method {
	METHOD_GET, /* HEAD too */
	METHOD_POST,
	METHOD_PUT,
	METHOD_PATCH,
	METHOD_DELETE,
	METHOD_COUNT,
	METHOD_OTHER = METHOD_COUNT,
};
extern const char *const method_names[METHOD_COUNT];
enum method method_parse(const char *word);

struct parameter {
	char *key;
	char *value; /* "" where the key stands alone */
};

#define REQUEST_MAX_SEGMENTS   4
#define REQUEST_MAX_PARAMETERS 32

struct request {
	enum method method;
	char *segments[REQUEST_MAX_SEGMENTS]; /* of the path, decoded; "/v1/acls/web" has three */
	size_t segment_count; /* more than REQUEST_MAX_SEGMENTS: the rest is not kept */
	struct parameter parameters[REQUEST_MAX_PARAMETERS];
	size_t parameter_count;
	bool has_if_match;
	uint64_t if_match;
	char *body; /* NUL after the last byte; NULL without a body */
	size_t body_size;
};

/* Splits and decodes a request target ("/v1/acls/web?dry_run=1", or with http://host before it).
 * -EINVAL: bad escapes, NUL, invalid UTF-8, a key given twice, too many parameters. -ENOMEM. */
int request_parse_target(struct request *request, const char *target, struct errors *reterr);
/* Value of If-Match: "n" with or without quotes, or *, which asks for nothing. */
int request_parse_if_match(struct request *request, const char *value, struct errors *reterr);
/* Lends the value; NULL: not given. */
const char *request_parameter(const struct request *request, const char *key);
/* Whole decimal number within the bounds; -EINVAL. */
int request_parse_number(uint64_t *ret_number, const char *text, uint64_t min, uint64_t max);
void request_fini(struct request *request);

#endif
