/* SPDX-License-Identifier: Apache-2.0 */
/* Random packets. */
#include "packet_random.h"

#include <netinet/in.h>

#include "policy_random.h"

#define PROTOCOL_PLAIN 253 /* for experiments: nothing follows it that anybody reads */

/* On a border of a range, just outside, or at an end of the key space. */
static addr_t border(struct rng *rng, addr_t first, addr_t last, addr_t max)
{
	switch (rng_below(rng, 16)) {
	case 0:
		return (first - 1) & max;
	case 1:
		return (last + 1) & max;
	case 2:
		return rng_chance(rng, 50) ? 0 : max;
	case 3:
	case 4:
	case 5:
	case 6:
		return last;
	case 7:
	case 8:
		return first + (last - first) / 2;
	default:
		return first;
	}
}

static addr_t pick_address(struct rng *rng, bool is_given, const struct addrset *set, bool is_v6)
{
	const struct addr_list *list = is_v6 ? &set->v6 : &set->v4;
	addr_t max = is_v6 ? ~(addr_t)0 : UINT32_MAX;
	const struct addr_range *range;

	if (!is_given || !list->count)
		return policy_address(rng, is_v6 ? 6 : 4);
	range = &list->ranges[rng_below(rng, (uint32_t)list->count)];
	return border(rng, range->first, range->last, max);
}

static uint16_t pick_number(struct rng *rng, const struct range_list *list, uint32_t max)
{
	const struct range *range;

	if (!list->count)
		return (uint16_t)(rng_chance(rng, 50) ? rng_next(rng) & max : rng_below(rng, 16));
	range = &list->ranges[rng_below(rng, (uint32_t)list->count)];
	return (uint16_t)border(rng, range->first, range->last, max);
}

static uint8_t pick_protocol(struct rng *rng, const struct l4_match *l4)
{
	uint8_t protocol = (uint8_t)rng_next(rng);

	for (int i = 0; i < 256; i++, protocol++)
		if (l4->protocols[protocol / 64] >> protocol % 64 & 1)
			break;
	return protocol;
}

/* Headers that the parser would walk through are not the packet's protocol. */
static bool is_extension(uint8_t protocol)
{
	static const uint8_t extensions[] = {0, 43, 44, 51, 60, 135, 139, 140};

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++)
		if (protocol == extensions[i])
			return true;
	return false;
}

static void pick_l4(struct rng *rng, const struct rule *rule, struct compile_packet *packet)
{
	static const uint8_t usual[] = {IPPROTO_TCP,  IPPROTO_TCP, IPPROTO_UDP,  IPPROTO_UDP,
					IPPROTO_ICMP, IPPROTO_GRE, IPPROTO_SCTP, PROTOCOL_PLAIN};
	static const struct l4_match any;
	const struct l4_match *l4 =
		rule->l4_count ? &rule->l4[rng_below(rng, (uint32_t)rule->l4_count)] : &any;
	uint8_t family;

	if (l4->family)
		packet->family = l4->family == 4 ? SECG_FAMILY_IPV4 : SECG_FAMILY_IPV6;
	family = packet->family == SECG_FAMILY_IPV4 ? 4 : 6;
	packet->protocol = l4->has_protocols ? pick_protocol(rng, l4) : usual[rng_below(rng, 8)];
	if (packet->protocol == IPPROTO_ICMP && family == 6 && rng_chance(rng, 90))
		packet->protocol = IPPROTO_ICMPV6;
	packet->has_l4 =
		wire_has_ports(packet->protocol) || wire_has_icmp(family, packet->protocol);
	if (packet->has_l4) {
		uint32_t max = wire_has_ports(packet->protocol) ? UINT16_MAX : UINT8_MAX;

		packet->high = pick_number(rng, &l4->high, max);
		packet->low = pick_number(rng, &l4->low, max);
	}
}

/* Moves one dimension away from where the rule wants it. */
static void perturb(struct rng *rng, struct compile_packet *packet)
{
	uint8_t family = packet->family == SECG_FAMILY_IPV4 ? 4 : 6;
	uint16_t mask = wire_has_ports(packet->protocol) ? UINT16_MAX : UINT8_MAX;

	switch (rng_below(rng, 5)) {
	case 0:
		packet->src = policy_address(rng, family);
		break;
	case 1:
		packet->dst = policy_address(rng, family);
		break;
	case 2:
		packet->protocol = packet->protocol == IPPROTO_TCP ? IPPROTO_UDP : IPPROTO_TCP;
		packet->has_l4 = true;
		break;
	case 3:
		packet->high = packet->has_l4 ? (packet->high + 1) & mask : 0;
		break;
	default:
		packet->low = packet->has_l4 ? (packet->low - 1) & mask : 0;
	}
}

static void wire_fill(struct rng *rng, const struct compile_packet *packet, struct wire *wire)
{
	static const uint8_t flags[] = {WIRE_TCP_SYN, WIRE_TCP_SYN, WIRE_TCP_ACK,
					WIRE_TCP_SYN | WIRE_TCP_ACK};

	wire->family = packet->family == SECG_FAMILY_IPV4 ? 4 : 6;
	wire->has_options = rng_chance(rng, 10);
	wire->src = packet->src;
	wire->dst = packet->dst;
	wire->protocol = packet->protocol;
	wire->sport = packet->high;
	wire->dport = packet->low;
	wire->icmp_type = (uint8_t)packet->high;
	wire->icmp_code = (uint8_t)packet->low;
	wire->tcp_flags = flags[rng_below(rng, 4)];
}

void packet_random(struct rng *rng, const struct port_list *list, struct compile_packet *ret_packet,
		   struct wire *ret_wire)
{
	static const uint16_t ethertypes[] = {0x0806, 0x88cc, 0x8809, 0x0042, 0x9000};
	static const struct rule none;
	const struct rule *rule = &none;
	bool is_v6;

	*ret_packet = (struct compile_packet){.family = SECG_FAMILY_OTHER};
	*ret_wire = (struct wire){
		.src_mac = {2, 0, 0, 0, 0, 1},
		.dst_mac = {2, 0, 0, 0, 0, 2},
		.tags = rng_chance(rng, 10) ? 1 + rng_below(rng, 2) : 0,
		.ethertype = ethertypes[rng_below(rng, ARRAY_SIZE(ethertypes))],
		.min_size = 60,
	};
	if (list->acl_count && rng_chance(rng, 95)) {
		const struct acl *acl = list->acls[rng_below(rng, (uint32_t)list->acl_count)];

		if (acl->rule_count)
			rule = &acl->rules[rng_chance(rng, 15)
						   ? 0 /* where pass goes on */
						   : rng_below(rng, (uint32_t)acl->rule_count)];
	}
	if (rng_chance(rng, 2))
		return;
	is_v6 = rule->family ? rule->family == 6 : rng_chance(rng, 50);
	ret_packet->family = is_v6 ? SECG_FAMILY_IPV6 : SECG_FAMILY_IPV4;
	pick_l4(rng, rule, ret_packet);
	is_v6 = ret_packet->family == SECG_FAMILY_IPV6;
	ret_packet->src = pick_address(rng, rule->has_src, &rule->src, is_v6);
	ret_packet->dst = pick_address(rng, rule->has_dst, &rule->dst, is_v6);
	if (rng_chance(rng, 25))
		perturb(rng, ret_packet);
	if (is_v6 && is_extension(ret_packet->protocol))
		ret_packet->protocol = PROTOCOL_PLAIN;
	wire_fill(rng, ret_packet, ret_wire);
}
