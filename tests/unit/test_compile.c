/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule compiler: what the compiled lines look like, their limits, and lookups whose outcome a
 * reader can see without the reference matcher (test_compile_random.c has that one).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "compile/lines.h"
#include "compile/policy.h"
#include "compile/tree.h"

#define ALL_ONES     (~(addr_t)0)
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

/* ── rules by hand ──────────────────────────────────────────────────────────────────────────────── */

static struct acl *make_acl(const char *name, size_t rules)
{
	struct acl *acl = calloc(1, sizeof(*acl));

	assert_non_null(acl);
	acl->name = strdup(name);
	acl->rules = calloc(rules + 1, sizeof(*acl->rules));
	acl->rule_count = rules;
	for (size_t i = 0; i < rules; i++) {
		assert_true(asprintf(&acl->rules[i].id, "%zu", i) > 0);
		acl->rules[i].action = SECG_ACTION_DROP;
		acl->rules[i].fragment = -1;
	}
	return acl;
}

static void free_acl(struct acl *acl)
{
	for (size_t i = 0; i < acl->rule_count; i++) {
		struct rule *rule = &acl->rules[i];

		for (size_t j = 0; j < rule->l4_count; j++) {
			free(rule->l4[j].high.ranges);
			free(rule->l4[j].low.ranges);
		}
		free(rule->l4);
		free(rule->src.v4.ranges);
		free(rule->src.v6.ranges);
		free(rule->dst.v4.ranges);
		free(rule->dst.v6.ranges);
		free(rule->id);
	}
	free(acl->rules);
	free(acl->name);
	free(acl);
}

static void free_aclp(struct acl **acl)
{
	free_acl(*acl);
}

static void add_range(struct addr_list *list, addr_t first, addr_t last)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity * 2 + 1;
		list->ranges = realloc(list->ranges, list->capacity * sizeof(*list->ranges));
		assert_non_null(list->ranges);
	}
	list->ranges[list->count++] = (struct addr_range){.first = first, .last = last};
}

static void set_src4(struct rule *rule, uint32_t first, uint32_t last)
{
	rule->is_ip = true;
	rule->has_src = true;
	add_range(&rule->src.v4, first, last);
}

static void set_dst4(struct rule *rule, uint32_t first, uint32_t last)
{
	rule->is_ip = true;
	rule->has_dst = true;
	add_range(&rule->dst.v4, first, last);
}

static void set_dst6(struct rule *rule, addr_t first, addr_t last)
{
	rule->is_ip = true;
	rule->has_dst = true;
	add_range(&rule->dst.v6, first, last);
}

/* One more alternative: protocol to destination ports. */
static struct l4_match *add_l4(struct rule *rule, uint8_t protocol, uint16_t first, uint16_t last)
{
	struct l4_match *l4;

	rule->is_ip = true;
	rule->l4 = realloc(rule->l4, (rule->l4_count + 1) * sizeof(*rule->l4));
	assert_non_null(rule->l4);
	l4 = &rule->l4[rule->l4_count++];
	*l4 = (struct l4_match){.has_protocols = true};
	l4->protocols[protocol / 64] |= 1ull << protocol % 64;
	l4->low.ranges = calloc(1, sizeof(*l4->low.ranges));
	l4->low.ranges[0] = (struct range){first, last};
	l4->low.count = 1;
	return l4;
}

static struct compiled *compile(struct acl *const *acls, size_t count)
{
	struct compiled *compiled = NULL;
	struct errors errs = {0};

	assert_int_equal(compile_policy(&compiled, (const struct acl *const *)acls, count, false,
					"f", &errs),
			 0);
	assert_int_equal(errs.count, 0);
	return compiled;
}

static struct secg_section section_of(const struct compiled *compiled, enum secg_family family)
{
	struct secg_section section;

	memcpy(&section, compiled->lines + family, sizeof(section));
	return section;
}

static struct compile_packet tcp4(uint32_t src, uint32_t dst, uint16_t dst_port)
{
	return (struct compile_packet){
		.family = SECG_FAMILY_IPV4,
		.src = src,
		.dst = dst,
		.protocol = PROTOCOL_TCP,
		.has_l4 = true,
		.high = 40000,
		.low = dst_port,
	};
}

