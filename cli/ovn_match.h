/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OVN's match expressions as alternatives, each of which is what one rule can say: a set of values per
 * field. What has no such form is refused with the reason.
 */
#ifndef CLI_OVN_MATCH_H
#define CLI_OVN_MATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "ovn_expr.h"
#include "ranges.h"

enum ovn_field {
	OVN_ETH_TYPE,
	OVN_PROTO,
	OVN_SRC_PORT,
	OVN_DST_PORT,
	OVN_ICMP_TYPE,
	OVN_ICMP_CODE,
	OVN_DSCP,
	OVN_VLAN, /* 0: no tag */
	OVN_FIELD_COUNT,
};

extern const int ovn_field_max[OVN_FIELD_COUNT];

enum ovn_side {
	OVN_SRC,
	OVN_DST,
	OVN_SIDE_COUNT,
};

struct ovn_match {
	struct ranges fields[OVN_FIELD_COUNT];
	json_t *addresses[OVN_SIDE_COUNT]; /* prefixes and "@group"; NULL: any */
	json_t *except[OVN_SIDE_COUNT];    /* prefixes; NULL: none */
	json_t *macs[OVN_SIDE_COUNT];      /* NULL: any */
	int flags, flags_mask;             /* of TCP; mask 0: any */
	int fragment;                      /* -1: either */
};

struct ovn_matches {
	struct ovn_match *items;
	size_t count, room;
};

/* Where an expression is read: for one port in one direction. */
struct ovn_scope {
	const char *port_field; /* the field that names the port: "inport" or "outport" */
	bool (*is_port)(void *data, const char *value); /* "\"vm1\"" or "@group" */
	/* Texts of an address set, lent; NULL: there is none of this name (without '$'). */
	const json_t *(*members)(void *data, const char *set);
	/* "@name" of the policy's group for a set; the caller frees it. */
	char *(*group)(void *data, const char *set);
	/* The same of a group of `prefixes` (NULL: any of the family) without `except`. */
	char *(*group_except)(void *data, const json_t *prefixes, const json_t *except, int family);
	void *data;
	json_t *infrastructure; /* names of infrastructure rules that the expression is about */
	bool copies_set;        /* a set stands behind !=, as its members of today */
};

/* Adds the alternatives; false with the reason, which the caller frees. */
bool ovn_match_make(struct ovn_matches *matches, const struct ovn_expr *expr,
		    struct ovn_scope *scope, char **ret_why);
/* The match fields of the rules that say the same, objects in an array; NULL with the reason. */
json_t *ovn_match_rules(const struct ovn_matches *matches, struct ovn_scope *scope, char **ret_why);
void ovn_matches_fini(struct ovn_matches *matches);

/* For ovn_field.c: a match of everything, appended; room for what follows may move the others. */
struct ovn_match *ovn_matches_add(struct ovn_matches *matches);
/* Can a packet fit? */
bool ovn_match_is_possible(const struct ovn_match *match);
/* Sets `why` once, false. printf-like. */
bool ovn_match_refuse(char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One comparison, or one bare word. */
bool ovn_field_compare(struct ovn_matches *matches, const struct ovn_expr *expr,
		       struct ovn_scope *scope, char **why);
bool ovn_field_bare(struct ovn_matches *matches, const struct ovn_expr *expr,
		    struct ovn_scope *scope, char **why);

#endif
