/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rare fields of rules in compiled policies: which dimensions they make, what they mean for packets
 * that do not have them, the tree that finds a session's own rule, and address pairs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "compile/macip.h"
#include "compile/own.h"
#include "compile/policy.h"
#include "compile/tree.h"

#define RULES_MAX 4

static const uint8_t exact[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* ── lists ──────────────────────────────────────────────────────────────────────────────────────── */

struct list {
	struct rule rules[RULES_MAX];
	struct acl acl;
	struct compiled *compiled;
};

/* Rules that match everything and drop it. */
static void list_init(struct list *list, size_t count)
{
	static char name[] = "a", id[] = "r";

	*list = (struct list){.acl = {.name = name, .rules = list->rules, .rule_count = count}};
	for (size_t i = 0; i < count; i++)
		list->rules[i] =
			(struct rule){.id = id, .action = SECG_ACTION_DROP, .fragment = -1};
}

static void list_compile(struct list *list)
{
	const struct acl *acl = &list->acl;
	struct errors errs = {0};

	assert_int_equal(compile_policy(&list->compiled, &acl, 1, false, "f", &errs), 0);
}

static void list_fini(struct list *list)
{
	compiled_free(list->compiled);
}

static struct secg_section section_of(const struct compiled *compiled, enum secg_family family)
{
	struct secg_section section;

	memcpy(&section, compiled->lines + family, sizeof(section));
	return section;
}

static struct secg_byte_table byte_table(const struct compiled *compiled,
					 const struct secg_section *section, size_t at)
{
	struct secg_byte_table table;

	memcpy(&table, &compiled->lines[section->bytes + at / 4].w[at % 4 * 4], sizeof(table));
	return table;
}

/* Slot of the rule that decides; -1: none. */
static int slot_of(const struct compiled *compiled, const struct compile_packet *packet)
{
	struct compile_verdict verdict = compiled_lookup(compiled, packet);

	return verdict.action ? (int)verdict.slot : -1;
}

static struct compile_packet with_macs(const char *src, const char *dst)
{
	struct compile_packet packet = {.family = SECG_FAMILY_IPV4, .has_ethernet = true};

	memcpy(packet.src_mac, src, 6);
	memcpy(packet.dst_mac, dst, 6);
	return packet;
}

static struct mac_match mac(const char *value, const char *mask)
{
	struct mac_match match;

	memcpy(match.value, value, 6);
	memcpy(match.mask, mask, 6);
	return match;
}

/* ── which dimensions ───────────────────────────────────────────────────────────────────────────── */

static void sections_without_rare_fields_have_none_of_their_dimensions(void **state)
{
	struct list list;

	(void)state;
	list_init(&list, 2);
	list.rules[0].is_ip = true;
	list.rules[0].family = 4;
	list_compile(&list);
	for (enum secg_family family = 0; family < SECG_FAMILY_COUNT; family++) {
		struct secg_section section = section_of(list.compiled, family);

		assert_int_equal(section.dims, 0);
		assert_int_equal(section.byte_count, 0);
	}
	assert_int_equal(list.compiled->rule_hidden[0], 0);
	list_fini(&list);
}

static void only_bytes_that_tell_entries_apart_have_tables(void **state)
{
	struct mac_match oui = mac("\x02\x11\x22\0\0\0", "\xff\xff\xff\0\0\0");
	struct secg_section section;
	struct list list;

	(void)state;
	list_init(&list, 2);
	list.rules[0].l2.dst = (struct mac_list){.macs = &oui, .count = 1};
	list_compile(&list);
	section = section_of(list.compiled, SECG_FAMILY_OTHER);
	assert_int_equal(section.dims, SECG_DIM_BYTES);
	assert_int_equal(section.byte_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(byte_table(list.compiled, &section, i).byte,
				 SECG_BYTE_DST_MAC + i);
	section = section_of(list.compiled, SECG_FAMILY_IPV6);
	assert_int_equal(section.dims, SECG_DIM_BYTES | SECG_DIM_OWN);
	list_fini(&list);
}

static void every_field_that_a_session_does_not_show_hides_its_rule(void **state)
{
	struct range range = {5, 5};
	struct mac_match any = mac("\x02\0\0\0\0\x01", (const char *)exact);
	uint64_t hashes[6];

	(void)state;
	for (int field = 0; field < 6; field++) {
		struct list list;
		struct rule *rule = list.rules;

		list_init(&list, 1);
		rule->is_ip = true;
		if (field == 0)
			rule->l2.vlans = (struct range_list){.ranges = &range, .count = 1};
		else if (field == 1)
			rule->l2.src = (struct mac_list){.macs = &any, .count = 1};
		else if (field == 2)
			rule->l2.dst = (struct mac_list){.macs = &any, .count = 1};
		else if (field == 3)
			rule->dscp = 1ull << 46;
		else if (field == 4)
			rule->tcp_flags = rule->tcp_flags_mask = 2;
		else
			rule->fragment = 0;
		list_compile(&list);
		assert_true(section_of(list.compiled, SECG_FAMILY_IPV4).dims & SECG_DIM_OWN);
		hashes[field] = list.compiled->rule_hidden[0];
		assert_true(hashes[field]);
		for (int i = 0; i < field; i++)
			assert_true(hashes[field] != hashes[i]);
		list_fini(&list);
	}
}

static void what_a_session_shows_is_not_in_the_hash(void **state)
{
	struct addr_range one = {1, 1};
	uint64_t hash;
	struct list list;

	(void)state;
	list_init(&list, 1);
	list.rules[0].is_ip = true;
	list.rules[0].dscp = 1;
	list_compile(&list);
	hash = list.compiled->rule_hidden[0];
	list_fini(&list);
	list.rules[0].has_src = true;
	list.rules[0].src.v4 = (struct addr_list){.ranges = &one, .count = 1};
	list_compile(&list);
	assert_true(list.compiled->rule_hidden[0] == hash);
	list_fini(&list);
	list.rules[0].action = SECG_ACTION_ALLOW;
	list_compile(&list);
	assert_true(list.compiled->rule_hidden[0] != hash);
	list_fini(&list);
}

/* ── what they mean ─────────────────────────────────────────────────────────────────────────────── */

static void several_macs_do_not_mix_their_bytes(void **state)
{
	struct mac_match two[2] = {
		mac("\x02\0\0\0\0\x01", (const char *)exact),
		mac("\x06\0\0\0\0\x02", (const char *)exact),
	};
	struct compile_packet first = with_macs("\x02\0\0\0\0\x01", "\x02\0\0\0\0\x09");
	struct compile_packet mixed = with_macs("\x02\0\0\0\0\x02", "\x02\0\0\0\0\x09");
	struct list list;

	(void)state;
	list_init(&list, 1);
	list.rules[0].l2.src = (struct mac_list){.macs = two, .count = 2};
	list_compile(&list);
	assert_int_equal(section_of(list.compiled, SECG_FAMILY_IPV4).entries, 2);
	assert_int_equal(slot_of(list.compiled, &first), 0);
	assert_int_equal(slot_of(list.compiled, &mixed), -1);
	list_fini(&list);
}

static void frames_without_ethernet_header_match_no_mac(void **state)
{
	struct mac_match zero = mac("\0\0\0\0\0\0", "\0\0\0\0\0\0");
	struct compile_packet packet = with_macs("\0\0\0\0\0\0", "\0\0\0\0\0\0");
	struct list list;

	(void)state;
	list_init(&list, 2);
	list.rules[0].l2.src = (struct mac_list){.macs = &zero, .count = 1};
	list_compile(&list);
	assert_int_equal(slot_of(list.compiled, &packet), 0);
	packet.has_ethernet = false;
	assert_int_equal(slot_of(list.compiled, &packet), 1);
	list_fini(&list);
}

static void tcp_flags_match_tcp_only(void **state)
{
	struct compile_packet packet = {
		.family = SECG_FAMILY_IPV6, .protocol = 6, .has_l4 = true, .tcp_flags = 0x12};
	struct list list;

	(void)state;
	list_init(&list, 1);
	list.rules[0].is_ip = true;
	list.rules[0].tcp_flags_mask = 0x07;
	list.rules[0].tcp_flags = 0x02;
	list_compile(&list);
	assert_int_equal(slot_of(list.compiled, &packet), 0);
	packet.protocol = 17;
	assert_int_equal(slot_of(list.compiled, &packet), -1);
	packet.protocol = 6;
	packet.tcp_flags = 0x06;
	assert_int_equal(slot_of(list.compiled, &packet), -1);
	list_fini(&list);
}

static void ethertypes_of_ip_choose_the_family(void **state)
{
	struct range types[] = {{0, 0x5ff}, {0x0800, 0x0800}};
	struct compile_packet packet = {.family = SECG_FAMILY_IPV4};
	struct list list;

	(void)state;
	list_init(&list, 1);
	list.rules[0].l2.ethertypes = (struct range_list){.ranges = types, .count = 2};
	list_compile(&list);
	assert_int_equal(section_of(list.compiled, SECG_FAMILY_IPV4).dims, 0);
	assert_int_equal(section_of(list.compiled, SECG_FAMILY_IPV6).entries, 0);
	assert_int_equal(slot_of(list.compiled, &packet), 0);
	packet.family = SECG_FAMILY_OTHER;
	packet.ethertype = 0x05ff; /* the length of an LLC frame */
	assert_int_equal(slot_of(list.compiled, &packet), 0);
	packet.ethertype = 0x0600;
	assert_int_equal(slot_of(list.compiled, &packet), -1);
	list_fini(&list);
}

static void disabled_rule_keeps_its_slot_and_matches_nothing(void **state)
{
	struct compile_packet packet = {.family = SECG_FAMILY_IPV4};
	struct list list;

	(void)state;
	list_init(&list, 2);
	list.rules[0].is_disabled = true;
	list.rules[0].action = SECG_ACTION_ALLOW;
	list_compile(&list);
	assert_int_equal(list.compiled->rule_count, 2);
	assert_int_equal(slot_of(list.compiled, &packet), 1);
	assert_false(list.compiled->is_stateful);
	list_fini(&list);
}

static void audited_list_passes_what_it_would_drop_and_says_so(void **state)
{
	struct compile_packet packet = {.family = SECG_FAMILY_IPV4};

	(void)state;
	for (int by_port = 0; by_port < 2; by_port++) {
		const struct acl *acl;
		struct compile_verdict verdict;
		struct errors errs = {0};
		struct list list;

		list_init(&list, 1);
		list.rules[0].action = SECG_ACTION_REJECT;
		list.acl.is_audited = !by_port;
		acl = &list.acl;
		assert_int_equal(compile_policy(&list.compiled, &acl, 1, by_port, "f", &errs), 0);
		verdict = compiled_lookup(list.compiled, &packet);
		assert_int_equal(verdict.action, SECG_ACTION_ALLOW);
		assert_int_equal(verdict.flags, SECG_ENTRY_AUDIT | SECG_ENTRY_WATCH);
		assert_true(list.compiled->is_stateful);
		list_fini(&list);
	}
}

/* ── the own rule of a session ──────────────────────────────────────────────────────────────────── */

static void recheck_takes_hidden_fields_as_matching_for_the_own_rule_only(void **state)
{
	struct compile_packet packet = {.family = SECG_FAMILY_IPV4, .vlan = 9, .traffic = 3};
	struct range range = {5, 5};
	struct list list;

	(void)state;
	list_init(&list, 3);
	list.rules[0].l2.vlans = (struct range_list){.ranges = &range, .count = 1};
	list.rules[1].is_ip = true;
	list.rules[1].dscp = 1ull << 46;
	list_compile(&list);
	assert_int_equal(slot_of(list.compiled, &packet), 2);
	assert_int_equal(compiled_recheck(list.compiled, &packet, 0).slot, 2);
	assert_int_equal(compiled_recheck(list.compiled, &packet, 1).slot, 0);
	assert_int_equal(compiled_recheck(list.compiled, &packet, 2).slot, 1);
	assert_int_equal(compiled_recheck(list.compiled, &packet, 3).slot, 2);
	assert_int_equal(compiled_recheck(list.compiled, &packet, 4000).slot, 2);
	list_fini(&list);
}

/* A policy's worth of rules of which every third is hidden; words as the daemon gives them. */
static void own_tree_finds_every_word_at_any_place(void **state)
{
	static const size_t counts[] = {1, 2, 3, 12, 100, 3000, 10000};

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		size_t count = counts[c];
		uint64_t *hidden = calloc(count, sizeof(*hidden));
		uint32_t *words = calloc(count, sizeof(*words));
		struct compiled compiled = {.rule_hidden = hidden, .rule_count = count};
		struct own_tree tree;
		struct secg_line *table;
		const uint32_t at = 777;

		for (uint32_t i = 0; i < count; i++) {
			hidden[i] = i % 3 == 0;
			/* neighbours, and one number with several revisions */
			words[i] = i % 2 ? i + 1 : (i + 1) | (i % 5) << SECG_RULE_REVISION_SHIFT;
		}
		words[0] = UINT32_MAX;
		assert_int_equal(own_build(&tree, &compiled, words), 0);
		table = calloc(at + tree.line_count, sizeof(*table));
		memcpy(table + at, tree.lines, tree.line_count * sizeof(*table));
		own_move(table + at, &tree, at);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t want = hidden[i] ? i + 1 : 0;

			assert_int_equal(own_find(&tree, words[i]), want);
			assert_int_equal(tree_find(table, tree.reference + at, words[i]), want);
		}
		assert_int_equal(own_find(&tree, 0), 0);
		own_fini(&tree);
		free(table);
		free(hidden);
		free(words);
	}
}

