/* SPDX-License-Identifier: Apache-2.0 */
/* Changes as they wait for the next commit. */
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
