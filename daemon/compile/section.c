/* SPDX-License-Identifier: Apache-2.0 */
/* One address family of a policy. */
#include "compile/section.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compile/dimension.h"
#include "compile/tree.h"
#include "compile/vector.h"
#include "core/cleanup.h"

#define PROTOCOLS          256
#define PROTOCOLS_PER_LINE 16

/* ── which entries ──────────────────────────────────────────────────────────────────────────────── */

static uint8_t number_of(enum secg_family family)
{
	return family == SECG_FAMILY_IPV4 ? 4 : 6;
}

static const struct addr_list *list_of(const struct addrset *set, enum secg_family family)
{
	return family == SECG_FAMILY_IPV4 ? &set->v4 : &set->v6;
}

/* Whether addresses and family leave the rule anything to match there. */
static bool is_possible(const struct rule *rule, enum secg_family family)
{
	if (family == SECG_FAMILY_OTHER)
		return !rule->is_ip;
	if (rule->family && rule->family != number_of(family))
		return false;
	if (rule->has_src && !list_of(&rule->src, family)->count)
		return false;
	return !rule->has_dst || list_of(&rule->dst, family)->count;
}

static bool is_possible_l4(const struct l4_match *l4, enum secg_family family)
{
	return !l4->family || l4->family == number_of(family);
}

/* Entries of one rule; written where `ret_entries` is given. */
static size_t list_rule(const struct rule *rule, enum secg_family family, uint32_t slot,
			struct section_entry *ret_entries)
{
	struct section_entry entry = {
		.rule = rule,
		.record = {.slot = slot, .action = (__u8)rule->action},
	};
	size_t count = 0;

	if (!is_possible(rule, family))
		return 0;
	if (!rule->l4_count) {
		if (ret_entries)
			*ret_entries = entry;
		return 1;
	}
	for (size_t i = 0; i < rule->l4_count; i++) {
		if (!is_possible_l4(&rule->l4[i], family))
			continue;
		entry.l4 = &rule->l4[i];
		if (ret_entries)
			ret_entries[count] = entry;
		count++;
	}
	return count;
}

size_t section_count(enum secg_family family, const struct acl *const *acls, size_t acl_count)
{
	size_t count = 0;

	for (size_t i = 0; i < acl_count; i++)
		for (size_t j = 0; j < acls[i]->rule_count; j++)
			count += list_rule(&acls[i]->rules[j], family, 0, NULL);
	return count;
}

void section_list(enum secg_family family, const struct acl *const *acls, size_t acl_count,
		  struct section_entry *ret_entries)
{
	uint32_t slot = 0;
	size_t count = 0;

	for (size_t i = 0; i < acl_count; i++) {
		size_t first = count;

		for (size_t j = 0; j < acls[i]->rule_count; j++)
			count += list_rule(&acls[i]->rules[j], family, slot++, ret_entries + count);
		for (size_t j = first; j < count; j++)
			if (ret_entries[j].record.action == SECG_ACTION_PASS)
				ret_entries[j].record.next = (__u32)count;
	}
}

/* ── dimensions ─────────────────────────────────────────────────────────────────────────────────── */

static int add_addresses(struct dimension *dimension, uint32_t entry, bool is_given,
			 const struct addr_list *list)
{
	if (!is_given || (list->count == 1 && list->ranges[0].first == 0 &&
			  list->ranges[0].last == dimension->max)) {
		dimension_add_any(dimension, entry);
		return 0;
	}
	return dimension_add(dimension, entry, list->ranges, list->count);
}

static int add_src(struct dimension *dimension, uint32_t i, const struct section_entry *entry,
		   enum secg_family family)
{
	return add_addresses(dimension, i, entry->rule->has_src,
			     list_of(&entry->rule->src, family));
}

static int add_dst(struct dimension *dimension, uint32_t i, const struct section_entry *entry,
		   enum secg_family family)
{
	return add_addresses(dimension, i, entry->rule->has_dst,
			     list_of(&entry->rule->dst, family));
}

static int add_proto(struct dimension *dimension, uint32_t i, const struct section_entry *entry,
		     enum secg_family family)
{
	struct addr_range spans[PROTOCOLS / 2];
	size_t count = 0;

	(void)family;
	if (!entry->l4 || !entry->l4->has_protocols) {
		dimension_add_any(dimension, i);
		return 0;
	}
	for (uint32_t p = 0; p < PROTOCOLS; p++) {
		if (!(entry->l4->protocols[p / 64] >> p % 64 & 1))
			continue;
		if (count && spans[count - 1].last + 1 == p)
			spans[count - 1].last = p;
		else
			spans[count++] = (struct addr_range){.first = p, .last = p};
	}
	return dimension_add(dimension, i, spans, count);
}

