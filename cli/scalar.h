/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plain YAML scalar means in the core schema of YAML 1.2 (§10.3.2). Pure.
 */
#ifndef CLI_SCALAR_H
#define CLI_SCALAR_H

#include <jansson.h>

enum scalar_kind {
	SCALAR_STRING,
	SCALAR_NULL,
	SCALAR_BOOL,
	SCALAR_INT,
	SCALAR_FLOAT,
};

enum scalar_kind scalar_kind(const char *text);
/* The JSON value of text that scalar_kind calls `kind`; NULL where JSON has no such number. */
json_t *scalar_value(const char *text, enum scalar_kind kind);

#endif
