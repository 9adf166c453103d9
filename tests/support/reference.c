/* SPDX-License-Identifier: Apache-2.0 */
/* The reference matcher. */
#include "reference.h"

#include <stdbool.h>

static bool set_has(const struct addrset *set, const struct compile_packet *packet, addr_t address)
{
	const struct addr_list *list = packet->family == SECG_FAMILY_IPV4 ? &set->v4 : &set->v6;

	for (size_t i = 0; i < list->count; i++)
		if (address >= list->ranges[i].first && address <= list->ranges[i].last)
			return true;
	return false;
}

static bool ranges_have(const struct range_list *list, uint16_t number)
{
	for (size_t i = 0; i < list->count; i++)
		if (number >= list->ranges[i].first && number <= list->ranges[i].last)
			return true;
	return false;
}

static bool l4_matches(const struct l4_match *l4, const struct compile_packet *packet,
		       uint32_t without)
{
	if (l4->family == 4 && packet->family != SECG_FAMILY_IPV4)
		return false;
	if (l4->family == 6 && packet->family != SECG_FAMILY_IPV6)
		return false;
	if (l4->has_protocols && !(without & SECG_DIM_PROTO) &&
	    (l4->protocols[packet->protocol / 64] & 1ull << packet->protocol % 64) == 0)
		return false;
	/* A packet that shows no ports never matches a rule that names some. */
	if (l4->high.count > 0 && !(without & SECG_DIM_L4_HIGH) &&
	    !(packet->has_l4 && ranges_have(&l4->high, packet->high)))
		return false;
	if (l4->low.count > 0 && !(without & SECG_DIM_L4_LOW) &&
	    !(packet->has_l4 && ranges_have(&l4->low, packet->low)))
		return false;
	return true;
}

static bool rule_matches(const struct rule *rule, const struct compile_packet *packet,
			 uint32_t without)
{
	if (packet->family == SECG_FAMILY_OTHER)
		return !rule->is_ip;
	if (rule->family == 4 && packet->family != SECG_FAMILY_IPV4)
		return false;
	if (rule->family == 6 && packet->family != SECG_FAMILY_IPV6)
		return false;
	if (rule->has_src && !(without & SECG_DIM_SRC) && !set_has(&rule->src, packet, packet->src))
		return false;
	if (rule->has_dst && !(without & SECG_DIM_DST) && !set_has(&rule->dst, packet, packet->dst))
		return false;
	if (rule->l4_count == 0)
		return true;
	for (size_t i = 0; i < rule->l4_count; i++)
		if (l4_matches(&rule->l4[i], packet, without))
			return true;
	return false;
}

struct compile_verdict reference_match_without(const struct acl *const *acls, size_t n,
					       const struct compile_packet *packet,
					       uint32_t dimensions, uint64_t *passes)
{
	uint32_t slot = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < acls[i]->rule_count; j++) {
			const struct rule *rule = &acls[i]->rules[j];

			if (!rule_matches(rule, packet, dimensions))
				continue;
			if (rule->action == SECG_ACTION_PASS) {
				if (passes)
					passes[slot + j]++;
				break;
			}
			return (struct compile_verdict){
				.action = rule->action,
				.slot = slot + (uint32_t)j,
			};
		}
		slot += (uint32_t)acls[i]->rule_count;
	}
	return (struct compile_verdict){.action = SECG_ACTION_NONE};
}

struct compile_verdict reference_match(const struct acl *const *acls, size_t n,
				       const struct compile_packet *packet)
{
	return reference_match_without(acls, n, packet, 0, NULL);
}
