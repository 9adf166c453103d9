/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as products of sets. */
#include "compile/box.h"

#include <errno.h>
#include <string.h>

#include "compile/shape.h"
#include "model/l4.h"

#define PROTOCOLS 256

static const struct addr_range whole_ipv4 = {0, UINT32_MAX};
static const struct addr_range whole_ipv6 = {0, ~(addr_t)0};
static const struct addr_range whole_port = {0, UINT16_MAX};
static const struct addr_range whole_byte = {0, UINT8_MAX};
static const struct addr_range whole_vlan = {0, 4095};
static const struct addr_range whole_traffic = {0, 2 * SECG_TRAFFIC_FRAGMENT - 1};
static const struct addr_range whole_bool = {0, 1};
static const struct addr_range is_true = {1, 1};
static const struct addr_range not_ip[] = {{0, 0x07ff}, {0x0801, 0x86dc}, {0x86de, UINT16_MAX}};
static const struct addr_range nothing = {0, 0}; /* the one key of what a space does not have */

/* TCP; UDP, DCCP, SCTP, UDP-Lite; and the others, without the family's ICMP. */
static const struct addr_range tcp = {6, 6};
static const struct addr_range with_ports[] = {{17, 17}, {33, 33}, {132, 132}, {136, 136}};
static const struct addr_range rest_ipv4[] = {{0, 0},    {2, 5},     {7, 16},   {18, 32},
					      {34, 131}, {133, 135}, {137, 255}};
static const struct addr_range rest_ipv6[] = {{0, 5},    {7, 16},    {18, 32},  {34, 57},
					      {59, 131}, {133, 135}, {137, 255}};

/* clang-format off */
#define ONE(range)  { &(range), 1 }
#define ALL(ranges) { ranges, ARRAY_SIZE(ranges) }
#define MAC         ONE(whole_byte), ONE(whole_byte), ONE(whole_byte), ONE(whole_byte), ONE(whole_byte), ONE(whole_byte)
#define SPACE(addresses, protocols, high, low, ethertypes, flags, traffic)                        \
	{ ONE(addresses), ONE(addresses), protocols, ONE(high), ONE(low), ONE(whole_vlan), ethertypes, \
	  ONE(whole_bool), MAC, MAC, ONE(flags), ONE(traffic) }

static const struct keys all_of[BOX_SPACES][BOX_DIMENSIONS] = {
	[BOX_IPV4_TCP] = SPACE(whole_ipv4, ONE(tcp), whole_port, whole_port, ONE(nothing),
			       whole_byte, whole_traffic),
	[BOX_IPV4_PORTS] = SPACE(whole_ipv4, ALL(with_ports), whole_port, whole_port, ONE(nothing),
				 nothing, whole_traffic),
	[BOX_IPV4_ICMP] = SPACE(whole_ipv4, ONE(nothing), whole_byte, whole_byte, ONE(nothing),
				nothing, whole_traffic),
	[BOX_IPV4_REST] = SPACE(whole_ipv4, ALL(rest_ipv4), nothing, nothing, ONE(nothing),
				nothing, whole_traffic),
	[BOX_IPV6_TCP] = SPACE(whole_ipv6, ONE(tcp), whole_port, whole_port, ONE(nothing),
			       whole_byte, whole_traffic),
	[BOX_IPV6_PORTS] = SPACE(whole_ipv6, ALL(with_ports), whole_port, whole_port, ONE(nothing),
				 nothing, whole_traffic),
	[BOX_IPV6_ICMP] = SPACE(whole_ipv6, ONE(nothing), whole_byte, whole_byte, ONE(nothing),
				nothing, whole_traffic),
	[BOX_IPV6_REST] = SPACE(whole_ipv6, ALL(rest_ipv6), nothing, nothing, ONE(nothing),
				nothing, whole_traffic),
	[BOX_NOT_IP] = SPACE(nothing, ONE(nothing), nothing, nothing, ALL(not_ip), nothing, nothing),
};
/* clang-format on */
_Static_assert(SECG_BYTE_SRC_MAC == 0 && SECG_BYTE_DST_MAC == 6 && SECG_BYTE_TCP_FLAGS == 12 &&
		       SECG_BYTE_TRAFFIC == 13,
	       "the bytes of a space stand in their order");

const struct keys *box_all(enum box_space space, enum box_dimension dimension)
{
	return &all_of[space][dimension];
}

static uint8_t family_of(enum box_space space)
{
	return box_space_is_ipv4(space) ? 4 : 6;
}

/* The next protocol of the set from `from` on; PROTOCOLS: none. */
static uint32_t next_protocol(const uint64_t protocols[4], uint32_t from)
{
	while (from < PROTOCOLS) {
		uint64_t rest = protocols[from / 64] >> from % 64;

		if (rest)
			return from + (uint32_t)__builtin_ctzll(rest);
		from = (from / 64 + 1) * 64;
	}
	return PROTOCOLS;
}

