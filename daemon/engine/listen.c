/* SPDX-License-Identifier: Apache-2.0 */
/* Records taken, watches kept. */
#include "engine/listen.h"

#include <string.h>
#include <time.h>

#include "core/log.h"
#include "engine/internal.h"
#include "engine/record.h"

#define RECORDS_AT_ONCE 4096 /* then the loop turns: requests wait no longer */
#define WATCHES_A_TICK  1024 /* looked at for what they kept back; 1 µs each */
#define QUIET_S         2    /* a watch that was used later than this tells by its next record */

/* ── open, close ────────────────────────────────────────────────────────────────────────────────── */

int listen_open(struct engine *engine)
{
	return events_new(&engine->listener.events, LISTEN_EVENTS_MAX, LISTEN_BYTES_MAX);
}

void listen_close(struct engine *engine)
{
	watches_fini(&engine->listener.watches);
	events_freep(&engine->listener.events);
}

/* What an earlier daemon left goes on counting where it is what we want too. */
static int adopt_watches(struct engine *engine)
{
	struct watches *watches = &engine->listener.watches;
	_cleanup_free_ uint32_t *keys = NULL;
	size_t count;
	int r;

	r = dp_watch_keys(engine->dp, &keys, &count);
	if (r < 0 || count == 0)
		return r;
	watches->items = calloc(count, sizeof(*watches->items));
	if (!watches->items)
		return -ENOMEM;
	watches->count = watches->room = count;
	for (size_t i = 0; i < count; i++) {
		struct dp_watch *watch = &watches->items[i].wanted;

		watch->key = keys[i];
		r = dp_watch_get(engine->dp, keys[i], &watch->watch);
		if (r < 0)
			return r;
	}
	watches_sort(watches);
	return 0;
}

int listen_start(struct engine *engine)
{
	int r = dp_events_lost(engine->dp, engine->listener.lost);

	return r < 0 ? r : adopt_watches(engine);
}

/* ── watches ────────────────────────────────────────────────────────────────────────────────────── */

static int set_watch(struct engine *engine, struct watch_item *item)
{
	const struct watch_item *old = watches_find(&engine->listener.watches, item->wanted.key);

	if (old && watches_are_same(&old->wanted, &item->wanted)) {
		item->told = old->told;
		return 0;
	}
	return dp_watch_set(engine->dp, &item->wanted);
}

static int follow(struct engine *engine)
{
	struct watches *old = &engine->listener.watches;
	_cleanup_(watches_fini) struct watches next = {0};
	int r;

	r = watches_make(&next, engine->live);
	/* first what goes, so that there is room */
	for (size_t i = 0; r == 0 && i < old->count; i++)
		if (!watches_find(&next, old->items[i].wanted.key))
			r = dp_watch_clear(engine->dp, old->items[i].wanted.key);
	for (size_t i = 0; r == 0 && i < next.count; i++)
		r = set_watch(engine, &next.items[i]);
	if (r < 0)
		return r;
	watches_fini(old);
	*old = next;
	next = (struct watches){0};
	return 0;
}

void listen_follow(struct engine *engine)
{
	struct listener *listener = &engine->listener;
	int r = follow(engine);

	if (r < 0)
		log_error("the data path does not take what is to be logged: %s", strerror(-r));
	listener->is_watch_broken = r < 0;
}

/* ── records ────────────────────────────────────────────────────────────────────────────────────── */

/* The entry by whose rate a record was told. */
static uint32_t key_of(const struct secg_event *event)
{
	if (event->kind == SECG_EVENT_REJECT)
		return SECG_WATCH_REJECT | event->port;
	if (event->kind == SECG_EVENT_DROP || event->kind == SECG_EVENT_SESSION_FULL)
		return SECG_WATCH_REASON | event->reason;
	if (event->rule & SECG_RULE_NUMBER_MASK)
		return event->rule & SECG_RULE_NUMBER_MASK;
	return SECG_WATCH_DEFAULT | (uint32_t)event->port << 1 | event->direction;
}

/* Takes out what an event of the tick has told already. */
static uint32_t suppressed_since(struct listener *listener, const struct secg_event *event)
{
	struct watch_item *item = watches_find(&listener->watches, key_of(event));
	uint32_t told = item ? item->told : 0;

	if (told > event->suppressed)
		told = event->suppressed;
	if (item)
		item->told -= told;
	return event->suppressed - told;
}

struct reading {
	struct engine *engine;
	uint64_t now_ns;    /* CLOCK_MONOTONIC */
	uint64_t offset_ns; /* from it to the wall clock */
};

/* Why a packet that passed by `audit` would have been dropped. The rule may have gone meanwhile. */
static enum secg_reason audited_reason(const struct engine *engine, const char *key)
{
	_cleanup_free_ char *name = NULL;
	const struct acl *acl;
	const char *id;

	if (!key)
		return SECG_REASON_DEFAULT;
	id = strchr(key, '/') + 1;
	name = strndup(key, (size_t)(id - 1 - key));
	acl = name ? config_find_acl(engine->live->config, name) : NULL;
	for (size_t i = 0; acl && i < acl->rule_count; i++)
		if (!strcmp(acl->rules[i].id, id))
			return acl->rules[i].action == SECG_ACTION_REJECT ? SECG_REASON_RULE_REJECT
									  : SECG_REASON_RULE_DROP;
	return SECG_REASON_NONE;
}

