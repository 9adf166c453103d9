/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which counter a rule of a port has. Every port counts its rules apart while there are counters enough.
 * When they run out, the ports that come last share one counter per rule, whose name has no port.
 */
#include <stdio.h>
#include <string.h>

#include "engine/generation.h"

/* "port\nacl/rule"; "\nacl/rule" is the shared one. */
static int get_number(struct ids *ids, const char *port, const char *key, uint32_t *ret_id)
{
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "%s\n%s", port, key) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	return ids_get(ids, name, ret_id);
}

static int number_direction(struct generation_port *entry, enum secg_direction direction,
			    const struct generation_port *before, struct ids *ids, bool is_short)
{
	const struct compiled *compiled;
	_cleanup_free_ uint32_t *indices = NULL;
	struct block *old = before ? before->counters[direction] : NULL;
	int r;

	block_unrefp(&entry->counters[direction]);
	entry->counters[direction] = NULL;
	if (!entry->policy[direction])
		return 0;
	compiled = entry->policy[direction]->compiled;
	indices = calloc(compiled->rule_count, sizeof(*indices));
	if (!indices)
		return -ENOMEM;
	for (size_t i = 0; i < compiled->rule_count; i++) {
		r = get_number(ids, entry->port->name, compiled->rule_keys[i], &indices[i]);
		if (r == -ENOSPC && is_short)
			r = get_number(ids, "", compiled->rule_keys[i], &indices[i]);
		if (r < 0)
			return r;
	}
	if (old && block_has_counters(old, indices, compiled->rule_count)) {
		entry->counters[direction] = block_ref(old);
		return 0;
	}
	return block_new_counters(&entry->counters[direction], indices, compiled->rule_count);
}

static int number_port(struct generation_port *entry, const struct generation_port *before,
		       struct ids *ids, bool is_short)
{
	int r;

	r = number_direction(entry, SECG_FROM, before, ids, is_short);
	if (r < 0)
		return r;
	return number_direction(entry, SECG_TO, before, ids, is_short);
}

/* Shared counters for all rules come first, so that nobody is left without. */
static int reserve_shared(struct generation *generation, struct ids *ids)
{
	for (size_t i = 0; i < generation->list_count; i++) {
		const struct compiled *compiled = generation->lists[i].block->compiled;
		uint32_t id;
		int r;

		for (size_t j = 0; j < compiled->rule_count; j++) {
			r = get_number(ids, "", compiled->rule_keys[j], &id);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Names that are known find their numbers again, so whoever has a counter of his own keeps it. */
static int number_ports(struct generation *generation, const struct generation *live,
			struct ids *ids, bool is_short)
{
	int r;

	for (size_t i = 0; i < generation->port_count; i++) {
		struct generation_port *entry = &generation->ports[i];

		r = number_port(entry, generation_find_port(live, entry->port->name), ids,
				is_short);
		if (r < 0)
			return r;
	}
	return 0;
}

static int try_numbers(struct ids **ret_ids, struct generation *generation,
		       const struct generation *live, bool is_short)
{
	_cleanup_(ids_freep) struct ids *ids = NULL;
	int r;

	r = ids_copy(&ids, live->counter_ids);
	if (r < 0)
		return r;
	ids_unmark(ids);
	if (is_short) {
		r = reserve_shared(generation, ids);
		if (r < 0)
			return r;
	}
	r = number_ports(generation, live, ids, is_short);
	if (r < 0)
		return r;
	*ret_ids = TAKE_PTR(ids);
	return 0;
}

/* Room for a shared counter of every rule is kept even while nobody needs one: once all numbers were
 * given away there would be none to fall back to. */
static bool is_enough(const struct generation *generation, uint32_t limit)
{
	size_t wanted = 1; /* number 0 is none */

	for (size_t i = 0; i < generation->list_count; i++)
		wanted += generation->lists[i].block->compiled->rule_count;
	for (size_t i = 0; i < generation->port_count; i++) {
		for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
			const struct block *policy = generation->ports[i].policy[direction];

			wanted += policy ? policy->compiled->rule_count : 0;
		}
	}
	return wanted <= limit;
}

int generation_number_rules(struct generation *generation, const struct generation_context *context)
{
	int r = -ENOSPC;

	if (is_enough(generation, context->counter_limit))
		r = try_numbers(&generation->counter_ids, generation, context->live, false);
	/* Numbers that are being given back still count, so there may be too few nonetheless. */
	if (r == -ENOSPC)
		r = try_numbers(&generation->counter_ids, generation, context->live, true);
	return r;
}
