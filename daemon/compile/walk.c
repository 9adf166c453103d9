/* SPDX-License-Identifier: Apache-2.0 */
/* Leading boxes past entries. */
#include "compile/walk.h"

#include <errno.h>

/* A part of the box and the hit that it comes to next. */
struct part {
	struct part *below;
	struct box box;
	size_t at;
};

struct parts {
	struct part *top;
	struct part *unused;
};

static int push(struct walk *walk, struct parts *parts, const struct box *box, size_t at)
{
	struct part *part = parts->unused;

	if (part)
		parts->unused = part->below;
	else
		part = arena_take(walk->arena, sizeof(*part));
	if (!part)
		return -ENOMEM;
	*part = (struct part){.below = parts->top, .box = *box, .at = at};
	parts->top = part;
	return 0;
}

static struct part pop(struct parts *parts)
{
	struct part *part = parts->top;

	parts->top = part->below;
	part->below = parts->unused;
	parts->unused = part;
	return *part;
}

static void note_taker(struct walk *walk, uint32_t slot)
{
	for (size_t i = 0; i < walk->taker_count; i++)
		if (walk->takers[i] == slot)
			return;
	if (walk->taker_count < WALK_TAKERS_MAX)
		walk->takers[walk->taker_count++] = slot;
	else
		walk->has_more_takers = true;
}

/* Cuts what the entry does not match off the box, for later; the rest stays in it. */
static int split(struct walk *walk, struct parts *parts, struct box *box, const struct box *entry,
		 size_t next)
{
	/* Nothing lies outside of a dimension in which the entry has every key. */
	for (uint32_t left = entry->narrow; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		struct box outside = *box;
		int r = keys_without(&outside.keys[d], &box->keys[d], &entry->keys[d], walk->arena,
				     walk->work);

		outside.narrow |= 1u << d;
		box->narrow |= 1u << d;
		if (r >= 0 && outside.keys[d].count)
			r = push(walk, parts, &outside, next);
		if (r >= 0)
			r = keys_common(&box->keys[d], &box->keys[d], &entry->keys[d], walk->arena,
					walk->work);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The first hit behind the ACL of hit `at`. */
static size_t skip_acl(const struct walk *walk, const struct ruleset_hits *hits, size_t at)
{
	const struct ruleset_entry *entries = walk->set->spaces[walk->space].entries;
	const struct ruleset_rule *rules = walk->set->rules;
	uint32_t acl = rules[entries[hits->entries[at]].slot].acl;

	while (at < hits->count && rules[entries[hits->entries[at]].slot].acl == acl)
		at++;
	return at;
}

/* Leads one part on until it is taken or arrives. */
static int lead(struct walk *walk, struct parts *parts, struct part *part,
		const struct ruleset_hits *hits, bool *ret_has_arrived)
{
	*ret_has_arrived = false;
	while (part->at < hits->count) {
		const struct ruleset_entry *entry =
			&walk->set->spaces[walk->space].entries[hits->entries[part->at]];
		const struct ruleset_rule *rule = &walk->set->rules[entry->slot];
		enum secg_action action = rule->rule->action;
		int r;

		walk->work->done++;
		if (!box_meets(&part->box, &entry->box, walk->work)) {
			part->at++;
			continue;
		}
		if (walk->stops_at_allow &&
		    (action == SECG_ACTION_ALLOW || action == SECG_ACTION_ALLOW_STATELESS)) {
			*ret_has_arrived = true;
			return 0;
		}
		r = split(walk, parts, &part->box, &entry->box, part->at + 1);
		if (r < 0)
			return r;
		if (action != SECG_ACTION_PASS || rule->acl == walk->own_acl) {
			note_taker(walk, entry->slot);
			return 0;
		}
		part->at = skip_acl(walk, hits, part->at);
	}
	*ret_has_arrived = walk->is_end_goal;
	return 0;
}

int walk_run(struct walk *walk, const struct box *box, const struct ruleset_hits *hits,
	     enum walk_end *ret_end)
{
	struct parts parts = {0};
	int r = push(walk, &parts, box, 0);

	while (r >= 0 && parts.top && !work_is_over(walk->work)) {
		struct part part = pop(&parts);
		bool has_arrived;

		r = lead(walk, &parts, &part, hits, &has_arrived);
		if (r >= 0 && has_arrived && !work_is_over(walk->work)) {
			*ret_end = WALK_ARRIVED;
			return 0;
		}
	}
	if (r >= 0)
		*ret_end = work_is_over(walk->work) ? WALK_UNDECIDED : WALK_NOTHING_LEFT;
	return r < 0 ? r : 0;
}