static void take_record(const struct secg_event *record, void *data)
{
	const struct reading *reading = data;
	struct engine *engine = reading->engine;
	struct listener *listener = &engine->listener;
	const struct generation_port *entry = generation_find_id(engine->live, record->port);
	struct secg_event event = *record;
	const char *rule = rule_key(engine, record->rule);
	int type = record_type(record);

	event.suppressed = suppressed_since(listener, record);
	listener->suppressed += event.suppressed;
	if (record->kind == SECG_EVENT_REJECT)
		reject_answer(engine, (const struct secg_event_reject *)record, reading->now_ns);
	if (record->kind == SECG_EVENT_AUDIT)
		event.reason = (uint8_t)audited_reason(engine, rule);
	if (type >= 0)
		events_add(listener->events, (enum event_type)type,
			   record->time_ns + reading->offset_ns,
			   record_fields(&event, entry ? entry->port->name : NULL, rule));
}

int engine_records_fd(const struct engine *engine)
{
	return dp_events_fd(engine->dp);
}

void engine_take_records(struct engine *engine)
{
	struct reading reading = {.engine = engine};
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	reading.now_ns = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
	reading.offset_ns = tell_now() - reading.now_ns;
	dp_events_drain(engine->dp, RECORDS_AT_ONCE, take_record, &reading);
}

/* ── lost and kept back ─────────────────────────────────────────────────────────────────────────── */

/* A reject that is lost is a packet without an answer, no event. */
static void tell_full_ring(struct engine *engine)
{
	struct listener *listener = &engine->listener;
	uint64_t lost[SECG_EVENT_KINDS], count = 0;

	if (dp_events_lost(engine->dp, lost) < 0)
		return;
	for (int kind = 0; kind < SECG_EVENT_KINDS; kind++)
		if (kind != SECG_EVENT_REJECT)
			count += lost[kind] - listener->lost[kind];
	memcpy(listener->lost, lost, sizeof(lost));
	if (count)
		tell_lost(
			engine, count,
			json_pack("{s:s}", "message",
				  "packets came faster than the daemon could take their records"));
}

/* What an entry of the watches is about. */
static json_t *watch_fields(const struct engine *engine, uint32_t key)
{
	uint32_t number = key & ~(SECG_WATCH_DEFAULT | SECG_WATCH_REASON | SECG_WATCH_REJECT);
	const struct generation_port *entry;
	const char *name;
	json_t *fields = json_pack("{s:s}", "message", "more than the rate allows");

	if (key & SECG_WATCH_REASON) {
		json_object_set_new(fields, "reason", json_string(record_reason(number)));
		return fields;
	}
	if (key & (SECG_WATCH_DEFAULT | SECG_WATCH_REJECT)) {
		entry = generation_find_id(engine->live,
					   key & SECG_WATCH_DEFAULT ? number >> 1 : number);
		if (entry)
			json_object_set_new(fields, "port", json_string(entry->port->name));
		if (key & SECG_WATCH_DEFAULT) {
			json_object_set_new(fields, "direction",
					    json_string(number & 1 ? "to" : "from"));
			json_object_set_new(fields, "reason",
					    json_string(record_reason(SECG_REASON_DEFAULT)));
		}
		return fields;
	}
	name = ids_name(engine->live->counter_ids, number);
	if (name && name[0] != '\n')
		json_object_set_new(fields, "port",
				    json_stringn(name, (size_t)(strchr(name, '\n') - name)));
	record_add_rule(fields, rule_key(engine, number));
	return fields;
}

/* After a burst there may be no record for long that could tell how many were kept back. */
static void tell_kept_back(struct engine *engine, struct watch_item *item)
{
	struct listener *listener = &engine->listener;
	double quiet = QUIET_S * dp_ticks_per_second(engine->dp);
	struct secg_watch watch;
	uint32_t count;

	if (dp_watch_get(engine->dp, item->wanted.key, &watch) < 0)
		return;
	if (watch.suppressed < item->told)
		item->told = 0; /* its last record did not come through */
	count = watch.suppressed - item->told;
	if (!count || (int32_t)(dp_now(engine->dp) - watch.tick) < quiet)
		return;
	item->told = watch.suppressed;
	listener->suppressed += count;
	/* packets that were not answered are no events */
	if (!(item->wanted.key & SECG_WATCH_REJECT))
		tell_lost(engine, count, watch_fields(engine, item->wanted.key));
}

/* ── sessions ───────────────────────────────────────────────────────────────────────────────────── */

static void tell_filling(struct engine *engine)
{
	uint64_t used, max;

	dp_sessions_swept(engine->dp, &used, &max);
	tell_session_80(engine, NULL, &engine->listener.is_full, used, max);
}

void listen_tick(struct engine *engine)
{
	struct listener *listener = &engine->listener;
	size_t count = listener->watches.count;

	engine_take_records(engine);
	tell_full_ring(engine);
	for (size_t i = 0; i < count && i < WATCHES_A_TICK; i++)
		tell_kept_back(engine, &listener->watches.items[listener->next_watch++ % count]);
	tell_filling(engine);
	if (listener->is_watch_broken)
		listen_follow(engine);
}

/* ── reads ──────────────────────────────────────────────────────────────────────────────────────── */

struct events *engine_events(const struct engine *engine)
{
	return engine->listener.events;
}

struct engine_notices engine_notices(const struct engine *engine)
{
	struct engine_notices notices = {
		.suppressed = engine->listener.suppressed,
		.answers_sent = engine->answers.sent,
		.answers_failed = engine->answers.failed,
		.answers_skipped = engine->answers.skipped,
		.resets = engine->answers.resets,
	};
	uint64_t lost[SECG_EVENT_KINDS];

	if (dp_events_lost(engine->dp, lost) < 0)
		return notices;
	for (int kind = 0; kind < SECG_EVENT_KINDS; kind++)
		*(kind == SECG_EVENT_REJECT ? &notices.answers_lost : &notices.lost) += lost[kind];
	return notices;
}