static struct compile_packet to6(addr_t dst)
{
	return (struct compile_packet){.family = SECG_FAMILY_IPV6, .dst = dst};
}

static void assert_slot(const struct compiled *compiled, struct compile_packet packet,
			uint32_t slot)
{
	struct compile_verdict verdict = compiled_lookup(compiled, &packet);

	assert_int_not_equal(verdict.action, SECG_ACTION_NONE);
	assert_int_equal(verdict.slot, slot);
}

static void assert_none(const struct compiled *compiled, struct compile_packet packet)
{
	assert_int_equal(compiled_lookup(compiled, &packet).action, SECG_ACTION_NONE);
}

/* ── the shape of the lines ─────────────────────────────────────────────────────────────────────── */

/* Walks everything that a section refers to and checks it against secg/policy.h. */
struct walk {
	const struct compiled *compiled;
	struct secg_section section;
	uint8_t *is_vector; /* by line */
	size_t vectors;
	size_t descents; /* references from one word's tree to the next one's */
	uint32_t levels; /* of the highest tree */
};

static void walk_vector(struct walk *walk, uint32_t line)
{
	uint32_t entries = walk->section.entries;

	assert_true(line >= 3);
	assert_true(line + walk->section.vector_lines <= walk->compiled->line_count);
	for (uint32_t bit = entries; bit < walk->section.vector_lines * 512; bit++) {
		struct secg_vector_line v;

		memcpy(&v, walk->compiled->lines + line + bit / 512, sizeof(v));
		assert_int_equal(v.w[bit % 512 / 64] >> bit % 64 & 1, 0);
	}
	walk->vectors += !walk->is_vector[line];
	walk->is_vector[line] = 1;
}

static void walk_tree(struct walk *walk, uint32_t reference);

/* Keys of a leaf lie in first..last. */
static void walk_leaf(struct walk *walk, uint32_t line, uint32_t first, uint32_t last)
{
	struct secg_tree_leaf leaf;
	bool is_unused = false;

	assert_true(line >= 3 && line < walk->compiled->line_count);
	memcpy(&leaf, walk->compiled->lines + line, sizeof(leaf));
	assert_int_equal(leaf.start[0], first);
	for (int i = 0; i < SECG_TREE_LEAF_KEYS; i++) {
		/* The same value twice in a row: two intervals that should be one, or unused. */
		if (i && leaf.value[i] == leaf.value[i - 1]) {
			is_unused = true;
			assert_int_equal(leaf.start[i], UINT32_MAX);
			continue;
		}
		assert_false(is_unused);
		assert_true(!i || leaf.start[i] > leaf.start[i - 1]);
		assert_true(leaf.start[i] <= last);
		if (leaf.value[i] & SECG_TREE_DESCEND) {
			walk->descents++;
			walk_tree(walk, leaf.value[i]);
		} else {
			walk_vector(walk, leaf.value[i]);
		}
	}
}

static void walk_inner(struct walk *walk, uint32_t line, uint32_t levels, uint32_t first,
		       uint32_t last)
{
	struct secg_tree_inner inner;
	uint32_t in_use;

	if (!levels) {
		walk_leaf(walk, line, first, last);
		return;
	}
	assert_true(line >= 3 && line < walk->compiled->line_count);
	memcpy(&inner, walk->compiled->lines + line, sizeof(inner));
	in_use = inner.meta >> SECG_TREE_LEVEL_SHIFT;
	for (uint32_t i = in_use; i < SECG_TREE_SEPARATORS; i++)
		assert_int_equal(inner.separator[i], UINT32_MAX);
	for (uint32_t i = 0; i <= in_use; i++)
		walk_inner(walk, (inner.meta & SECG_TREE_LINE_MASK) + i, levels - 1,
			   i ? inner.separator[i - 1] : first,
			   i < in_use ? inner.separator[i] - 1 : last);
}

