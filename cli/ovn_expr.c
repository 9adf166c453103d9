/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent; `!` is pushed down to the comparisons while they are read. */
#include "ovn_expr.h"

#include <ctype.h>
#include <string.h>

#include "memory.h"
#include "ovn_token.h"

#define MAX_DEPTH 64

struct parser {
	struct ovn_lexer lexer;
	char *error; /* the first one */
	unsigned int depth;
};

static struct ovn_expr *parse_or(struct parser *parser, bool is_negated);

static bool fail(struct parser *parser, const char *what)
{
	if (!parser->error)
		parser->error = memory_format("%s at '%.20s'", what, parser->lexer.token);
	return false;
}

static bool is_at(const struct parser *parser, const char *token)
{
	return !parser->lexer.is_string && strcmp(parser->lexer.token, token) == 0;
}

static bool take(struct parser *parser, const char *token)
{
	if (!is_at(parser, token))
		return false;
	ovn_lexer_next(&parser->lexer);
	return true;
}

static struct ovn_expr *new_expr(enum ovn_kind kind)
{
	struct ovn_expr *expr = memory_check(calloc(1, sizeof(*expr)));

	expr->kind = kind;
	return expr;
}

void ovn_expr_free(struct ovn_expr *expr)
{
	for (size_t i = 0; i < expr->part_count; i++)
		ovn_expr_free(expr->parts[i]);
	for (size_t i = 0; i < expr->value_count; i++)
		free(expr->values[i]);
	free(expr->parts);
	free(expr->values);
	free(expr->field);
	free(expr);
}

static void add_part(struct ovn_expr *expr, struct ovn_expr *part)
{
	expr->parts =
		memory_grow(expr->parts, expr->part_count, &expr->part_room, sizeof(*expr->parts));
	expr->parts[expr->part_count++] = part;
}

static void add_value(struct ovn_expr *expr, char *value)
{
	expr->values = memory_grow(expr->values, expr->value_count, &expr->value_room,
				   sizeof(*expr->values));
	expr->values[expr->value_count++] = value;
}

/* ── comparisons ────────────────────────────────────────────────────────────────────────────────── */

static bool is_field(const struct parser *parser)
{
	const char *token = parser->lexer.token;

	/* an IPv6 address may begin with a letter, but it has a colon */
	return !parser->lexer.is_string && (isalpha((unsigned char)token[0]) || token[0] == '_') &&
	       !strchr(token, ':');
}

static char *take_token(struct parser *parser)
{
	char *text = parser->lexer.is_string ? memory_format("\"%s\"", parser->lexer.token)
					     : memory_copy(parser->lexer.token);

	ovn_lexer_next(&parser->lexer);
	return text;
}

static bool take_op(struct parser *parser, enum ovn_op *ret_op)
{
	static const char *const ops[] = {[OVN_EQ] = "==", [OVN_NE] = "!=", [OVN_LT] = "<",
					  [OVN_LE] = "<=", [OVN_GT] = ">",  [OVN_GE] = ">="};

	for (int i = OVN_EQ; i <= OVN_GE; i++) {
		if (take(parser, ops[i])) {
			*ret_op = (enum ovn_op)i;
			return true;
		}
	}
	return false;
}

static enum ovn_op turned(enum ovn_op op, bool is_negated)
{
	static const enum ovn_op against[] = {
		[OVN_EQ] = OVN_NE, [OVN_NE] = OVN_EQ, [OVN_LT] = OVN_GE,
		[OVN_LE] = OVN_GT, [OVN_GT] = OVN_LE, [OVN_GE] = OVN_LT};

	return is_negated ? against[op] : op;
}

/* 5 < field is field > 5. */
static enum ovn_op mirrored(enum ovn_op op)
{
	static const enum ovn_op mirror[] = {
		[OVN_EQ] = OVN_EQ, [OVN_NE] = OVN_NE, [OVN_LT] = OVN_GT,
		[OVN_LE] = OVN_GE, [OVN_GT] = OVN_LT, [OVN_GE] = OVN_LE};

	return mirror[op];
}

static bool take_constant(struct parser *parser, struct ovn_expr *expr)
{
	const char *token = parser->lexer.token;

	if (!parser->lexer.is_string && !isxdigit((unsigned char)token[0]) &&
	    !strchr("$@:", token[0]))
		return fail(parser, "a value is missing");
	if (!parser->lexer.is_string && token[0] == '\0')
		return fail(parser, "a value is missing");
	add_value(expr, take_token(parser));
	return true;
}

static bool take_constants(struct parser *parser, struct ovn_expr *expr)
{
	if (!take(parser, "{"))
		return take_constant(parser, expr);
	while (!take(parser, "}")) {
		if (!take_constant(parser, expr))
			return false;
		take(parser, ",");
	}
	return expr->value_count > 0 || fail(parser, "a set without values");
}

static char *take_field(struct parser *parser)
{
	if (!is_field(parser)) {
		fail(parser, "a field is missing");
		return NULL;
	}
	return take_token(parser);
}

/* is_chassis_resident("vm1") */
static struct ovn_expr *parse_call(struct parser *parser, char *name, bool is_negated)
{
	struct ovn_expr *expr = new_expr(OVN_CALL);

