/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a built generation: its ports, its blocks, its lines, what the store keeps of it. */
#include <string.h>

#include "engine/generation.h"
#include "engine/table.h"

static int compare_name(const void *key, const void *member)
{
	const struct generation_port *entry = member;

	return strcmp(key, entry->port->name);
}

const struct generation_port *generation_find_port(const struct generation *generation,
						   const char *name)
{
	if (generation->port_count == 0)
		return NULL;
	return bsearch(name, generation->ports, generation->port_count, sizeof(*generation->ports),
		       compare_name);
}

const struct generation_port *generation_find_id(const struct generation *generation, uint32_t id)
{
	const char *name = ids_name(generation->port_ids, id);

	return name ? generation_find_port(generation, name) : NULL;
}

static bool is_placeable(const struct block *block)
{
	return !block->compiled || block->compiled->rule_count > 0;
}

static int each_of_port(const struct generation_port *entry,
			int (*each)(struct block *block, void *data), void *data)
{
	struct block *const blocks[] = {
		entry->counters[SECG_FROM],
		entry->counters[SECG_TO],
		entry->own[SECG_FROM],
		entry->own[SECG_TO],
		entry->spoof,
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(blocks); i++)
		if (blocks[i])
			r = each(blocks[i], data);
	return r < 0 ? r : 0;
}

int generation_each_block(const struct generation *generation,
			  int (*each)(struct block *block, void *data), void *data)
{
	int r;

	for (size_t i = 0; i < generation->list_count; i++) {
		if (!is_placeable(generation->lists[i].block))
			continue;
		r = each(generation->lists[i].block, data);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < generation->port_count; i++) {
		r = each_of_port(&generation->ports[i], each, data);
		if (r < 0)
			return r;
	}
	return 0;
}

static void resolve_direction(struct secg_port_rules *rules, const struct generation_port *entry,
			      int direction)
{
	const struct block *own = entry->own[direction];

	if (!entry->policy[direction])
		return;
	rules->policy[direction] = entry->policy[direction]->line;
	rules->counters[direction] = entry->counters[direction]->line;
	if (own)
		rules->own[direction] = own->line + own->tree.reference;
}

void generation_resolve(struct generation *generation)
{
	for (size_t i = 0; i < generation->port_count; i++) {
		const struct generation_port *entry = &generation->ports[i];
		struct secg_port *table = &generation->table[entry->id];

		for (int direction = 0; direction < SECG_DIRECTIONS; direction++)
			resolve_direction(&table->rules, entry, direction);
		if (entry->spoof)
			table->spoof.policy = entry->spoof->line;
	}
	for (size_t i = 0; i < generation->handover_count; i++) {
		const struct generation_handover *handover = &generation->handovers[i];

		generation->table[handover->from] = generation->table[handover->to];
	}
}

int generation_release_port(struct generation *generation, uint32_t id)
{
	struct secg_port *table = generation->table;

	if (id >= generation->table_count) {
		table = reallocarray(table, id + 1, sizeof(*table));
		if (!table)
			return -ENOMEM;
		memset(&table[generation->table_count], 0,
		       (id + 1 - generation->table_count) * sizeof(*table));
		generation->table = table;
		generation->table_count = id + 1;
	}
	if (table[id].flags == 0)
		table_release(&table[id], &table[id]);
	return 0;
}

void generation_store_state(const struct generation *generation, struct store_state *ret_state)
{
	*ret_state = (struct store_state){
		.document = generation->document,
		.generation = generation->number,
		.etag = generation->etag,
		.ports = generation->port_ids,
		.counters = generation->counter_ids,
		.policies = generation->policies,
	};
}