static void policy_without_hidden_rules_has_no_own_tree(void **state)
{
	uint64_t hidden[2] = {0};
	uint32_t words[2] = {1, 2};
	struct compiled compiled = {.rule_hidden = hidden, .rule_count = 2};
	struct own_tree tree;

	(void)state;
	assert_int_equal(own_build(&tree, &compiled, words), 0);
	assert_null(tree.lines);
	assert_int_equal(own_find(&tree, 1), 0);
}

/* ── address pairs ──────────────────────────────────────────────────────────────────────────────── */

static struct compile_packet sender(const char *mac_of_sender, uint8_t family, addr_t address)
{
	struct compile_packet packet = with_macs(mac_of_sender, "\x02\0\0\0\0\x09");

	packet.family = family == 4   ? SECG_FAMILY_IPV4
			: family == 6 ? SECG_FAMILY_IPV6
				      : SECG_FAMILY_OTHER;
	packet.src = address;
	return packet;
}

static bool may_use(const struct compiled *compiled, struct compile_packet packet)
{
	enum secg_action action = compiled_lookup(compiled, &packet).action;

	assert_true(action == SECG_ACTION_NONE || action == SECG_ACTION_ALLOW_STATELESS);
	return action != SECG_ACTION_NONE;
}

static void pairs_allow_a_mac_with_its_own_prefixes(void **state)
{
	struct prefix host = {4, 32, 0x0a000001}, net = {6, 64, (addr_t)0x20010db8 << 96},
		      other = {4, 24, 0x0a010000};
	struct macip_entry own[] = {
		{mac("\x02\0\0\0\0\x01", (const char *)exact), &host, 1},
		{mac("\x02\0\0\0\0\x02", (const char *)exact), NULL, 0},
	};
	struct macip_entry shared[] = {
		{mac("\x02\0\0\0\0\x01", (const char *)exact), &net, 1},
		{mac("\x52\x54\0\0\0\0", "\xff\xff\xff\0\0\0"), &other, 1},
	};
	struct macip_source source = {.entries = {own, shared}, .counts = {2, 2}};
	struct compile_packet tunnelled;
	struct compiled *compiled = NULL;
	struct errors errs = {0};

	(void)state;
	assert_int_equal(compile_macip(&compiled, &source, "f", &errs), 0);
	assert_true(may_use(compiled, sender("\x02\0\0\0\0\x01", 4, 0x0a000001)));
	assert_true(may_use(compiled, sender("\x02\0\0\0\0\x01", 6, net.address + 5)));
	assert_true(may_use(compiled, sender("\x52\x54\0\1\2\3", 4, 0x0a010007)));
	assert_false(may_use(compiled, sender("\x02\0\0\0\0\x01", 4, 0x0a010007)));
	assert_false(may_use(compiled, sender("\x52\x54\0\1\2\3", 4, 0x0a000001)));
	assert_false(may_use(compiled, sender("\x52\x54\0\1\2\3", 6, net.address)));
	/* A MAC without addresses speaks, but not IP. */
	assert_true(may_use(compiled, sender("\x02\0\0\0\0\x02", 0, 0)));
	assert_false(may_use(compiled, sender("\x02\0\0\0\0\x02", 4, 0x0a000001)));
	assert_false(may_use(compiled, sender("\x02\0\0\0\0\x03", 0, 0)));
	/* Without Ethernet header only the address counts. */
	tunnelled = sender("\0\0\0\0\0\0", 4, 0x0a000001);
	tunnelled.has_ethernet = false;
	assert_true(may_use(compiled, tunnelled));
	tunnelled.src++;
	assert_false(may_use(compiled, tunnelled));
	compiled_free(compiled);
}

