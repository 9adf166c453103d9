/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a bench: JSON lines beside the program, and a table on standard output. */
#ifndef SECG_TESTS_BENCH_ROW_H
#define SECG_TESTS_BENCH_ROW_H

#include <stddef.h>
#include <stdio.h>

enum bench_budget {
	BENCH_NO_BUDGET,
	BENCH_BUDGET_RATIO, /* median / base must not exceed it */
	BENCH_BUDGET_MEDIAN,
};

struct bench_row {
	const char *name; /* the case */
	const char *unit;
	double min, median, max;
	double base; /* what `ratio` compares the median with; 0: nothing */
	enum bench_budget kind;
	double budget;
	const char *prog_tag; /* of the attached program; NULL: none has a part in it */
};

struct bench_report {
	const char *bench;
	FILE *lines;
};

/* <folder of the running program>/<bench>.jsonl, begun anew. Ends the program where that fails. */
void bench_open(struct bench_report *report, const char *bench);
void bench_write(struct bench_report *report, const struct bench_row *row);
void bench_close(struct bench_report *report);

/* Sorts the samples; count > 0. */
void bench_spread(struct bench_row *row, double *samples, size_t count);

#endif
