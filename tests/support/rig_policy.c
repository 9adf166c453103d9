/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy document to table memory: a generation built by the daemon's own code, its blocks placed as a
 * commit does. Two halves of the table take turns; no program runs meanwhile.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <jansson.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/generation.h"
#include "rig_internal.h"
#include "secg.skel.h"

#define LINES_OF(bytes) (((bytes) + sizeof(struct secg_line) - 1) / sizeof(struct secg_line))
#define PORT_LINES      LINES_OF(sizeof(struct secg_port))

/* Room for one generation, from `next` on. */
struct half {
	struct secg_line *lines;
	uint32_t next;
	uint32_t limit;
};

static uint32_t place(struct half *half, const void *from, size_t bytes)
{
	uint32_t line = half->next;

	if (LINES_OF(bytes) > half->limit - line)
		rig_die("the policy does not fit into half the table");
	half->next += (uint32_t)LINES_OF(bytes);
	if (from)
		memcpy(&half->lines[line], from, bytes);
	else
		memset(&half->lines[line], 0, bytes);
	return line;
}

static struct config *parse(const char *document, json_t **ret_json)
{
	_cleanup_(errors_fini) struct errors errs = {0};
	_cleanup_free_ char *text = strdup(document);
	struct config *config;
	json_error_t error;
	json_t *json;

	if (!text)
		rig_die("no memory");
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		rig_die("%s at %d: %s", error.text, error.position, text);
	if (config_parse(&config, json, NULL, &errs) < 0)
		rig_die("%s: %s", errs.count ? errs.items[0].field : "?",
			errs.count ? errs.items[0].message : "config_parse failed");
	*ret_json = json;
	return config;
}

/* ── the daemon's generation ────────────────────────────────────────────────────────────────────── */

static enum port_side side_of(const struct port *port, void *data)
{
	(void)port;
	(void)data;
	return PORT_SIDE_WORKLOAD;
}

/* No ports yet; numbers small enough for the rig's maps. */
static struct generation *empty_generation(void)
{
	struct store_state state = {.document = json_object(), .policies = json_object()};
	struct generation *generation;

	if (!state.document || !state.policies || ids_new(&state.ports, 1, RIG_PORTS) < 0 ||
	    ids_new(&state.counters, 1, RIG_COUNTERS) < 0 ||
	    generation_from_store(&generation, &state) < 0)
		rig_die("no memory");
	generation->table = calloc(1, sizeof(*generation->table));
	return generation;
}

static struct generation *build(const struct rig *rig, const char *document)
{
	_cleanup_(errors_fini) struct errors errs = {0};
	struct generation_context context = {
		.live = rig->live,
		.number = rig->generation,
		.etag = rig->generation,
		.counter_limit = RIG_COUNTERS,
		.ticks_per_second = RIG_TICKS_PER_SECOND,
		.side = side_of,
	};
	struct generation *generation;
	struct config *config;
	json_t *json;

	config = parse(document, &json);
	if (generation_build(&generation, config, json, &context, &errs) < 0)
		rig_die("%s", errs.count ? errs.items[0].message : "generation_build failed");
	json_decref(json);
	return generation;
}

/* Every generation has all its blocks in its own half. */
static int forget_line(struct block *block, void *data)
{
	(void)data;
	block->line = 0;
	return 0;
}

static int place_block(struct block *block, void *data)
{
	struct half *half = data;

	if (block->line)
		return 0;
	block->line = place(half, block->lines, block->line_count * sizeof(*block->lines));
	if (block->tree.lines)
		own_move(&half->lines[block->line], &block->tree, block->line);
	return 0;
}

/* Numbers that nobody has any more start from zero when they are given again. */
static void clear_if_gone(const char *name, uint32_t id, bool is_new, void *data)
{
	struct rig *rig = data;
	uint32_t other;

	(void)is_new;
	if (ids_find(rig->live->counter_ids, name, &other) < 0)
		rig_clear_rule(rig, id);
}

