/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine as its own files see it. One control thread.
 *
 *   engine.c  open, close, loop        commit.c  changes → generation → store → data path
 *   change.c  the queue                batch.c   judging a change
 *   claim.c   whose an interface is    next.c    the generation that comes next
 *   flip.c    placing, going live      guard.c   ports and their interfaces
 *   follow.c  guards after a change of ports or interfaces
 *   refresh.c after link events        leftover.c  ports that resist being detached
 *   stats.c, sessions.c, trace.c  reads
 *   listen.c  what the data path tells   tell.c  what the engine tells   reject.c  answers
 *   doctor_*.c  facts and what they mean    ssh.c  the way in
 */
#ifndef SECG_ENGINE_INTERNAL_H
#define SECG_ENGINE_INTERNAL_H

#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/generation.h"
#include "engine/leases.h"
#include "engine/listen.h"
#include "engine/reject.h"
#include "net/inject.h"
#include "net/net.h"
#include "store/store.h"

#define QUEUE_MAX 1024 /* changes that wait for one commit; more are told to come again */

/* One per port of the live generation, same index. */
struct guard {
	const struct generation_port *entry; /* in the live generation */
	enum port_state state;
	int ifindex;                 /* interface it is or should be attached to; 0: none */
	char interface[IF_NAMESIZE]; /* its name, or the one that is waited for; "": some that fits */
	bool is_reported;            /* its state has been logged */
	enum port_hook hook;         /* asked for at the last attach */
	char kind[sizeof(((struct net_link *)0)->kind)];
	uint16_t type;
	uint64_t version; /* of the link */
	struct dp_attachment attachment;
	char message[DP_MESSAGE_SIZE];
	unsigned int backoff_s; /* failed: between tries */
	unsigned int wait_s;    /* failed: until the next one */
};

/* What could not be detached yet. */
struct leftover {
	uint32_t id; /* port; 0: it is attached elsewhere, only the interface is left to release */
	int ifindex; /* 0: the interface has another port by now, or is gone */
};

struct engine {
	struct store *store;
	struct dp *dp;
	struct net *net;
	struct generation *live;
	struct leases *leases;     /* members with a time, in the live configuration */
	bool is_expiry_broken;     /* some stay although their time is over */
	struct claims *claims;     /* of the live configuration, as of the last look at the links */
	struct store_state stored; /* what the store has, where that is not the live generation */
	bool has_stored;
	struct guard *guards;
	size_t guard_count;
	struct leftover *leftovers;
	size_t leftover_count;
	const struct inject *inject; /* lent; NULL: nothing is answered */
	struct answer_counts answers;
	struct listener listener;
	struct change *queue[QUEUE_MAX];
	size_t queue_count;
	size_t next_review;    /* index of the guard that is looked at next */
	bool is_unwanted_owed; /* ports of an earlier daemon resist */
	bool is_strays_owed;   /* interfaces of an earlier daemon's ports resist */
	bool is_settle_owed;   /* a flip whose grace period has not been waited for */
	bool is_store_owed;    /* the live generation is not in the store */
	bool has_link_news;    /* links have changed since the claims were made */
	bool is_claim_broken;  /* some interface does not have the port that it should have */
	bool has_removed;      /* ids in `removed` have sessions to clear away */
	bool removed[SECG_MAX_PORTS];
	bool removed_domains[SECG_MAX_PORTS]; /* from number SECG_MAX_PORTS on */
	bool is_store_broken;                 /* the last write failed */
	bool is_path_broken;                  /* the last flip failed other than for want of room */
	bool is_recount_broken;               /* sessions of ports with limits cannot be counted */
	bool is_limit_near[SECG_MAX_PORTS];   /* told that the port's sessions near their limit */
	bool is_net_broken;                   /* link events do not arrive any more */
};

/* ── flip.c ─────────────────────────────────────────────────────────────────────────────────────── */

enum flip_store {
	FLIP_STORE,       /* before it is live */
	FLIP_STORE_LATER, /* by flip_store_owed */
	FLIP_STORED,      /* the store has it */
};
/*
 * Makes `next` the live generation: places, stores, flips. On success the engine owns it and *ret_old is
 * the one before, to be freed after the guards have moved on. Negative errno: nothing has changed,
 * `message` says why. What is replaced stays in memory, and its numbers are not given away, until
 * flip_settle: a grace period takes longer than a new interface should wait.
 */
int flip_to(struct engine *engine, struct generation *next, enum flip_store how,
	    struct generation **ret_old, char message[DP_MESSAGE_SIZE]);
/* Stores what link events have changed. A store that fails makes us unhealthy, but keeps no interface
 * from being guarded. */
void flip_store_owed(struct engine *engine);
void flip_stored_fini(struct engine *engine);
/* Whether `next` has room in table memory; nothing stays placed. */
int flip_try(struct engine *engine, struct generation *next, char message[DP_MESSAGE_SIZE]);
/* Waits for the grace period of the last flip; afterwards memory and numbers are free again. */
void flip_settle(struct engine *engine);
/* Recomputes sides by the interfaces that are there, and until when those that are about to be guarded pick
 * up connections; flips when something of it changes. */
int flip_sides(struct engine *engine);

/* ── next.c ─────────────────────────────────────────────────────────────────────────────────────── */

