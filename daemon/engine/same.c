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

static bool mac_lists_are_same(const struct mac_list *a, const struct mac_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (memcmp(a->macs[i].value, b->macs[i].value, sizeof(a->macs[i].value)) != 0 ||
		    memcmp(a->macs[i].mask, b->macs[i].mask, sizeof(a->macs[i].mask)) != 0)
			return false;
	return true;
}

static bool l2_are_same(const struct l2_match *a, const struct l2_match *b)
{
	return ranges_are_same(&a->ethertypes, &b->ethertypes) &&
	       ranges_are_same(&a->vlans, &b->vlans) && mac_lists_are_same(&a->src, &b->src) &&
	       mac_lists_are_same(&a->dst, &b->dst);
}

/* What a rule says beside its action and what it matches. */
static bool ways_are_same(const struct rule *a, const struct rule *b)
{
	return a->is_disabled == b->is_disabled && a->timeout_s == b->timeout_s &&
	       a->log.rate == b->log.rate && a->log.is_all == b->log.is_all &&
	       a->sample[0] == b->sample[0] && a->sample[1] == b->sample[1];
}

static bool rules_are_same_but_for_addresses(const struct rule *a, const struct rule *b)
{
	if (!ways_are_same(a, b) || !l2_are_same(&a->l2, &b->l2) || a->dscp != b->dscp ||
	    a->tcp_flags != b->tcp_flags || a->tcp_flags_mask != b->tcp_flags_mask ||
	    a->fragment != b->fragment)
		return false;
	if (strcmp(a->id, b->id) != 0 || a->action != b->action || a->family != b->family ||
	    a->is_ip != b->is_ip || a->has_src != b->has_src || a->has_dst != b->has_dst ||
	    a->l4_count != b->l4_count)
		return false;
	for (size_t i = 0; i < a->l4_count; i++)
		if (!l4_are_same(&a->l4[i], &b->l4[i]))
			return false;
	return true;
}

static bool addresses_are_same(const struct acl *a, const struct acl *b)
{
	for (size_t i = 0; i < a->rule_count; i++)
		if (!addrsets_are_same(&a->rules[i].src, &b->rules[i].src) ||
		    !addrsets_are_same(&a->rules[i].dst, &b->rules[i].dst))
			return false;
	return true;
}

bool acls_are_same_but_for_addresses(const struct acl *a, const struct acl *b)
{
	if (strcmp(a->name, b->name) != 0 || a->rule_count != b->rule_count ||
	    a->is_audited != b->is_audited)
		return false;
	for (size_t i = 0; i < a->rule_count; i++)
		if (!rules_are_same_but_for_addresses(&a->rules[i], &b->rules[i]))
			return false;
	return true;
}

static bool acls_are_same(const struct acl *a, const struct acl *b)
{
	return acls_are_same_but_for_addresses(a, b) && addresses_are_same(a, b);
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
