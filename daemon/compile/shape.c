/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of entries, dimension by dimension. */
#include "compile/shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"

#define BYTE_VALUES 256

addr_t shape_max(const struct shape *shape, enum secg_family family)
{
	bool is_address = shape->dim == SECG_DIM_SRC || shape->dim == SECG_DIM_DST;

	return is_address && family == SECG_FAMILY_IPV6 ? ~(addr_t)0 : shape->max;
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

static bool is_any_address(const struct shape *shape, const struct section_entry *entry)
{
	return shape->dim == SECG_DIM_SRC ? !entry->rule->has_src : !entry->rule->has_dst;
}

static int add_addresses(const struct shape *shape, struct dimension *dimension, uint32_t i,
			 const struct section_entry *entry, enum secg_family family)
{
	const struct addrset *set =
		shape->dim == SECG_DIM_SRC ? &entry->rule->src : &entry->rule->dst;
	const struct addr_list *list = family == SECG_FAMILY_IPV4 ? &set->v4 : &set->v6;

	if (list->count == 1 && list->ranges[0].first == 0 &&
	    list->ranges[0].last == dimension->max) {
		dimension_add_any(dimension, i);
		return 0;
	}
	return dimension_add(dimension, i, list->ranges, list->count);
}

/* ── numbers ────────────────────────────────────────────────────────────────────────────────────── */

static const struct range_list *ranges_of(const struct shape *shape,
					  const struct section_entry *entry)
{
	static const struct range_list any;

	switch (shape->dim) {
	case SECG_DIM_VLAN:
		return &entry->rule->l2.vlans;
	case SECG_DIM_ETHERTYPE:
		return &entry->rule->l2.ethertypes;
	case SECG_DIM_L4_HIGH:
		return entry->l4 ? &entry->l4->high : &any;
	default:
		return entry->l4 ? &entry->l4->low : &any;
	}
}

/* A list that holds every port still asks for a packet that shows ports, so it is not "any". */
static bool is_any_number(const struct shape *shape, const struct section_entry *entry)
{
	return !ranges_of(shape, entry)->count;
}

static int add_ranges(const struct shape *shape, struct dimension *dimension, uint32_t i,
		      const struct section_entry *entry, enum secg_family family)
{
	const struct range_list *list = ranges_of(shape, entry);
	_cleanup_free_ struct addr_range *spans = malloc(list->count * sizeof(*spans));

	(void)family;
	if (!spans)
		return -ENOMEM;
	for (size_t j = 0; j < list->count; j++)
		spans[j] = (struct addr_range){
			.first = list->ranges[j].first,
			.last = list->ranges[j].last,
		};
	return dimension_add(dimension, i, spans, list->count);
}

/* ── one byte ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_any_protocol(const struct shape *shape, const struct section_entry *entry)
{
	(void)shape;
	return !entry->l4 || !entry->l4->has_protocols;
}

/* The MAC that the byte is of, and which byte of it. */
static const struct mac_match *mac_of(const struct shape *shape, const struct section_entry *entry,
				      unsigned int *ret_at)
{
	bool is_src = shape->byte < SECG_BYTE_DST_MAC;

	*ret_at = (unsigned int)shape->byte - (is_src ? SECG_BYTE_SRC_MAC : SECG_BYTE_DST_MAC);
	return is_src ? entry->src : entry->dst;
}

static bool is_mask_zero(const struct mac_match *mac)
{
	static const uint8_t zero[6];

	return !memcmp(mac->mask, zero, sizeof(zero));
}

/* Where every MAC will do there must be one all the same, which the first byte sees to. */
static bool is_any_byte(const struct shape *shape, const struct section_entry *entry)
{
	const struct rule *rule = entry->rule;
	const struct mac_match *mac;
	unsigned int at;

	if (shape->byte == SECG_BYTE_TCP_FLAGS)
		return !rule->tcp_flags_mask;
	if (shape->byte == SECG_BYTE_TRAFFIC)
		return !rule->dscp && rule->fragment < 0;
	mac = mac_of(shape, entry, &at);
	return !mac || (!mac->mask[at] && (at || !is_mask_zero(mac)));
}

static bool takes_traffic(const struct rule *rule, uint32_t value)
{
	uint32_t dscp = value & (SECG_TRAFFIC_FRAGMENT - 1);
	bool is_fragment = value & SECG_TRAFFIC_FRAGMENT;

	return (!rule->dscp || rule->dscp >> dscp & 1) &&
	       (rule->fragment < 0 || is_fragment == (rule->fragment > 0));
}

static bool takes_value(const struct shape *shape, const struct section_entry *entry,
			uint32_t value)
{
	const struct mac_match *mac;
	unsigned int at;

	if (shape->dim == SECG_DIM_PROTO)
		return entry->l4->protocols[value / 64] >> value % 64 & 1;
	if (shape->byte == SECG_BYTE_TCP_FLAGS)
		return (value & entry->rule->tcp_flags_mask) == entry->rule->tcp_flags;
	if (shape->byte == SECG_BYTE_TRAFFIC)
		return takes_traffic(entry->rule, value);
	mac = mac_of(shape, entry, &at);
	return (value & mac->mask[at]) == mac->value[at];
}

size_t shape_values(const struct shape *shape, const struct section_entry *entry,
		    struct addr_range ret_spans[SHAPE_SPANS_MAX])
{
	size_t count = 0;

	for (uint32_t v = 0; v < BYTE_VALUES; v++) {
		if (!takes_value(shape, entry, v))
			continue;
		if (count && ret_spans[count - 1].last + 1 == v)
			ret_spans[count - 1].last = v;
		else
			ret_spans[count++] = (struct addr_range){.first = v, .last = v};
	}
	return count;
}

static int add_values(const struct shape *shape, struct dimension *dimension, uint32_t i,
		      const struct section_entry *entry, enum secg_family family)
{
	struct addr_range spans[SHAPE_SPANS_MAX];
	size_t count = shape_values(shape, entry, spans);

	(void)family;
	return dimension_add(dimension, i, spans, count);
}

/* ── the rule itself ────────────────────────────────────────────────────────────────────────────── */

static bool is_any_rule(const struct shape *shape, const struct section_entry *entry)
{
	(void)shape;
	return !(entry->record.flags & SECG_ENTRY_HIDDEN);
}

static int add_rule(const struct shape *shape, struct dimension *dimension, uint32_t i,
		    const struct section_entry *entry, enum secg_family family)
{
	addr_t key = (addr_t)entry->record.slot + 1;
	const struct addr_range span = {.first = key, .last = key};

	(void)shape;
	(void)family;
	return dimension_add(dimension, i, &span, 1);
}

/* ── all of them ────────────────────────────────────────────────────────────────────────────────── */

#define IP    (1u << SECG_FAMILY_IPV4 | 1u << SECG_FAMILY_IPV6)
#define OTHER (1u << SECG_FAMILY_OTHER)
#define MAC_BYTE(n)                                                                     \
	{                                                                               \
		SECG_DIM_BYTES, n, IP | OTHER, BYTE_VALUES - 1, is_any_byte, add_values \
	}
#define IP_BYTE(n)                                                              \
	{                                                                       \
		SECG_DIM_BYTES, n, IP, BYTE_VALUES - 1, is_any_byte, add_values \
	}

const struct shape shapes[SHAPE_COUNT] = {
	{SECG_DIM_SRC, 0, IP, UINT32_MAX, is_any_address, add_addresses},
	{SECG_DIM_DST, 0, IP, UINT32_MAX, is_any_address, add_addresses},
	{SECG_DIM_PROTO, 0, IP, BYTE_VALUES - 1, is_any_protocol, add_values},
	{SECG_DIM_L4_HIGH, 0, IP, UINT16_MAX, is_any_number, add_ranges},
	{SECG_DIM_L4_LOW, 0, IP, UINT16_MAX, is_any_number, add_ranges},
	{SECG_DIM_VLAN, 0, IP | OTHER, UINT16_MAX, is_any_number, add_ranges},
	{SECG_DIM_ETHERTYPE, 0, OTHER, UINT16_MAX, is_any_number, add_ranges},
	{SECG_DIM_OWN, 0, IP, UINT32_MAX, is_any_rule, add_rule},
	MAC_BYTE(SECG_BYTE_SRC_MAC),
	MAC_BYTE(SECG_BYTE_SRC_MAC + 1),
	MAC_BYTE(SECG_BYTE_SRC_MAC + 2),
	MAC_BYTE(SECG_BYTE_SRC_MAC + 3),
	MAC_BYTE(SECG_BYTE_SRC_MAC + 4),
	MAC_BYTE(SECG_BYTE_SRC_MAC + 5),
	MAC_BYTE(SECG_BYTE_DST_MAC),
	MAC_BYTE(SECG_BYTE_DST_MAC + 1),
	MAC_BYTE(SECG_BYTE_DST_MAC + 2),
	MAC_BYTE(SECG_BYTE_DST_MAC + 3),
	MAC_BYTE(SECG_BYTE_DST_MAC + 4),
	MAC_BYTE(SECG_BYTE_DST_MAC + 5),
	IP_BYTE(SECG_BYTE_TCP_FLAGS),
	IP_BYTE(SECG_BYTE_TRAFFIC),
};
