/* SPDX-License-Identifier: Apache-2.0 */
/* Disjunctive normal form: an alternative of a && is one of each part's, put together. */
#include "ovn_match.h"

#include <stdarg.h>
#include <string.h>

#include "import_address.h"
#include "import_policy.h"
#include "memory.h"

#define MATCHES_MAX 256 /* alternatives of one expression */

const int ovn_field_max[OVN_FIELD_COUNT] = {
	[OVN_ETH_TYPE] = 0xffff, [OVN_PROTO] = 255,     [OVN_SRC_PORT] = 65535,
	[OVN_DST_PORT] = 65535,  [OVN_ICMP_TYPE] = 255, [OVN_ICMP_CODE] = 255,
	[OVN_DSCP] = 63,         [OVN_VLAN] = 4094,
};

bool ovn_match_refuse(char **why, const char *format, ...)
{
	va_list args;

	if (*why)
		return false;
	va_start(args, format);
	*why = memory_vformat(format, args);
	va_end(args);
	return false;
}

struct ovn_match *ovn_matches_add(struct ovn_matches *matches)
{
	struct ovn_match *match;

	matches->items = memory_grow(matches->items, matches->count, &matches->room,
				     sizeof(*matches->items));
	match = &matches->items[matches->count++];
	*match = (struct ovn_match){.fragment = -1};
	for (int i = 0; i < OVN_FIELD_COUNT; i++)
		ranges_add(&match->fields[i], 0, ovn_field_max[i]);
	return match;
}

static void fini_match(struct ovn_match *match)
{
	for (int i = 0; i < OVN_SIDE_COUNT; i++) {
		json_decref(match->addresses[i]);
		json_decref(match->except[i]);
		json_decref(match->macs[i]);
	}
}

void ovn_matches_fini(struct ovn_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++)
		fini_match(&matches->items[i]);
	free(matches->items);
	*matches = (struct ovn_matches){0};
}

/* ── both at once ───────────────────────────────────────────────────────────────────────────────── */

/* Adds the narrower of two prefixes where one holds the other. */
static void add_common(json_t *common, const char *a, const char *b)
{
	struct import_prefix x, y;

	if (!import_prefix_parse(a, &x) || !import_prefix_parse(b, &y))
		return;
	if (import_prefix_covers(&x, &y))
		import_push_once(common, b);
	else if (import_prefix_covers(&y, &x))
		import_push_once(common, a);
}

static bool has_group(const json_t *addresses)
{
	const json_t *item;
	size_t i;

	json_array_foreach(addresses, i, item)
	{
		if (json_string_value(item)[0] == '@')
			return true;
	}
	return false;
}

/* *ret_both is NULL for any, [] for none. */
static bool both_addresses(json_t **ret_both, json_t *a, json_t *b, char **why)
{
	const json_t *x, *y;
	size_t i, j;

	if (!a || !b || json_equal(a, b)) {
		*ret_both = json_incref(a ? a : b);
		return true;
	}
	if (has_group(a) || has_group(b))
		return ovn_match_refuse(why,
					"asks for an address that is in a set and fits another "
					"condition too");
	*ret_both = memory_check(json_array());
	json_array_foreach(a, i, x)
	{
		json_array_foreach(b, j, y)
			add_common(*ret_both, json_string_value(x), json_string_value(y));
	}
	return true;
}

static bool both_macs(json_t **ret_both, json_t *a, json_t *b, char **why)
{
	const json_t *x, *y;
	size_t i, j;

	if (!a || !b || json_equal(a, b)) {
		*ret_both = json_incref(a ? a : b);
		return true;
	}
	*ret_both = memory_check(json_array());
	json_array_foreach(a, i, x)
	{
		json_array_foreach(b, j, y)
		{
			if (strchr(json_string_value(x), '/') || strchr(json_string_value(y), '/'))
				return ovn_match_refuse(why, "asks twice for bits of one MAC");
			if (json_equal(x, y))
				import_push_once(*ret_both, json_string_value(x));
		}
	}
	return true;
}

static json_t *both_except(json_t *a, json_t *b)
{
	json_t *all;

	if (!a || !b)
		return json_incref(a ? a : b);
	all = memory_check(json_copy(a));
	json_array_extend(all, b);
	return all;
}

static bool both_flags(struct ovn_match *match, const struct ovn_match *a,
		       const struct ovn_match *b)
{
	int common = a->flags_mask & b->flags_mask;

	match->flags = a->flags | b->flags;
	match->flags_mask = a->flags_mask | b->flags_mask;
	return (a->flags & common) == (b->flags & common);
}