static void walk_tree(struct walk *walk, uint32_t reference)
{
	uint32_t levels = reference >> SECG_TREE_LEVEL_SHIFT & SECG_TREE_LEVEL_MASK;

	assert_true(levels <= SECG_TREE_MAX_LEVELS);
	if (levels > walk->levels)
		walk->levels = levels;
	walk_inner(walk, reference & SECG_TREE_LINE_MASK, levels, 0, UINT32_MAX);
}

static void walk_proto(struct walk *walk)
{
	assert_true(walk->section.proto + 16 <= walk->compiled->line_count);
	for (uint32_t p = 0; p < 256; p++)
		walk_vector(walk, walk->compiled->lines[walk->section.proto + p / 16].w[p % 16]);
}

/* No two vectors of a section have the same content. */
static void walk_twins(const struct walk *walk)
{
	size_t size = walk->section.vector_lines * sizeof(struct secg_line);
	const struct secg_line *lines = walk->compiled->lines;

	for (size_t i = 0; i < walk->compiled->line_count; i++)
		for (size_t j = 0; walk->is_vector[i] && j < i; j++)
			assert_true(!walk->is_vector[j] || memcmp(lines + i, lines + j, size));
}

static struct walk check(const struct compiled *compiled, enum secg_family family)
{
	struct walk walk = {.compiled = compiled, .section = section_of(compiled, family)};
	uint32_t dims = walk.section.dims;

	assert_int_equal((uintptr_t)compiled->lines % 64, 0);
	assert_int_equal(walk.section.vector_lines, (walk.section.entries + 511) / 512);
	walk.is_vector = calloc(compiled->line_count, 1);
	if (dims & SECG_DIM_SRC)
		walk_tree(&walk, walk.section.src);
	if (dims & SECG_DIM_DST)
		walk_tree(&walk, walk.section.dst);
	if (dims & SECG_DIM_PROTO)
		walk_proto(&walk);
	for (int i = 0; i < 2; i++) {
		if (!(dims & SECG_DIM_L4_HIGH << i))
			continue;
		walk_tree(&walk, walk.section.l4[i]);
		walk_vector(&walk, walk.section.no_l4[i]);
	}
	if (walk.vectors < 2000)
		walk_twins(&walk);
	free(walk.is_vector);
	return walk;
}

static void a_list_without_rules_matches_nothing(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("empty", 0);
	_cleanup_(compiled_freep) struct compiled *none = compile(NULL, 0);
	_cleanup_(compiled_freep) struct compiled *empty = compile(&acl, 1);

	(void)unused;
	assert_int_equal(none->line_count, 3);
	assert_int_equal(empty->line_count, 3);
	assert_int_equal(empty->rule_count, 0);
	assert_false(empty->is_stateful);
	for (int family = 0; family < SECG_FAMILY_COUNT; family++) {
		assert_int_equal(section_of(none, family).entries, 0);
		assert_none(empty, (struct compile_packet){.family = family});
	}
}

static void a_rule_without_conditions_needs_no_dimension(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("all", 1);
	_cleanup_(compiled_freep) struct compiled *compiled = compile(&acl, 1);

	(void)unused;
	for (int family = 0; family < SECG_FAMILY_COUNT; family++) {
		assert_int_equal(section_of(compiled, family).entries, 1);
		assert_int_equal(section_of(compiled, family).dims, 0);
		assert_slot(compiled, (struct compile_packet){.family = family}, 0);
	}
}

static void only_rules_without_ip_fields_see_other_frames(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", 3);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;

	(void)unused;
	set_dst4(&acl->rules[0], 0, UINT32_MAX);
	acl->rules[1].is_ip = true;
	compiled = compile(&acl, 1);
	assert_int_equal(section_of(compiled, SECG_FAMILY_OTHER).entries, 1);
	assert_slot(compiled, (struct compile_packet){.family = SECG_FAMILY_OTHER}, 2);
	assert_slot(compiled, tcp4(1, 2, 3), 0);
	assert_slot(compiled, to6(1), 1);
}

