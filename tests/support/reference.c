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

/* A frame without Ethernet header has no MAC that could match. */
static bool macs_have(const struct mac_list *list, const struct compile_packet *packet,
		      const uint8_t mac[6])
{
	for (size_t i = 0; i < list->count && packet->has_ethernet; i++) {
		int equal = 0;

		for (int b = 0; b < 6; b++)
			equal += (mac[b] & list->macs[i].mask[b]) == list->macs[i].value[b];
		if (equal == 6)
			return true;
	}
	return false;
}

/* EtherTypes of IP are the families; those of the others are compared. */
static bool ethertype_matches(const struct rule *rule, const struct compile_packet *packet,
			      uint32_t without)
{
	if (!rule->l2.ethertypes.count)
		return true;
	if (packet->family == SECG_FAMILY_IPV4)
		return ranges_have(&rule->l2.ethertypes, 0x0800);
	if (packet->family == SECG_FAMILY_IPV6)
		return ranges_have(&rule->l2.ethertypes, 0x86dd);
	return without & SECG_DIM_ETHERTYPE || ranges_have(&rule->l2.ethertypes, packet->ethertype);
}

/* What a session does not show. */
static bool hidden_matches(const struct rule *rule, const struct compile_packet *packet,
			   uint32_t without)
{
	bool is_first = packet->traffic & 0x40;

	if (rule->l2.vlans.count && !(without & SECG_DIM_VLAN) &&
	    !ranges_have(&rule->l2.vlans, packet->vlan))
		return false;
	if (without & SECG_DIM_BYTES)
		return true;
	if (rule->l2.src.count && !macs_have(&rule->l2.src, packet, packet->src_mac))
		return false;
	if (rule->l2.dst.count && !macs_have(&rule->l2.dst, packet, packet->dst_mac))
		return false;
	if (rule->dscp && !(rule->dscp & 1ull << (packet->traffic & 0x3f)))
		return false;
	if (rule->fragment >= 0 && is_first != (rule->fragment == 1))
		return false;
	if (rule->tcp_flags_mask &&
	    !(packet->protocol == 6 && packet->has_l4 &&
	      (packet->tcp_flags & rule->tcp_flags_mask) == rule->tcp_flags))
		return false;
	return true;
}

static bool has_hidden(const struct rule *rule)
{
	return rule->l2.vlans.count || rule->l2.src.count || rule->l2.dst.count || rule->dscp ||
	       rule->fragment >= 0 || rule->tcp_flags_mask;
}

static bool rule_matches(const struct rule *rule, const struct compile_packet *packet,
			 uint32_t without)
{
	if (rule->is_disabled)
		return false;
	if (!ethertype_matches(rule, packet, without) || !hidden_matches(rule, packet, without))
		return false;
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

/* What the rule decides. An audited ACL lets pass what it would drop, as by allow. */
static struct compile_verdict decide(const struct acl *acl, const struct rule *rule, uint32_t slot)
{
	struct compile_verdict verdict = {
		.action = rule->action,
		.slot = slot,
		.timeout_s = rule->timeout_s,
	};

	if (has_hidden(rule))
		verdict.flags |= SECG_ENTRY_HIDDEN;
	if (rule->log.rate || rule->sample[0] || rule->sample[1])
		verdict.flags |= SECG_ENTRY_WATCH;
	if (acl->is_audited &&
	    (rule->action == SECG_ACTION_DROP || rule->action == SECG_ACTION_REJECT)) {
		verdict.action = SECG_ACTION_ALLOW;
		verdict.flags |= SECG_ENTRY_AUDIT | SECG_ENTRY_WATCH;
	}
	return verdict;
}

/* First match. `recheck`: of a session that the rule of slot own - 1 has opened. */
static struct compile_verdict match(const struct acl *const *acls, size_t n,
				    const struct compile_packet *packet, uint32_t dimensions,
				    bool recheck, uint32_t own, uint64_t *passes)
{
	uint32_t slot = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < acls[i]->rule_count; j++) {
			const struct rule *rule = &acls[i]->rules[j];

			if (recheck && has_hidden(rule) && slot + j + 1 != own)
				continue;
			if (!rule_matches(rule, packet, dimensions))
				continue;
			if (rule->action == SECG_ACTION_PASS) {
				if (passes)
					passes[slot + j]++;
				break;
			}
			return decide(acls[i], rule, slot + (uint32_t)j);
		}
		slot += (uint32_t)acls[i]->rule_count;
	}
	return (struct compile_verdict){.action = SECG_ACTION_NONE};
}

struct compile_verdict reference_match_without(const struct acl *const *acls, size_t n,
					       const struct compile_packet *packet,
					       uint32_t dimensions, uint64_t *passes)
{
	return match(acls, n, packet, dimensions, false, 0, passes);
}

struct compile_verdict reference_match(const struct acl *const *acls, size_t n,
				       const struct compile_packet *packet)
{
	return match(acls, n, packet, 0, false, 0, NULL);
}

struct compile_verdict reference_recheck(const struct acl *const *acls, size_t n,
					 const struct compile_packet *packet, uint32_t own)
{
	return match(acls, n, packet, SECG_DIM_VLAN | SECG_DIM_BYTES, true, own, NULL);
}
