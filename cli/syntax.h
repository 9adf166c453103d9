/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the YAML and JSON parsers complain about, in the words of someone who wrote a policy file: what is
 * wrong and what to write instead. Pure.
 */
#ifndef CLI_SYNTAX_H
#define CLI_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mistake where it is told: in the text, or at its end. */
struct syntax {
	char *message; /* the caller frees it */
	uint32_t line, column;
};

struct syntax_mark {
	size_t index; /* characters from the start */
	uint32_t line, column;
};

/* libyaml's problem at a mark, inside what its context names, which begins at another. */
struct syntax syntax_yaml(const char *problem, struct syntax_mark at, const char *context,
			  struct syntax_mark start, const char *bytes, size_t size);
/* What libyaml cannot read at a byte: a control character of this value, or no UTF-8. */
struct syntax syntax_reader(int value, size_t offset, bool is_control, const char *bytes,
			    size_t size);
/* jansson's error of the text. */
struct syntax syntax_json(const char *problem, int line, int column, const char *bytes,
			  size_t size);

#endif