static void dimensions_that_tell_nothing_apart_are_left_out(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", 2);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	struct walk walk;

	(void)unused;
	/* 0.0.0.0/0 is no condition on an IPv4 address. */
	set_src4(&acl->rules[0], 0, UINT32_MAX);
	set_dst4(&acl->rules[0], 0x0a000000, 0x0affffff);
	compiled = compile(&acl, 1);
	walk = check(compiled, SECG_FAMILY_IPV4);
	assert_int_equal(walk.section.dims, SECG_DIM_DST);
	assert_int_equal(walk.section.src, 0);
	assert_int_equal(walk.section.proto, 0);
	assert_int_equal(walk.section.entries, 2);
	/* The rule has no IPv6 address, so it has no entry there. */
	assert_int_equal(section_of(compiled, SECG_FAMILY_IPV6).entries, 1);
	assert_int_equal(section_of(compiled, SECG_FAMILY_IPV6).dims, 0);
}

static void an_empty_set_matches_nothing(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", 1);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;

	(void)unused;
	acl->rules[0].is_ip = true;
	acl->rules[0].has_src = true;
	compiled = compile(&acl, 1);
	assert_int_equal(compiled->rule_count, 1);
	assert_int_equal(compiled->line_count, 3);
	assert_none(compiled, tcp4(0, 0, 0));
	assert_none(compiled, to6(0));
}

/* A later fragment shows no ports: "every port" is still a condition on it. */
static void every_port_is_a_condition(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", 2);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	struct compile_packet packet = tcp4(1, 2, UINT16_MAX);

	(void)unused;
	add_l4(&acl->rules[0], PROTOCOL_TCP, 0, UINT16_MAX);
	set_dst4(&acl->rules[1], 2, 2);
	compiled = compile(&acl, 1);
	check(compiled, SECG_FAMILY_IPV4);
	assert_slot(compiled, packet, 0);
	packet.has_l4 = false;
	assert_slot(compiled, packet, 1);
	assert_int_equal(section_of(compiled, SECG_FAMILY_IPV4).dims,
			 SECG_DIM_DST | SECG_DIM_PROTO | SECG_DIM_L4_LOW);
}

static void alternatives_share_the_slot_of_their_rule(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("web", 2);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	struct compile_packet packet = tcp4(1, 2, 443);

	(void)unused;
	add_l4(&acl->rules[0], PROTOCOL_UDP, 53, 53);
	add_l4(&acl->rules[1], PROTOCOL_TCP, 80, 80);
	add_l4(&acl->rules[1], PROTOCOL_UDP, 443, 443);
	add_l4(&acl->rules[1], PROTOCOL_TCP, 443, 443)->family = 4;
	acl->rules[1].action = SECG_ACTION_ALLOW;
	compiled = compile(&acl, 1);
	assert_int_equal(section_of(compiled, SECG_FAMILY_IPV4).entries, 4);
	assert_int_equal(section_of(compiled, SECG_FAMILY_IPV6).entries, 3);
	assert_slot(compiled, packet, 1);
	packet.low = 80;
	assert_slot(compiled, packet, 1);
	packet.low = 53;
	assert_none(compiled, packet);
	packet.protocol = PROTOCOL_UDP;
	assert_slot(compiled, packet, 0);
	packet.low = 80;
	assert_none(compiled, packet);
	assert_true(compiled->is_stateful);
	assert_int_equal(compiled->rule_count, 2);
	assert_string_equal(compiled->rule_keys[0], "web/0");
	assert_string_equal(compiled->rule_keys[1], "web/1");
}

static void the_highest_keys_are_found(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", 40);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;

	(void)unused;
	/* Single addresses at the upper end: full and half-used lines end in the highest key. */
	for (uint32_t i = 0; i < 40; i++) {
		set_dst4(&acl->rules[i], UINT32_MAX - 2 * i, UINT32_MAX - 2 * i);
		set_dst6(&acl->rules[i], ALL_ONES - ((addr_t)2 << 32) * i,
			 ALL_ONES - ((addr_t)2 << 32) * i);
		add_l4(&acl->rules[i], PROTOCOL_TCP, UINT16_MAX, UINT16_MAX);
	}
	compiled = compile(&acl, 1);
	check(compiled, SECG_FAMILY_IPV4);
	assert_true(check(compiled, SECG_FAMILY_IPV6).descents > 3);
	for (uint32_t i = 0; i < 40; i++) {
		struct compile_packet packet = tcp4(1, UINT32_MAX - 2 * i, UINT16_MAX);

		assert_slot(compiled, packet, i);
		packet.low--;
		assert_none(compiled, packet);
		packet.low++;
		packet.dst--;
		assert_none(compiled, packet);
		packet.family = SECG_FAMILY_IPV6;
		packet.dst = ALL_ONES - ((addr_t)2 << 32) * i;
		assert_slot(compiled, packet, i);
		packet.dst--;
		assert_none(compiled, packet);
	}
}

