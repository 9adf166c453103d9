/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of changes becomes one generation with one fsync, and every change its answer.
 */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "engine/batch.h"
#include "engine/internal.h"
#include "engine/recheck.h"
#include "engine/ssh.h"

struct batch {
	struct engine *engine;
	struct change **changes;
	size_t count;
	struct draft draft;
	struct recheck_counts sessions; /* of the whole batch: its changes share a generation */
	size_t first_changed; /* changes from this one on are judged on a state that is not live; count: none */
};

static void batch_fini(struct batch *batch)
{
	draft_fini(&batch->draft);
}

/* A generation, and the claims and leases it was built for. */
struct next {
	struct generation *generation;
	struct claims *claims;
	struct leases *leases;
};

static void next_fini(struct next *next)
{
	generation_freep(&next->generation);
	claims_freep(&next->claims);
	leases_unrefp(&next->leases);
}

static int build_next(struct engine *engine, const struct draft *draft, struct next *next,
		      struct errors *reterr)
{
	struct next_request request = {
		.config = draft->owned_config,
		.document = draft->document,
		.leases = draft->leases,
		.number = engine->live->number + 1,
		.etag = draft->etag,
	};
	int r = next_claims(&next->claims, engine, draft->owned_config);

	if (r < 0)
		return r;
	request.claims = next->claims;
	next->leases = leases_ref(draft->leases);
	return next_build(&next->generation, engine, &request, reterr);
}

/* What cannot be built or placed is a limit where it is one, else our fault. */
static int status_of(int r)
{
	return r == -ENOSPC ? 507 : 500;
}

static void refuse(struct change *change, int r, const char *message)
{
	batch_refuse(change, status_of(r), r == -ENOSPC ? ERROR_LIMIT : ERROR_INTERNAL, message);
}

static const char *build_message(int r)
{
	return r == -ENOSPC ? "there are no numbers left for ports or rule counters" : strerror(-r);
}

/* The sentences of the compiler. Takes them. */
static void refuse_with(struct change *change, struct errors *errs)
{
	change_result_fini(&change->result);
	change->result.status = batch_status(errs);
	change->result.errors = *errs;
	*errs = (struct errors){0};
}

/* ── dry run ────────────────────────────────────────────────────────────────────────────────────── */

/* Everything but storing, going live and attaching. */
static void try_draft(struct engine *engine, struct change *change, const struct draft *draft)
{
	_cleanup_(next_fini) struct next next = {0};
	_cleanup_(errors_fini) struct errors errs = {0};
	char message[DP_MESSAGE_SIZE];
	int r;

	r = build_next(engine, draft, &next, &errs);
	if (r == -EINVAL && errs.count > 0) {
		refuse_with(change, &errs);
		return;
	}
	if (r < 0) {
		refuse(change, r, build_message(r));
		return;
	}
	r = flip_try(engine, next.generation, message);
	if (r < 0) {
		refuse(change, r, message);
		return;
	}
	r = guards_foresee(engine, next.generation, next.claims, &change->result);
	if (r >= 0) {
		struct recheck_counts sessions;

		r = recheck_sessions(engine, engine->live, next.generation, true, &sessions);
		change->result.sessions_kept = sessions.kept;
		change->result.sessions_cut = sessions.cut;
	}
	if (r >= 0) {
		struct ssh_report ssh;

		ssh_look(&ssh, next.generation, next.claims);
		r = ssh_warn(change->result.warnings, &ssh);
	}
	if (r < 0)
		refuse(change, r, strerror(-r));
}

/* A dry run that changes nothing: what is there is told, or what a draft before it will make of it. */
static void foresee(struct batch *batch, struct change *change)
{
	_cleanup_(next_fini) struct next next = {0};
	_cleanup_(errors_fini) struct errors errs = {0};
	int r;

	if (!batch->draft.owned_config) {
		r = guards_report(batch->engine, &change->result);
	} else {
		r = build_next(batch->engine, &batch->draft, &next, &errs);
		if (r >= 0)
			r = guards_foresee(batch->engine, next.generation, next.claims,
					   &change->result);
	}
	if (r < 0)
		refuse(change, r, strerror(-r));
}

/* ── judging ────────────────────────────────────────────────────────────────────────────────────── */

/* Members stay as they are, some of them longer: no generation of its own, but the fate of the draft. */
static void renew(struct batch *batch, struct leases *leases)
{
	struct engine *engine = batch->engine;

	leases_unref(batch->draft.leases);
	batch->draft.leases = leases;
	if (batch->draft.is_changed)
		return;
	leases_unref(engine->leases);
	engine->leases = leases_ref(leases);
}

static void judge(struct batch *batch, size_t index)
{
	struct change *change = batch->changes[index];
	_cleanup_(draft_fini) struct draft next = {0};

	batch_judge(change, &batch->draft, &next);
	if (!next.is_changed) {
		if (next.leases)
			renew(batch, TAKE_PTR(next.leases));
		else if (change->result.status == 200 && change->is_dry_run)
			foresee(batch, change);
		return;
	}
	if (change->is_dry_run) {
		try_draft(batch->engine, change, &next);
		return;
	}
	draft_fini(&batch->draft);
	batch->draft = next;
	next = (struct draft){0};
	if (batch->first_changed == batch->count)
		batch->first_changed = index;
}

