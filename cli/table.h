/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of text for people. A column in which every row is empty is left out.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdio.h>

#include "color.h"
#include "memory.h"

struct table;

/* Headers end in NULL and must outlive the table; one that begins with '>' sets its column to the right. */
struct table *table_new(const char *const *headers);
void table_free(struct table *table);
DEFINE_CLEANUP(struct table *, table_free);

/* Fills the next cell, row by row; takes the text. */
void table_take(struct table *table, char *text);
/* The same with a copy. */
void table_add(struct table *table, const char *text);
void table_format(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Colours the cell that was filled last. */
void table_paint(struct table *table, enum color color);

/* Headers and rows; the last row must be full. Control characters are replaced. */
void table_print(const struct table *table, FILE *stream);

#endif
