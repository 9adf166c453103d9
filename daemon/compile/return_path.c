/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to what stateless rules let pass. */
#include "compile/return_path.h"

#include <errno.h>

static const struct addr_range multicast_ipv4 = {0xe0000000, 0xefffffff};
static const struct addr_range multicast_ipv6 = {(addr_t)0xff << 120, ~(addr_t)0};

/* First bytes of MACs that are not those of a group. */
/* clang-format off */
#define STATION(n)     { (n), (n) }
#define STATIONS(n)    STATION(n), STATION((n) + 2), STATION((n) + 4), STATION((n) + 6)
#define STATIONS_16(n) STATIONS(n), STATIONS((n) + 8), STATIONS((n) + 16), STATIONS((n) + 24)
/* clang-format on */
static const struct addr_range stations[] = {
	STATIONS_16(0),   STATIONS_16(32),  STATIONS_16(64),  STATIONS_16(96),
	STATIONS_16(128), STATIONS_16(160), STATIONS_16(192), STATIONS_16(224),
};

/* Ports that both Linux (32768–60999) and RFC 6335 (49152–65535) give to clients. */
static const struct addr_range client_ports = {49152, 60999};

/* Questions and their answers, in both directions: RFC 792, 950, 4443. */
static const uint8_t icmp_pairs[][2] = {{8, 0}, {13, 14}, {15, 16}, {17, 18}};
static const uint8_t icmpv6_pairs[][2] = {{128, 129}};

static bool has_key(const struct keys *keys, addr_t key, struct work *work)
{
	const struct addr_range range = {.first = key, .last = key};

	return keys_within(&(const struct keys){.ranges = &range, .count = 1}, keys, work);
}

/* Types that answer, or are answered by, those of the set; none where no type is. */
static int swap_types(struct keys *ret_types, const struct keys *types, enum box_space space,
		      struct arena *arena, struct work *work)
{
	bool is_v4 = space == BOX_IPV4_ICMP;
	size_t pairs = is_v4 ? ARRAY_SIZE(icmp_pairs) : ARRAY_SIZE(icmpv6_pairs);
	struct addr_range *ranges;
	size_t count = 0;

	ranges = arena_take(arena, 2 * pairs * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	for (addr_t type = 0; type <= UINT8_MAX; type++) {
		bool is_in = false;

		for (size_t i = 0; i < pairs; i++) {
			const uint8_t *pair = is_v4 ? icmp_pairs[i] : icmpv6_pairs[i];

			is_in |= (type == pair[0] && has_key(types, pair[1], work)) ||
				 (type == pair[1] && has_key(types, pair[0], work));
		}
		if (is_in && count && ranges[count - 1].last + 1 == type)
			ranges[count - 1].last = type;
		else if (is_in)
			ranges[count++] = (struct addr_range){.first = type, .last = type};
	}
	*ret_types = (struct keys){.ranges = ranges, .count = count};
	return 0;
}

/* A rule that names ports of one side only names those of the service: the other side is a client. */
static void swap_ports(struct box *back, const struct box *box, enum box_space space)
{
	const struct keys clients = {.ranges = &client_ports, .count = 1};
	const struct keys *all = box_all(space, BOX_HIGH);
	struct work unused = {0};
	bool has_high = !keys_within(all, &box->keys[BOX_HIGH], &unused);
	bool has_low = !keys_within(all, &box->keys[BOX_LOW], &unused);

	back->keys[BOX_HIGH] = has_high && !has_low ? clients : box->keys[BOX_LOW];
	back->keys[BOX_LOW] = has_low && !has_high ? clients : box->keys[BOX_HIGH];
}

/* Answers come from the MAC that was asked, or from any where that was a group; and go to the one that
 * asked, which is no group. */
static int swap_macs(struct box *back, const struct box *box, struct arena *arena,
		     struct work *work)
{
	const int src = BOX_BYTES + SECG_BYTE_SRC_MAC, dst = BOX_BYTES + SECG_BYTE_DST_MAC;
	const struct keys single = {.ranges = stations, .count = ARRAY_SIZE(stations)};
	bool is_single = keys_within(&box->keys[dst], &single, work);

	for (int i = 1; i < 6; i++) {
		back->keys[dst + i] = box->keys[src + i];
		back->keys[src + i] =
			is_single ? box->keys[dst + i] : *box_all(BOX_NOT_IP, src + i);
	}
	back->keys[src] = is_single ? box->keys[dst] : single;
	return keys_common(&back->keys[dst], &box->keys[src], &single, arena, work);
}

/* What the other side does as it likes: TCP flags, DSCP, fragments. */
static void free_bytes(struct box *back, enum box_space space)
{
	for (int b = SECG_BYTE_TCP_FLAGS; b <= SECG_BYTE_TRAFFIC; b++)
		back->keys[BOX_BYTES + b] = *box_all(space, BOX_BYTES + b);
}

static int swap_addresses(struct box *back, const struct box *box, enum box_space space,
			  struct arena *arena, struct work *work)
{
	const struct addr_range *multicast =
		box_space_is_ipv4(space) ? &multicast_ipv4 : &multicast_ipv6;

