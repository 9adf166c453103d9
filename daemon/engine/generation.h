/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generation: the desired state together with everything the data path needs to enforce it. Built
 * beside the live one, immutable once live but for the side of ports whose interface appears. Pure: the
 * commit places its blocks and flips its table.
 */
#ifndef SECG_ENGINE_GENERATION_H
#define SECG_ENGINE_GENERATION_H

#include <jansson.h>

#include "compile/ids.h"
#include "engine/block.h"
#include "model/config.h"
#include "store/store.h"

struct generation_port {
	const struct port *port; /* in the config */
	uint32_t id;
	enum port_side side;                     /* resolved, never PORT_SIDE_AUTO */
	struct block *policy[SECG_DIRECTIONS];   /* owned references; NULL: no rules */
	struct block *counters[SECG_DIRECTIONS]; /* likewise: rule words by slot */
	struct block *own[SECG_DIRECTIONS];      /* likewise: slots by rule word */
	struct block *spoof;                     /* likewise: addresses that it may use; shared */
	uint64_t changed;                        /* generation in which the policy last changed */
	bool spares_others; /* it did so in members of groups only: `cut` is not for all sessions */
	uint16_t domain;    /* of sessions: its id, or the number of its domain */
	bool is_domain_shared; /* other ports have the domain too */
	uint32_t pickup_until; /* tick; of no matter without pickup_s */
};

/* A port that is gone and the port that has its interface now. */
struct generation_handover {
	uint32_t from, to;
};

/* One per distinct list of ACLs. A list without rules has a block that is never placed. */
struct generation_policy {
	const struct acl *const *acls; /* in the config */
	size_t acl_count;
	bool is_audited;                   /* by its port */
	struct block *block;               /* owned reference */
	const struct block *compared_with; /* of the generation before; only to be compared */
	bool is_same_but_for_members;      /* as what it was compared with */
};

struct generation {
	uint64_t number;
	uint64_t etag;
	struct config *config;
	json_t *document; /* normalised */
	json_t *policies; /* as in struct store_state */
	struct ids *port_ids;
	struct ids *counter_ids;
	struct ids *domain_ids;        /* of domains by name, from SECG_MAX_PORTS on */
	struct generation_port *ports; /* by index of config->ports */
	size_t port_count;
	struct generation_policy *lists;
	size_t list_count;
	struct secg_port *table; /* by port id */
	uint32_t table_count;
	struct generation_handover *handovers;
	size_t handover_count;
	bool has_changed_policies; /* some port's policy is not the one of the generation before */
	bool has_shared_counters;  /* there were not enough for all */
	bool has_changed_numbers;  /* numbers were handed out or taken back */
};

struct generation_context {
	const struct generation
		*live; /* the one before; its policies and numbers are kept where they fit */
	uint64_t number;
	uint64_t etag;
	uint32_t counter_limit; /* numbers of rule counters are below it */
	double ticks_per_second;
	/* Side of a port by the kind of its interface; PORT_SIDE_AUTO where it has none. */
	enum port_side (*side)(const struct port *port, void *data);
	/* Tick until which a port picks up connections. NULL: 0 for all. */
	uint32_t (*pickup)(const struct port *port, uint32_t id, void *data);
	void *data;
};

/*
 * Takes `config` on success, takes another reference to `document`. Policies that are not placed yet have
 * line 0 in the table; generation_resolve fills them in. -EINVAL: *reterr says what is too large;
 * -ENOSPC: no port ids or counters are left; -ENOMEM.
 */
int generation_build(struct generation **ret_generation, struct config *config, json_t *document,
		     const struct generation_context *context, struct errors *reterr);
/* What the store had: no ports yet, but their numbers and policies. Takes the contents of `state`. */
int generation_from_store(struct generation **ret_generation, struct store_state *state);
void generation_free(struct generation *generation);
DEFINE_CLEANUP(struct generation *, generation_free);

/* Calls `each` for every block that the table refers to, again for one that is shared; stops at the first negative value. */
int generation_each_block(const struct generation *generation,
			  int (*each)(struct block *block, void *data), void *data);
/* Writes the lines of the blocks into the table. */
void generation_resolve(struct generation *generation);
/* Lets everything of a port that is being detached pass; nothing for a number that has a new port. -ENOMEM. */
int generation_release_port(struct generation *generation, uint32_t id);

/* Lends; NULL. */
const struct generation_port *generation_find_port(const struct generation *generation,
						   const char *name);
const struct generation_port *generation_find_id(const struct generation *generation, uint32_t id);

/* Borrows; valid as long as the generation. */
void generation_store_state(const struct generation *generation, struct store_state *ret_state);

/* Policies of the ports' lists, in policies.c. All lists are tried, so that every one that is too large
 * is named at once. -EINVAL, -ENOMEM. */
int generation_set_policies(struct generation *generation, const struct generation *live,
			    struct errors *reterr);
/* Addresses that ports may use, in spoof.c: fills spoof of each port, and tells the pairs that stand in its
 * table. -EINVAL, -ENOMEM. */
int generation_set_spoof(struct generation *generation, const struct generation *live,
			 struct errors *reterr);
void generation_spoof_pairs(struct secg_pair ret_pairs[SECG_PAIRS],
			    const struct generation_port *entry);
/* Rule words, in numbers.c: fills counters[] and own[] of each port. -ENOSPC, -ENOMEM. */
int generation_number_rules(struct generation *generation,
			    const struct generation_context *context);

#endif
