/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of sgctl monitor: which events are wanted, and how one is printed.
 */
#ifndef CLI_MONITOR_H
#define CLI_MONITOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli.h"

/* Filters that the daemon does not know; an event without the field does not fit. */
#define MONITOR_FILTERS(X)                                \
	X(PORT, "port", "port")                           \
	X(DIRECTION, "direction", "direction")            \
	X(ACL, "acl", "acl")                              \
	X(RULE, "rule", "rule")                           \
	X(REASON, "reason", "reason")                     \
	X(VERDICT, "verdict", "verdict")                  \
	X(PROTO, "proto", "proto")                        \
	X(SPORT, "sport", "sport")                        \
	X(DPORT, "dport", "dport")                        \
	X(SRC, "src", "src") /* from here on: prefixes */ \
	X(DST, "dst", "dst")

enum monitor_filter {
#define MONITOR_FILTER_ENUM(name, option, field) FILTER_##name,
	MONITOR_FILTERS(MONITOR_FILTER_ENUM)
#undef MONITOR_FILTER_ENUM
		FILTER_COUNT,
};

struct monitor_prefix {
	int family; /* AF_INET, AF_INET6; 0: none */
	unsigned char address[16];
	unsigned int length; /* bits */
};

struct filters {
	const char *values[FILTER_COUNT]; /* NULL: any */
	struct monitor_prefix src, dst;
};

/* OPTIONS_GO, or an exit code after the complaint. */
int filters_set(struct filters *filters, enum monitor_filter filter, const char *value);
bool filters_fit(const struct filters *filters, const json_t *event);

/* One line for people. */
void monitor_print(const json_t *event, FILE *stream);

#endif
