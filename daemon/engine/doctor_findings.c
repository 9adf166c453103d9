/* SPDX-License-Identifier: Apache-2.0 */
/* The list of findings. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/doctor.h"

const char *const doctor_code_words[DOCTOR_CODE_COUNT] = {
#define DOCTOR_CODE_WORD(name, word, text) word,
	DOCTOR_CODES(DOCTOR_CODE_WORD)
#undef DOCTOR_CODE_WORD
};

const char *const doctor_severity_words[] = {
	[DOCTOR_INFO] = "info",
	[DOCTOR_WARNING] = "warning",
	[DOCTOR_ERROR] = "error",
};

static struct doctor_finding *make_room(struct doctor_findings *findings)
{
	if (findings->count == findings->capacity) {
		size_t capacity = findings->capacity ? findings->capacity * 2 : 32;
		struct doctor_finding *items =
			reallocarray(findings->items, capacity, sizeof(*items));

		if (!items)
			return NULL;
		findings->items = items;
		findings->capacity = capacity;
	}
	return &findings->items[findings->count];
}

void doctor_add(struct doctor_findings *findings, enum doctor_code code,
		enum doctor_severity severity, const char *port, const char *format, ...)
{
	struct doctor_finding *finding = make_room(findings);
	va_list args;
	int size;

	if (!finding) {
		findings->is_incomplete = true;
		return;
	}
	*finding = (struct doctor_finding){
		.code = code, .severity = severity, .port = port ? strdup(port) : NULL};
	va_start(args, format);
	size = vasprintf(&finding->message, format, args);
	va_end(args);
	if (size < 0)
		finding->message = NULL;
	if (size < 0 || (port && !finding->port)) {
		free(finding->port);
		free(finding->message);
		findings->is_incomplete = true;
		return;
	}
	findings->count++;
}

void doctor_fix(struct doctor_findings *findings, const char *format, ...)
{
	va_list args;
	char *text;

	if (findings->is_incomplete || findings->count == 0)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		findings->is_incomplete = true;
		text = NULL;
	}
	va_end(args);
	findings->items[findings->count - 1].fix = text;
}

static int compare(const void *a, const void *b)
{
	const struct doctor_finding *left = a, *right = b;
	int order;

	if (left->severity != right->severity)
		return left->severity > right->severity ? -1 : 1;
	order = strcmp(left->port ? left->port : "", right->port ? right->port : "");
	if (order == 0)
		order = (left->code > right->code) - (left->code < right->code);
	return order ? order : strcmp(left->message, right->message);
}

void doctor_sort(struct doctor_findings *findings)
{
	if (findings->count > 0)
		qsort(findings->items, findings->count, sizeof(*findings->items), compare);
}

void doctor_findings_fini(struct doctor_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].port);
		free(findings->items[i].message);
		free(findings->items[i].fix);
	}
	free(findings->items);
	*findings = (struct doctor_findings){0};
}

void doctor_judge(struct doctor_findings *findings, const struct doctor_facts *facts)
{
	doctor_judge_host(findings, &facts->host);
	for (size_t i = 0; i < facts->port_count; i++)
		doctor_judge_port(findings, &facts->ports[i], &facts->host);
	doctor_judge_paths(findings, facts);
	doctor_judge_ssh(findings, &facts->ssh);
	doctor_sort(findings);
}
