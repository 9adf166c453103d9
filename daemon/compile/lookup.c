/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of compiled lines, step by step as the data path does it (bpf/classify.h), so that what
 * the daemon says about a packet is what happens to it.
 */
#include <string.h>

#include <secg/flow.h>

#include "compile/policy.h"
#include "compile/tree.h"
#include "core/cleanup.h"

/* One iteration for each vector line looked at, one for each PASS. */
#define MAX_ITERATIONS (SECG_MAX_VECTOR_LINES + SECG_MAX_ACLS)

/* Vectors of one search: the bytes, and one for each other dimension. */
#define VECTORS_MAX (8 + SECG_BYTE_COUNT)

/* What a session does not show. */
#define DIMS_HIDDEN (SECG_DIM_VLAN | SECG_DIM_ETHERTYPE | SECG_DIM_BYTES)

/* What is searched for. */
struct search {
	const struct secg_line *lines;
	struct secg_section section;
	const struct compile_packet *packet;
	uint32_t dims; /* of the section, those that count */
	uint32_t own;
	uint32_t vectors[VECTORS_MAX]; /* lines of the vectors that must agree */
	uint32_t count;
};

static uint32_t address_find(const struct secg_line *lines, uint32_t reference, addr_t address,
			     enum secg_family family)
{
	unsigned int shift = family == SECG_FAMILY_IPV4 ? 0 : 96;
	uint32_t value = tree_find(lines, reference, (uint32_t)(address >> shift));

	while (value & SECG_TREE_DESCEND) {
		shift -= 32;
		value = tree_find(lines, value, (uint32_t)(address >> shift));
	}
	return value;
}

static uint32_t l4_find(const struct secg_line *lines, const struct secg_section *section,
			unsigned int which, uint16_t key, bool has_l4)
{
	return has_l4 ? tree_find(lines, section->l4[which], key) : section->no_l4[which];
}

static void add_vector(struct search *search, uint32_t line)
{
	search->vectors[search->count++] = line;
}

static uint32_t table_find(const struct secg_line *lines, uint32_t table, uint32_t value)
{
	return lines[table + value / 16].w[value % 16];
}

/* The value of a byte; false: the packet has none. */
static bool byte_of(const struct compile_packet *packet, uint32_t byte, uint8_t *ret_value)
{
	if (byte < SECG_BYTE_TCP_FLAGS) {
		*ret_value = byte < SECG_BYTE_DST_MAC ? packet->src_mac[byte - SECG_BYTE_SRC_MAC]
						      : packet->dst_mac[byte - SECG_BYTE_DST_MAC];
		return packet->has_ethernet;
	}
	*ret_value = byte == SECG_BYTE_TCP_FLAGS ? packet->tcp_flags : packet->traffic;
	return byte == SECG_BYTE_TRAFFIC || (packet->protocol == SECG_PROTO_TCP && packet->has_l4);
}

static void find_bytes(struct search *search)
{
	for (uint32_t i = 0; i < search->section.byte_count; i++) {
		struct secg_byte_table table;
		uint8_t value;

		memcpy(&table, &search->lines[search->section.bytes + i / 4].w[i % 4 * 4],
		       sizeof(table));
		add_vector(search, byte_of(search->packet, table.byte, &value)
					   ? table_find(search->lines, table.table, value)
					   : table.absent);
	}
}

static void find_vectors(struct search *search)
{
	const struct secg_section *section = &search->section;
	const struct compile_packet *packet = search->packet;
	const struct secg_line *lines = search->lines;

	if (search->dims & SECG_DIM_SRC)
		add_vector(search, address_find(lines, section->src, packet->src, packet->family));
	if (search->dims & SECG_DIM_DST)
		add_vector(search, address_find(lines, section->dst, packet->dst, packet->family));
	if (search->dims & SECG_DIM_PROTO)
		add_vector(search, table_find(lines, section->proto, packet->protocol));
	if (search->dims & SECG_DIM_L4_HIGH)
		add_vector(search, l4_find(lines, section, 0, packet->high, packet->has_l4));
	if (search->dims & SECG_DIM_L4_LOW)
		add_vector(search, l4_find(lines, section, 1, packet->low, packet->has_l4));
	if (search->dims & SECG_DIM_VLAN)
		add_vector(search, tree_find(lines, section->vlan, packet->vlan));
	if (search->dims & SECG_DIM_ETHERTYPE)
		add_vector(search, tree_find(lines, section->ethertype, packet->ethertype));
	if (search->dims & SECG_DIM_BYTES)
		find_bytes(search);
	if (search->dims & SECG_DIM_OWN)
		add_vector(search, tree_find(lines, section->own, search->own));
}

/* First entry from `start` on in the vector line that holds `start`; the first entry of the next line
 * where there is none. */
static uint32_t search_line(const struct search *search, uint32_t start, bool *ret_is_found)
{
	uint32_t index = start / SECG_VECTOR_LINE_BITS;
	uint32_t first = start % SECG_VECTOR_LINE_BITS;

	*ret_is_found = false;
	for (uint32_t word = first / 64; word < 8; word++) {
		uint64_t bits = ~(uint64_t)0;

		for (uint32_t v = 0; v < search->count; v++) {
			struct secg_vector_line line;

			memcpy(&line, search->lines + search->vectors[v] + index, sizeof(line));
			bits &= line.w[word];
		}
		if (word == first / 64)
			bits &= ~(uint64_t)0 << first % 64;
		if (bits) {
			*ret_is_found = true;
			return index * SECG_VECTOR_LINE_BITS + word * 64 +
			       (uint32_t)__builtin_ctzll(bits);
		}
	}
	return (index + 1) * SECG_VECTOR_LINE_BITS;
}

static struct compile_verdict run(struct search *search)
{
	const struct secg_section *section = &search->section;
	uint32_t at = 0;

	find_vectors(search);
	for (unsigned int i = 0; i < MAX_ITERATIONS && at < section->entries; i++) {
		struct secg_entry entry;
		bool is_found;

		at = search_line(search, at, &is_found);
		if (!is_found)
			continue;
		memcpy(&entry,
		       &search->lines[section->entry + at / SECG_ENTRIES_PER_LINE]
				.w[at % SECG_ENTRIES_PER_LINE * 4],
		       sizeof(entry));
		if (entry.action != SECG_ACTION_PASS)
			return (struct compile_verdict){
				.action = entry.action,
				.slot = entry.slot,
				.flags = entry.flags,
				.timeout_s = entry.timeout_s,
			};
		at = entry.next;
	}
	return (struct compile_verdict){.action = SECG_ACTION_NONE};
}

static void search_init(struct search *search, const struct compiled *compiled,
			const struct compile_packet *packet)
{
	*search = (struct search){.lines = compiled->lines, .packet = packet};
	memcpy(&search->section, compiled->lines + packet->family, sizeof(search->section));
}

struct compile_verdict compiled_lookup(const struct compiled *compiled,
				       const struct compile_packet *packet)
{
	struct search search;

	search_init(&search, compiled, packet);
	search.dims = search.section.dims & ~SECG_DIM_OWN;
	return run(&search);
}

struct compile_verdict compiled_recheck(const struct compiled *compiled,
					const struct compile_packet *packet, uint32_t own)
{
	struct search search;

	search_init(&search, compiled, packet);
	search.dims = search.section.dims & ~DIMS_HIDDEN;
	search.own = own;
	return run(&search);
}