static void go_live(struct rig *rig, struct generation *next)
{
	struct generation *before = rig->live;

	rig->live = next;
	ids_each(before->counter_ids, clear_if_gone, rig);
	generation_free(before);
	ids_clear_new(next->port_ids);
	ids_clear_new(next->counter_ids);
	ids_settle(next->port_ids);
	ids_settle(next->counter_ids);
}

static void clear_ifindex(struct rig *rig)
{
	int far = bpf_map__fd(rig->skel->maps.secg_ifindex_far);
	uint32_t key;

	memset(rig->ifindex, 0, SECG_IFINDEX_SLOTS * sizeof(*rig->ifindex));
	while (bpf_map_get_next_key(far, NULL, &key) == 0)
		bpf_map_delete_elem(far, &key);
}

static void place_ifindex(struct rig *rig, uint32_t id, const struct port *port)
{
	uint32_t ifindex = if_nametoindex(port->interface);

	if (!ifindex)
		rig_die("no interface %s", port->interface);
	rig->ifindex[ifindex % SECG_IFINDEX_SLOTS] =
		(struct secg_ifindex){.ifindex = ifindex, .port = (uint16_t)id};
}

void rig_policy(struct rig *rig, const char *document)
{
	uint32_t half_lines =
		(bpf_map__max_entries(rig->skel->maps.secg_table) - SECG_ONES_LINES) / 2;
	struct half half = {.lines = rig->lines};
	struct generation *next;
	struct secg_root root = {
		.magic = SECG_MAGIC,
		.layout = SECG_LAYOUT,
		.port_count = RIG_PORTS,
		.ticks_q8 = RIG_TICKS_PER_SECOND << 8,
	};

	root.generation = ++rig->generation;
	next = build(rig, document);
	half.next = SECG_ONES_LINES + (uint32_t)(rig->generation & 1) * half_lines;
	half.limit = half.next + half_lines;
	root.ports = place(&half, NULL, RIG_PORTS * PORT_LINES * sizeof(struct secg_line));
	generation_each_block(next, forget_line, NULL);
	generation_each_block(next, place_block, &half);
	generation_resolve(next);
	memcpy(&half.lines[root.ports], next->table, next->table_count * sizeof(*next->table));
	clear_ifindex(rig);
	for (size_t i = 0; i < next->port_count; i++)
		place_ifindex(rig, next->ports[i].id, next->ports[i].port);
	rig->selector[SECG_SELECTOR_ROOT] = place(&half, &root, sizeof(root));
	go_live(rig, next);
}

void rig_init_policy(struct rig *rig)
{
	rig->live = empty_generation();
}

void rig_clear(struct rig *rig)
{
	rig_clear_sessions(rig);
	rig_clear_counters(rig);
	rig_clear_events(rig);
	rig->selector[SECG_SELECTOR_ROOT] = 0;
	clear_ifindex(rig);
	generation_free(rig->live);
	rig->live = empty_generation();
}

uint32_t rig_port_id(struct rig *rig, const char *port)
{
	uint32_t id;

	if (ids_find(rig->live->port_ids, port, &id) < 0)
		rig_die("no port %s", port);
	return id;
}

struct secg_port *rig_port(struct rig *rig, const char *port)
{
	const struct secg_root *root = (const void *)&rig->lines[rig->selector[SECG_SELECTOR_ROOT]];

	return (struct secg_port *)&rig->lines[root->ports] + rig_port_id(rig, port);
}

void rig_set_l3(struct rig *rig, const char *interface)
{
	rig->ifindex[if_nametoindex(interface) % SECG_IFINDEX_SLOTS].flags |= SECG_IFINDEX_L3;
}

void rig_move_ifindex(struct rig *rig, const char *interface)
{
	uint32_t ifindex = if_nametoindex(interface);
	struct secg_ifindex *slot = &rig->ifindex[ifindex % SECG_IFINDEX_SLOTS];

	if (bpf_map_update_elem(bpf_map__fd(rig->skel->maps.secg_ifindex_far), &ifindex, slot,
				BPF_ANY) < 0)
		rig_die("secg_ifindex_far: %m");
	*slot = (struct secg_ifindex){.ifindex = ifindex + SECG_IFINDEX_SLOTS};
}
