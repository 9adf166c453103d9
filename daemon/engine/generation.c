/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a generation: policies (policies.c), numbers (numbers.c), one table entry per port.
 */
#include "engine/generation.h"

#include <string.h>

#include "engine/member_delta.h"
#include "engine/table.h"

/* By name, or by the same words. */
static bool is_same_interface(const struct port *a, const struct port *b)
{
	if (a->interface && b->interface)
		return strcmp(a->interface, b->interface) == 0;
	return json_equal(json_object_get(a->json, "match"), json_object_get(b->json, "match"));
}

static enum port_side resolve_side(const struct port *port,
				   const struct generation_context *context)
{
	const struct generation_port *before;
	enum port_side side = port->side;

	if (side == PORT_SIDE_AUTO)
		side = context->side(port, context->data);
	if (side != PORT_SIDE_AUTO)
		return side;
	before = generation_find_port(context->live, port->name);
	if (before && before->port->side == PORT_SIDE_AUTO && is_same_interface(before->port, port))
		return before->side;
	/* Nothing is known of it yet: the side that lets less through. */
	return PORT_SIDE_WORKLOAD;
}

/* Who has a domain as the first is told by its second port. */
static int number_domains(struct generation *generation, const struct generation_context *context)
{
	_cleanup_free_ struct generation_port **first =
		calloc(SECG_MAX_PORTS, sizeof(struct generation_port *));
	int r = first ? ids_copy(&generation->domain_ids, context->live->domain_ids) : -ENOMEM;

	if (r < 0)
		return r;
	ids_unmark(generation->domain_ids);
	for (size_t i = 0; i < generation->port_count; i++) {
		struct generation_port *entry = &generation->ports[i];
		struct generation_port **owner;
		uint32_t number;

		entry->domain = (uint16_t)entry->id;
		if (!entry->port->domain)
			continue;
		r = ids_get(generation->domain_ids, entry->port->domain, &number);
		if (r < 0)
			return r;
		entry->domain = (uint16_t)number;
		owner = &first[number - SECG_MAX_PORTS];
		entry->is_domain_shared = *owner;
		if (*owner)
			(*owner)->is_domain_shared = true;
		else
			*owner = entry;
	}
	ids_sweep(generation->domain_ids, NULL, NULL);
	return 0;
}

static int add_ports(struct generation *generation, const struct generation_context *context)
{
	const struct config *config = generation->config;
	int r;

	generation->ports =
		calloc(config->port_count ? config->port_count : 1, sizeof(*generation->ports));
	if (!generation->ports)
		return -ENOMEM;
	generation->port_count = config->port_count;
	for (size_t i = 0; i < config->port_count; i++) {
		struct generation_port *entry = &generation->ports[i];

		entry->port = &config->ports[i];
		entry->side = resolve_side(entry->port, context);
	}
	r = ids_copy(&generation->port_ids, context->live->port_ids);
	if (r < 0)
		return r;
	ids_unmark(generation->port_ids);
	for (size_t i = 0; i < config->port_count; i++) {
		struct generation_port *entry = &generation->ports[i];

		r = ids_get(generation->port_ids, entry->port->name, &entry->id);
		if (r < 0)
			return r;
		if (context->pickup)
			entry->pickup_until =
				context->pickup(entry->port, entry->id, context->data);
	}
	return number_domains(generation, context);
}

static void note_removed(const char *name, uint32_t id, void *data)
{
	bool *has_changed = data;

	(void)name;
	(void)id;
	*has_changed = true;
}

static void note_new(const char *name, uint32_t id, bool is_new, void *data)
{
	bool *has_changed = data;

	(void)name;
	(void)id;
	*has_changed |= is_new;
}

static void sweep_numbers(struct generation *generation)
{
	ids_sweep(generation->port_ids, note_removed, &generation->has_changed_numbers);
	ids_sweep(generation->counter_ids, note_removed, &generation->has_changed_numbers);
	ids_each(generation->port_ids, note_new, &generation->has_changed_numbers);
	ids_each(generation->counter_ids, note_new, &generation->has_changed_numbers);
}

/*
 * A port that the store knows and no generation before this one has been built for: the document is the
 * one that the store has, so only who is in its groups can have changed.
 */
static bool spares_others(struct generation *generation, const struct generation_port *entry,
			  const struct generation *live)
{
	const struct generation_port *before = generation_find_port(live, entry->port->name);

	return !before || member_delta_is_all(generation, entry, live, before);
}

