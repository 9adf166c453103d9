/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random policies that are valid: overlapping prefixes, groups with exceptions, services, port ranges,
 * ICMP types, ACLs with pass, in most of them also the rare fields, reject, audit and security groups, as a
 * document that the daemon accepts.
 */
#ifndef SECG_TESTS_POLICY_RANDOM_H
#define SECG_TESTS_POLICY_RANDOM_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "model/addrset.h"
#include "random.h"

struct policy_port {
	const char *name;
	const char *interface;
	const char *hook;
};

/* `rules` in all ACLs together; the ports share the ACLs and have no infrastructure rules. Aborts
 * without memory. */
json_t *policy_random(struct rng *rng, size_t rules, const struct policy_port *ports,
		      size_t port_count);

/* A MAC of the neighbourhoods from which those of rules are taken. */
void policy_mac(struct rng *rng, uint8_t ret_mac[6]);

/* An address of the neighbourhoods from which the prefixes are taken. */
addr_t policy_address(struct rng *rng, uint8_t family);

#endif
