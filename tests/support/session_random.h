/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random ports, rules and packets for the reference of sessions, near enough to each other that flows
 * come about, are answered, end and are mistaken for one another. The same seed gives the same.
 */
#ifndef SECG_TESTS_SESSION_RANDOM_H
#define SECG_TESTS_SESSION_RANDOM_H

#include <secg/policy.h> /* before packets.h, which has macros of the same names */

#include "packets.h"
#include "random.h"
#include "session_reference.h"

#define SESSION_DOCUMENT_MAX 16384
#define SESSION_LAYERS_MAX   8

struct session_random {
	struct rng rng;
	uint32_t births;
	bool is_shared; /* p1 and p2 are of one domain */
};

/* A world at its beginning: no flows, ports with lists. */
void session_random_start(struct session_random *random, struct ref *ret_ref, uint64_t seed);
/* Changes something of what the ports say. */
void session_random_change(struct session_random *random, struct ref *ref);
/* What the ports say, as a document of the daemon. */
void session_random_document(const struct session_random *random, const struct ref *ref,
			     char ret_text[SESSION_DOCUMENT_MAX]);

struct session_step {
	int port;
	enum secg_direction direction;
	struct ref_packet packet;
	struct ref_packet inner; /* packet.inner, where it has one */
};

void session_random_step(struct session_random *random, const struct ref *ref,
			 struct session_step *ret_step);
/* The frame of a packet. */
void session_layers(const struct ref_packet *packet, struct layer ret_layers[SESSION_LAYERS_MAX]);
const char *session_host(uint8_t family, int host);

#endif
