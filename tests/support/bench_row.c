/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a bench. */
#include "bench_row.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bench_open(struct bench_report *report, const char *bench)
{
	char path[PATH_MAX + 64], *slash;
	ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[size < 0 ? 0 : size] = '\0';
	slash = strrchr(path, '/');
	if (!slash) {
		fprintf(stderr, "%s: /proc/self/exe cannot be read\n", bench);
		exit(2);
	}
	snprintf(slash + 1, sizeof(path) - (size_t)(slash + 1 - path), "%s.jsonl", bench);
	report->bench = bench;
	report->lines = fopen(path, "w");
	if (!report->lines) {
		perror(path);
		exit(2);
	}
	printf("%-44s %8s %8s %8s  %8s %6s  %s\n", "case", "min", "median", "max", "base", "ratio",
	       "budget");
}

static double round2(double value)
{
	return (double)(long long)(value * 100 + (value < 0 ? -0.5 : 0.5)) / 100;
}

static json_t *number_or_null(double value)
{
	return value != 0 ? json_real(round2(value)) : json_null();
}

void bench_write(struct bench_report *report, const struct bench_row *row)
{
	double ratio = row->base > 0 ? row->median / row->base : 0;
	int holds =
		row->kind == BENCH_BUDGET_RATIO ? ratio <= row->budget : row->median <= row->budget;
	json_t *line = json_pack(
		"{s:s, s:s, s:s, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:s?}", "bench", report->bench,
		"case", row->name, "unit", row->unit, "min", round2(row->min), "median",
		round2(row->median), "max", round2(row->max), "base", number_or_null(row->base),
		"ratio", number_or_null(ratio), "budget", number_or_null(row->budget), "holds",
		row->kind == BENCH_NO_BUDGET ? json_null() : json_boolean(holds), "prog_tag",
		row->prog_tag);

	if (!line || json_dumpf(line, report->lines, JSON_REAL_PRECISION(6)) < 0 ||
	    fputc('\n', report->lines) < 0) {
		fprintf(stderr, "%s: a row cannot be written\n", report->bench);
		exit(2);
	}
	json_decref(line);
	printf("%-44s %8.1f %8.1f %8.1f  ", row->name, row->min, row->median, row->max);
	if (row->base > 0)
		printf("%8.1f %6.2f  ", row->base, ratio);
	else
		printf("%8s %6s  ", "", "");
	if (row->kind == BENCH_BUDGET_RATIO)
		printf("ratio <= %g: %s", row->budget, holds ? "holds" : "MISSED");
	else if (row->kind == BENCH_BUDGET_MEDIAN)
		printf("<= %g %s: %s", row->budget, row->unit, holds ? "holds" : "MISSED");
	putchar('\n');
}

void bench_close(struct bench_report *report)
{
	if (fclose(report->lines) != 0) {
		perror(report->bench);
		exit(2);
	}
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void bench_spread(struct bench_row *row, double *samples, size_t count)
{
	qsort(samples, count, sizeof(*samples), compare);
	row->min = samples[0];
	row->median =
		count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
	row->max = samples[count - 1];
}
