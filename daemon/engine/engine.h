/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where desired state meets the machine: takes changes, commits generations, keeps every port guarded.
 * Called by the API and by main, on the control thread; sees no HTTP. It owns store, dp and net.
 *
 * A commit, in this order, so that a crash at any point leaves a state that the next start completes:
 *   parse and validate → compile what changed → place tables → store (durable) → flip (live)
 *   → attach and detach → answer.
 */
#ifndef SECG_ENGINE_ENGINE_H
#define SECG_ENGINE_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/error.h"
#include "dp/dp.h"
#include "model/config.h"

struct engine;
struct events; /* engine/events.h */
struct inject; /* net/inject.h */

struct engine_options {
	const char *state_directory;
	struct dp_options dp;
	/* Lent for the life of the engine; NULL: rejected packets are not answered. */
	const struct inject *inject;
};

/*
 * Opens store, data path and net, adopts what an earlier daemon left, commits the stored state and
 * guards the ports whose interfaces are there. A port that cannot be guarded is `failed`, not an error.
 */
int engine_open(struct engine **ret_engine, const struct engine_options *options,
		char message[DP_MESSAGE_SIZE]);
void engine_close(struct engine *engine);
DEFINE_CLEANUP(struct engine *, engine_close);

/* For the loop: becomes readable when engine_dispatch has link events to handle. */
int engine_fd(const struct engine *engine);
void engine_dispatch(struct engine *engine);
/* Becomes readable when engine_take_records has news of the data path: events, packets to answer. */
int engine_records_fd(const struct engine *engine);
void engine_take_records(struct engine *engine);
/* Every second: sweeps sessions, retries failed ports. */
void engine_tick(struct engine *engine);

/* ── writes ─────────────────────────────────────────────────────────────────────────────────────── */

enum change_kind {
	CHANGE_REPLACE, /* PUT /v1/config: document */
	CHANGE_MERGE,   /* PATCH /v1/config: document */
	CHANGE_SET,     /* PUT of one object: kind, name, document */
	CHANGE_DELETE,  /* DELETE of one object: kind, name */
	CHANGE_MEMBERS, /* POST of members of a group: name, document */
	CHANGE_EXPIRE,  /* the daemon itself: members whose time is over go */
};

struct change_result {
	int status;           /* HTTP: 200, 400, 404, 409, 412, 503, 507, 500 */
	struct errors errors; /* where status is not 200 */
	uint64_t generation;
	uint64_t etag;
	bool is_changed;
	uint64_t sessions_kept; /* of ports whose policy the change has changed */
	uint64_t sessions_cut;
	json_t *changes;  /* array, document_diff */
	json_t *waiting;  /* array of port names */
	json_t *failed;   /* array of port names */
	json_t *warnings; /* array of {"code","field","message"} */
};

struct change {
	enum change_kind kind;
	bool is_dry_run;
	bool has_if_match;
	uint64_t if_match; /* the ETag the writer has seen */
	enum object_kind object;
	char *name;
	json_t *document;
	struct change_result result;
	/* Called once, from engine_commit, when the result is there; the change is freed after it. */
	void (*done)(struct change *change, void *data);
	void *data;
};

struct change *change_new(void); /* zeroed; NULL without memory */
void change_free(struct change *change);
DEFINE_CLEANUP(struct change *, change_free);

/* Queues a change; takes it. The queue is bounded: -EBUSY when full, and the caller keeps it. */
int engine_submit(struct engine *engine, struct change *change);
bool engine_has_pending(const struct engine *engine);
/*
 * Commits all queued changes in order, as one generation with one fsync: each is judged on the state
 * that those before it made; one that is refused changes nothing. Then calls each `done`.
 */
void engine_commit(struct engine *engine);

/* Members of a group that have a time, and the seconds that are left of it. */
void engine_each_lease(const struct engine *engine, const char *group,
		       void (*each)(const struct prefix *prefix, double expires_s, void *data),
		       void *data);

/* ── reads ──────────────────────────────────────────────────────────────────────────────────────── */

