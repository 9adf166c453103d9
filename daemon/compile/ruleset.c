/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of ACLs as boxes. */
#include "compile/ruleset.h"

#include <errno.h>
#include <stdlib.h>

#define FEW_ENTRIES  32 /* below, a search is slower than looking at all */
#define BOX_WORK     10 /* of making one box, as measured */
#define SEARCH_SHARE 10 /* a search is worth it when it finds at most one in so many */

static int list_rules(struct ruleset *set)
{
	size_t slot = 0;

	for (size_t i = 0; i < set->acl_count; i++)
		set->rule_count += set->acls[i]->rule_count;
	set->rules = arena_take(&set->arena, (set->rule_count + 1) * sizeof(*set->rules));
	if (!set->rules)
		return -ENOMEM;
	for (size_t i = 0; i < set->acl_count; i++)
		for (size_t j = 0; j < set->acls[i]->rule_count; j++)
			set->rules[slot++] = (struct ruleset_rule){
				.rule = &set->acls[i]->rules[j],
				.acl = (uint32_t)i,
				.index = (uint32_t)j,
			};
	return 0;
}

/* Boxes of one rule behind those of the rules before it. */
static int add_rule(struct ruleset *set, enum box_space space, uint32_t slot)
{
	struct ruleset_space *s = &set->spaces[space];
	const struct rule *rule = set->rules[slot].rule;
	_cleanup_free_ struct box *many = NULL;
	_cleanup_free_ size_t *l4 = NULL;
	struct box one;
	size_t one_l4;
	int count;

	if (box_max(rule) > 1) {
		many = calloc(box_max(rule), sizeof(*many));
		l4 = calloc(box_max(rule), sizeof(*l4));
		if (!many || !l4)
			return -ENOMEM;
	}
	count = box_of_rule(many ? many : &one, many ? l4 : &one_l4, rule, space, &set->arena);
	for (int i = 0; i < count; i++)
		s->entries[s->count++] = (struct ruleset_entry){
			.box = many ? many[i] : one,
			.slot = slot,
			.l4 = (uint32_t)(many ? l4[i] : one_l4),
		};
	return count < 0 ? count : 0;
}

static int fill_space(struct ruleset *set, enum box_space space, size_t most)
{
	struct ruleset_space *s = &set->spaces[space];
	int r;

	s->entries = arena_take(&set->arena, most * sizeof(*s->entries));
	s->first = arena_take(&set->arena, (set->rule_count + 1) * sizeof(*s->first));
	if (!s->entries || !s->first)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < set->rule_count; slot++) {
		s->first[slot] = (uint32_t)s->count;
		r = add_rule(set, space, slot);
		if (r < 0)
			return r;
	}
	s->first[set->rule_count] = (uint32_t)s->count;
	if (s->count < FEW_ENTRIES)
		return 0;
	return overlap_init(&s->overlap, space, s->entries, sizeof(*s->entries), s->count,
			    &set->arena);
}

int ruleset_init(struct ruleset *set, const struct acl *const *acls, size_t acl_count,
		 struct work *work)
{
	size_t most = 0;
	int r;

	*set = (struct ruleset){.acls = acls, .acl_count = acl_count};
	r = list_rules(set);
	for (size_t i = 0; r >= 0 && i < set->rule_count; i++)
		most += box_max(set->rules[i].rule);
	if (r >= 0 && (work_is_over(work) || most > (work->limit - work->done) / BOX_WORK)) {
		work->done = work->limit;
		set->rule_count = 0;
		return 0;
	}
	for (int space = 0; r >= 0 && space < BOX_SPACES; space++) {
		r = fill_space(set, space, most);
		work->done += BOX_WORK * set->spaces[space].count;
	}
	if (r < 0)
		ruleset_fini(set);
	return r;
}

void ruleset_fini(struct ruleset *set)
{
	arena_fini(&set->arena);
	*set = (struct ruleset){0};
}

/* ── what meets a box ───────────────────────────────────────────────────────────────────────────── */

struct gathering {
	const struct ruleset_space *space;
	const struct box *box;
	uint32_t first, end;
	uint32_t *entries;
	size_t count;
	struct work *work;
};

static void gather(uint32_t number, void *data)
{
	struct gathering *g = data;

	if (number >= g->first && number < g->end &&
	    box_meets(g->box, &g->space->entries[number].box, g->work))
		g->entries[g->count++] = number;
}

static int number_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int ruleset_find(struct ruleset_hits *ret_hits, const struct ruleset *set, enum box_space space,
		 const struct box *box, uint32_t first, uint32_t end, struct arena *arena,
		 struct work *work)
{
	struct gathering g = {
		.space = &set->spaces[space], .box = box, .first = first, .end = end, .work = work};
	size_t most = end > first ? (end - first) / SEARCH_SHARE : 0;
	int r = -E2BIG;

	g.entries = arena_take(arena, (end > first ? end - first : 1) * sizeof(*g.entries));
	if (!g.entries)
		return -ENOMEM;
	if (g.space->overlap.count && end > first && end - first >= FEW_ENTRIES)
		r = overlap_find(&g.space->overlap, box, most, gather, &g, work);
	if (!r)
		qsort(g.entries, g.count, sizeof(*g.entries), number_compare);
	for (uint32_t i = first; r < 0 && i < end && !work_is_over(work); i++)
		gather(i, &g);
	*ret_hits = (struct ruleset_hits){.entries = g.entries, .count = g.count};
	return 0;
}
