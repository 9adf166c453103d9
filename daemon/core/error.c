/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a client's mistakes. */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[] = {
	[ERROR_UNKNOWN_FIELD] = "unknown_field",
	[ERROR_BAD_TYPE] = "bad_type",
	[ERROR_BAD_VALUE] = "bad_value",
	[ERROR_BAD_JSON] = "bad_json",
	[ERROR_NOT_FOUND] = "not_found",
	[ERROR_IN_USE] = "in_use",
	[ERROR_CONFLICT] = "conflict",
	[ERROR_LIMIT] = "limit",
	[ERROR_TOO_LARGE] = "too_large",
	[ERROR_FORBIDDEN] = "forbidden",
	[ERROR_PRECONDITION_FAILED] = "precondition_failed",
	[ERROR_UNSUPPORTED] = "unsupported",
	[ERROR_BUSY] = "busy",
	[ERROR_INTERNAL] = "internal",
};

const char *error_code_name(enum error_code code)
{
	return code_names[code];
}

int errors_add(struct errors *errs, enum error_code code, const char *field, const char *format,
	       ...)
{
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ char *path = NULL;
	struct error *items;
	va_list args;
	int r;

	if (errs->count >= ERRORS_MAX) {
		errs->dropped++;
		return -EINVAL;
	}
	va_start(args, format);
	r = vasprintf(&message, format, args);
	va_end(args);
	if (r < 0) {
		message = NULL;
		return -ENOMEM;
	}
	path = strdup(field);
	if (!path)
		return -ENOMEM;
	items = realloc(errs->items, (errs->count + 1) * sizeof(*items));
	if (!items)
		return -ENOMEM;
	errs->items = items;
	items[errs->count++] = (struct error){
		.code = code,
		.field = TAKE_PTR(path),
		.message = TAKE_PTR(message),
	};
	return -EINVAL;
}

void errors_fini(struct errors *errs)
{
	for (size_t i = 0; i < errs->count; i++) {
		free(errs->items[i].field);
		free(errs->items[i].message);
	}
	free(errs->items);
	*errs = (struct errors){0};
}
