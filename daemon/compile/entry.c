/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as products of sets. */
#include "compile/entry.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd

static uint8_t number_of(enum secg_family family)
{
	return family == SECG_FAMILY_IPV4 ? 4 : 6;
}

static size_t address_count(const struct addrset *set, enum secg_family family)
{
	return family == SECG_FAMILY_IPV4 ? set->v4.count : set->v6.count;
}

/* Whether the EtherTypes of the rule are those of some frame of the family. */
static bool has_ethertype(const struct range_list *list, enum secg_family family)
{
	uint16_t wanted = family == SECG_FAMILY_IPV4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;

	for (size_t i = 0; i < list->count; i++) {
		const struct range *range = &list->ranges[i];
		bool is_one = range->first == range->last;

		if (family == SECG_FAMILY_OTHER &&
		    !(is_one && (range->first == ETHERTYPE_IPV4 || range->first == ETHERTYPE_IPV6)))
			return true;
		if (family != SECG_FAMILY_OTHER && range->first <= wanted && wanted <= range->last)
			return true;
	}
	return !list->count;
}

bool entry_is_possible(const struct rule *rule, enum secg_family family)
{
	if (rule->is_disabled || !has_ethertype(&rule->l2.ethertypes, family))
		return false;
	if (family == SECG_FAMILY_OTHER)
		return !rule->is_ip;
	if (rule->family && rule->family != number_of(family))
		return false;
	if (rule->has_src && !address_count(&rule->src, family))
		return false;
	return !rule->has_dst || address_count(&rule->dst, family);
}

static bool is_possible_l4(const struct l4_match *l4, enum secg_family family)
{
	return !l4->family || l4->family == number_of(family);
}

bool entry_is_hidden(const struct rule *rule)
{
	return rule->l2.vlans.count || rule->l2.src.count || rule->l2.dst.count || rule->dscp ||
	       rule->tcp_flags_mask || rule->fragment >= 0;
}

enum secg_action entry_action(const struct rule *rule, bool is_audited)
{
	bool drops = rule->action == SECG_ACTION_DROP || rule->action == SECG_ACTION_REJECT;

	return is_audited && drops ? SECG_ACTION_ALLOW : rule->action;
}

static struct secg_entry record_of(const struct rule *rule, bool is_audited, uint32_t slot)
{
	enum secg_action action = entry_action(rule, is_audited);
	unsigned int flags = 0;

	if (action != rule->action)
		flags |= SECG_ENTRY_AUDIT | SECG_ENTRY_WATCH;
	if (rule->log.rate || rule->sample[0] || rule->sample[1])
		flags |= SECG_ENTRY_WATCH;
	if (entry_is_hidden(rule))
		flags |= SECG_ENTRY_HIDDEN;
	return (struct secg_entry){
		.slot = slot,
		.action = (__u8)action,
		.flags = (__u8)flags,
		.timeout_s = rule->timeout_s,
	};
}

/* Several MACs with their masks are no product of sets of bytes: each pair is an entry. */
static size_t list_macs(const struct rule *rule, struct section_entry entry,
			struct section_entry *ret_entries)
{
	const struct mac_list *src = &rule->l2.src, *dst = &rule->l2.dst;
	size_t sources = src->count ? src->count : 1;
	size_t destinations = dst->count ? dst->count : 1;

	for (size_t i = 0; ret_entries && i < sources * destinations; i++) {
		entry.src = src->count ? &src->macs[i / destinations] : NULL;
		entry.dst = dst->count ? &dst->macs[i % destinations] : NULL;
		ret_entries[i] = entry;
	}
	return sources * destinations;
}

/* Entries of one rule; written where `ret_entries` is given. */
static size_t list_rule(const struct rule *rule, enum secg_family family, struct secg_entry record,
			struct section_entry *ret_entries)
{
	struct section_entry entry = {.rule = rule, .record = record};
	size_t count = 0;

	if (!entry_is_possible(rule, family))
		return 0;
	if (!rule->l4_count)
		return list_macs(rule, entry, ret_entries);
	for (size_t i = 0; i < rule->l4_count; i++) {
		if (!is_possible_l4(&rule->l4[i], family))
			continue;
		entry.l4 = &rule->l4[i];
		count += list_macs(rule, entry, ret_entries ? ret_entries + count : NULL);
	}
	return count;
}

size_t entry_count(enum secg_family family, const struct entry_lists *lists)
{
	const struct secg_entry none = {0};
	size_t count = 0;

	for (size_t i = 0; i < lists->acl_count; i++)
		for (size_t j = 0; j < lists->acls[i]->rule_count; j++)
			count += list_rule(&lists->acls[i]->rules[j], family, none, NULL);
	return count;
}

void entry_list(enum secg_family family, const struct entry_lists *lists,
		struct section_entry *ret_entries)
{
	uint32_t slot = 0;
	size_t count = 0;

	for (size_t i = 0; i < lists->acl_count; i++) {
		const struct acl *acl = lists->acls[i];
		bool is_audited = lists->is_audited || acl->is_audited;
		size_t first = count;

		for (size_t j = 0; j < acl->rule_count; j++)
			count += list_rule(&acl->rules[j], family,
					   record_of(&acl->rules[j], is_audited, slot++),
					   ret_entries + count);
		for (size_t j = first; j < count; j++)
			if (ret_entries[j].record.action == SECG_ACTION_PASS)
				ret_entries[j].record.next = (__u32)count;
	}
}