	expr->field = name;
	expr->is_negated = is_negated;
	while (!is_at(parser, ")") && (parser->lexer.is_string || parser->lexer.token[0]))
		ovn_lexer_next(&parser->lexer);
	if (!take(parser, ")"))
		fail(parser, "a ) is missing");
	return expr;
}

static struct ovn_expr *parse_field_first(struct parser *parser, bool is_negated)
{
	char *field = take_field(parser);
	struct ovn_expr *expr;
	enum ovn_op op;

	if (field && take(parser, "("))
		return parse_call(parser, field, is_negated);
	if (!take_op(parser, &op)) {
		expr = new_expr(OVN_BARE);
		expr->is_negated = is_negated;
	} else {
		expr = new_expr(OVN_COMPARE);
		expr->op = turned(op, is_negated);
		take_constants(parser, expr);
	}
	expr->field = field;
	return expr;
}

/* The other side of a range, 0 <= field <= 9; both must point the same way. */
static struct ovn_expr *parse_range(struct parser *parser, struct ovn_expr *first, enum ovn_op op,
				    bool is_negated)
{
	struct ovn_expr *range = new_expr(is_negated ? OVN_OR : OVN_AND);
	struct ovn_expr *second = new_expr(OVN_COMPARE);
	bool is_up =
		first->op == turned(OVN_GT, is_negated) || first->op == turned(OVN_GE, is_negated);

	second->field = memory_copy(first->field ? first->field : "");
	second->op = turned(op, is_negated);
	if (op == OVN_EQ || op == OVN_NE || is_up != (op == OVN_LT || op == OVN_LE))
		fail(parser, "a range must be ascending or descending");
	take_constants(parser, second);
	add_part(range, first);
	add_part(range, second);
	return range;
}

static struct ovn_expr *parse_constant_first(struct parser *parser, bool is_negated)
{
	struct ovn_expr *expr = new_expr(OVN_COMPARE);
	enum ovn_op op;

	if (!take_constants(parser, expr))
		return expr;
	/* the literals 0 and 1 */
	if (expr->value_count == 1 && !take_op(parser, &op)) {
		if (strcmp(expr->values[0], "0") != 0 && strcmp(expr->values[0], "1") != 0)
			fail(parser, "a comparison is missing");
		expr->kind = OVN_BOOLEAN;
		expr->is_true = (strcmp(expr->values[0], "1") == 0) != is_negated;
		return expr;
	}
	if (expr->value_count > 1 && !take_op(parser, &op)) {
		fail(parser, "a comparison is missing");
		return expr;
	}
	expr->op = turned(mirrored(op), is_negated);
	expr->field = take_field(parser);
	if (take_op(parser, &op))
		return parse_range(parser, expr, op, is_negated);
	return expr;
}

/* ── boolean structure ──────────────────────────────────────────────────────────────────────────── */

static struct ovn_expr *parse_atom(struct parser *parser, bool is_negated)
{
	struct ovn_expr *expr;

	if (++parser->depth > MAX_DEPTH) {
		fail(parser, "too many parentheses");
		return new_expr(OVN_BOOLEAN);
	}
	if (take(parser, "!")) {
		/* OVN takes !field and !(…), not !field == value */
		bool is_group = is_at(parser, "(") || is_at(parser, "!");

		expr = parse_atom(parser, !is_negated);
		if (!is_group && expr->kind != OVN_BARE && expr->kind != OVN_CALL &&
		    expr->kind != OVN_BOOLEAN)
			fail(parser, "! before a comparison needs parentheses");
	} else if (take(parser, "(")) {
		expr = parse_or(parser, is_negated);
		if (!take(parser, ")"))
			fail(parser, "a ) is missing");
	} else if (is_field(parser)) {
		expr = parse_field_first(parser, is_negated);
	} else {
		expr = parse_constant_first(parser, is_negated);
	}
	parser->depth--;
	return expr;
}

/* Operands between && or ||; both in one list need parentheses. */
static struct ovn_expr *parse_or(struct parser *parser, bool is_negated)
{
	struct ovn_expr *expr = parse_atom(parser, is_negated), *list;
	const char *op = is_at(parser, "&&") ? "&&" : "||";

	if (!is_at(parser, op))
		return expr;
	list = new_expr((op[0] == '&') != is_negated ? OVN_AND : OVN_OR);
	add_part(list, expr);
	while (!parser->error && take(parser, op))
		add_part(list, parse_atom(parser, is_negated));
	if (is_at(parser, "&&") || is_at(parser, "||"))
		fail(parser, "&& and || need parentheses when used together");
	return list;
}

struct ovn_expr *ovn_expr_parse(const char *text, char **ret_error)
{
	struct parser parser = {0};
	struct ovn_expr *expr;

	ovn_lexer_init(&parser.lexer, text);
	expr = parse_or(&parser, false);
	if (parser.lexer.is_string || parser.lexer.token[0] != '\0')
		fail(&parser, "the expression does not end");
	if (parser.lexer.is_bad) {
		free(parser.error);
		parser.error = memory_copy("a string or comment does not end");
	}
	ovn_lexer_fini(&parser.lexer);
	if (!parser.error)
		return expr;
	ovn_expr_free(expr);
	*ret_error = parser.error;
	return NULL;
}
