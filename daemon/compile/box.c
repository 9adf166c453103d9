/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as products of sets. */
#include "compile/box.h"

#include <errno.h>

#include "model/l4.h"

#define PROTOCOLS 256

static const struct addr_range whole_ipv4 = {0, UINT32_MAX};
static const struct addr_range whole_ipv6 = {0, ~(addr_t)0};
static const struct addr_range whole_port = {0, UINT16_MAX};
static const struct addr_range whole_byte = {0, UINT8_MAX};
static const struct addr_range nothing = {0, 0}; /* the one key of what a space does not have */

/* TCP, UDP, DCCP, SCTP, UDP-Lite; and the others, without the family's ICMP. */
static const struct addr_range with_ports[] = {{6, 6}, {17, 17}, {33, 33}, {132, 132}, {136, 136}};
static const struct addr_range rest_ipv4[] = {{0, 0},    {2, 5},     {7, 16},   {18, 32},
					      {34, 131}, {133, 135}, {137, 255}};
static const struct addr_range rest_ipv6[] = {{0, 5},    {7, 16},    {18, 32},  {34, 57},
					      {59, 131}, {133, 135}, {137, 255}};

#define ONE(range)          \
	{                   \
		&(range), 1 \
	}
#define ALL(ranges)                        \
	{                                  \
		ranges, ARRAY_SIZE(ranges) \
	}
static const struct keys all_of[BOX_SPACES][BOX_DIMENSIONS] = {
	[BOX_IPV4_PORTS] = {ONE(whole_ipv4), ONE(whole_ipv4), ALL(with_ports), ONE(whole_port),
			    ONE(whole_port)},
	[BOX_IPV4_ICMP] = {ONE(whole_ipv4), ONE(whole_ipv4), ONE(nothing), ONE(whole_byte),
			   ONE(whole_byte)},
	[BOX_IPV4_REST] = {ONE(whole_ipv4), ONE(whole_ipv4), ALL(rest_ipv4), ONE(nothing),
			   ONE(nothing)},
	[BOX_IPV6_PORTS] = {ONE(whole_ipv6), ONE(whole_ipv6), ALL(with_ports), ONE(whole_port),
			    ONE(whole_port)},
	[BOX_IPV6_ICMP] = {ONE(whole_ipv6), ONE(whole_ipv6), ONE(nothing), ONE(whole_byte),
			   ONE(whole_byte)},
	[BOX_IPV6_REST] = {ONE(whole_ipv6), ONE(whole_ipv6), ALL(rest_ipv6), ONE(nothing),
			   ONE(nothing)},
	[BOX_NOT_IP] = {ONE(nothing), ONE(nothing), ONE(nothing), ONE(nothing), ONE(nothing)},
};

const struct keys *box_all(enum box_space space, enum box_dimension dimension)
{
	return &all_of[space][dimension];
}

static uint8_t family_of(enum box_space space)
{
	return space < BOX_IPV6_PORTS ? 4 : 6;
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

static bool is_empty(const struct box *box)
{
	for (int d = 0; d < BOX_DIMENSIONS; d++)
		if (!box->keys[d].count)
			return true;
	return false;
}

/* 1: written; 0: nothing matches there; -ENOMEM. */
static int box_of_l4(struct box *ret_box, const struct rule *rule, const struct l4_match *l4,
		     enum box_space space, struct arena *arena)
{
	static const struct range_list any;
	struct box box = {0};
	int r;

	if (l4 && l4->family && l4->family != family_of(space))
		return 0;
	box.keys[BOX_SRC] = addresses(rule->has_src, &rule->src, space);
	box.keys[BOX_DST] = addresses(rule->has_dst, &rule->dst, space);
	r = set_protocols(&box.keys[BOX_PROTOCOL], l4, space, arena);
	if (r < 0)
		return r;
	r = set_numbers(&box.keys[BOX_HIGH], l4 ? &l4->high : &any, box_all(space, BOX_HIGH),
			arena);
	if (r < 0)
		return r;
	r = set_numbers(&box.keys[BOX_LOW], l4 ? &l4->low : &any, box_all(space, BOX_LOW), arena);
	if (r < 0 || is_empty(&box))
		return r;
	*ret_box = box;
	return 1;
}

size_t box_max(const struct rule *rule)
{
	return rule->l4_count ? rule->l4_count : 1;
}

int box_of_rule(struct box *ret_boxes, size_t *ret_l4, const struct rule *rule,
		enum box_space space, struct arena *arena)
{
	int count = 0;

	if (space == BOX_NOT_IP) {
		for (int d = 0; d < BOX_DIMENSIONS && !rule->is_ip; d++)
			ret_boxes->keys[d] = all_of[space][d];
		if (ret_l4)
			*ret_l4 = 0;
		return !rule->is_ip;
	}
	if (rule->family && rule->family != family_of(space))
		return 0;
	for (size_t i = 0; i < box_max(rule); i++) {
		int r = box_of_l4(&ret_boxes[count], rule, rule->l4_count ? &rule->l4[i] : NULL,
				  space, arena);

		if (r < 0)
			return r;
		if (r && ret_l4)
			ret_l4[count] = i;
		count += r;
	}
	return count;
}

bool box_meets(const struct box *a, const struct box *b, struct work *work)
{
	for (int d = 0; d < BOX_DIMENSIONS; d++)
		if (!keys_meet(&a->keys[d], &b->keys[d], work))
			return false;
	return true;
}

bool box_within(const struct box *a, const struct box *b, struct work *work)
{
	for (int d = 0; d < BOX_DIMENSIONS; d++)
		if (!keys_within(&a->keys[d], &b->keys[d], work))
			return false;
	return true;
}
