/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours on a terminal, and only there: not in a pipe or a file, not with --no-color, NO_COLOR or
 * TERM=dumb. Nothing is told by colour alone.
 */
#ifndef CLI_COLOR_H
#define CLI_COLOR_H

#include <stdbool.h>
#include <stdio.h>

enum color {
	COLOR_NONE,
	COLOR_RED,
	COLOR_GREEN,
	COLOR_YELLOW,
	COLOR_DIM,
};

/* Once, before the first output: which streams are terminals, and what the environment says. */
void color_init(void);
void color_off(void); /* --no-color */
bool color_is_on(const FILE *stream);

/* From here on, until color_end; both print nothing where there are no colours. */
void color_begin(enum color color, FILE *stream);
void color_end(enum color color, FILE *stream);

#endif
