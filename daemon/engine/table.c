/* SPDX-License-Identifier: Apache-2.0 */
/* Filling struct secg_port. */
#include "engine/table.h"

#include <string.h>

static bool has_stateful_rules(const struct generation_port *entry, int direction)
{
	const struct block *policy = entry->policy[direction];

	return policy && policy->compiled->is_stateful;
}

static bool has_stateful_default(const struct generation_port *entry, int direction)
{
	const struct port_list *list = &entry->port->list[direction];

	return list->is_given && list->otherwise == SECG_ACTION_ALLOW;
}

/* A direction without lists passes everything; it tracks when replies of the other one depend on it. */
static enum secg_action default_of(const struct generation_port *entry, int direction)
{
	const struct port_list *list = &entry->port->list[direction];

	if (list->is_given)
		return list->otherwise;
	return has_stateful_rules(entry, !direction) || has_stateful_default(entry, !direction)
		       ? SECG_ACTION_ALLOW
		       : SECG_ACTION_ALLOW_STATELESS;
}

enum secg_action table_otherwise(const struct generation_port *entry, int direction)
{
	enum secg_action action = default_of(entry, direction);

	if (entry->port->is_audited && action != SECG_ACTION_ALLOW_STATELESS)
		return SECG_ACTION_ALLOW;
	return action;
}

/* Flags on which the verdict about a session hangs. */
static uint32_t verdict_flags(const struct generation_port *entry)
{
	uint32_t flags = SECG_PORT_VALID;

	for (int direction = 0; direction < SECG_DIRECTIONS; direction++)
		if (has_stateful_rules(entry, direction) ||
		    table_otherwise(entry, direction) == SECG_ACTION_ALLOW)
			flags |= SECG_PORT_STATEFUL;
	if (entry->port->is_tcp_strict)
		flags |= SECG_PORT_TCP_STRICT;
	if (entry->port->is_audited)
		flags |= SECG_PORT_AUDIT;
	/* What is kept must be found, also where no rule is left that tracks. */
	if (entry->port->on_change == ON_CHANGE_KEEP)
		flags |= SECG_PORT_KEEP | SECG_PORT_STATEFUL;
	return flags;
}

static bool has_limits(const struct port_limits *limits)
{
	return limits->sessions || limits->sessions_per_source || limits->half_open;
}

static uint32_t flags_of(const struct generation_port *entry)
{
	const struct port *port = entry->port;
	uint32_t flags = verdict_flags(entry);

	/* Answers to what another port lets pass come here too. */
	if (entry->is_domain_shared)
		flags |= SECG_PORT_SHARED | SECG_PORT_STATEFUL;
	if (port->pickup_s)
		flags |= SECG_PORT_PICKUP;
	if (port->on_change == ON_CHANGE_CUT && !entry->spares_others)
		flags |= SECG_PORT_CUT;
	if (port->fails_open)
		flags |= SECG_PORT_FAIL_OPEN;
	if (port->is_anti_spoofed)
		flags |= SECG_PORT_ANTI_SPOOF;
	if (port->is_anti_spoofed && !port->allows_ra)
		flags |= SECG_PORT_RA_GUARD;
	if (port->is_anti_spoofed && !port->allows_dhcp_server)
		flags |= SECG_PORT_DHCP_GUARD;
	if (port->resets_expired)
		flags |= SECG_PORT_RESET;
	if (has_limits(&port->limits))
		flags |= SECG_PORT_LIMITS;
	/* One flag for both directions: the one that is not logged has no entry in secg_watch. An audited
	 * default is told without it. */
	if (port->list[SECG_FROM].log.rate || port->list[SECG_TO].log.rate)
		flags |= SECG_PORT_LOG_DEFAULT;
	return flags;
}

/* The programs compare counts as signed numbers. */
static uint32_t limit_of(uint32_t limit)
{
	return limit > INT32_MAX ? INT32_MAX : limit;
}

/* Ticks are compared by their signed difference, so half their range is the longest timeout. */
static uint32_t ticks_of(uint32_t seconds, double ticks_per_second)
{
	double ticks =
		seconds * ticks_per_second + 1; /* rounded up: never shorter than asked for */

	return ticks > INT32_MAX ? INT32_MAX : (uint32_t)ticks;
}

void table_set_side(struct secg_port *table, const struct generation_port *entry,
		    enum port_side side)
{
	uint16_t masks[SECG_DIRECTIONS];

	port_infra_masks(masks, entry->port, side);
	memcpy(table->infra, masks, sizeof(masks));
}

void table_fill(struct secg_port *ret_table, const struct generation_port *entry,
		double ticks_per_second)
{
	const struct port *port = entry->port;
	struct secg_port table = {
		.flags = flags_of(entry),
		.policy_generation = (uint32_t)entry->changed,
		.domain = entry->domain,
		.pickup_until = entry->pickup_until,
	};

	table_set_side(&table, entry, entry->side);
	for (int i = 0; i < SECG_TIMEOUT_COUNT; i++) {
		uint32_t seconds = port->timeout_s[i] ? port->timeout_s[i] : timeout_default_s[i];

		table.timeout[i] = ticks_of(seconds, ticks_per_second);
	}
	for (int direction = 0; direction < SECG_DIRECTIONS; direction++)
		table.rules.otherwise[direction] = (uint8_t)default_of(entry, direction);
	table.rules.limit_sessions = limit_of(port->limits.sessions);
	table.rules.limit_source = limit_of(port->limits.sessions_per_source);
	table.rules.limit_half_open = limit_of(port->limits.half_open);
	generation_spoof_pairs(table.spoof.pair, entry);
	*ret_table = table;
}

void table_release(struct secg_port *ret_table, const struct secg_port *before)
{
	struct secg_port table = {
		.flags = SECG_PORT_VALID | SECG_PORT_RELEASED,
		.policy_generation = before->policy_generation,
		.domain = before->domain,
	};

	memcpy(table.timeout, before->timeout, sizeof(table.timeout));
	*ret_table = table;
}

int table_digest(struct digest *ret_digest, const struct generation_port *entry)
{
	static const struct digest none;
	struct digest_context context;
	uint32_t flags = verdict_flags(entry);

	digest_init(&context);
	digest_add(&context, &flags, sizeof(flags));
	for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
		const struct block *policy = entry->policy[direction];
		uint32_t otherwise = table_otherwise(entry, direction);

		digest_add(&context, &otherwise, sizeof(otherwise));
		digest_add(&context, policy ? &policy->digest : &none, sizeof(none));
	}
	return digest_finish(&context, ret_digest);
}
