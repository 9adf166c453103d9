/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that packets come to. */
#include "compile/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROBES 8  /* packets tried before the whole box */
#define NEARBY 32 /* entries behind a rule that are looked at before all are searched */

/* A box of the rule and what stands before it. */
struct front {
	enum box_space space;
	const struct box *box;
	struct ruleset_hits hits;
};

struct job {
	const struct ruleset *set;
	uint32_t slot;
	const struct ruleset_rule *rule;
	struct front *fronts;
	size_t front_count;
	struct arena *arena;
	struct work work;
};

static const struct ruleset_entry *entry_of(const struct job *job, const struct front *front,
					    size_t hit)
{
	return &job->set->spaces[front->space].entries[front->hits.entries[hit]];
}

static const struct ruleset_rule *rule_of(const struct job *job, const struct front *front,
					  size_t hit)
{
	return &job->set->rules[entry_of(job, front, hit)->slot];
}

/* Lists the boxes of the rule. */
static int list_fronts(struct job *job)
{
	size_t count = 0;

	for (int space = 0; space < BOX_SPACES; space++) {
		const struct ruleset_space *s = &job->set->spaces[space];

		count += s->first[job->slot + 1] - s->first[job->slot];
	}
	job->fronts = arena_take(job->arena, (count + 1) * sizeof(*job->fronts));
	if (!job->fronts)
		return -ENOMEM;
	for (int space = 0; space < BOX_SPACES; space++) {
		const struct ruleset_space *s = &job->set->spaces[space];

		for (uint32_t i = s->first[job->slot]; i < s->first[job->slot + 1]; i++)
			job->fronts[job->front_count++] = (struct front){
				.space = (enum box_space)space,
				.box = &s->entries[i].box,
			};
	}
	return 0;
}

/* ── before the rule ────────────────────────────────────────────────────────────────────────────── */

/* Finds what stands before each box; *ret_is_open when nothing stands before one. */
static int find_before(struct job *job, bool *ret_is_open)
{
	*ret_is_open = false;
	for (size_t i = 0; i < job->front_count && !*ret_is_open; i++) {
		struct front *front = &job->fronts[i];
		uint32_t end = job->set->spaces[front->space].first[job->slot];
		int r = ruleset_find(&front->hits, job->set, front->space, front->box, 0, end,
				     job->arena, &job->work);

		if (r < 0)
			return r;
		*ret_is_open = !front->hits.count;
	}
	return 0;
}

/* Whether a hit takes all that it matches: no pass before it, in another ACL, leads packets past it. */
static bool does_take(struct job *job, const struct front *front, size_t hit)
{
	const struct ruleset_rule *rule = rule_of(job, front, hit);

	if (rule->acl == job->rule->acl)
		return true;
	if (rule->rule->action == SECG_ACTION_PASS)
		return false;
	for (; hit-- && rule_of(job, front, hit)->acl == rule->acl; job->work.done++)
		if (rule_of(job, front, hit)->rule->action == SECG_ACTION_PASS)
			return false;
	return true;
}

/* Whether rule `slot` alone takes everything of a box. */
static bool is_covered_by(struct job *job, const struct front *front, uint32_t slot)
{
	for (size_t i = 0; i < front->hits.count; i++) {
		const struct ruleset_entry *entry = entry_of(job, front, i);

		job->work.done++;
		if (entry->slot == slot && box_within(front->box, &entry->box, &job->work))
			return does_take(job, front, i);
	}
	return false;
}

static bool is_all_covered_by(struct job *job, uint32_t slot)
{
	for (size_t i = 0; i < job->front_count; i++)
		if (!is_covered_by(job, &job->fronts[i], slot))
			return false;
	return true;
}

/* The first rule that alone takes everything. */
static bool find_cover(struct job *job, uint32_t *ret_slot)
{
	const struct front *front = &job->fronts[0];

	for (size_t i = 0; i < front->hits.count && !work_is_over(&job->work); i++) {
		const struct ruleset_entry *entry = entry_of(job, front, i);

		if (!box_within(front->box, &entry->box, &job->work) ||
		    !is_all_covered_by(job, entry->slot))
			continue;
		*ret_slot = entry->slot;
		return true;
	}
	return false;
}

/* splitmix64: the same packets in every run. */
static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A key of the set: the first, the last, or any. */
static addr_t pick_key(const struct keys *keys, unsigned int probe, uint64_t *state)
{
	const struct addr_range *range;
	addr_t size;

	if (probe == 0)
		return keys->ranges[0].first;
	if (probe == 1)
		return keys->ranges[keys->count - 1].last;
	range = &keys->ranges[mix(state) % keys->count];
	size = range->last - range->first + 1;
	return range->first + (size ? ((addr_t)mix(state) << 64 | mix(state)) % size : mix(state));
}

/* One packet of the box. */
static void pick_packet(struct box *ret_packet, struct addr_range ranges[BOX_DIMENSIONS],
			const struct box *box, unsigned int probe, uint64_t *state)
{
	for (int d = 0; d < BOX_DIMENSIONS; d++) {
		addr_t key = pick_key(&box->keys[d], probe, state);

		ranges[d] = (struct addr_range){.first = key, .last = key};
		ret_packet->keys[d] = (struct keys){.ranges = &ranges[d], .count = 1};
	}
	ret_packet->narrow = (uint32_t)((1ull << BOX_DIMENSIONS) - 1);
}

