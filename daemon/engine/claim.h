/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which interface belongs to which port, and which template to an interface that no port claims. Pure:
 * ports, templates and what is known of the interfaces in; claims and instances out.
 *
 * A port with `interface` has the interface of that name. Every other interface goes to the port whose
 * `match` fits best (match_compare). A port that is the best of several interfaces, or as good for one as
 * another port, is ambiguous and has none. What is left gets the best template; what nobody has because
 * of an ambiguous port only one that is a quarantine.
 */
#ifndef SECG_ENGINE_CLAIM_H
#define SECG_ENGINE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/config.h"
#include "model/match.h"

struct claim_link {
	struct interface_facts facts;
	int ifindex;
	uint64_t version; /* as in struct net_link */
	/* Taken only by name: the loopback, devices of the daemon, what cannot be guarded. */
	bool is_reserved;
};

enum claim_state {
	CLAIM_NONE, /* the interface is not there */
	CLAIM_ONE,
	CLAIM_AMBIGUOUS,
};

struct claim {
	enum claim_state state;
	int ifindex;              /* 0: none; ambiguous: of one that fits */
	int other;                /* ambiguous: of another that fits as well; 0 */
	const struct port *rival; /* ambiguous: a port whose match is as good; NULL */
};

struct claims;

/* For a configuration without instances, of which it keeps a reference. */
int claims_new(struct claims **ret_claims, struct config *config);
void claims_free(struct claims *claims);
DEFINE_CLEANUP(struct claims *, claims_free);

/*
 * Judges all links anew, in the order of their ifindex; one whose version is known costs nothing.
 * -ENOMEM: the claims are as before.
 */
int claims_update(struct claims *claims, const struct claim_link *links, size_t count);
/* Lends. */
struct config *claims_config(const struct claims *claims);
/* What the last update has found for a port of the configuration or of one that has its instances. */
struct claim claims_find(const struct claims *claims, const struct port *port);
/* The instances that the last update has found. Lends, until the next. */
struct config_runtime claims_runtime(const struct claims *claims);
/* Some match goes by what the kernel does not always tell of: alias or alternative names. */
bool claims_need_look(const struct claims *claims);
/* Their templates declare addresses. */
bool claims_have_members(const struct claims *claims);
/* Interfaces with a template for which there is no port number left, and the first of them. */
size_t claims_left_over(const struct claims *claims, const char **ret_interface);

#endif
