/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an imported policy does not say, each with its place in the source.
 */
#ifndef CLI_IMPORT_REPORT_H
#define CLI_IMPORT_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct import_item {
	const char *file; /* lent */
	uint32_t line, column;
	size_t order; /* of adding */
	char *message;
};

struct import_report {
	struct import_item *items;
	size_t count, room;
};

/* Line 0: the file as a whole. The same message at the same place is kept once. printf-like. */
void import_report_add(struct import_report *report, const char *file, uint32_t line,
		       uint32_t column, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* "FILE:LINE:COLUMN: MESSAGE", a line each, in the order of the source; then how many they are. */
void import_report_print(struct import_report *report, FILE *stream);
void import_report_fini(struct import_report *report);

#endif