/* A list that holds every port still asks for a packet that shows ports, so it is not "any". */
static int add_ranges(struct dimension *dimension, uint32_t i, const struct range_list *list)
{
	_cleanup_free_ struct addr_range *spans = NULL;

	if (!list || !list->count) {
		dimension_add_any(dimension, i);
		return 0;
	}
	spans = malloc(list->count * sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	for (size_t j = 0; j < list->count; j++)
		spans[j] = (struct addr_range){
			.first = list->ranges[j].first,
			.last = list->ranges[j].last,
		};
	return dimension_add(dimension, i, spans, list->count);
}

static int add_high(struct dimension *dimension, uint32_t i, const struct section_entry *entry,
		    enum secg_family family)
{
	(void)family;
	return add_ranges(dimension, i, entry->l4 ? &entry->l4->high : NULL);
}

static int add_low(struct dimension *dimension, uint32_t i, const struct section_entry *entry,
		   enum secg_family family)
{
	(void)family;
	return add_ranges(dimension, i, entry->l4 ? &entry->l4->low : NULL);
}

static int place_proto(struct lines *lines, const struct tree_interval *intervals, size_t count,
		       uint32_t *ret_line)
{
	size_t at = 0;
	int r;

	r = lines_add(lines, PROTOCOLS / PROTOCOLS_PER_LINE, ret_line);
	if (r < 0)
		return r;
	for (uint32_t p = 0; p < PROTOCOLS; p++) {
		if (at + 1 < count && intervals[at + 1].start == p)
			at++;
		lines->line[*ret_line + p / PROTOCOLS_PER_LINE].w[p % PROTOCOLS_PER_LINE] =
			intervals[at].value;
	}
	return 0;
}

/* What the dimensions differ in. */
struct shape {
	uint32_t bit;
	addr_t max[2]; /* by family */
	int (*add)(struct dimension *dimension, uint32_t i, const struct section_entry *entry,
		   enum secg_family family);
};

static const struct shape shapes[] = {
	{SECG_DIM_SRC, {UINT32_MAX, ~(addr_t)0}, add_src},
	{SECG_DIM_DST, {UINT32_MAX, ~(addr_t)0}, add_dst},
	{SECG_DIM_PROTO, {PROTOCOLS - 1, PROTOCOLS - 1}, add_proto},
	{SECG_DIM_L4_HIGH, {UINT16_MAX, UINT16_MAX}, add_high},
	{SECG_DIM_L4_LOW, {UINT16_MAX, UINT16_MAX}, add_low},
};

/* Stores trees or table of one dimension and writes the references to them. */
static int place(struct lines *lines, struct vector_pool *pool, const struct dimension *dimension,
		 uint32_t bit, struct secg_section *section)
{
	_cleanup_free_ struct tree_interval *intervals = NULL;
	unsigned int words = dimension->max > UINT32_MAX ? 4 : 1;
	unsigned int l4 = bit == SECG_DIM_L4_LOW;
	size_t count;
	int r;

	r = dimension_sweep(dimension, pool, &intervals, &count);
	if (r < 0)
		return r;
	section->dims |= bit;
	switch (bit) {
	case SECG_DIM_SRC:
		return tree_build(lines, intervals, count, words, &section->src);
	case SECG_DIM_DST:
		return tree_build(lines, intervals, count, words, &section->dst);
	case SECG_DIM_PROTO:
		return place_proto(lines, intervals, count, &section->proto);
	default:
		r = vector_pool_add(pool, &dimension->any, &section->no_l4[l4]);
		if (r < 0)
			return r;
		return tree_build(lines, intervals, count, words, &section->l4[l4]);
	}
}

static int compile_dimension(struct lines *lines, struct vector_pool *pool,
			     const struct shape *shape, enum secg_family family,
			     const struct section_entry *entries, size_t count,
			     struct secg_section *section)
{
	_cleanup_(dimension_fini) struct dimension dimension = {0};
	int r;

	r = dimension_init(&dimension, count, shape->max[family]);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count; i++) {
		r = shape->add(&dimension, i, &entries[i], family);
		if (r < 0)
			return r;
	}
	if (!dimension.constrained)
		return 0;
	return place(lines, pool, &dimension, shape->bit, section);
}

static int place_records(struct lines *lines, const struct section_entry *entries, size_t count,
			 uint32_t *ret_line)
{
	size_t needed = (count + SECG_ENTRIES_PER_LINE - 1) / SECG_ENTRIES_PER_LINE;
	int r;

	r = lines_add(lines, needed, ret_line);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct secg_line *line = lines->line + *ret_line + i / SECG_ENTRIES_PER_LINE;

		memcpy(&line->w[i % SECG_ENTRIES_PER_LINE * 4], &entries[i].record,
		       sizeof(entries[i].record));
	}
	return 0;
}

int section_compile(struct lines *lines, enum secg_family family,
		    const struct section_entry *entries, size_t count,
		    struct secg_section *ret_section)
{
	_cleanup_(vector_pool_fini) struct vector_pool pool = {0};
	struct secg_section section = {.entries = (__u32)count};
	int r;

	vector_pool_init(&pool, lines, count);
	section.vector_lines = pool.vector_lines;
	r = place_records(lines, entries, count, &section.entry);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(shapes) && family != SECG_FAMILY_OTHER; i++) {
		r = compile_dimension(lines, &pool, &shapes[i], family, entries, count, &section);
		if (r < 0)
			return r;
	}
	*ret_section = section;
	return 0;
}