static size_t list_protocols(struct addr_range *ret_ranges, const uint64_t protocols[4])
{
	size_t count = 0;

	for (uint32_t p = next_protocol(protocols, 0); p < PROTOCOLS;
	     p = next_protocol(protocols, p + 1)) {
		if (count && ret_ranges[count - 1].last + 1 == p)
			ret_ranges[count - 1].last = p;
		else
			ret_ranges[count++] = (struct addr_range){.first = p, .last = p};
	}
	return count;
}

/* Protocols of an alternative that belong to the space. */
static int set_protocols(struct keys *ret_keys, const struct l4_match *l4, enum box_space space,
			 struct arena *arena)
{
	struct work work = {0};
	struct addr_range ranges[PROTOCOLS / 2];
	struct keys named = {.ranges = ranges};
	const struct keys *all = box_all(space, BOX_PROTOCOL);

	if (!l4 || !l4->has_protocols) {
		*ret_keys = *all;
		return 0;
	}
	if (all->ranges == &nothing) {
		uint8_t icmp = family_of(space) == 4 ? PROTOCOL_ICMP : PROTOCOL_ICMPV6;

		*ret_keys = protocols_have(l4->protocols, icmp) ? *all : (struct keys){0};
		return 0;
	}
	named.count = list_protocols(ranges, l4->protocols);
	/* The other way round it would lend what lies on this stack. */
	return keys_common(ret_keys, all, &named, arena, &work);
}

/* A range list in a space that has such keys; none at all where the space has not. */
static int set_numbers(struct keys *ret_keys, const struct range_list *list, const struct keys *all,
		       struct arena *arena)
{
	struct addr_range *ranges;
	size_t count = 0;

	if (!list->count) {
		*ret_keys = *all;
		return 0;
	}
	*ret_keys = (struct keys){0};
	if (all->ranges == &nothing)
		return 0;
	ranges = arena_take(arena, list->count * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < list->count && list->ranges[i].first <= all->ranges->last; i++) {
		addr_t last = list->ranges[i].last;

		ranges[count++] = (struct addr_range){
			.first = list->ranges[i].first,
			.last = last < all->ranges->last ? last : all->ranges->last,
		};
	}
	*ret_keys = (struct keys){.ranges = ranges, .count = count};
	return 0;
}

static struct keys addresses(bool is_given, const struct addrset *set, enum box_space space)
{
	const struct addr_list *list = family_of(space) == 4 ? &set->v4 : &set->v6;

	if (!is_given)
		return *box_all(space, BOX_SRC);
	return (struct keys){.ranges = list->ranges, .count = list->count};
}

