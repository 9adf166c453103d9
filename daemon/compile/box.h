/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule matches, as products of sets. Packets fall into spaces that have nothing in common: family,
 * and within it TCP, others that show ports, ICMP of the family, and all other protocols. In each space
 * every product of sets is made of packets that the parser really tells apart, so what is proven about
 * products holds for packets.
 */
#ifndef SECG_COMPILE_BOX_H
#define SECG_COMPILE_BOX_H

#include "compile/keys.h"
#include "model/config.h"

enum box_space {
	BOX_IPV4_TCP,
	BOX_IPV4_PORTS,
	BOX_IPV4_ICMP,
	BOX_IPV4_REST,
	BOX_IPV6_TCP,
	BOX_IPV6_PORTS,
	BOX_IPV6_ICMP,
	BOX_IPV6_REST,
	BOX_NOT_IP,
	BOX_SPACES,
};

enum box_dimension {
	BOX_SRC,
	BOX_DST,
	BOX_PROTOCOL,
	BOX_HIGH, /* source port or ICMP type */
	BOX_LOW,  /* destination port or ICMP code */
	BOX_VLAN,
	BOX_ETHERTYPE, /* of frames that are not IP */
	BOX_ETHERNET,  /* 1: the frame has an Ethernet header */
	BOX_BYTES,     /* one for each of enum secg_byte */
	BOX_DIMENSIONS = BOX_BYTES + SECG_BYTE_COUNT,
};

struct box {
	struct keys keys[BOX_DIMENSIONS]; /* each has at least one key */
	uint32_t narrow; /* mask of dimensions that may lack some key of the space */
};
_Static_assert(BOX_DIMENSIONS <= 32, "dimensions fit the mask");

/* All keys of a dimension of a space. */
const struct keys *box_all(enum box_space space, enum box_dimension dimension);
static inline bool box_space_is_ipv4(enum box_space space)
{
	return space < BOX_IPV6_TCP;
}

/* Most boxes that a rule can have in one space. */
size_t box_max(const struct rule *rule);
/* Writes the boxes of a rule in a space, by its alternatives; room for box_max. `ret_l4` gets the index of
 * the alternative of each, and may be NULL. Returns how many, or -ENOMEM. */
int box_of_rule(struct box *ret_boxes, size_t *ret_l4, const struct rule *rule,
		enum box_space space, struct arena *arena);

bool box_meets(const struct box *a, const struct box *b, struct work *work);
/* a ⊆ b */
bool box_within(const struct box *a, const struct box *b, struct work *work);

#endif