static void the_first_exact_pairs_need_no_lookup(void **state)
{
	struct prefix prefixes[] = {{4, 24, 0x0a010000}, {6, 128, ((addr_t)0x20010db8 << 96) + 1}};
	struct prefix host = {4, 32, 0x0a000001};
	struct macip_entry own[] = {
		{mac("\x02\0\0\0\0\x01", (const char *)exact), prefixes, 2},
		{mac("\x52\x54\0\0\0\0", "\xff\xff\xff\0\0\0"), &host, 1},
		{mac("\x02\0\0\0\0\x02", (const char *)exact), &host, 1},
		{mac("\x02\0\0\0\0\x03", (const char *)exact), &host, 1},
	};
	struct macip_source source = {.entries = {own}, .counts = {4}};
	struct secg_pair pairs[SECG_PAIRS];

	(void)state;
	macip_pairs(pairs, &source);
	assert_int_equal(pairs[0].family, 6);
	assert_memory_equal(pairs[0].mac, "\x02\0\0\0\0\x01", 6);
	assert_memory_equal(pairs[0].address, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	assert_int_equal(pairs[1].family, 4);
	assert_memory_equal(pairs[1].mac, "\x02\0\0\0\0\x02", 6);
	assert_memory_equal(pairs[1].address, "\x0a\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

static void thousands_of_pairs_are_told_apart(void **state)
{
	enum { COUNT = 3000 };
	struct macip_entry *entries = calloc(COUNT, sizeof(*entries));
	struct prefix *prefixes = calloc(COUNT, sizeof(*prefixes));
	struct macip_source source = {.entries = {NULL, entries}, .counts = {0, COUNT}};
	struct compiled *compiled = NULL;
	struct errors errs = {0};

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		prefixes[i] = (struct prefix){4, 32, 0x0a000000 + i};
		entries[i].mac = mac("\x02\0\0\0\0\0", (const char *)exact);
		entries[i].mac.value[4] = (uint8_t)(i >> 8);
		entries[i].mac.value[5] = (uint8_t)i;
		entries[i].prefixes = &prefixes[i];
		entries[i].prefix_count = 1;
	}
	assert_int_equal(compile_macip(&compiled, &source, "f", &errs), 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct compile_packet packet =
			sender((const char *)entries[i].mac.value, 4, prefixes[i].address);

		assert_true(may_use(compiled, packet));
		packet.src = prefixes[(i + 1) % COUNT].address;
		assert_false(may_use(compiled, packet));
	}
	print_message("%d pairs: %zu KiB\n", COUNT, compiled->line_count / 16);
	compiled_free(compiled);
	free(entries);
	free(prefixes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_without_rare_fields_have_none_of_their_dimensions),
		cmocka_unit_test(only_bytes_that_tell_entries_apart_have_tables),
		cmocka_unit_test(every_field_that_a_session_does_not_show_hides_its_rule),
		cmocka_unit_test(what_a_session_shows_is_not_in_the_hash),
		cmocka_unit_test(several_macs_do_not_mix_their_bytes),
		cmocka_unit_test(frames_without_ethernet_header_match_no_mac),
		cmocka_unit_test(tcp_flags_match_tcp_only),
		cmocka_unit_test(ethertypes_of_ip_choose_the_family),
		cmocka_unit_test(disabled_rule_keeps_its_slot_and_matches_nothing),
		cmocka_unit_test(audited_list_passes_what_it_would_drop_and_says_so),
		cmocka_unit_test(recheck_takes_hidden_fields_as_matching_for_the_own_rule_only),
		cmocka_unit_test(own_tree_finds_every_word_at_any_place),
		cmocka_unit_test(policy_without_hidden_rules_has_no_own_tree),
		cmocka_unit_test(pairs_allow_a_mac_with_its_own_prefixes),
		cmocka_unit_test(the_first_exact_pairs_need_no_lookup),
		cmocka_unit_test(thousands_of_pairs_are_told_apart),
	};

	return cmocka_run_group_tests_name("compile, rare fields", tests, NULL, NULL);
}
