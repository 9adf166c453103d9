/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy documents as JSON: reading bytes under limits, merging, comparing. Pure; no I/O. A result shares
 * the parts that did not change with what it was made from: documents are never changed in place.
 */
#ifndef SECG_MODEL_DOCUMENT_H
#define SECG_MODEL_DOCUMENT_H

#include <jansson.h>
#include <stddef.h>

#include "core/error.h"
#include "model/config.h"

#define DOCUMENT_MAX_DEPTH 32

/*
 * Reads one JSON value. Refused with ERROR_BAD_JSON, line and column in the message: syntax, trailing
 * bytes, duplicate keys, numbers that do not fit (1e400), lone surrogates, NUL in a string, invalid
 * UTF-8, depth over DOCUMENT_MAX_DEPTH (counted before parsing). -EINVAL then; -ENOMEM otherwise.
 */
int document_read(json_t **ret_value, const char *bytes, size_t size, struct errors *reterr);

/* RFC 7396 on documents: objects merge, null deletes, everything else replaces. Returns a new value, or
 * NULL without memory. Neither argument is changed. null below an array's element is kept and refused
 * later by config_parse. */
json_t *document_merge(const json_t *target, const json_t *patch);

/* Copy of the document with one object set (value) or removed (value NULL). NULL: no memory. */
json_t *document_with(const json_t *document, enum object_kind kind, const char *name,
		      const json_t *value);

/* What changed between two normalised documents: array of {"op","path","before","after"} in the API's
 * shape, one item per object and changed field ("acls.web.rules[2].action"). NULL: no memory. */
json_t *document_diff(const json_t *before, const json_t *after);

#endif
