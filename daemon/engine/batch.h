/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judging one change on the state that the changes before it made. Pure: documents in, a draft out.
 */
#ifndef SECG_ENGINE_BATCH_H
#define SECG_ENGINE_BATCH_H

#include <stdbool.h>

#include "engine/engine.h"
#include "engine/leases.h"

/* The state as the batch has made it so far; config and document may be those of the live generation. */
struct draft {
	const struct config *config;
	json_t *document;
	struct leases *leases; /* owned reference */
	uint64_t etag;
	uint64_t now_ms;             /* of the clock of leases */
	bool is_changed;             /* not the live state any more */
	struct config *owned_config; /* what fini frees; NULL while nothing has changed */
};

void draft_init(struct draft *draft, const struct config *config, json_t *document,
		struct leases *leases, uint64_t etag, uint64_t now_ms);
void draft_fini(struct draft *draft);

/*
 * Judges a change. Fills status, errors, is_changed, changes and etag of its result. When it is accepted
 * and changes something, *ret_next is the state that it makes (to be released with draft_fini); otherwise
 * *ret_next is left alone but for its leases, which may end later than those of the draft and take their
 * place. A dry run is judged the same way, and gives no leases alone.
 */
void batch_judge(struct change *change, const struct draft *on, struct draft *ret_next);

/* Answers a change with one error of status and code, whatever it was answered before. */
void batch_refuse(struct change *change, int status, enum error_code code, const char *message);
/* 507 where all errors are limits, 409 where all are conflicts, 400 otherwise. */
int batch_status(const struct errors *errs);
/* Empties the result, so that the change can be judged anew. */
void change_result_fini(struct change_result *result);

#endif