static void ipv6_descends_only_where_it_must(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", 2);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	addr_t net = (addr_t)0x20010db8 << 96;
	addr_t host = net | (addr_t)7 << 64 | 1;

	(void)unused;
	set_dst6(&acl->rules[0], net, net | ALL_ONES >> 32);
	acl->rules[1].is_ip = acl->rules[1].has_dst = true;
	compiled = compile(&acl, 1);
	assert_int_equal(check(compiled, SECG_FAMILY_IPV6).descents, 0);
	assert_slot(compiled, to6(net | ALL_ONES >> 32), 0);
	assert_none(compiled, to6(net - 1));
	compiled_free(TAKE_PTR(compiled));

	set_dst6(&acl->rules[1], host, host);
	compiled = compile(&acl, 1);
	assert_int_equal(check(compiled, SECG_FAMILY_IPV6).descents, 3);
	compiled_free(TAKE_PTR(compiled));

	/* A range that begins and ends inside words. */
	acl->rules[1].dst.v6.ranges[0].last = host + ((addr_t)5 << 70);
	acl->rules[0].dst.v6.count = 0;
	compiled = compile(&acl, 1);
	check(compiled, SECG_FAMILY_IPV6);
	assert_none(compiled, to6(host - 1));
	assert_slot(compiled, to6(host), 1);
	assert_slot(compiled, to6(host + ((addr_t)3 << 69)), 1);
	assert_slot(compiled, to6(host + ((addr_t)5 << 70)), 1);
	assert_none(compiled, to6(host + ((addr_t)5 << 70) + 1));
}

static void equal_sets_share_their_vectors(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", 1000);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	struct walk walk;

	(void)unused;
	for (uint32_t i = 0; i < 1000; i++) {
		for (uint32_t j = 0; j < 50; j++)
			set_src4(&acl->rules[i], j * 1000, j * 1000 + 9);
		set_dst4(&acl->rules[i], 0x0a000000, 0x0affffff);
	}
	compiled = compile(&acl, 1);
	walk = check(compiled, SECG_FAMILY_IPV4);
	/* All rules or none, the same two in both dimensions. */
	assert_int_equal(walk.vectors, 2);
	assert_int_equal(walk.section.vector_lines, 2);
	assert_slot(compiled, tcp4(49 * 1000 + 9, 0x0a000001, 1), 0);
	assert_none(compiled, tcp4(49 * 1000 + 10, 0x0a000001, 1));
}

static void pass_goes_on_with_the_next_acl(void **unused)
{
	struct acl *acls[4] = {make_acl("a", 3), make_acl("v6", 1), make_acl("none", 0),
			       make_acl("b", 2)};
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;

	(void)unused;
	set_dst4(&acls[0]->rules[0], 10, 19);
	acls[0]->rules[0].action = SECG_ACTION_PASS;
	set_dst4(&acls[0]->rules[1], 10, 29);
	set_dst6(&acls[1]->rules[0], 0, ALL_ONES);
	set_dst4(&acls[3]->rules[0], 15, 19);
	set_dst4(&acls[3]->rules[1], 10, 14);
	acls[3]->rules[1].action = SECG_ACTION_PASS;
	compiled = compile(acls, 4);
	/* Rule 0 passes over rules 1 and 2 and the ACLs that have nothing for IPv4. */
	assert_slot(compiled, tcp4(1, 15, 1), 4);
	assert_slot(compiled, tcp4(1, 20, 1), 1);
	assert_slot(compiled, tcp4(1, 30, 1), 2);
	/* Passed by the last ACL too: nobody decides. */
	assert_none(compiled, tcp4(1, 10, 1));
	assert_string_equal(compiled->rule_keys[4], "b/0");
	for (int i = 0; i < 4; i++)
		free_acl(acls[i]);
}

