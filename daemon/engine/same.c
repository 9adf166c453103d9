/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing parsed ACLs. */
#include "engine/same.h"

#include <string.h>

static bool addr_lists_are_same(const struct addr_list *a, const struct addr_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->ranges[i].first != b->ranges[i].first ||
		    a->ranges[i].last != b->ranges[i].last)
			return false;
	return true;
}

static bool addrsets_are_same(const struct addrset *a, const struct addrset *b)
{
	return addr_lists_are_same(&a->v4, &b->v4) && addr_lists_are_same(&a->v6, &b->v6);
}

static bool ranges_are_same(const struct range_list *a, const struct range_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->ranges[i].first != b->ranges[i].first ||
		    a->ranges[i].last != b->ranges[i].last)
			return false;
	return true;
}

static bool l4_are_same(const struct l4_match *a, const struct l4_match *b)
{
	return a->family == b->family && a->has_protocols == b->has_protocols &&
	       memcmp(a->protocols, b->protocols, sizeof(a->protocols)) == 0 &&
	       ranges_are_same(&a->high, &b->high) && ranges_are_same(&a->low, &b->low);
}

static bool rules_are_same(const struct rule *a, const struct rule *b)
{
	if (strcmp(a->id, b->id) != 0 || a->action != b->action || a->family != b->family ||
	    a->is_ip != b->is_ip || a->has_src != b->has_src || a->has_dst != b->has_dst ||
	    a->l4_count != b->l4_count)
		return false;
	for (size_t i = 0; i < a->l4_count; i++)
		if (!l4_are_same(&a->l4[i], &b->l4[i]))
			return false;
	return addrsets_are_same(&a->src, &b->src) && addrsets_are_same(&a->dst, &b->dst);
}

static bool acls_are_same(const struct acl *a, const struct acl *b)
{
	if (strcmp(a->name, b->name) != 0 || a->rule_count != b->rule_count)
		return false;
	for (size_t i = 0; i < a->rule_count; i++)
		if (!rules_are_same(&a->rules[i], &b->rules[i]))
			return false;
	return true;
}

bool acl_lists_are_same(const struct acl *const *a, size_t a_count, const struct acl *const *b,
			size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (a[i] != b[i] && !acls_are_same(a[i], b[i]))
			return false;
	return true;
}
