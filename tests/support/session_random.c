/* SPDX-License-Identifier: Apache-2.0 */
/* Random ports and rules. Packets are in session_packets.c. */
#include "session_random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PICK(rng, list) ((list)[rng_below((rng), sizeof(list) / sizeof((list)[0]))])

const char *session_host(uint8_t family, int host)
{
	static const char *const hosts[2][REF_HOSTS] = {
		{"10.0.0.1", "10.0.0.2", "10.0.0.3"},
		{"2001:db8::1", "2001:db8::2", "2001:db8::3"},
	};

	return hosts[family == 6][host];
}

/* ── what ports say ─────────────────────────────────────────────────────────────────────────────── */

static void make_rule(struct rng *rng, struct ref_rule *ret_rule)
{
	static const int protocols[] = {-1, -1, 6, 6, 6, 17, 17, 1, 58, 132, 47};
	static const int types[2][3] = {{8, 13, 3}, {128, 1, 129}};
	static const enum secg_action actions[] = {
		SECG_ACTION_ALLOW,  SECG_ACTION_ALLOW,
		SECG_ACTION_ALLOW,  SECG_ACTION_ALLOW,
		SECG_ACTION_DROP,   SECG_ACTION_DROP,
		SECG_ACTION_REJECT, SECG_ACTION_ALLOW_STATELESS,
	};
	struct ref_rule rule = {
		.action = PICK(rng, actions),
		.proto = PICK(rng, protocols),
		.src = rng_chance(rng, 30) ? (int)rng_below(rng, REF_HOSTS) : -1,
		.dst = rng_chance(rng, 30) ? (int)rng_below(rng, REF_HOSTS) : -1,
		.dport = -1,
		.type = -1,
	};

	if (secg_has_ports((uint8_t)rule.proto) && rule.proto > 0 && rng_chance(rng, 40))
		rule.dport = rng_chance(rng, 50) ? 53 : 80;
	if ((rule.proto == 1 || rule.proto == 58) && rng_chance(rng, 50))
		rule.type = PICK(rng, types[rule.proto == 58]);
	rule.is_syn = rule.proto == 6 && rng_chance(rng, 40);
	if (rule.action == SECG_ACTION_ALLOW && rng_chance(rng, 30))
		rule.timeout_s = 1 + rng_below(rng, 40);
	*ret_rule = rule;
}

/* A rule is the same one while it is there and does not change what sessions do not show. */
static void set_rule(struct session_random *random, struct ref_rule *rule, bool was_there)
{
	struct ref_rule old = *rule;

	make_rule(&random->rng, rule);
	rule->birth = was_there && old.action == rule->action && old.is_syn == rule->is_syn
			      ? old.birth
			      : ++random->births;
}

static void change_list(struct session_random *random, struct ref_list *list)
{
	static const enum secg_action actions[] = {SECG_ACTION_DROP, SECG_ACTION_DROP,
						   SECG_ACTION_DROP, SECG_ACTION_REJECT,
						   SECG_ACTION_ALLOW};
	struct rng *rng = &random->rng;
	uint32_t what = rng_below(rng, 20);

	if (rng_chance(rng, 2)) {
		list->is_given = !list->is_given;
		list->count = 0;
	}
	if (!list->is_given)
		return;
	if (what <= 1)
		list->otherwise = PICK(rng, actions);
	else if (what <= 3 && list->count)
		list->count = (int)rng_below(rng, (uint32_t)list->count);
	else if (what <= 13 && list->count < REF_RULES)
		set_rule(random, &list->rules[list->count++], false);
	else if (list->count)
		set_rule(random, &list->rules[rng_below(rng, (uint32_t)list->count)], true);
}

static void change_fields(struct session_random *random, const struct ref *ref,
			  struct ref_port *port)
{
	static const uint32_t seconds[] = {5, 10, 20, 50};
	static const uint32_t limits[] = {0, 0, 0, 1, 2, 4, 8};
	struct rng *rng = &random->rng;

	switch (rng_below(rng, 7)) {
	case 0:
		port->is_strict = !port->is_strict;
		break;
	case 1:
		port->on_change = (enum ref_on_change)rng_below(rng, 3);
		break;
	case 2:
		port->fails_open = rng_chance(rng, 30);
		break;
	case 3:
		port->picks_up = rng_chance(rng, 30);
		break;
	case 4:
		port->limit_sessions = PICK(rng, limits);
		port->limit_source = PICK(rng, limits);
		port->limit_half_open = PICK(rng, limits);
		break;
	default:
		port->timeout[rng_below(rng, SECG_TIMEOUT_COUNT)] =
			ref_ticks(ref, PICK(rng, seconds));
	}
}

void session_random_change(struct session_random *random, struct ref *ref)
{
	uint32_t changes = 1 + rng_below(&random->rng, 4);

	for (uint32_t i = 0; i < changes; i++) {
		struct ref_port *port = &ref->ports[rng_below(&random->rng, REF_PORTS)];

		if (rng_chance(&random->rng, 70))
			change_list(random, &port->list[rng_below(&random->rng, SECG_DIRECTIONS)]);
		else
			change_fields(random, ref, port);
	}
}

