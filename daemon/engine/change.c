/* SPDX-License-Identifier: Apache-2.0 */
/* Changes as they wait for the next commit. */
#include <string.h>
#include <time.h>

#include "engine/batch.h"
#include "engine/internal.h"

struct change *change_new(void)
{
	return calloc(1, sizeof(struct change));
}

void change_result_fini(struct change_result *result)
{
	errors_fini(&result->errors);
	json_decref(result->changes);
	json_decref(result->waiting);
	json_decref(result->failed);
	json_decref(result->warnings);
	*result = (struct change_result){0};
}

void change_free(struct change *change)
{
	if (!change)
		return;
	change_result_fini(&change->result);
	json_decref(change->document);
	free(change->name);
	free(change);
}

int engine_submit(struct engine *engine, struct change *change)
{
	if (engine->queue_count == QUEUE_MAX)
		return -EBUSY;
	engine->queue[engine->queue_count++] = change;
	return 0;
}

bool engine_has_pending(const struct engine *engine)
{
	return engine->queue_count > 0;
}

/* ── members with a time ────────────────────────────────────────────────────────────────────────── */

uint64_t change_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Without room or memory the next second tries again. Others that wait are committed along. */
void change_expired(struct engine *engine)
{
	_cleanup_(change_freep) struct change *change = NULL;

	if (!leases_has_ended(engine->leases, change_now_ms()))
		return;
	change = change_new();
	if (!change)
		return;
	change->kind = CHANGE_EXPIRE;
	if (engine_submit(engine, change) < 0)
		return;
	TAKE_PTR(change);
	engine_commit(engine);
}

void engine_each_lease(const struct engine *engine, const char *group,
		       void (*each)(const struct prefix *prefix, double expires_s, void *data),
		       void *data)
{
	uint64_t now = change_now_ms();
	size_t count;
	const struct config_member *members = leases_members(engine->leases, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t end = leases_end_ms(engine->leases, i);

		if (strcmp(members[i].group, group) == 0)
			each(&members[i].prefix, end > now ? (double)(end - now) / 1000 : 0, data);
	}
}