/* The generation of the policy is kept when its digest is the one that the store remembers. */
static int remember_policy(struct generation *generation, struct generation_port *entry,
			   const struct generation_context *context)
{
	const json_t *before = json_object_get(context->live->policies, entry->port->name);
	const char *known = json_string_value(json_object_get(before, "digest"));
	char text[DIGEST_STRING_SIZE];
	struct digest digest;
	json_t *policy;
	int r;

	r = table_digest(&digest, entry);
	if (r < 0)
		return r;
	digest_format(text, &digest);
	if (known && strcmp(known, text) == 0) {
		entry->changed =
			(uint64_t)json_integer_value(json_object_get(before, "generation"));
		entry->spares_others = json_is_true(json_object_get(before, "spares_others"));
	} else {
		entry->changed = context->number;
		entry->spares_others = known && spares_others(generation, entry, context->live);
		generation->has_changed_policies = true;
	}
	policy = json_pack("{s:I, s:s, s:b}", "generation", (json_int_t)entry->changed, "digest",
			   text, "spares_others", entry->spares_others);
	return json_object_set_new(generation->policies, entry->port->name, policy) < 0 ? -ENOMEM
											: 0;
}

static int fill_table(struct generation *generation, const struct generation_context *context)
{
	uint32_t count = 1;
	int r;

	for (size_t i = 0; i < generation->port_count; i++)
		if (generation->ports[i].id >= count)
			count = generation->ports[i].id + 1;
	for (size_t i = 0; i < context->live->port_count; i++)
		if (context->live->ports[i].id >= count)
			count = context->live->ports[i].id + 1;
	generation->table = calloc(count, sizeof(*generation->table));
	if (!generation->table)
		return -ENOMEM;
	generation->table_count = count;
	for (size_t i = 0; i < context->live->port_count; i++) {
		const struct generation_port *old = &context->live->ports[i];

		if (!generation_find_port(generation, old->port->name))
			table_release(&generation->table[old->id], &context->live->table[old->id]);
	}
	for (size_t i = 0; i < generation->port_count; i++) {
		struct generation_port *entry = &generation->ports[i];

		r = remember_policy(generation, entry, context);
		if (r < 0)
			return r;
		table_fill(&generation->table[entry->id], entry, context->ticks_per_second);
	}
	return 0;
}

static int build(struct generation *generation, const struct generation_context *context,
		 struct errors *reterr)
{
	int r;

	r = add_ports(generation, context);
	if (r < 0)
		return r;
	r = generation_set_policies(generation, context->live, reterr);
	if (r < 0)
		return r;
	r = generation_set_spoof(generation, context->live, reterr);
	if (r < 0)
		return r;
	r = generation_number_rules(generation, context);
	if (r < 0)
		return r;
	sweep_numbers(generation);
	return fill_table(generation, context);
}

int generation_build(struct generation **ret_generation, struct config *config, json_t *document,
		     const struct generation_context *context, struct errors *reterr)
{
	_cleanup_(generation_freep) struct generation *generation = NULL;
	int r;

	generation = calloc(1, sizeof(*generation));
	if (!generation)
		return -ENOMEM;
	generation->number = context->number;
	generation->etag = context->etag;
	generation->config = config;
	generation->document = json_incref(document);
	generation->policies = json_object();
	r = generation->policies ? build(generation, context, reterr) : -ENOMEM;
	if (r < 0) {
		generation->config = NULL; /* stays the caller's */
		return r;
	}
	*ret_generation = TAKE_PTR(generation);
	return 0;
}

int generation_from_store(struct generation **ret_generation, struct store_state *state)
{
	_cleanup_(errors_fini) struct errors errs = {0};
	_cleanup_(generation_freep) struct generation *generation = NULL;
	json_t *empty;
	int r;

	generation = calloc(1, sizeof(*generation));
	empty = json_object();
	if (!generation || !empty) {
		json_decref(empty);
		return -ENOMEM;
	}
	r = config_parse(&generation->config, empty, NULL, &errs);
	json_decref(empty);
	if (r < 0)
		return r;
	generation->number = state->generation;
	generation->etag = state->etag;
	generation->document = TAKE_PTR(state->document);
	generation->policies = TAKE_PTR(state->policies);
	generation->port_ids = TAKE_PTR(state->ports);
	generation->counter_ids = TAKE_PTR(state->counters);
	r = ids_new(&generation->domain_ids, SECG_MAX_PORTS, 2 * SECG_MAX_PORTS);
	if (r < 0)
		return r;
	*ret_generation = TAKE_PTR(generation);
	return 0;
}

void generation_free(struct generation *generation)
{
	if (!generation)
		return;
	for (size_t i = 0; i < generation->port_count; i++) {
		for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
			block_unref(generation->ports[i].policy[direction]);
			block_unref(generation->ports[i].counters[direction]);
			block_unref(generation->ports[i].own[direction]);
		}
		block_unref(generation->ports[i].spoof);
	}
	for (size_t i = 0; i < generation->list_count; i++)
		block_unref(generation->lists[i].block);
	free(generation->ports);
	free(generation->lists);
	free(generation->table);
	free(generation->handovers);
	ids_freep(&generation->domain_ids);
	ids_freep(&generation->port_ids);
	ids_freep(&generation->counter_ids);
	json_decref(generation->document);
	json_decref(generation->policies);
	config_freep(&generation->config);
	free(generation);
}
