/* SPDX-License-Identifier: Apache-2.0 */
/* One address family of a policy. */
#include "compile/section.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compile/dimension.h"
#include "compile/shape.h"
#include "compile/tree.h"
#include "compile/vector.h"
#include "core/cleanup.h"

#define BYTE_VALUES    256
#define WORDS_PER_LINE 16

/* Everything of one section under construction. */
struct job {
	struct lines *lines;
	struct vector_pool pool;
	enum secg_family family;
	const struct section_entry *entries;
	size_t count;
	bool takes_no_mac;
	struct secg_section section;
	struct secg_byte_table bytes[SECG_BYTE_COUNT];
};

static void job_fini(struct job *job)
{
	vector_pool_fini(&job->pool);
}

/* A vector line for each value of a byte. */
static int place_table(struct lines *lines, const struct tree_interval *intervals, size_t count,
		       uint32_t *ret_line)
{
	size_t at = 0;
	int r;

	r = lines_add(lines, BYTE_VALUES / WORDS_PER_LINE, ret_line);
	if (r < 0)
		return r;
	for (uint32_t v = 0; v < BYTE_VALUES; v++) {
		if (at + 1 < count && intervals[at + 1].start == v)
			at++;
		lines->line[*ret_line + v / WORDS_PER_LINE].w[v % WORDS_PER_LINE] =
			intervals[at].value;
	}
	return 0;
}

static int add_all_entries(struct job *job, uint32_t *ret_line)
{
	_cleanup_(vector_fini) struct vector all = {0};
	int r = vector_init(&all, job->count);

	for (uint32_t i = 0; r >= 0 && i < job->count; i++)
		vector_toggle(&all, i);
	return r < 0 ? r : vector_pool_add(&job->pool, &all, ret_line);
}

static int place_byte(struct job *job, const struct shape *shape, const struct dimension *dimension,
		      const struct tree_interval *intervals, size_t count)
{
	struct secg_byte_table table = {.byte = shape->byte};
	bool is_mac = shape->byte < SECG_BYTE_TCP_FLAGS;
	int r;

	r = place_table(job->lines, intervals, count, &table.table);
	if (r < 0)
		return r;
	r = is_mac && job->takes_no_mac
		    ? add_all_entries(job, &table.absent)
		    : vector_pool_add(&job->pool, &dimension->any, &table.absent);
	if (r < 0)
		return r;
	job->bytes[job->section.byte_count++] = table;
	return 0;
}

static int place_l4(struct job *job, unsigned int which, const struct dimension *dimension,
		    const struct tree_interval *intervals, size_t count)
{
	int r = vector_pool_add(&job->pool, &dimension->any, &job->section.no_l4[which]);

	if (r < 0)
		return r;
	return tree_build(job->lines, intervals, count, 1, &job->section.l4[which]);
}

/* Stores trees or table of one dimension and writes the references to them. */
static int place(struct job *job, const struct shape *shape, const struct dimension *dimension)
{
	_cleanup_free_ struct tree_interval *intervals = NULL;
	unsigned int words = dimension->max > UINT32_MAX ? 4 : 1;
	struct secg_section *section = &job->section;
	size_t count;
	int r;

	r = dimension_sweep(dimension, &job->pool, &intervals, &count);
	if (r < 0)
		return r;
	section->dims |= shape->dim;
	switch (shape->dim) {
	case SECG_DIM_SRC:
		return tree_build(job->lines, intervals, count, words, &section->src);
	case SECG_DIM_DST:
		return tree_build(job->lines, intervals, count, words, &section->dst);
	case SECG_DIM_PROTO:
		return place_table(job->lines, intervals, count, &section->proto);
	case SECG_DIM_L4_HIGH:
		return place_l4(job, 0, dimension, intervals, count);
	case SECG_DIM_L4_LOW:
		return place_l4(job, 1, dimension, intervals, count);
	case SECG_DIM_VLAN:
		return tree_build(job->lines, intervals, count, words, &section->vlan);
	case SECG_DIM_ETHERTYPE:
		return tree_build(job->lines, intervals, count, words, &section->ethertype);
	case SECG_DIM_OWN:
		return tree_build(job->lines, intervals, count, words, &section->own);
	default:
		return place_byte(job, shape, dimension, intervals, count);
	}
}

/* Whether the dimension tells any entries apart. */
static bool is_wanted(const struct job *job, const struct shape *shape)
{
	if (!(shape->families >> job->family & 1))
		return false;
	for (size_t i = 0; i < job->count; i++)
		if (!shape->is_any(shape, &job->entries[i]))
			return true;
	return false;
}

static int compile_dimension(struct job *job, const struct shape *shape)
{
	_cleanup_(dimension_fini) struct dimension dimension = {0};
	int r;

	if (!is_wanted(job, shape))
		return 0;
	r = dimension_init(&dimension, job->count, shape_max(shape, job->family));
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < job->count; i++) {
		const struct section_entry *entry = &job->entries[i];

		if (shape->is_any(shape, entry)) {
			dimension_add_any(&dimension, i);
			continue;
		}
		r = shape->add(shape, &dimension, i, entry, job->family);
		if (r < 0)
			return r;
	}
	return dimension.constrained ? place(job, shape, &dimension) : 0;
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

static int place_bytes(struct job *job)
{
	size_t size = job->section.byte_count * sizeof(job->bytes[0]);
	int r;

	if (!size)
		return 0;
	r = lines_add(job->lines, (size + sizeof(struct secg_line) - 1) / sizeof(struct secg_line),
		      &job->section.bytes);
	if (r < 0)
		return r;
	memcpy(job->lines->line + job->section.bytes, job->bytes, size);
	return 0;
}

int section_compile(struct lines *lines, enum secg_family family,
		    const struct section_entry *entries, size_t count, bool takes_no_mac,
		    struct secg_section *ret_section)
{
	_cleanup_(job_fini) struct job job = {
		.lines = lines,
		.family = family,
		.entries = entries,
		.count = count,
		.takes_no_mac = takes_no_mac,
		.section.entries = (__u32)count,
	};
	int r;

	vector_pool_init(&job.pool, lines, count);
	job.section.vector_lines = job.pool.vector_lines;
	r = place_records(lines, entries, count, &job.section.entry);
	for (size_t i = 0; r >= 0 && i < SHAPE_COUNT; i++)
		r = compile_dimension(&job, &shapes[i]);
	if (r >= 0)
		r = place_bytes(&job);
	if (r < 0)
		return r;
	*ret_section = job.section;
	return 0;
}
