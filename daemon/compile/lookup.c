/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of compiled lines, step by step as the data path does it (bpf/classify.h), so that what
 * the daemon says about a packet is what happens to it.
 */
#include <string.h>

#include "compile/policy.h"
#include "core/cleanup.h"

/* One iteration for each vector line looked at, one for each PASS. */
#define MAX_ITERATIONS (SECG_MAX_VECTOR_LINES + SECG_MAX_ACLS)

#define DIMENSIONS     5

static uint32_t count_at_most(const uint32_t *keys, uint32_t count, uint32_t key)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += keys[i] <= key;
	return n;
}

static uint32_t tree_find(const struct secg_line *lines, uint32_t reference, uint32_t key)
{
	uint32_t levels = reference >> SECG_TREE_LEVEL_SHIFT & SECG_TREE_LEVEL_MASK;
	uint32_t line = reference & SECG_TREE_LINE_MASK;
	struct secg_tree_leaf leaf;

	for (; levels; levels--) {
		struct secg_tree_inner inner;
		uint32_t child, in_use;

		memcpy(&inner, lines + line, sizeof(inner));
		in_use = inner.meta >> SECG_TREE_LEVEL_SHIFT;
		child = count_at_most(inner.separator, SECG_TREE_SEPARATORS, key);
		/* The largest key is not below the unused separators either. */
		if (child > in_use)
			child = in_use;
		line = (inner.meta & SECG_TREE_LINE_MASK) + child;
	}
	memcpy(&leaf, lines + line, sizeof(leaf));
	return leaf.value[count_at_most(leaf.start, SECG_TREE_LEAF_KEYS, key) - 1];
}

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

/* The lines of the vectors that must agree. */
static uint32_t find_vectors(const struct secg_line *lines, const struct secg_section *section,
			     const struct compile_packet *packet, uint32_t ret_vectors[DIMENSIONS])
{
	uint32_t n = 0;

	if (section->dims & SECG_DIM_SRC)
		ret_vectors[n++] = address_find(lines, section->src, packet->src, packet->family);
	if (section->dims & SECG_DIM_DST)
		ret_vectors[n++] = address_find(lines, section->dst, packet->dst, packet->family);
	if (section->dims & SECG_DIM_PROTO)
		ret_vectors[n++] =
			lines[section->proto + packet->protocol / 16].w[packet->protocol % 16];
	if (section->dims & SECG_DIM_L4_HIGH)
		ret_vectors[n++] = l4_find(lines, section, 0, packet->high, packet->has_l4);
	if (section->dims & SECG_DIM_L4_LOW)
		ret_vectors[n++] = l4_find(lines, section, 1, packet->low, packet->has_l4);
	return n;
}

/* First entry from `start` on in the vector line that holds `start`; the first entry of the next line
 * where there is none. */
static uint32_t search_line(const struct secg_line *lines, const uint32_t *vectors, uint32_t count,
			    uint32_t start, bool *ret_is_found)
{
	uint32_t index = start / SECG_VECTOR_LINE_BITS;
	uint32_t first = start % SECG_VECTOR_LINE_BITS;

	*ret_is_found = false;
	for (uint32_t word = first / 64; word < 8; word++) {
		uint64_t bits = ~(uint64_t)0;

		for (uint32_t v = 0; v < count; v++) {
			struct secg_vector_line line;

			memcpy(&line, lines + vectors[v] + index, sizeof(line));
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

struct compile_verdict compiled_lookup(const struct compiled *compiled,
				       const struct compile_packet *packet)
{
	const struct secg_line *lines = compiled->lines;
	uint32_t vectors[DIMENSIONS];
	struct secg_section section;
	uint32_t count, at = 0;

	memcpy(&section, lines + packet->family, sizeof(section));
	if (!section.entries)
		return (struct compile_verdict){.action = SECG_ACTION_NONE};
	count = find_vectors(lines, &section, packet, vectors);
	for (unsigned int i = 0; i < MAX_ITERATIONS && at < section.entries; i++) {
		struct secg_entry entry;
		bool is_found;

		at = search_line(lines, vectors, count, at, &is_found);
		if (!is_found)
			continue;
		memcpy(&entry,
		       &lines[section.entry + at / SECG_ENTRIES_PER_LINE]
				.w[at % SECG_ENTRIES_PER_LINE * 4],
		       sizeof(entry));
		if (entry.action != SECG_ACTION_PASS)
			return (struct compile_verdict){.action = entry.action, .slot = entry.slot};
		at = entry.next;
	}
	return (struct compile_verdict){.action = SECG_ACTION_NONE};
}
