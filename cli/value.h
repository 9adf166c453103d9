/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values of the API as text for people.
 */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include <jansson.h>
#include <stdio.h>

/* Reals with the digits that the daemon writes, for JSON's flags: 30.016, not 30.015999999999998. */
#define VALUE_REALS JSON_REAL_PRECISION(12)

/* Text of a value: a string bare, a list joined by commas, an object as compact JSON; "" for NULL. The
 * caller frees it. */
char *value_text(const json_t *value);
/* A member that is a string, lent; "" where it is absent or of another type. */
const char *value_member(const json_t *object, const char *name);
/* A member that is an integer; 0 where it is absent or of another type. */
json_int_t value_integer(const json_t *object, const char *name);
/* Keys of an object in order, lent by it; the caller frees the array. NULL counts as empty. */
const char **value_keys(const json_t *object, size_t *ret_count);

/* Indented JSON, keys sorted, one newline at the end. */
void value_print_json(const json_t *value, FILE *stream);
/* Text in which control characters, which would steer a terminal, are replaced by '?'. */
void value_print_safe(const char *text, FILE *stream);

/* Bytes of the control character (C0, C1) that begins here; 0 where there is none. */
size_t value_control_size(const char *text);

#endif