/* As many steps as a search can ever need: every line of the vectors, and a PASS in every ACL. */
static void the_longest_search_ends_at_the_last_entry(void **unused)
{
	enum { RULES = SECG_MAX_ENTRIES / SECG_MAX_ACLS };
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	struct acl *acls[SECG_MAX_ACLS];

	(void)unused;
	for (uint32_t i = 0; i < SECG_MAX_ACLS; i++) {
		bool is_last = i == SECG_MAX_ACLS - 1;
		/* No ACL ends where a line does: each line is looked at once more behind a PASS. */
		uint32_t last = RULES - 1 - (i == 0) + is_last;

		acls[i] = make_acl("a", last + 1);
		for (uint32_t j = 0; j < last; j++)
			set_dst4(&acls[i]->rules[j], 1, 1);
		set_dst4(&acls[i]->rules[last], 7, 7);
		acls[i]->rules[last].action = is_last ? SECG_ACTION_ALLOW : SECG_ACTION_PASS;
	}
	compiled = compile(acls, SECG_MAX_ACLS);
	assert_int_equal(section_of(compiled, SECG_FAMILY_IPV4).entries, SECG_MAX_ENTRIES);
	assert_slot(compiled, tcp4(0, 7, 0), SECG_MAX_ENTRIES - 1);
	assert_none(compiled, tcp4(0, 8, 0));
	for (int i = 0; i < SECG_MAX_ACLS; i++)
		free_acl(acls[i]);
}

/* ── limits ─────────────────────────────────────────────────────────────────────────────────────── */

static void assert_limit(struct acl *const *acls, size_t count, const char *a, const char *b)
{
	struct compiled *compiled = NULL;
	struct errors errs = {0};

	assert_int_equal(compile_policy(&compiled, (const struct acl *const *)acls, count, false,
					"ports.p.from", &errs),
			 -EINVAL);
	assert_null(compiled);
	assert_int_equal(errs.count, 1);
	assert_int_equal(errs.items[0].code, ERROR_LIMIT);
	assert_string_equal(errs.items[0].field, "ports.p.from");
	if (!strstr(errs.items[0].message, a) || !strstr(errs.items[0].message, b))
		fail_msg("\"%s\" lacks %s or %s", errs.items[0].message, a, b);
	errors_fini(&errs);
}

static void too_many_acls_are_refused(void **unused)
{
	struct acl *acls[SECG_MAX_ACLS + 1];

	(void)unused;
	for (int i = 0; i <= SECG_MAX_ACLS; i++)
		acls[i] = make_acl("a", 1);
	compiled_free(compile(acls, SECG_MAX_ACLS));
	assert_limit(acls, SECG_MAX_ACLS + 1, "17", "16");
	for (int i = 0; i <= SECG_MAX_ACLS; i++)
		free_acl(acls[i]);
}

static void too_many_entries_are_refused(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", SECG_MAX_ENTRIES);

	(void)unused;
	compiled_free(compile(&acl, 1));
	add_l4(&acl->rules[0], PROTOCOL_TCP, 1, 1)->family = 6;
	add_l4(&acl->rules[0], PROTOCOL_TCP, 2, 2)->family = 6;
	assert_limit(&acl, 1, "10241 entries for IPv6", "10240");
}

static void too_many_intervals_are_refused(void **unused)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", 1);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	uint32_t most = TREE_MAX_INTERVALS / 2;

	(void)unused;
	for (uint32_t i = 0; i < most; i++)
		set_dst4(&acl->rules[0], i * 16, i * 16);
	compiled = compile(&acl, 1);
	assert_int_equal(check(compiled, SECG_FAMILY_IPV4).levels, SECG_TREE_MAX_LEVELS);
	assert_slot(compiled, tcp4(0, (most - 1) * 16, 0), 0);
	assert_none(compiled, tcp4(0, (most - 1) * 16 + 1, 0));
	set_dst4(&acl->rules[0], UINT32_MAX, UINT32_MAX);
	assert_limit(&acl, 1, "IPv4", "524288");

	/* The same many in one word of an IPv6 address. */
	acl->rules[0].dst.v4.count = 0;
	for (uint32_t i = 0; i < most; i++)
		set_dst6(&acl->rules[0], (addr_t)i << 36, (addr_t)i << 36 | UINT32_MAX);
	compiled_free(compile(&acl, 1));
	set_dst6(&acl->rules[0], ALL_ONES >> 64, ALL_ONES >> 64);
	assert_limit(&acl, 1, "IPv6", "524288");
}

