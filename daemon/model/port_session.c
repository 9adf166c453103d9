/* SPDX-License-Identifier: Apache-2.0 */
/* What a port says of its sessions: timeouts, limits, domain, pick-up. */
#include <string.h>

#include "model/port_draft.h"
#include "model/value.h"

const char *const timeout_names[SECG_TIMEOUT_COUNT] = {
	[SECG_TIMEOUT_TCP_HALF_OPEN] = "tcp_half_open",
	[SECG_TIMEOUT_TCP_ESTABLISHED] = "tcp_established",
	[SECG_TIMEOUT_TCP_CLOSING] = "tcp_closing",
	[SECG_TIMEOUT_UDP_ONE_WAY] = "udp_one_way",
	[SECG_TIMEOUT_UDP_TWO_WAY] = "udp_two_way",
	[SECG_TIMEOUT_ICMP] = "icmp",
	[SECG_TIMEOUT_OTHER] = "other",
};
const uint32_t timeout_default_s[SECG_TIMEOUT_COUNT] = {
	[SECG_TIMEOUT_TCP_HALF_OPEN] = 30, [SECG_TIMEOUT_TCP_ESTABLISHED] = 86400,
	[SECG_TIMEOUT_TCP_CLOSING] = 30,   [SECG_TIMEOUT_UDP_ONE_WAY] = 30,
	[SECG_TIMEOUT_UDP_TWO_WAY] = 180,  [SECG_TIMEOUT_ICMP] = 30,
	[SECG_TIMEOUT_OTHER] = 600,
};
/* 90 days: less than half of the time in which the data path's clock wraps. */
const struct number_kind timeout_kind = {"a timeout in seconds", 1, 7776000};

static const struct number_kind pickup_kind = {"a time to pick sessions up in seconds", 0, 86400};
static const struct number_kind limit_kind = {"a limit of sessions", 1, UINT32_MAX};

/* ── timeouts ───────────────────────────────────────────────────────────────────────────────────── */

static int timeout_field(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct port_draft *draft = object;
	uint32_t seconds;
	int r = parse_number(parser, path, value, &timeout_kind, &seconds);

	if (r < 0)
		return r;
	for (int i = 0; i < SECG_TIMEOUT_COUNT; i++)
		if (!strcmp(timeout_names[i], path->key))
			draft->port->timeout_s[i] = seconds;
	return json_put(draft->json, path->key, json_integer(seconds));
}

int port_parse_timeouts(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct field fields[SECG_TIMEOUT_COUNT];
	struct schema schema = {"timeouts", fields, ARRAY_SIZE(fields)};
	const struct port_draft *port_draft = object;
	struct port_draft draft = {.json = json_object(), .port = port_draft->port};
	int r = json_put(port_draft->json, "timeouts", draft.json);

	for (int i = 0; i < SECG_TIMEOUT_COUNT; i++)
		fields[i] = (struct field){timeout_names[i], timeout_field};
	return r < 0 ? r : parse_object(parser, path, value, &schema, &draft);
}

/* ── limits ─────────────────────────────────────────────────────────────────────────────────────── */

static int limit_field(struct parser *parser, const struct path *path, const json_t *value,
		       struct port_draft *draft, uint32_t *ret_limit)
{
	int r = parse_number(parser, path, value, &limit_kind, ret_limit);

	return r < 0 ? r : json_put(draft->json, path->key, json_integer(*ret_limit));
}

static int limit_sessions(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	struct port_draft *draft = object;

	return limit_field(parser, path, value, draft, &draft->port->limits.sessions);
}

static int limit_source(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct port_draft *draft = object;

	return limit_field(parser, path, value, draft, &draft->port->limits.sessions_per_source);
}

static int limit_half_open(struct parser *parser, const struct path *path, const json_t *value,
			   void *object)
{
	struct port_draft *draft = object;

	return limit_field(parser, path, value, draft, &draft->port->limits.half_open);
}

int port_parse_limits(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	static const struct field fields[] = {
		{"sessions", limit_sessions},
		{"sessions_per_source", limit_source},
		{"half_open", limit_half_open},
	};
	static const struct schema schema = {"limits", fields, ARRAY_SIZE(fields)};
	const struct port_draft *port_draft = object;
	struct port_draft draft = {.json = json_object(), .port = port_draft->port};
	int r = json_put(port_draft->json, "limits", draft.json);

	return r < 0 ? r : parse_object(parser, path, value, &schema, &draft);
}

/* ── others ─────────────────────────────────────────────────────────────────────────────────────── */

int port_parse_domain(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct port_draft *draft = object;
	const char *name = json_string_value(value);

	if (!name)
		return parse_bad_type(parser, path, value, "the name of a session domain");
	if (!is_name(name))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "a domain has 1 to %d characters out of a-z, 0-9, '.', '_', '-'",
				   NAME_MAX_LENGTH);
	draft->port->domain = strdup(name);
	if (!draft->port->domain)
		return -ENOMEM;
	return json_put(draft->json, "domain", json_incref((json_t *)value));
}

int port_parse_pickup(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct port_draft *draft = object;
	int r = parse_number(parser, path, value, &pickup_kind, &draft->port->pickup_s);

	return r < 0 ? r : json_put(draft->json, "pickup_s", json_integer(draft->port->pickup_s));
}

int port_parse_reset_on_expiry(struct parser *parser, const struct path *path, const json_t *value,
			       void *object)
{
	struct port_draft *draft = object;

	return parse_bool_field(parser, path, value, draft->json, &draft->port->resets_expired);
}