void session_random_start(struct session_random *random, struct ref *ref, uint64_t seed)
{
	struct rng *rng = &random->rng;

	memset(random, 0, sizeof(*random));
	rng_seed(rng, seed);
	random->is_shared = rng_chance(rng, 50);
	for (int i = 0; i < REF_PORTS; i++) {
		struct ref_port *port = &ref->ports[i];

		*port = (struct ref_port){.domain = random->is_shared && i == 1 ? 0 : i};
		port->on_change = rng_chance(rng, 60) ? REF_RECHECK : REF_KEEP + rng_below(rng, 2);
		for (int t = 0; t < SECG_TIMEOUT_COUNT; t++)
			port->timeout[t] = ref_ticks(ref, 5 + 5 * rng_below(rng, 10));
		for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
			port->list[direction].is_given = rng_chance(rng, 85);
			port->list[direction].otherwise = SECG_ACTION_DROP;
			for (uint32_t n = rng_below(rng, 10); n > 0; n--)
				change_list(random, &port->list[direction]);
		}
		for (int change = 0; change < 6; change++)
			change_fields(random, ref, port);
	}
}

/* ── as a document ──────────────────────────────────────────────────────────────────────────────── */

struct text {
	char *to;
	size_t used;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *text, const char *format, ...)
{
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(text->to + text->used, SESSION_DOCUMENT_MAX - text->used, format, args);
	va_end(args);
	if (size < 0 || (size_t)size >= SESSION_DOCUMENT_MAX - text->used)
		abort();
	text->used += (size_t)size;
}

static void put_rule(struct text *text, const struct ref_rule *rule, int number)
{
	static const char *const actions[] = {
		[SECG_ACTION_ALLOW] = "allow",
		[SECG_ACTION_ALLOW_STATELESS] = "allow-stateless",
		[SECG_ACTION_DROP] = "drop",
		[SECG_ACTION_REJECT] = "reject",
	};

	put(text, "%s{'id': 'r%d', 'action': '%s'", number ? ", " : "", number,
	    actions[rule->action]);
	if (rule->proto == 1 || rule->proto == 58)
		put(text, ", 'protocol': '%s'", rule->proto == 1 ? "icmp" : "icmpv6");
	else if (rule->proto >= 0)
		put(text, ", 'protocol': %d", rule->proto);
	if (rule->src >= 0)
		put(text, ", 'src': ['%s', '%s']", session_host(4, rule->src),
		    session_host(6, rule->src));
	if (rule->dst >= 0)
		put(text, ", 'dst': ['%s', '%s']", session_host(4, rule->dst),
		    session_host(6, rule->dst));
	if (rule->dport >= 0)
		put(text, ", 'dst_ports': %d", rule->dport);
	if (rule->type >= 0)
		put(text, ", 'icmp_type': %d", rule->type);
	if (rule->is_syn)
		put(text, ", 'tcp_flags': 'syn/syn,ack'");
	if (rule->timeout_s)
		put(text, ", 'timeout': %u", rule->timeout_s);
	put(text, "}");
}

static const char *const directions[] = {[SECG_FROM] = "from", [SECG_TO] = "to"};

static void put_port(struct text *text, const struct session_random *random, const struct ref *ref,
		     int number)
{
	static const char *const timeouts[] = {"tcp_half_open", "tcp_established", "tcp_closing",
					       "udp_one_way",   "udp_two_way",     "icmp",
					       "other"};
	static const char *const on_change[] = {"recheck", "keep", "cut"};
	const struct ref_port *port = &ref->ports[number];

	put(text,
	    "%s'p%d': {'interface': 'p%d', 'tcp': '%s', 'on_change': '%s', 'fail_mode': '%s',"
	    " 'pickup_s': %d",
	    number ? ", " : "", number + 1, number + 1, port->is_strict ? "strict" : "loose",
	    on_change[port->on_change], port->fails_open ? "open" : "closed",
	    port->picks_up ? 60 : 0);
	if (random->is_shared && number < 2)
		put(text, ", 'domain': 'd'");
	for (int i = 0; i < SECG_DIRECTIONS; i++)
		if (port->list[i].is_given)
			put(text, ", '%s': ['p%d%s']", directions[i], number + 1, directions[i]);
	for (int i = 0, n = 0; i < SECG_DIRECTIONS; i++)
		if (port->list[i].is_given)
			put(text, "%s'%s': {'action': '%s'}", n++ ? ", " : ", 'default': {",
			    directions[i],
			    port->list[i].otherwise == SECG_ACTION_ALLOW    ? "allow"
			    : port->list[i].otherwise == SECG_ACTION_REJECT ? "reject"
									    : "drop");
	if (port->list[SECG_FROM].is_given || port->list[SECG_TO].is_given)
		put(text, "}");
	put(text, ", 'limits': {");
	if (port->limit_sessions)
		put(text, "'sessions': %u,", port->limit_sessions);
	if (port->limit_source)
		put(text, "'sessions_per_source': %u,", port->limit_source);
	if (port->limit_half_open)
		put(text, "'half_open': %u,", port->limit_half_open);
	if (text->to[text->used - 1] == ',')
		text->used--;
	put(text, "}, 'timeouts': {");
	for (int i = 0; i < SECG_TIMEOUT_COUNT; i++)
		put(text, "%s'%s': %u", i ? ", " : "", timeouts[i],
		    (port->timeout[i] - 1) / ref->ticks_per_second);
	put(text, "}}");
}

void session_random_document(const struct session_random *random, const struct ref *ref,
			     char ret_text[SESSION_DOCUMENT_MAX])
{
	struct text text = {.to = ret_text};

	put(&text, "{'acls': {");
	for (int i = 0; i < REF_PORTS * SECG_DIRECTIONS; i++) {
		const struct ref_list *list = &ref->ports[i / 2].list[i % 2];

		put(&text, "%s'p%d%s': {'rules': [", i ? ", " : "", i / 2 + 1, directions[i % 2]);
		for (int j = 0; j < list->count; j++)
			put_rule(&text, &list->rules[j], j);
		put(&text, "]}");
	}
	put(&text, "}, 'ports': {");
	for (int i = 0; i < REF_PORTS; i++)
		put_port(&text, random, ref, i);
	put(&text, "}}");
}