/* Values of one byte; `nothing` is the one key of spaces that do not have it. */
static int set_byte(struct keys *ret_keys, enum secg_byte byte, const struct section_entry *entry,
		    const struct keys *all, struct arena *arena)
{
	const struct shape *shape = &shapes[SHAPE_FIRST_BYTE + byte];
	struct addr_range spans[SHAPE_SPANS_MAX], *kept;
	size_t count;

	if (shape->is_any(shape, entry)) {
		*ret_keys = *all;
		return 0;
	}
	*ret_keys = (struct keys){0};
	if (all->ranges == &nothing)
		return 0;
	count = shape_values(shape, entry, spans);
	/* No byte of the header lies above. */
	while (count && spans[count - 1].first > all->ranges->last)
		count--;
	if (count && spans[count - 1].last > all->ranges->last)
		spans[count - 1].last = all->ranges->last;
	kept = arena_take(arena, (count + 1) * sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	memcpy(kept, spans, count * sizeof(*kept));
	*ret_keys = (struct keys){.ranges = kept, .count = count};
	return 0;
}

static int set_l2(struct box *box, const struct section_entry *entry, enum box_space space,
		  struct arena *arena)
{
	const struct rule *rule = entry->rule;
	struct work work = {0};
	struct keys types;
	int r;

	r = set_numbers(&box->keys[BOX_VLAN], &rule->l2.vlans, box_all(space, BOX_VLAN), arena);
	box->keys[BOX_ETHERTYPE] = *box_all(space, BOX_ETHERTYPE);
	if (r >= 0 && space == BOX_NOT_IP && rule->l2.ethertypes.count) {
		r = set_numbers(&types, &rule->l2.ethertypes,
				&(const struct keys){.ranges = &whole_port, .count = 1}, arena);
		if (r >= 0)
			r = keys_common(&box->keys[BOX_ETHERTYPE], &types,
					box_all(space, BOX_ETHERTYPE), arena, &work);
	}
	box->keys[BOX_ETHERNET] = *box_all(space, BOX_ETHERNET);
	if (entry->src || entry->dst)
		box->keys[BOX_ETHERNET] = (struct keys){.ranges = &is_true, .count = 1};
	for (int b = 0; r >= 0 && b < SECG_BYTE_COUNT; b++)
		r = set_byte(&box->keys[BOX_BYTES + b], (enum secg_byte)b, entry,
			     box_all(space, BOX_BYTES + b), arena);
	return r;
}

static int set_l4(struct box *box, const struct section_entry *entry, enum box_space space,
		  struct arena *arena)
{
	static const struct l4_match any;
	const struct l4_match *l4 = entry->l4 ? entry->l4 : &any;
	int r;

	box->keys[BOX_SRC] = addresses(entry->rule->has_src, &entry->rule->src, space);
	box->keys[BOX_DST] = addresses(entry->rule->has_dst, &entry->rule->dst, space);
	r = set_protocols(&box->keys[BOX_PROTOCOL], l4, space, arena);
	if (r >= 0)
		r = set_numbers(&box->keys[BOX_HIGH], &l4->high, box_all(space, BOX_HIGH), arena);
	if (r >= 0)
		r = set_numbers(&box->keys[BOX_LOW], &l4->low, box_all(space, BOX_LOW), arena);
	return r;
}

/* Notes which dimensions are narrow; false: the box is empty. */
static bool finish(struct box *box, enum box_space space)
{
	for (unsigned int d = 0; d < BOX_DIMENSIONS; d++) {
		const struct keys *keys = &box->keys[d], *all = box_all(space, d);

		if (!keys->count)
			return false;
		if (keys->ranges != all->ranges || keys->count != all->count)
			box->narrow |= 1u << d;
	}
	return true;
}

/* 1: written; 0: nothing matches there; -ENOMEM. */
static int box_of_entry(struct box *ret_box, const struct section_entry *entry,
			enum box_space space, struct arena *arena)
{
	struct box box = {0};
	int r = 0;

	if (space == BOX_NOT_IP)
		for (int d = 0; d < BOX_VLAN; d++)
			box.keys[d] = *box_all(space, d);
	else if (entry->l4 && entry->l4->family && entry->l4->family != family_of(space))
		return 0;
	else
		r = set_l4(&box, entry, space, arena);
	if (r >= 0)
		r = set_l2(&box, entry, space, arena);
	if (r < 0 || !finish(&box, space))
		return r;
	*ret_box = box;
	return 1;
}

static size_t at_least_one(size_t count)
{
	return count ? count : 1;
}

/* Combinations of the rule's source and destination MACs. */
static size_t mac_pairs(const struct rule *rule)
{
	return at_least_one(rule->l2.src.count) * at_least_one(rule->l2.dst.count);
}

size_t box_max(const struct rule *rule)
{
	return at_least_one(rule->l4_count) * mac_pairs(rule);
}

static enum secg_family family_of_space(enum box_space space)
{
	if (space == BOX_NOT_IP)
		return SECG_FAMILY_OTHER;
	return box_space_is_ipv4(space) ? SECG_FAMILY_IPV4 : SECG_FAMILY_IPV6;
}

int box_of_rule(struct box *ret_boxes, size_t *ret_l4, const struct rule *rule,
		enum box_space space, struct arena *arena)
{
	const struct mac_list *src = &rule->l2.src, *dst = &rule->l2.dst;
	size_t pairs = mac_pairs(rule), destinations = at_least_one(dst->count);
	int count = 0;

	if (!entry_is_possible(rule, family_of_space(space)))
		return 0;
	for (size_t i = 0; i < box_max(rule); i++) {
		const struct section_entry entry = {
			.rule = rule,
			.l4 = rule->l4_count ? &rule->l4[i / pairs] : NULL,
			.src = src->count ? &src->macs[i % pairs / destinations] : NULL,
			.dst = dst->count ? &dst->macs[i % pairs % destinations] : NULL,
		};
		int r = box_of_entry(&ret_boxes[count], &entry, space, arena);

		if (r < 0)
			return r;
		if (r && ret_l4)
			ret_l4[count] = i / pairs;
		count += r;
	}
	return count;
}

/* The dimensions of a mask, one after the other; -1: none is left. */
static int next_dimension(uint32_t *mask)
{
	int d = *mask ? __builtin_ctz(*mask) : -1;

	*mask &= *mask - 1;
	return d;
}

/* Where one has every key of the space the two meet, and the one that has fewer lies within the other. */
bool box_meets(const struct box *a, const struct box *b, struct work *work)
{
	uint32_t narrow = a->narrow & b->narrow;

	for (int d = next_dimension(&narrow); d >= 0; d = next_dimension(&narrow))
		if (!keys_meet(&a->keys[d], &b->keys[d], work))
			return false;
	return true;
}

bool box_within(const struct box *a, const struct box *b, struct work *work)
{
	uint32_t narrow = b->narrow;

	for (int d = next_dimension(&narrow); d >= 0; d = next_dimension(&narrow))
		if (!keys_within(&a->keys[d], &b->keys[d], work))
			return false;
	return true;
}
