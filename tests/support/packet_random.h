/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random packets that lean towards the borders of the rules, where searches go wrong: made from a rule's
 * own fields, then with one dimension moved.
 */
#ifndef SECG_TESTS_PACKET_RANDOM_H
#define SECG_TESTS_PACKET_RANDOM_H

#include "compile/policy.h"
#include "random.h"
#include "wire.h"

/* A packet as rules see it, and a frame that shows it. The frame is never malformed. */
void packet_random(struct rng *rng, const struct port_list *list, struct compile_packet *ret_packet,
		   struct wire *ret_wire);

#endif
