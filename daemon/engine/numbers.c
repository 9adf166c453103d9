/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which counter a rule of a port has, and the word that sessions keep of the rule. Every port counts its
 * rules apart while there are counters enough. When they run out, the ports that come last share one
 * counter per rule, whose name has no port.
 */
#include <stdio.h>
#include <string.h>

#include "engine/generation.h"

#define REVISION_MAX (UINT32_MAX >> SECG_RULE_REVISION_SHIFT)

struct numbering {
	struct generation *generation;
	struct ids *ids;
	bool is_short;
	bool keeps; /* what has not changed keeps its numbers */
};

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

/*
 * The revision of a rule is raised when what it matches and a session does not show has been changed. What
 * a session does show is looked at by every recheck anyway. The first one comes from the generation, so
 * that a session does not take the next rule of a number for its own.
 */
static uint32_t revise(struct numbering *numbering, uint32_t number, uint64_t hidden)
{
	struct ids_note note = ids_note(numbering->ids, number);

	if (note.digest == hidden)
		return note.revision;
	note.digest = hidden;
	note.revision = note.revision
				? note.revision % REVISION_MAX + 1
				: (uint32_t)(numbering->generation->number % REVISION_MAX) + 1;
	ids_set_note(numbering->ids, number, note);
	numbering->generation->has_changed_numbers = true;
	return note.revision;
}

static int get_word(struct numbering *numbering, const struct generation_port *entry,
		    const struct compiled *compiled, size_t slot, uint32_t *ret_word)
{
	const char *key = compiled->rule_keys[slot];
	uint32_t number;
	int r = get_number(numbering->ids, entry->port->name, key, &number);

	if (r == -ENOSPC && numbering->is_short)
		r = get_number(numbering->ids, "", key, &number);
	if (r < 0)
		return r;
	*ret_word = number | revise(numbering, number, compiled->rule_hidden[slot])
				     << SECG_RULE_REVISION_SHIFT;
	return 0;
}

static int set_own(struct generation_port *entry, enum secg_direction direction,
		   const uint32_t *words)
{
	_cleanup_(own_fini) struct own_tree tree = {0};
	int r = own_build(&tree, entry->policy[direction]->compiled, words);

	if (r < 0 || !tree.lines)
		return r;
	return block_new_tree(&entry->own[direction], &tree);
}

/* The blocks of the port before where they say the same. */
static int set_words(struct generation_port *entry, enum secg_direction direction,
		     const struct generation_port *before, const uint32_t *words)
{
	size_t count = entry->policy[direction]->compiled->rule_count;
	struct block *old = before ? before->counters[direction] : NULL;
	int r;

	if (!old || !block_has_counters(old, words, count)) {
		r = block_new_counters(&entry->counters[direction], words, count);
		return r < 0 ? r : set_own(entry, direction, words);
	}
	entry->counters[direction] = block_ref(old);
	if (before->policy[direction] != entry->policy[direction])
		return set_own(entry, direction, words);
	if (before->own[direction])
		entry->own[direction] = block_ref(before->own[direction]);
	return 0;
}

static void forget_words(struct generation_port *entry, enum secg_direction direction)
{
	block_unref(entry->counters[direction]);
	block_unref(entry->own[direction]);
	entry->counters[direction] = NULL;
	entry->own[direction] = NULL;
}

/* Nothing has changed for the list of this port: its numbers are marked, without looking up names. */
static bool keep_words(struct numbering *numbering, struct generation_port *entry,
		       enum secg_direction direction, const struct generation_port *before)
{
	struct block *old = before ? before->counters[direction] : NULL;
	const uint32_t *words = old ? (const void *)old->lines : NULL;

	if (!numbering->keeps || !old || before->policy[direction] != entry->policy[direction])
		return false;
	for (size_t i = 0; i < entry->policy[direction]->compiled->rule_count; i++)
		ids_mark(numbering->ids, words[i] & SECG_RULE_NUMBER_MASK);
	entry->counters[direction] = block_ref(old);
	if (before->own[direction])
		entry->own[direction] = block_ref(before->own[direction]);
	return true;
}

static int number_direction(struct numbering *numbering, struct generation_port *entry,
			    enum secg_direction direction, const struct generation_port *before)
{
	const struct compiled *compiled;
	_cleanup_free_ uint32_t *words = NULL;
	int r;

	forget_words(entry, direction);
	if (!entry->policy[direction] || keep_words(numbering, entry, direction, before))
		return 0;
	compiled = entry->policy[direction]->compiled;
	words = calloc(compiled->rule_count, sizeof(*words));
	if (!words)
		return -ENOMEM;
	for (size_t i = 0; i < compiled->rule_count; i++) {
		r = get_word(numbering, entry, compiled, i, &words[i]);
		if (r < 0)
			return r;
	}
	return set_words(entry, direction, before, words);
}

static int number_port(struct numbering *numbering, struct generation_port *entry,
		       const struct generation_port *before)
{
	int r;

	r = number_direction(numbering, entry, SECG_FROM, before);
	if (r < 0)
		return r;
	return number_direction(numbering, entry, SECG_TO, before);
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
static int number_ports(struct numbering *numbering, const struct generation *live)
{
	struct generation *generation = numbering->generation;
	int r;

	for (size_t i = 0; i < generation->port_count; i++) {
		struct generation_port *entry = &generation->ports[i];

		r = number_port(numbering, entry, generation_find_port(live, entry->port->name));
		if (r < 0)
			return r;
	}
	return 0;
}

static int try_numbers(struct ids **ret_ids, struct generation *generation,
		       const struct generation *live, bool is_short)
{
	_cleanup_(ids_freep) struct ids *ids = NULL;
	struct numbering numbering = {
		.generation = generation,
		.is_short = is_short,
		/* Ports that share counters may get their own when there are enough again. */
		.keeps = is_short == live->has_shared_counters,
	};
	int r;

	r = ids_copy(&ids, live->counter_ids);
	if (r < 0)
		return r;
	ids_unmark(ids);
	numbering.ids = ids;
	if (is_short) {
		r = reserve_shared(generation, ids);
		if (r < 0)
			return r;
	}
	r = number_ports(&numbering, live);
	if (r < 0)
		return r;
	generation->has_shared_counters = is_short;
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