/* Claims of a configuration, without instances, on the links that are there. */
int next_claims(struct claims **ret_claims, const struct engine *engine, struct config *config);
int next_claims_update(const struct engine *engine, struct claims *claims);
/* The interface that a port has by the claims. Lends; NULL. */
const struct net_link *next_link(const struct engine *engine, const struct claims *claims,
				 const struct port *port);
/* Why it is ambiguous. */
void claim_explain(const struct engine *engine, const struct claim *claim,
		   char ret_text[DP_MESSAGE_SIZE]);
/* By the kind of the interface; PORT_SIDE_AUTO for NULL. */
enum port_side next_side(const struct net_link *link);
/* Tick until which a port that is guarded from now on picks up connections. */
uint32_t next_pickup_end(const struct engine *engine, const struct port *port);

struct next_request {
	struct config *config; /* without instances; stays the caller's */
	json_t *document;
	const struct leases *leases;
	const struct claims *claims;
	uint64_t number;
	uint64_t etag;
};
/* As generation_build, with the instances that the claims say. */
int next_build(struct generation **ret_generation, const struct engine *engine,
	       const struct next_request *request, struct errors *reterr);

/* ── guard.c ────────────────────────────────────────────────────────────────────────────────────── */

/* Attaches to the interface that the claims say, or waits for it. `sides` below zero: its table could not
 * be made ready, so that it must not be guarded yet. */
void guard_meet(struct engine *engine, struct guard *guard, int sides);
/* In its place: the interface may have another name, the port another template. */
void guard_stay(struct engine *engine, struct guard *guard);
/* Whether guard_meet has anything to do. */
bool guard_is_apart(const struct engine *engine, const struct guard *guard);
/* Leaves the guard without an interface, whatever became of the old one. */
void guard_leave(struct engine *engine, struct guard *guard);
/* Every second: puts back hooks that are gone, looks who stands before ours, tries failed ports again, each
 * after its own backoff. */
void guards_tick(struct engine *engine);
/* The same for all ports, now. */
void guards_heal(struct engine *engine);

/* ── refresh.c ──────────────────────────────────────────────────────────────────────────────────── */

void refresh_note(enum net_event event, const struct net_link *link, void *engine);
/* Deals out the interfaces anew when links have changed, all changes at once. */
void refresh(struct engine *engine);

/* ── follow.c ───────────────────────────────────────────────────────────────────────────────────── */

/* Guards of a generation that is about to go live; made before, so that nothing can fail after. NULL: no
 * memory. */
struct guard *guards_new(const struct generation *generation);
/* Makes `guards` (taken) the guards of the live generation. Before the generation that they guarded is
 * freed. */
void guards_follow(struct engine *engine, struct guard *guards);
/* Takes every port to the interface that the claims say: hooks go over to the port that has their
 * interface now, the others are taken off, what is new is attached. */
void guards_meet(struct engine *engine);
/* Arrays of names and warnings for an answer; -ENOMEM. */
int guards_report(const struct engine *engine, struct change_result *result);
/* What guards_report would say once the generation is live. */
int guards_foresee(const struct engine *engine, const struct generation *next,
		   const struct claims *claims, struct change_result *result);

/* ── leftover.c ─────────────────────────────────────────────────────────────────────────────────── */

/* Detaches a port that is no longer wanted; one that resists is tried again every second. */
void leftover_detach(struct engine *engine, uint32_t id, int ifindex);
void leftovers_tick(struct engine *engine);
/* The interface is gone, the hooks with it. */
void leftovers_forget(struct engine *engine, int ifindex);
/* The port is about to be attached to the interface, which replaces what was left of either. */
void leftovers_replaced(struct engine *engine, uint32_t id, int ifindex);
/* They stay released in the generation that is built. -ENOMEM. */
int leftovers_release(const struct engine *engine, struct generation *next);
/* At start, before the tables drop all their packets: ports that nobody wants any more. */
void leftovers_detach_unwanted(struct engine *engine);
/* At start, once the guards are attached: interfaces renamed while no daemon ran have hooks of ports that
 * wait, or are elsewhere now. */
void leftovers_release_strays(struct engine *engine);

/* ── expiry.c ───────────────────────────────────────────────────────────────────────────────────── */

/* The clock of leases: it goes on while the machine sleeps. */
uint64_t expiry_now_ms(void);
/* Every second: members whose time is over leave their groups, by a commit of their own. */
void expiry_tick(struct engine *engine);

/* ── limits.c ───────────────────────────────────────────────────────────────────────────────────── */

/* Counts the sessions of ports with limits anew: every second, after a commit, after a deletion. */
void limits_recount(struct engine *engine);

/* ── stats.c ────────────────────────────────────────────────────────────────────────────────────── */

/* The row of each bit, by enum secg_infra. */
extern const char *const infra_bit_rows[SECG_INFRA_COUNT];

/* ── sessions.c ─────────────────────────────────────────────────────────────────────────────────── */

/* "acl/rule" of a rule word, lent; NULL: 0, or a number that nobody has. */
const char *rule_key(const struct engine *engine, uint32_t word);
/* Frees the sessions of ports in engine->removed. */
void sessions_clear_removed(struct engine *engine);

#endif