/* An empty side makes the whole one impossible. */
bool ovn_match_is_possible(const struct ovn_match *match)
{
	for (int i = 0; i < OVN_FIELD_COUNT; i++) {
		if (match->fields[i].count == 0)
			return false;
	}
	for (int i = 0; i < OVN_SIDE_COUNT; i++) {
		if ((match->addresses[i] && json_array_size(match->addresses[i]) == 0) ||
		    (match->macs[i] && json_array_size(match->macs[i]) == 0))
			return false;
	}
	return true;
}

/* Adds what fits both, unless nothing can. */
static bool add_both(struct ovn_matches *matches, const struct ovn_match *a,
		     const struct ovn_match *b, char **why)
{
	struct ovn_match *match = ovn_matches_add(matches);
	bool can_be = both_flags(match, a, b) &&
		      (a->fragment < 0 || b->fragment < 0 || a->fragment == b->fragment);
	bool is_fine = true;

	match->fragment = a->fragment < 0 ? b->fragment : a->fragment;
	for (int i = 0; i < OVN_FIELD_COUNT; i++) {
		match->fields[i] = a->fields[i];
		if (!ranges_intersect(&match->fields[i], &b->fields[i]))
			is_fine = ovn_match_refuse(why, "has too many ranges");
	}
	can_be = can_be && ovn_match_is_possible(match);
	for (int i = 0; can_be && i < OVN_SIDE_COUNT; i++) {
		is_fine = both_addresses(&match->addresses[i], a->addresses[i], b->addresses[i],
					 why) &&
			  both_macs(&match->macs[i], a->macs[i], b->macs[i], why) && is_fine;
		match->except[i] = both_except(a->except[i], b->except[i]);
	}
	if (!can_be || !ovn_match_is_possible(match)) {
		fini_match(match);
		matches->count--;
	}
	if (matches->count > MATCHES_MAX)
		return ovn_match_refuse(why, "has more than %d alternatives", MATCHES_MAX);
	return is_fine;
}

static bool product(struct ovn_matches *matches, const struct ovn_matches *other, char **why)
{
	struct ovn_matches both = {0};
	bool is_fine = true;

	for (size_t i = 0; is_fine && i < matches->count; i++) {
		for (size_t j = 0; is_fine && j < other->count; j++)
			is_fine = add_both(&both, &matches->items[i], &other->items[j], why);
	}
	ovn_matches_fini(matches);
	*matches = both;
	return is_fine;
}

/* ── the tree ───────────────────────────────────────────────────────────────────────────────────── */

/* A part that is never true decides, whatever the others say. */
static bool make_and(struct ovn_matches *matches, const struct ovn_expr *expr,
		     struct ovn_scope *scope, char **ret_why)
{
	struct ovn_matches all = {0};
	_cleanup_free_ char *why = NULL;
	bool is_never = false;

	ovn_matches_add(&all);
	for (size_t i = 0; !is_never && i < expr->part_count; i++) {
		struct ovn_matches part = {0};
		char *part_why = NULL;

		if (!ovn_match_make(&part, expr->parts[i], scope, &part_why)) {
			if (why)
				free(part_why);
			else
				why = part_why;
		} else if (part.count == 0) {
			is_never = true;
		} else if (!why) {
			product(&all, &part, &why);
		}
		ovn_matches_fini(&part);
	}
	for (size_t i = 0; !is_never && !why && i < all.count; i++) {
		matches->items = memory_grow(matches->items, matches->count, &matches->room,
					     sizeof(*matches->items));
		matches->items[matches->count++] = all.items[i];
	}
	if (is_never || why)
		ovn_matches_fini(&all);
	else
		free(all.items);
	if (is_never || !why)
		return true;
	*ret_why = TAKE_PTR(why);
	return false;
}

bool ovn_match_make(struct ovn_matches *matches, const struct ovn_expr *expr,
		    struct ovn_scope *scope, char **ret_why)
{
	switch (expr->kind) {
	case OVN_BOOLEAN:
		if (expr->is_true)
			ovn_matches_add(matches);
		return true;
	case OVN_AND:
		return make_and(matches, expr, scope, ret_why);
	case OVN_OR:
		for (size_t i = 0; i < expr->part_count; i++) {
			if (!ovn_match_make(matches, expr->parts[i], scope, ret_why))
				return false;
			if (matches->count > MATCHES_MAX)
				return ovn_match_refuse(ret_why, "has more than %d alternatives",
							MATCHES_MAX);
		}
		return true;
	case OVN_COMPARE:
		return ovn_field_compare(matches, expr, scope, ret_why);
	case OVN_BARE:
		return ovn_field_bare(matches, expr, scope, ret_why);
	case OVN_CALL:
		break;
	}
	return ovn_match_refuse(ret_why, "%s() has no counterpart", expr->field);
}
