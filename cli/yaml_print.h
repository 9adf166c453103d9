/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values as YAML that a person would have written: small objects and lists in one line, the
 * others in blocks. Read back by YAML 1.2 or 1.1 it is the same value: a text that one of them would
 * take for a number, a date or a truth value is quoted.
 */
#ifndef CLI_YAML_PRINT_H
#define CLI_YAML_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum yaml_order {
	YAML_AS_IS,
	YAML_SORTED,
};

/* One document without a marker; an array or object ends in a line feed, as does a scalar. */
void yaml_print(const json_t *value, enum yaml_order order, FILE *stream);
/* The value in one line without its end; false, having printed nothing, where it is too long for one. */
bool yaml_print_line(const json_t *value, enum yaml_order order, FILE *stream);

#endif
