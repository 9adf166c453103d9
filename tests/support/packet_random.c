/* SPDX-License-Identifier: Apache-2.0 */
/* Random packets. */
#include "packet_random.h"

#include <netinet/in.h>
#include <string.h>

#include "policy_random.h"

#define PROTOCOL_PLAIN 253 /* for experiments: nothing follows it that anybody reads */
#define PROTOCOL_LITE  136

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

static void pick_mac(struct rng *rng, const struct mac_list *list, uint8_t ret_mac[6])
{
	const struct mac_match *mac;

	policy_mac(rng, ret_mac);
	if (!list->count || rng_chance(rng, 10))
		return;
	mac = &list->macs[rng_below(rng, (uint32_t)list->count)];
	for (int i = 0; i < 6; i++)
		ret_mac[i] = (uint8_t)((ret_mac[i] & ~mac->mask[i]) | mac->value[i]);
	if (rng_chance(rng, 15))
		ret_mac[rng_below(rng, 6)] ^= (uint8_t)(1u << rng_below(rng, 8));
	/* Who sends is no group. */
	ret_mac[0] &= 0xfe;
}

static void pick_l2(struct rng *rng, const struct rule *rule, struct compile_packet *packet)
{
	packet->has_ethernet = true;
	pick_mac(rng, &rule->l2.src, packet->src_mac);
	pick_mac(rng, &rule->l2.dst, packet->dst_mac);
	if (rule->l2.vlans.count)
		packet->vlan = pick_number(rng, &rule->l2.vlans, 4095);
	else if (rng_chance(rng, 10))
		packet->vlan = (uint16_t)rng_below(rng, 8);
}

/* Only flags that a session can begin with or go on with. */
static uint8_t pick_flags(struct rng *rng, const struct rule *rule)
{
	static const uint8_t sane[] = {0x02, 0x02, 0x10, 0x12, 0x18, 0x11, 0x04, 0x14, 0xc2, 0x30};
	uint8_t flags = sane[rng_below(rng, ARRAY_SIZE(sane))];

	for (int i = 0; i < 20 && (flags & rule->tcp_flags_mask) != rule->tcp_flags; i++)
		flags = sane[rng_below(rng, ARRAY_SIZE(sane))];
	return flags;
}

static void pick_header(struct rng *rng, const struct rule *rule, struct compile_packet *packet)
{
	uint8_t dscp = (uint8_t)rng_below(rng, 64);

	for (int i = 0; i < 64 && rule->dscp && !(rule->dscp >> dscp & 1); i++)
		dscp = (dscp + 1) % 64;
	if (rng_chance(rng, 10))
		dscp = (uint8_t)rng_below(rng, 64);
	packet->traffic = dscp;
	if (rule->fragment >= 0 ? (rule->fragment > 0) != rng_chance(rng, 10) : rng_chance(rng, 4))
		packet->traffic |= SECG_TRAFFIC_FRAGMENT;
	packet->tcp_flags = pick_flags(rng, rule);
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
	static const uint8_t zeros[8];
	bool has_odd_header = wire_has_ports(packet->protocol) && packet->protocol != IPPROTO_UDP &&
			      packet->protocol != PROTOCOL_LITE;

	wire->family = packet->family == SECG_FAMILY_IPV4 ? 4 : 6;
	wire->has_options = rng_chance(rng, 10);
	wire->src = packet->src;
	wire->dst = packet->dst;
	wire->protocol = packet->protocol;
	wire->sport = packet->high;
	wire->dport = packet->low;
	wire->icmp_type = (uint8_t)packet->high;
	wire->icmp_code = (uint8_t)packet->low;
	wire->tcp_flags = packet->tcp_flags;
	wire->dscp = packet->traffic & (SECG_TRAFFIC_FRAGMENT - 1);
	wire->is_first_fragment = packet->traffic & SECG_TRAFFIC_FRAGMENT;
	if (!wire->is_first_fragment)
		return;
	wire->payload = zeros;
	/* Headers of 20 and 12 bytes, or of 8 and none. */
	wire->payload_size = has_odd_header ? 4 : 8;
}

static void wire_frame(struct rng *rng, const struct compile_packet *packet, struct wire *wire)
{
	memcpy(wire->src_mac, packet->src_mac, sizeof(wire->src_mac));
	memcpy(wire->dst_mac, packet->dst_mac, sizeof(wire->dst_mac));
	wire->vlan = packet->vlan;
	wire->tags = packet->vlan ? 1 + rng_chance(rng, 30) : rng_chance(rng, 3);
	wire->ethertype = packet->ethertype;
}

void packet_random(struct rng *rng, const struct port_list *list, struct compile_packet *ret_packet,
		   struct wire *ret_wire)
{
	static const uint16_t ethertypes[] = {0x0806, 0x88cc, 0x8809, 0x0042, 0x9000, 0x88b5};
	static const struct rule none = {.fragment = -1};
	const struct rule *rule = &none;
	bool is_v6;

	*ret_packet = (struct compile_packet){
		.family = SECG_FAMILY_OTHER,
		.ethertype = ethertypes[rng_below(rng, ARRAY_SIZE(ethertypes))],
	};
	*ret_wire = (struct wire){.min_size = 60};
	if (list->acl_count && rng_chance(rng, 95)) {
		const struct acl *acl = list->acls[rng_below(rng, (uint32_t)list->acl_count)];

		if (acl->rule_count)
			rule = &acl->rules[rng_chance(rng, 15)
						   ? 0 /* where pass goes on */
						   : rng_below(rng, (uint32_t)acl->rule_count)];
	}
	pick_l2(rng, rule, ret_packet);
	wire_frame(rng, ret_packet, ret_wire);
	if (rng_chance(rng, rule->is_ip || !rule->l2.ethertypes.count ? 2 : 80))
		return;
	ret_packet->ethertype = 0;
	is_v6 = rule->family ? rule->family == 6 : rng_chance(rng, 50);
	ret_packet->family = is_v6 ? SECG_FAMILY_IPV6 : SECG_FAMILY_IPV4;
	pick_l4(rng, rule, ret_packet);
	is_v6 = ret_packet->family == SECG_FAMILY_IPV6;
	ret_packet->src = pick_address(rng, rule->has_src, &rule->src, is_v6);
	ret_packet->dst = pick_address(rng, rule->has_dst, &rule->dst, is_v6);
	pick_header(rng, rule, ret_packet);
	if (rng_chance(rng, 25))
		perturb(rng, ret_packet);
	if (is_v6 && is_extension(ret_packet->protocol))
		ret_packet->protocol = PROTOCOL_PLAIN;
	wire_fill(rng, ret_packet, ret_wire);
}
