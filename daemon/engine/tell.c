/* SPDX-License-Identifier: Apache-2.0 */
/* Events that the engine raises itself. */
#include <time.h>

#include "engine/internal.h"

/* A table or limit is told to fill up at the first, and once more after it has been below the second. */
#define FULL_PERCENT     80
#define NOT_FULL_PERCENT 75

uint64_t tell_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void add(struct engine *engine, enum event_type type, json_t *fields)
{
	events_add(engine->listener.events, type, tell_now(), fields);
}

void tell_commit(struct engine *engine)
{
	add(engine, EVENT_COMMIT,
	    json_pack("{s:I, s:I}", "generation", (json_int_t)engine->live->number, "etag",
		      (json_int_t)engine->live->etag));
}

void tell_port_state(struct engine *engine, const char *port, const char *state,
		     const char *message)
{
	json_t *fields = json_pack("{s:s, s:s}", "port", port, "state", state);

	if (message[0])
		json_object_set_new(fields, "message", json_string(message));
	add(engine, EVENT_PORT_STATE, fields);
}

void tell_session_80(struct engine *engine, const char *port, bool *is_full, uint64_t used,
		     uint64_t max)
{
	json_t *fields;

	if (used * 100 < max * NOT_FULL_PERCENT)
		*is_full = false;
	if (*is_full || !max || used * 100 < max * FULL_PERCENT)
		return;
	*is_full = true;
	fields = json_pack("{s:I, s:I}", "used", (json_int_t)used, "max", (json_int_t)max);
	if (port)
		json_object_set_new(fields, "port", json_string(port));
	add(engine, EVENT_SESSION_80, fields);
}

void tell_lost(struct engine *engine, uint64_t count, json_t *fields)
{
	json_object_set_new(fields, "count", json_integer((json_int_t)count));
	add(engine, EVENT_LOST, fields);
}
