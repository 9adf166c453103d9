/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OVN's match expressions (ovn-sb(5), Logical_Flow, match) as trees. Pure.
 */
#ifndef CLI_OVN_EXPR_H
#define CLI_OVN_EXPR_H

#include <stdbool.h>
#include <stddef.h>

enum ovn_kind {
	OVN_AND,
	OVN_OR,
	OVN_BOOLEAN, /* `is_true` */
	OVN_COMPARE, /* field op values */
	OVN_BARE,    /* field alone: a predicate, or a field of one bit */
	OVN_CALL,    /* is_chassis_resident(…) and the like: field is the function's name */
};

enum ovn_op {
	OVN_EQ,
	OVN_NE,
	OVN_LT,
	OVN_LE,
	OVN_GT,
	OVN_GE,
};

/* Outer `!` are gone: they have turned what is below them round. */
struct ovn_expr {
	enum ovn_kind kind;
	bool is_true;
	bool is_negated; /* OVN_BARE, OVN_CALL */
	enum ovn_op op;
	char *field; /* "tcp.dst", "ip4.src[0..7]" */
	char **values; /* as written: 443, 10.0.0.0/8, $set, @group; strings in quotes, unescaped: "vm1" */
	size_t value_count, value_room;
	struct ovn_expr **parts;
	size_t part_count, part_room;
};

/* NULL, with a sentence in *ret_error that the caller frees. */
struct ovn_expr *ovn_expr_parse(const char *text, char **ret_error);
void ovn_expr_free(struct ovn_expr *expr);

static inline void ovn_expr_freep(struct ovn_expr **expr)
{
	if (*expr)
		ovn_expr_free(*expr);
}

#endif
