/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table memory: who holds which lines, the flip to a new generation, the grace period before lines are
 * used again. What lies in the lines is the compiler's business.
 *
 *   place ─► NEW ──flip──► LIVE ──release──► RELEASED ──flip──► OWED ──settle──► free
 *             └──abort──► free     ◄──abort──────┘
 */
#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "dp/internal.h"
#include "secg.skel.h"

enum hold {
	HOLD_NEW,
	HOLD_LIVE,
	HOLD_RELEASED,
	HOLD_ADOPTED, /* of an earlier daemon: released, whatever is aborted */
	HOLD_OWED,    /* programs that started before the flip may still read it */
};

struct holding {
	uint32_t line;
	uint32_t lines;
	enum hold hold;
};

struct tables {
	struct extents *extents;
	struct holding *holdings; /* by line */
	size_t count;
	size_t capacity;
	uint32_t root; /* line; 0: nothing was flipped */
	uint64_t generation;
	bool owes_grace;
};

#define LINES_OF(bytes) \
	((uint32_t)(((bytes) + sizeof(struct secg_line) - 1) / sizeof(struct secg_line)))
#define PORT_LINES LINES_OF(sizeof(struct secg_port))

/* Index of the first holding at or behind `line`. */
static size_t position(const struct tables *tables, uint32_t line)
{
	size_t low = 0, high = tables->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tables->holdings[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct tables *tables)
{
	size_t capacity = tables->capacity ? tables->capacity * 2 : 64;
	struct holding *holdings;

	if (tables->count < tables->capacity)
		return 0;
	holdings = reallocarray(tables->holdings, capacity, sizeof(*holdings));
	if (!holdings)
		return -ENOMEM;
	tables->holdings = holdings;
	tables->capacity = capacity;
	return 0;
}

static void hold(struct tables *tables, uint32_t line, uint32_t lines, enum hold how)
{
	size_t at = position(tables, line);

	assert(tables->count < tables->capacity);
	memmove(&tables->holdings[at + 1], &tables->holdings[at],
		(tables->count - at) * sizeof(*tables->holdings));
	tables->holdings[at] = (struct holding){line, lines, how};
	tables->count++;
}

/* Gives back every holding of one kind. */
static void give_all(struct tables *tables, enum hold how)
{
	size_t kept = 0;

	for (size_t i = 0; i < tables->count; i++) {
		struct holding holding = tables->holdings[i];

		if (holding.hold == how)
			extents_give(tables->extents, holding.line, holding.lines);
		else
			tables->holdings[kept++] = holding;
	}
	tables->count = kept;
}

static void turn_all(struct tables *tables, enum hold from, enum hold to)
{
	for (size_t i = 0; i < tables->count; i++)
		if (tables->holdings[i].hold == from)
			tables->holdings[i].hold = to;
}

/* Every line from..from+lines-1 is held by an adopted generation, and from is not line 0. */
static bool is_held(const struct tables *tables, uint32_t from, uint64_t lines)
{
	size_t at = position(tables, from + 1);
	const struct holding *holding;

	if (!from || !at)
		return false;
	holding = &tables->holdings[at - 1];
	return from + lines <= (uint64_t)holding->line + holding->lines;
}

/* Reserves what the root lists. -EUCLEAN when root and list contradict themselves. */
static int adopt(struct tables *tables, const struct secg_line *lines, uint32_t line_count,
		 uint32_t line)
{
	const struct secg_root *root = (const void *)&lines[line];
	const struct secg_extent *list;
	uint64_t list_lines;

	if (!line || line >= line_count || root->magic != SECG_MAGIC || root->layout != SECG_LAYOUT)
		return -EUCLEAN;
	list_lines = LINES_OF((uint64_t)root->extent_count * sizeof(*list));
	if (!root->generation || root->extents >= line_count ||
	    list_lines > line_count - root->extents)
		return -EUCLEAN;
	list = (const void *)&lines[root->extents];
	for (uint32_t i = 0; i < root->extent_count; i++) {
		int r = make_room(tables);

		if (r < 0)
			return r;
		if (!list[i].lines || list[i].lines >= line_count)
			return -EUCLEAN;
		r = extents_reserve(tables->extents, list[i].line, list[i].lines);
		if (r < 0)
			return r == -EBUSY ? -EUCLEAN : r;
		hold(tables, list[i].line, list[i].lines, HOLD_ADOPTED);
	}
	if (!is_held(tables, line, 1) || !is_held(tables, root->extents, list_lines) ||
	    root->port_count > SECG_MAX_PORTS ||
	    !is_held(tables, root->ports, (uint64_t)root->port_count * PORT_LINES))
		return -EUCLEAN;
	tables->root = line;
	tables->generation = root->generation;
	/* The daemon before may have ended between its last flip and the grace period. */
	tables->owes_grace = true;
	return 0;
}

int tables_new(struct tables **ret_tables, const struct secg_line *lines, uint32_t line_count,
	       uint64_t root)
{
	_cleanup_(tables_freep) struct tables *tables = calloc(1, sizeof(*tables));
	int r;

	if (!tables)
		return -ENOMEM;
	r = extents_new(&tables->extents, SECG_ONES_LINES, line_count);
	if (r < 0)
		return r;
	if (root) {
		if (root >= line_count)
			return -EUCLEAN;
		r = adopt(tables, lines, line_count, (uint32_t)root);
		if (r < 0)
			return r;
	}
	*ret_tables = TAKE_PTR(tables);
	return 0;
}

void tables_free(struct tables *tables)
{
	if (tables->extents)
		extents_free(tables->extents);
	free(tables->holdings);
	free(tables);
}

/* Takes lines; waits for what is owed before it gives up. */
static int take(struct dp *dp, uint32_t lines, uint32_t *ret_line)
{
	struct tables *tables = dp->tables;
	int r = make_room(tables);

	if (r < 0)
		return r;
	r = extents_take(tables->extents, lines, ret_line);
	if (r != -ENOSPC || !tables->owes_grace)
		return r;
	r = dp_tables_settle(dp);
	return r < 0 ? r : extents_take(tables->extents, lines, ret_line);
}

int dp_tables_place(struct dp *dp, const void *lines, uint32_t count, uint32_t *ret_line)
{
	struct tables *tables = dp->tables;
	uint32_t line;
	int r;

	if (!count)
		return -EINVAL;
	r = take(dp, count, &line);
	if (r < 0)
		return r;
	memcpy(&dp->lines[line], lines, (size_t)count * sizeof(*dp->lines));
	hold(tables, line, count, HOLD_NEW);
	*ret_line = line;
	return 0;
}

void dp_tables_rewrite(struct dp *dp, uint32_t line, const void *lines, uint32_t count)
{
	const struct tables *tables = dp->tables;
	size_t at = position(tables, line);

	assert(at < tables->count && tables->holdings[at].line == line);
	assert(tables->holdings[at].hold == HOLD_NEW && tables->holdings[at].lines == count);
	memcpy(&dp->lines[line], lines, (size_t)count * sizeof(*dp->lines));
}

void dp_tables_release(struct dp *dp, uint32_t line)
{
	struct tables *tables = dp->tables;
	size_t at = position(tables, line);
	struct holding *holding = &tables->holdings[at];

	assert(at < tables->count && holding->line == line);
	if (holding->hold == HOLD_LIVE) {
		holding->hold = HOLD_RELEASED;
	} else if (holding->hold == HOLD_NEW) {
		/* No program has seen it. */
		extents_give(tables->extents, holding->line, holding->lines);
		tables->count--;
		memmove(holding, holding + 1, (tables->count - at) * sizeof(*holding));
	}
}

void dp_tables_abort(struct dp *dp)
{
	give_all(dp->tables, HOLD_NEW);
	turn_all(dp->tables, HOLD_RELEASED, HOLD_LIVE);
}

/* Writes the list of extents of the generation to come; returns their number. */
static uint32_t write_extents(const struct tables *tables, struct secg_extent *list)
{
	uint32_t count = 0;

	for (size_t i = 0; i < tables->count; i++) {
		const struct holding *holding = &tables->holdings[i];

		if (holding->hold == HOLD_NEW || holding->hold == HOLD_LIVE)
			list[count++] = (struct secg_extent){holding->line, holding->lines};
	}
	return count;
}

/* Root, ports and list of extents lie in one run of lines. */
int dp_tables_flip(struct dp *dp, uint64_t generation, const struct secg_port *ports,
		   uint32_t count)
{
	struct tables *tables = dp->tables;
	uint32_t list_lines = LINES_OF((tables->count + 1) * sizeof(struct secg_extent));
	uint32_t lines = 1 + count * PORT_LINES + list_lines;
	struct secg_root root = {
		.magic = SECG_MAGIC,
		.layout = SECG_LAYOUT,
		.generation = generation,
		.port_count = count,
		.ticks_q8 = (uint32_t)(dp->ticks_per_second * 256),
	};
	uint32_t line;
	size_t at;
	int r;

	if (!generation || count > SECG_MAX_PORTS)
		return -EINVAL;
	r = take(dp, lines, &line);
	if (r < 0)
		return r;
	hold(tables, line, lines, HOLD_NEW);
	root.ports = line + 1;
	root.extents = root.ports + count * PORT_LINES;
	memcpy(&dp->lines[root.ports], ports, count * sizeof(*ports));
	memset(&dp->lines[root.extents], 0, (size_t)list_lines * sizeof(*dp->lines));
	root.extent_count = write_extents(tables, (void *)&dp->lines[root.extents]);
	memcpy(&dp->lines[line], &root, sizeof(root));
	__sync_synchronize();
	__atomic_store_n(&dp->selector[SECG_SELECTOR_ROOT], line, __ATOMIC_RELEASE);

	at = position(tables, tables->root);
	if (tables->root && at < tables->count && tables->holdings[at].line == tables->root &&
	    tables->holdings[at].hold == HOLD_LIVE)
		tables->holdings[at].hold = HOLD_RELEASED;
	turn_all(tables, HOLD_NEW, HOLD_LIVE);
	turn_all(tables, HOLD_RELEASED, HOLD_OWED);
	turn_all(tables, HOLD_ADOPTED, HOLD_OWED);
	tables->root = line;
	tables->generation = generation;
	tables->owes_grace = true;
	return 0;
}

int dp_tables_settle(struct dp *dp)
{
	uint32_t key = 0;

	if (!dp->tables->owes_grace)
		return 0;
	if (bpf_map_update_elem(bpf_map__fd(dp->skel->maps.secg_grace), &key, &dp->grace_fd,
				BPF_ANY) < 0)
		return -errno;
	give_all(dp->tables, HOLD_OWED);
	dp->tables->owes_grace = false;
	return 0;
}

uint64_t dp_tables_generation(const struct dp *dp)
{
	return dp->tables->generation;
}

void dp_tables_usage(const struct dp *dp, uint64_t *ret_used_bytes, uint64_t *ret_size_bytes)
{
	*ret_size_bytes = (uint64_t)dp->line_count * sizeof(*dp->lines);
	*ret_used_bytes = *ret_size_bytes -
			  (uint64_t)extents_free_lines(dp->tables->extents) * sizeof(*dp->lines);
}

const struct secg_port *dp_tables_port(const struct dp *dp, uint32_t id)
{
	const struct secg_root *root = (const void *)&dp->lines[dp->tables->root];
	const struct secg_port *ports;

	if (!dp->tables->root || id >= root->port_count)
		return NULL;
	ports = (const void *)&dp->lines[root->ports];
	return ports[id].flags & SECG_PORT_VALID ? &ports[id] : NULL;
}