static void judge_all(struct batch *batch)
{
	const struct generation *live = batch->engine->live;

	draft_init(&batch->draft, live->config, live->document, batch->engine->leases, live->etag,
		   expiry_now_ms());
	batch->first_changed = batch->count;
	for (size_t i = 0; i < batch->count; i++)
		judge(batch, i);
}

/* ── going live ─────────────────────────────────────────────────────────────────────────────────── */

/* Whatever was judged on the state that did not come to be shares its fate. */
static void refuse_judged(struct batch *batch, int r, const char *message)
{
	for (size_t i = batch->first_changed; i < batch->count; i++)
		refuse(batch->changes[i], r, message);
}

/* It is live: what cannot be judged now is judged by the data path, packet by packet. */
static void recheck(struct engine *engine, const struct generation *old,
		    struct recheck_counts *ret_sessions)
{
	int r = recheck_sessions(engine, old, engine->live, false, ret_sessions);

	if (r < 0)
		log_error("sessions of the old policy are left to their next packets: %s",
			  strerror(-r));
}

/* Takes what is in `next` where it succeeds. */
static int go_live(struct engine *engine, struct next *next, struct recheck_counts *ret_sessions,
		   char message[DP_MESSAGE_SIZE])
{
	_cleanup_(generation_freep) struct generation *old = NULL;
	_cleanup_free_ struct guard *guards = guards_new(next->generation);
	int r;

	if (!guards) {
		snprintf(message, DP_MESSAGE_SIZE, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	r = flip_to(engine, next->generation, FLIP_STORE, &old, message);
	if (r < 0)
		return r;
	next->generation = NULL;
	claims_freep(&engine->claims);
	engine->claims = TAKE_PTR(next->claims);
	leases_unref(engine->leases);
	engine->leases = TAKE_PTR(next->leases);
	recheck(engine, old, ret_sessions);
	limits_recount(engine);
	guards_follow(engine, TAKE_PTR(guards));
	return 0;
}

static void answer(struct batch *batch, uint64_t before)
{
	struct ssh_report ssh = {0};

	/* Once for all of them: they share a generation. */
	if (batch->first_changed < batch->count)
		ssh_look(&ssh, batch->engine->live, batch->engine->claims);
	for (size_t i = 0; i < batch->count; i++) {
		struct change *change = batch->changes[i];
		struct change_result *result = &change->result;

		result->generation =
			i < batch->first_changed ? before : batch->engine->live->number;
		if (result->status != 200 || result->waiting)
			continue;
		if (i >= batch->first_changed) {
			result->sessions_kept = batch->sessions.kept;
			result->sessions_cut = batch->sessions.cut;
		}
		if (guards_report(batch->engine, result) < 0 ||
		    (i >= batch->first_changed && ssh_warn(result->warnings, &ssh) < 0))
			refuse(change, -ENOMEM, strerror(ENOMEM));
	}
}

static void run(struct engine *engine, struct change **changes, size_t count);

/* Some change makes the policy too large: find out which by taking them one at a time. */
static void run_singly(struct batch *batch)
{
	for (size_t i = batch->first_changed; i < batch->count; i++) {
		change_result_fini(&batch->changes[i]->result);
		run(batch->engine, &batch->changes[i], 1);
	}
	batch->count = batch->first_changed; /* the others have their answers */
}

static void refuse_build(struct batch *batch, int r, struct errors *errs)
{
	if (r != -EINVAL || errs->count == 0)
		refuse_judged(batch, r, build_message(r));
	else if (batch->count - batch->first_changed > 1)
		run_singly(batch);
	else
		refuse_with(batch->changes[batch->first_changed], errs);
}

/* Builds what the batch has made of the state and makes it live; the answers of refused ones are given. */
static void apply(struct batch *batch)
{
	_cleanup_(next_fini) struct next next = {0};
	_cleanup_(errors_fini) struct errors errs = {0};
	char message[DP_MESSAGE_SIZE] = "";
	int r;

	r = build_next(batch->engine, &batch->draft, &next, &errs);
	if (r < 0) {
		refuse_build(batch, r, &errs);
		return;
	}
	r = go_live(batch->engine, &next, &batch->sessions, message);
	if (r < 0)
		refuse_judged(batch, r, message);
}

/* Somebody asks for what is wanted already: perhaps because it is not so any more. */
static bool asks_again(const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->changes[i]->result.status == 200 && !batch->changes[i]->is_dry_run)
			return true;
	return false;
}

static void run(struct engine *engine, struct change **changes, size_t count)
{
	_cleanup_(batch_fini) struct batch batch = {
		.engine = engine, .changes = changes, .count = count};
	uint64_t before = engine->live->number;

	judge_all(&batch);
	if (batch.first_changed < count)
		apply(&batch);
	else if (asks_again(&batch))
		guards_heal(engine);
	answer(&batch, before);
}

void engine_commit(struct engine *engine)
{
	struct change *changes[QUEUE_MAX];
	size_t count = engine->queue_count;

	if (count == 0)
		return;
	memcpy(changes, engine->queue, count * sizeof(changes[0]));
	engine->queue_count = 0;
	run(engine, changes, count);
	for (size_t i = 0; i < count; i++) {
		changes[i]->done(changes[i], changes[i]->data);
		change_free(changes[i]);
	}
	flip_settle(engine);
}