/* Single packets first: to most boxes that are reached some of a few get through, and one costs little. */
static int walk_box(struct walk *walk, const struct front *front, enum walk_end *ret_end)
{
	struct addr_range ranges[BOX_DIMENSIONS];
	struct box packet;
	uint64_t state = 1;
	int r;

	walk->space = front->space;
	for (unsigned int probe = 0; probe < PROBES; probe++) {
		pick_packet(&packet, ranges, front->box, probe, &state);
		r = walk_run(walk, &packet, &front->hits, ret_end);
		if (r < 0 || *ret_end == WALK_ARRIVED)
			return r;
	}
	return walk_run(walk, front->box, &front->hits, ret_end);
}

static int slot_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* All boxes, until something arrives. */
static int walk_all(struct job *job, struct reach_verdict *verdict)
{
	struct walk walk = {
		.set = job->set,
		.arena = job->arena,
		.work = &job->work,
		.own_acl = job->rule->acl,
		.is_end_goal = true,
	};

	for (size_t i = 0; i < job->front_count; i++) {
		enum walk_end end;
		int r = walk_box(&walk, &job->fronts[i], &end);

		if (r < 0)
			return r;
		if (end == WALK_NOTHING_LEFT)
			continue;
		verdict->reach = end == WALK_ARRIVED ? REACH_NEEDED : REACH_UNDECIDED;
		return 0;
	}
	verdict->reach = REACH_UNREACHABLE;
	verdict->by_count = walk.taker_count;
	verdict->has_more = walk.has_more_takers;
	memcpy(verdict->by, walk.takers, sizeof(verdict->by));
	qsort(verdict->by, verdict->by_count, sizeof(verdict->by[0]), slot_compare);
	return 0;
}

static int judge_before(struct job *job, struct reach_verdict *verdict)
{
	bool is_open;
	uint32_t slot;
	int r;

	r = find_before(job, &is_open);
	if (r < 0 || is_open)
		return r;
	if (!find_cover(job, &slot))
		return walk_all(job, verdict);
	verdict->reach = job->set->rules[slot].rule->action == job->rule->rule->action
				 ? REACH_REPEATED
				 : REACH_SHADOWED;
	verdict->by[0] = slot;
	verdict->by_count = 1;
	return 0;
}

/* ── behind the rule ────────────────────────────────────────────────────────────────────────────── */

/* Looks through what stands behind, first .. end - 1. 1: *ret_slot takes all of the box and none that
 * differs comes before; 0: go on; -ENOENT: one that differs does. */
static int look_behind(struct job *job, struct front *front, uint32_t first, uint32_t end,
		       uint32_t *ret_slot)
{
	int r = ruleset_find(&front->hits, job->set, front->space, front->box, first, end,
			     job->arena, &job->work);

	if (r < 0)
		return r;
	for (size_t i = 0; i < front->hits.count; i++) {
		const struct ruleset_entry *entry = entry_of(job, front, i);

		if (rule_of(job, front, i)->rule->action != job->rule->rule->action)
			return -ENOENT;
		if (box_within(front->box, &entry->box, &job->work)) {
			*ret_slot = entry->slot;
			return 1;
		}
	}
	return 0;
}

/* Most rules are told apart by their neighbours, so those come first. */
static int find_behind(struct job *job, struct front *front, uint32_t *ret_slot)
{
	const struct ruleset_space *s = &job->set->spaces[front->space];
	uint32_t slots = job->slot + 1, first = s->first[slots], end, near;
	int r;

	while (slots < job->set->rule_count && job->set->rules[slots].acl == job->rule->acl)
		slots++;
	end = s->first[slots];
	near = end - first > NEARBY ? first + NEARBY : end;
	r = look_behind(job, front, first, near, ret_slot);
	if (!r)
		r = look_behind(job, front, near, end, ret_slot);
	return r ? r : -ENOENT;
}

static void note_by(struct reach_verdict *verdict, uint32_t slot)
{
	for (size_t i = 0; i < verdict->by_count; i++)
		if (verdict->by[i] == slot)
			return;
	if (verdict->by_count < ARRAY_SIZE(verdict->by))
		verdict->by[verdict->by_count++] = slot;
	else
		verdict->has_more = true;
}

static int judge_behind(struct job *job, struct reach_verdict *verdict)
{
	for (size_t i = 0; i < job->front_count; i++) {
		uint32_t slot;
		int r = find_behind(job, &job->fronts[i], &slot);

		if (r == -ENOMEM)
			return r;
		if (r < 0)
			return 0;
		note_by(verdict, slot);
	}
	verdict->reach = REACH_FORESTALLED;
	return 0;
}

int reach_judge(const struct ruleset *set, uint32_t slot, struct arena *scratch, struct work *work,
		struct reach_verdict *ret_verdict)
{
	struct reach_verdict verdict = {.reach = REACH_NEEDED};
	struct job job = {
		.set = set,
		.slot = slot,
		.rule = &set->rules[slot],
		.arena = scratch,
		.work = {.limit = REACH_RULE_WORK},
	};
	int r;

	arena_reset(scratch);
	r = list_fronts(&job);
	if (r >= 0 && job.front_count > 0)
		r = judge_before(&job, &verdict);
	if (r >= 0 && job.front_count > 0 && verdict.reach == REACH_NEEDED)
		r = judge_behind(&job, &verdict);
	work->done += job.work.done + 1;
	if (r < 0)
		return r;
	/* What was not looked at to the end proves nothing. */
	if (work_is_over(&job.work))
		verdict = (struct reach_verdict){.reach = REACH_UNDECIDED};
	*ret_verdict = verdict;
	return 0;
}