	back->keys[BOX_DST] = box->keys[BOX_SRC];
	return keys_without(&back->keys[BOX_SRC], &box->keys[BOX_DST],
			    &(const struct keys){.ranges = multicast, .count = 1}, arena, work);
}

/* The packets that answer those of the box. 1: there are some, 0: nobody answers, -ENOMEM. */
static int reverse(struct box *ret_box, const struct box *box, enum box_space space,
		   struct arena *arena, struct work *work)
{
	struct box back = *box;
	int r;

	back.narrow = (uint32_t)((1ull << BOX_DIMENSIONS) - 1);
	free_bytes(&back, space);
	r = swap_macs(&back, box, arena, work);
	if (r >= 0 && space != BOX_NOT_IP)
		r = swap_addresses(&back, box, space, arena, work);
	if (r < 0)
		return r;
	if (space == BOX_IPV4_ICMP || space == BOX_IPV6_ICMP)
		r = swap_types(&back.keys[BOX_HIGH], &box->keys[BOX_HIGH], space, arena, work);
	else if (space != BOX_IPV4_REST && space != BOX_IPV6_REST && space != BOX_NOT_IP)
		swap_ports(&back, box, space);
	if (r < 0)
		return r;
	*ret_box = back;
	return back.keys[BOX_SRC].count && back.keys[BOX_HIGH].count &&
	       back.keys[BOX_BYTES + SECG_BYTE_DST_MAC].count;
}

/* One box of answers. */
static int judge_box(const struct box *box, const struct ruleset *back, enum box_space space,
		     enum secg_action otherwise, struct arena *arena, struct work *work,
		     enum walk_end *ret_end)
{
	struct walk walk = {
		.set = back,
		.space = space,
		.arena = arena,
		.work = work,
		.own_acl = WALK_NO_ACL,
		.stops_at_allow = true,
		.is_end_goal = otherwise == SECG_ACTION_ALLOW,
	};
	struct ruleset_hits hits;
	int r;

	r = ruleset_find(&hits, back, space, box, 0, (uint32_t)back->spaces[space].count, arena,
			 work);
	return r < 0 ? r : walk_run(&walk, box, &hits, ret_end);
}

/* One alternative, in all spaces. One that nobody answers needs no way back. */
static int judge_l4(const struct ruleset *set, uint32_t slot, size_t l4, const struct ruleset *back,
		    enum secg_action otherwise, struct arena *arena, struct work *work,
		    enum return_path *ret_path)
{
	*ret_path = RETURN_OPEN;
	for (int space = 0; space < BOX_SPACES; space++) {
		const struct ruleset_space *s = &set->spaces[space];

		for (uint32_t i = s->first[slot]; i < s->first[slot + 1]; i++) {
			enum walk_end end;
			struct box box;
			int r;

			if (s->entries[i].l4 != l4)
				continue;
			r = reverse(&box, &s->entries[i].box, (enum box_space)space, arena, work);
			if (r == 0)
				continue;
			if (r > 0)
				r = judge_box(&box, back, (enum box_space)space, otherwise, arena,
					      work, &end);
			if (r < 0)
				return r;
			if (end != WALK_NOTHING_LEFT) {
				*ret_path = end == WALK_ARRIVED ? RETURN_OPEN : RETURN_UNDECIDED;
				return 0;
			}
			*ret_path = RETURN_CLOSED;
		}
	}
	return 0;
}

int return_judge(const struct ruleset *set, uint32_t slot, const struct ruleset *back,
		 enum secg_action otherwise, struct arena *scratch, struct work *work,
		 struct return_verdict *ret_verdict)
{
	struct return_verdict verdict = {.path = RETURN_OPEN};
	struct work own = {.limit = RETURN_RULE_WORK};
	size_t count = box_max(set->rules[slot].rule);
	int r = 0;

	arena_reset(scratch);
	for (size_t l4 = 0; r >= 0 && l4 < count && verdict.path == RETURN_OPEN; l4++) {
		verdict.l4 = l4;
		r = judge_l4(set, slot, l4, back, otherwise, scratch, &own, &verdict.path);
	}
	work->done += own.done + 1;
	if (r < 0)
		return r;
	if (work_is_over(&own))
		verdict.path = RETURN_UNDECIDED;
	*ret_verdict = verdict;
	return 0;
}