const struct config *engine_config(const struct engine *engine); /* lends, until the next commit */
uint64_t engine_etag(const struct engine *engine);
uint64_t engine_generation(const struct engine *engine);
bool engine_is_healthy(const struct engine *engine);

enum port_state {
	PORT_WAITING, /* for its interface */
	PORT_GUARDED,
	PORT_QUARANTINED, /* guarded by a template that lets nothing through */
	PORT_AMBIGUOUS,   /* several interfaces fit its match, or several ports one interface */
	PORT_DEGRADED,    /* guarded, but not as asked */
	PORT_FAILED,      /* not guarded, though the interface is there */
};
/* Its hooks are on its interface. */
static inline bool port_state_is_attached(enum port_state state)
{
	return state == PORT_GUARDED || state == PORT_QUARANTINED || state == PORT_DEGRADED;
}
extern const char *const port_state_names[];

struct port_status {
	const char *name; /* lends, until the next commit */
	enum port_state state;
	int ifindex;                     /* 0: no interface */
	const char *interface;           /* its name, or of the one that is waited for; "": none */
	const char *port_template;       /* what it is made of; NULL: it stands in the policy */
	struct dp_attachment attachment; /* zero unless guarded or degraded */
	uint64_t generation;             /* in which its policy last changed */
	char message[DP_MESSAGE_SIZE];
};
void engine_each_port(const struct engine *engine,
		      void (*each)(const struct port_status *status, void *data), void *data);

/* The data path for status fields that need no interpretation: memory, features, session usage. */
const struct dp *engine_dp(const struct engine *engine);

/* What has happened. Lends. */
struct events *engine_events(const struct engine *engine);
/* Since the daemon started, but what was lost: since the maps were made. */
struct engine_notices {
	uint64_t lost;       /* records that found no room on their way to the daemon */
	uint64_t suppressed; /* kept back for a rate */
	uint64_t answers_sent, answers_failed, answers_skipped, answers_lost;
	uint64_t resets; /* sent at the end of sessions */
};
struct engine_notices engine_notices(const struct engine *engine);

struct engine_rule_counter {
	const char *key; /* "acl/rule" or "infra/name" */
	struct secg_counter counter;
};
struct engine_stats {
	struct engine_port_stats {
		const char *name;
		struct secg_port_counters counters;
	} * ports;
	size_t port_count;
	struct engine_rule_counter *rules; /* sorted by key, infra/ included */
	size_t rule_count;
	uint64_t reasons[SECG_REASON_COUNT];
	uint64_t infrastructure[INFRA_ROW_COUNT];
};
/* `port` NULL: all. -ENOENT: no such port. Frees with engine_stats_fini. */
int engine_stats(const struct engine *engine, const char *port, struct engine_stats *ret_stats);
void engine_stats_fini(struct engine_stats *stats);

struct session_filter {
	const char *port, *rule, *acl; /* NULL: any */
	int domain;                    /* -1: any */
	int protocol;                  /* -1: any */
	struct prefix src, dst;        /* family 0: any; of the opener */
	int sport, dport;              /* -1: any */
	const char *state;             /* "half_open" ...; NULL: any */
};
struct session_view {
	const char *port; /* lends during the callback */
	uint32_t domain;
	enum secg_direction opened;
	uint8_t protocol;
	uint8_t family;        /* 4, 6 */
	addr_t src, dst;       /* of the opener */
	uint16_t sport, dport; /* host order; 0 without ports */
	bool has_ports, has_icmp_id;
	uint16_t icmp_id;
	uint8_t icmp_type, icmp_code; /* of the query; with has_icmp_id */
	const char *state;
	const char *rule; /* "acl/rule", or NULL: no rule */
	double age_s, idle_s, expires_s;
	struct secg_counter orig, reply;
	uint64_t position;
};
/* Calls `each` for matching sessions after `cursor` (0: from the start) until it returns false. */
int engine_sessions(const struct engine *engine, const struct session_filter *filter,
		    uint64_t cursor, bool (*each)(const struct session_view *session, void *data),
		    void *data);
/* Deletes matching sessions; returns how many, or negative errno. */
int64_t engine_sessions_delete(struct engine *engine, const struct session_filter *filter);

#endif
