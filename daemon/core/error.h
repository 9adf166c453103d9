/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client did wrong: code, path of the field, one sentence. Functions that judge a client's input
 * return a negative errno and add to a struct errors, all mistakes at once; other failures are a
 * negative errno alone. Not thread-safe; each request has its own list.
 */
#ifndef SECG_CORE_ERROR_H
#define SECG_CORE_ERROR_H

#include <stddef.h>

#include "core/cleanup.h"

/* Codes of the API, in its spelling (error_code_name). */
enum error_code {
	ERROR_UNKNOWN_FIELD,
	ERROR_BAD_TYPE,
	ERROR_BAD_VALUE,
	ERROR_BAD_JSON,
	ERROR_NOT_FOUND,
	ERROR_IN_USE,
	ERROR_CONFLICT,
	ERROR_LIMIT,
	ERROR_TOO_LARGE,
	ERROR_FORBIDDEN,
	ERROR_PRECONDITION_FAILED,
	ERROR_UNSUPPORTED,
	ERROR_BUSY,
	ERROR_INTERNAL,
};

struct error {
	enum error_code code;
	char *field; /* "acls.web.rules[2].dst_ports[0]"; "" where no field is to blame */
	char *message;
};

#define ERRORS_MAX 100 /* kept at most; later ones are only counted */

struct errors {
	struct error *items;
	size_t count;   /* items kept */
	size_t dropped; /* items beyond ERRORS_MAX */
};

/* Adds one; printf-like message, one sentence without a full stop. Returns -EINVAL always, so that a
 * caller may return what it returns; -ENOMEM when there is no memory for it. */
int errors_add(struct errors *errs, enum error_code code, const char *field, const char *format,
	       ...) __attribute__((format(printf, 4, 5)));
/* Frees the items and makes it empty again. */
void errors_fini(struct errors *errs);
const char *error_code_name(enum error_code code);

#endif