static void too_many_lines_are_refused(void **unused)
{
	struct lines lines = {0};
	uint32_t line;

	(void)unused;
	assert_int_equal(lines_add(&lines, COMPILE_MAX_LINES + 1, &line), -E2BIG);
	assert_int_equal(lines_add(&lines, 1, &line), 0);
	assert_int_equal(line, 0);
	assert_int_equal(lines_add(&lines, COMPILE_MAX_LINES, &line), -E2BIG);
	assert_int_equal(lines.count, 1);
	lines_fini(&lines);
}

/* ── size and speed ─────────────────────────────────────────────────────────────────────────────── */

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Overlapping prefixes of all lengths from 8 on: hardly two intervals have the same rules. */
static double compile_prefixes(uint32_t rules)
{
	_cleanup_(free_aclp) struct acl *acl = make_acl("a", rules);
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	uint64_t state = 1;
	double start;

	for (uint32_t i = 0; i < rules; i++) {
		uint32_t n[4], host;

		for (int j = 0; j < 4; j++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			n[j] = (uint32_t)(state >> 32);
		}
		host = (uint32_t)((uint64_t)UINT32_MAX >> (8 + n[2] % 25));
		set_src4(&acl->rules[i], n[0] & ~host, n[0] | host);
		set_dst4(&acl->rules[i], n[1] & ~host, n[1] | host);
		set_dst6(&acl->rules[i], (addr_t)(n[1] & ~host) << 80,
			 (addr_t)(n[1] | host) << 80 | ALL_ONES >> 48);
		add_range(&acl->rules[i].src.v6, n[0] & ~host, n[0] | host);
		add_l4(&acl->rules[i], PROTOCOL_TCP, (uint16_t)n[3], (uint16_t)n[3]);
	}
	start = cpu_ms();
	compiled = compile(&acl, 1);
	start = cpu_ms() - start;
	print_message("%u rules, five fields, both families: %.1f ms, %.1f MiB\n", rules, start,
		      (double)compiled->line_count * 64 / 1048576);
	check(compiled, SECG_FAMILY_IPV4);
	check(compiled, SECG_FAMILY_IPV6);
	return start;
}

static void many_rules_compile_quickly(void **unused)
{
	(void)unused;
	compile_prefixes(10);
	assert_true(compile_prefixes(1000) < 200);
	assert_true(compile_prefixes(10000) < 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_without_rules_matches_nothing),
		cmocka_unit_test(a_rule_without_conditions_needs_no_dimension),
		cmocka_unit_test(only_rules_without_ip_fields_see_other_frames),
		cmocka_unit_test(dimensions_that_tell_nothing_apart_are_left_out),
		cmocka_unit_test(an_empty_set_matches_nothing),
		cmocka_unit_test(every_port_is_a_condition),
		cmocka_unit_test(alternatives_share_the_slot_of_their_rule),
		cmocka_unit_test(the_highest_keys_are_found),
		cmocka_unit_test(ipv6_descends_only_where_it_must),
		cmocka_unit_test(equal_sets_share_their_vectors),
		cmocka_unit_test(pass_goes_on_with_the_next_acl),
		cmocka_unit_test(the_longest_search_ends_at_the_last_entry),
		cmocka_unit_test(too_many_acls_are_refused),
		cmocka_unit_test(too_many_entries_are_refused),
		cmocka_unit_test(too_many_intervals_are_refused),
		cmocka_unit_test(too_many_lines_are_refused),
		cmocka_unit_test(many_rules_compile_quickly),
	};

	return cmocka_run_group_tests_name("compile", tests, NULL, NULL);
}
