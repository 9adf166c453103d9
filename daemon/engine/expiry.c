/* SPDX-License-Identifier: Apache-2.0 */
/* The time of members that have one: its clock, and its end. */
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "engine/internal.h"

uint64_t expiry_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* One that does not go is a hole: it is said, once, and tried again every second. */
static void expired(struct change *change, void *data)
{
	struct engine *engine = data;
	const struct change_result *result = &change->result;
	bool is_broken = result->status != 200;

	if (is_broken && !engine->is_expiry_broken)
		log_error("members stay in their groups although their time is over: %s",
			  result->errors.count ? result->errors.items[0].message
					       : strerror(ENOMEM));
	engine->is_expiry_broken = is_broken;
}

/* Without room or memory the next second tries again. Others that wait are committed along. */
void expiry_tick(struct engine *engine)
{
	_cleanup_(change_freep) struct change *change = NULL;

	if (!leases_has_ended(engine->leases, expiry_now_ms()))
		return;
	change = change_new();
	if (!change)
		return;
	change->kind = CHANGE_EXPIRE;
	change->done = expired;
	change->data = engine;
	if (engine_submit(engine, change) < 0)
		return;
	TAKE_PTR(change);
	engine_commit(engine);
}

void engine_each_lease(const struct engine *engine, const char *group,
		       void (*each)(const struct prefix *prefix, double expires_s, void *data),
		       void *data)
{
	uint64_t now = expiry_now_ms();
	size_t count;
	const struct config_member *members = leases_members(engine->leases, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t end = leases_end_ms(engine->leases, i);

		if (strcmp(members[i].group, group) == 0)
			each(&members[i].prefix, end > now ? (double)(end - now) / 1000 : 0, data);
	}
}
