/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of secg_watch of a generation. */
#include "engine/watches.h"

#include <stdio.h>
#include <string.h>

void watches_fini(struct watches *watches)
{
	free(watches->items);
	*watches = (struct watches){0};
}

static int add(struct watches *watches, uint32_t key, const struct secg_watch *watch)
{
	if (watches->count == watches->room) {
		size_t room = watches->room ? 2 * watches->room : 256;
		struct watch_item *items =
			reallocarray(watches->items, room, sizeof(*watches->items));

		if (!items)
			return -ENOMEM;
		watches->items = items;
		watches->room = room;
	}
	watches->items[watches->count++] = (struct watch_item){.wanted = {key, *watch}};
	return 0;
}

/* ── rules ──────────────────────────────────────────────────────────────────────────────────────── */

static bool is_refusal(enum secg_action action)
{
	return action == SECG_ACTION_DROP || action == SECG_ACTION_REJECT;
}

static struct secg_watch watch_of(const struct rule *rule, bool is_audited)
{
	struct secg_watch watch = {
		.rate = rule->log.rate,
		.sample = {rule->sample[0], rule->sample[1]},
		.log_all = rule->log.rate && rule->log.is_all,
	};

	if (!watch.rate && is_audited && is_refusal(rule->action))
		watch.rate = WATCH_AUDIT_RATE;
	return watch;
}

/* The counter that the rule has at the port, or shares with other ports (numbers.c). */
static int find_number(const struct generation *generation, const char *port, const char *acl,
		       const char *rule, uint32_t *ret_number)
{
	_cleanup_free_ char *name = NULL;
	int r;

	if (asprintf(&name, "%s\n%s/%s", port, acl, rule) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	r = ids_find(generation->counter_ids, name, ret_number);
	return r == -ENOENT ? ids_find(generation->counter_ids, strchr(name, '\n'), ret_number) : r;
}

static int add_acl(struct watches *watches, const struct generation *generation,
		   const struct port *port, const struct acl *acl)
{
	for (size_t i = 0; i < acl->rule_count; i++) {
		const struct rule *rule = &acl->rules[i];
		struct secg_watch watch = watch_of(rule, port->is_audited || acl->is_audited);
		uint32_t number;
		int r;

		if (rule->is_disabled || (!watch.rate && !watch.sample[0] && !watch.sample[1]))
			continue;
		r = find_number(generation, port->name, acl->name, rule->id, &number);
		if (r == -ENOENT) /* compiled to nothing */
			continue;
		if (r == 0)
			r = add(watches, number, &watch);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ── ports ──────────────────────────────────────────────────────────────────────────────────────── */

static int add_default(struct watches *watches, const struct generation_port *entry, int direction)
{
	const struct port_list *list = &entry->port->list[direction];
	struct secg_watch watch = {.rate = list->log.rate,
				   .log_all = list->log.rate && list->log.is_all};

	if (!list->is_given)
		return 0;
	if (!watch.rate && entry->port->is_audited && is_refusal(list->otherwise))
		watch.rate = WATCH_AUDIT_RATE;
	if (!watch.rate)
		return 0;
	return add(watches, SECG_WATCH_DEFAULT | entry->id << 1 | (uint32_t)direction, &watch);
}

static int add_port(struct watches *watches, const struct generation *generation,
		    const struct generation_port *entry)
{
	static const struct secg_watch answers = {.rate = WATCH_REJECT_RATE};
	int r = add(watches, SECG_WATCH_REJECT | entry->id, &answers);

	for (int direction = 0; r == 0 && direction < SECG_DIRECTIONS; direction++) {
		const struct port_list *list = &entry->port->list[direction];

		r = add_default(watches, entry, direction);
		for (size_t i = 0; r == 0 && i < list->acl_count; i++)
			r = add_acl(watches, generation, entry->port, list->acls[i]);
	}
	return r;
}

/* ── the whole ──────────────────────────────────────────────────────────────────────────────────── */

/* Rules and defaults say by their own `log` whether they are told. */
static bool has_watch(enum secg_reason reason)
{
	return reason != SECG_REASON_DEFAULT && reason != SECG_REASON_RULE_DROP &&
	       reason != SECG_REASON_RULE_REJECT;
}

static int compare(const void *a, const void *b)
{
	uint32_t first = ((const struct watch_item *)a)->wanted.key;
	uint32_t second = ((const struct watch_item *)b)->wanted.key;

	return first < second ? -1 : first > second;
}

/* A rule that stands in both lists of a port has one counter, and one entry. */
void watches_sort(struct watches *watches)
{
	size_t kept = 0;

	if (!watches->count)
		return;
	qsort(watches->items, watches->count, sizeof(*watches->items), compare);
	for (size_t i = 1; i < watches->count; i++)
		if (watches->items[i].wanted.key != watches->items[kept].wanted.key)
			watches->items[++kept] = watches->items[i];
	watches->count = kept + 1;
}

int watches_make(struct watches *ret_watches, const struct generation *generation)
{
	static const struct secg_watch drops = {.rate = WATCH_REASON_RATE};
	_cleanup_(watches_fini) struct watches watches = {0};
	int r = 0;

	for (uint32_t reason = 1; r == 0 && reason < SECG_REASON_COUNT; reason++)
		if (has_watch((enum secg_reason)reason))
			r = add(&watches, SECG_WATCH_REASON | reason, &drops);
	for (size_t i = 0; r == 0 && i < generation->port_count; i++)
		r = add_port(&watches, generation, &generation->ports[i]);
	if (r < 0)
		return r;
	watches_sort(&watches);
	*ret_watches = watches;
	watches = (struct watches){0};
	return 0;
}

struct watch_item *watches_find(const struct watches *watches, uint32_t key)
{
	const struct watch_item wanted = {.wanted.key = key};

	if (!watches->count)
		return NULL;
	return bsearch(&wanted, watches->items, watches->count, sizeof(wanted), compare);
}

bool watches_are_same(const struct dp_watch *a, const struct dp_watch *b)
{
	return a->watch.rate == b->watch.rate && a->watch.log_all == b->watch.log_all &&
	       a->watch.sample[0] == b->watch.sample[0] && a->watch.sample[1] == b->watch.sample[1];
}
