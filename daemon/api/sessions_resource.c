/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sessions: listing and clearing live sessions. */
#include <stdio.h>
#include <string.h>

#include "api/exchange.h"
#include "model/l4_names.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX     10000

static const char *const state_names[] = {"half_open", "established", "closing", "one_way",
					  "two_way"};

/* ── filters ────────────────────────────────────────────────────────────────────────────────────── */

struct query {
	struct session_filter filter;
	char *rule; /* "acl/rule", where it had to be put together */
	uint64_t limit;
	uint64_t cursor;
};

static void query_fini(struct query *query)
{
	free(query->rule);
}

/* Value of a numeric parameter, or -1 where it is not given. */
static int read_number(const struct request *request, const char *key, const char *field,
		       uint64_t max, struct errors *reterr)
{
	const char *text = request_parameter(request, key);
	uint64_t number;

	if (!text)
		return -1;
	if (request_parse_number(&number, text, 0, max) < 0) {
		errors_add(reterr, ERROR_BAD_VALUE, field, "must be a number from 0 to %llu",
			   (unsigned long long)max);
		return -1;
	}
	return (int)number;
}

static int read_protocol(const struct request *request, struct errors *reterr)
{
	const char *text = request_parameter(request, "proto");
	uint64_t number;

	if (!text)
		return -1;
	if (protocol_find(text) >= 0)
		return protocol_find(text);
	if (!request_parse_number(&number, text, 0, UINT8_MAX))
		return (int)number;
	errors_add(reterr, ERROR_BAD_VALUE, "query.proto",
		   "must be a protocol's name or a number from 0 to 255");
	return -1;
}

static struct prefix read_prefix(const struct request *request, const char *key, const char *field,
				 struct errors *reterr)
{
	const char *text = request_parameter(request, key);
	struct prefix prefix = {0};
	char proposal[PREFIX_STRING_SIZE];
	int r;

	if (!text)
		return prefix;
	r = prefix_parse(&prefix, text);
	if (!r)
		return prefix;
	if (r == -EDOM) {
		prefix_format(proposal, &prefix);
		errors_add(reterr, ERROR_BAD_VALUE, field, "has host bits set, write %s", proposal);
	} else {
		errors_add(reterr, ERROR_BAD_VALUE, field, "must be an IP address or prefix");
	}
	return (struct prefix){0};
}

static const char *read_state(const struct request *request, struct errors *reterr)
{
	const char *text = request_parameter(request, "state");

	if (!text)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(state_names); i++)
		if (!strcmp(state_names[i], text))
			return text;
	errors_add(reterr, ERROR_BAD_VALUE, "query.state",
		   "must be half_open, established, closing, one_way or two_way");
	return NULL;
}

/* The rule's key has its ACL in it; with the ACL given apart the rule's id is enough. */
static int read_rule(struct query *query, const struct request *request, struct errors *reterr)
{
	const char *acl = request_parameter(request, "acl");
	const char *rule = request_parameter(request, "rule");

	query->filter.acl = acl;
	query->filter.rule = rule;
	if (!rule || strchr(rule, '/'))
		return 0;
	if (!acl) {
		errors_add(reterr, ERROR_BAD_VALUE, "query.rule",
			   "must be written as acl/rule, or acl given too");
		return 0;
	}
	if (asprintf(&query->rule, "%s/%s", acl, rule) < 0) {
		query->rule = NULL;
		return -ENOMEM;
	}
	query->filter.rule = query->rule;
	return 0;
}

static void read_page(struct query *query, const struct request *request, struct errors *reterr)
{
	const char *limit = request_parameter(request, "limit");
	const char *cursor = request_parameter(request, "cursor");

	query->limit = LIMIT_DEFAULT;
	if (limit && request_parse_number(&query->limit, limit, 1, LIMIT_MAX) < 0)
		errors_add(reterr, ERROR_BAD_VALUE, "query.limit", "must be a number from 1 to %d",
			   LIMIT_MAX);
	if (cursor && request_parse_number(&query->cursor, cursor, 0, UINT64_MAX) < 0)
		errors_add(reterr, ERROR_BAD_VALUE, "query.cursor",
			   "must be the cursor of an earlier answer");
}

/* False: the reply says what is wrong. */
static bool read_query(struct query *query, struct exchange *exchange)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	const struct request *request = &exchange->request;
	struct session_filter *filter = &query->filter;
	int r;

	filter->port = request_parameter(request, "port");
	filter->domain = read_number(request, "domain", "query.domain", UINT16_MAX, &errors);
	filter->protocol = read_protocol(request, &errors);
	filter->src = read_prefix(request, "src", "query.src", &errors);
	filter->dst = read_prefix(request, "dst", "query.dst", &errors);
	filter->sport = read_number(request, "sport", "query.sport", UINT16_MAX, &errors);
	filter->dport = read_number(request, "dport", "query.dport", UINT16_MAX, &errors);
	filter->state = read_state(request, &errors);
	r = read_rule(query, request, &errors);
	if (r < 0) {
		reply_failure(&exchange->reply, r);
		return false;
	}
	read_page(query, request, &errors);
	if (errors.count) {
		reply_errors(&exchange->reply, 400, &errors);
		return false;
	}
	if (!filter->port || config_find_port(engine_config(exchange->engine), filter->port))
		return true;
	reply_error(&exchange->reply, 404, ERROR_NOT_FOUND, "query.port", "there is no port %s",
		    filter->port);
	return false;
}

/* ── listing ────────────────────────────────────────────────────────────────────────────────────── */

struct listing {
	json_t *sessions;
	uint64_t limit;
	uint64_t last; /* position of the last one listed */
	bool has_more;
	bool is_broken; /* out of memory */
};

static json_t *protocol_json(uint8_t number)
{
	const char *name = protocol_name(number);
	char text[4];

	if (name)
		return json_string(name);
	snprintf(text, sizeof(text), "%u", number);
	return json_string(text);
}

static json_t *address_json(uint8_t family, addr_t address)
{
	const struct prefix host = {
		.family = family,
		.length = family == 4 ? 32 : 128,
		.address = address,
	};
	char text[PREFIX_STRING_SIZE];

	prefix_format(text, &host);
	return json_string(text);
}

/* To the millisecond. */
static json_t *seconds_json(double seconds)
{
	int64_t milliseconds = (int64_t)(seconds * 1000 + (seconds < 0 ? -0.5 : 0.5));

	return json_real((double)milliseconds / 1000);
}

static json_t *counter_json(const struct secg_counter *counter)
{
	return json_pack("{s:I, s:I}", "packets", (json_int_t)counter->packets, "bytes",
			 (json_int_t)counter->bytes);
}

/* Adds what only some sessions have: ports, ICMP identifier, the rule that let it in. */
static int add_details(json_t *json, const struct session_view *session)
{
	int r = 0;

	if (session->has_ports) {
		r |= json_object_set_new(json, "sport", json_integer(session->sport));
		r |= json_object_set_new(json, "dport", json_integer(session->dport));
	}
	if (session->has_icmp_id)
		r |= json_object_set_new(json, "icmp_id", json_integer(session->icmp_id));
	if (session->rule) {
		size_t acl = strcspn(session->rule, "/");

		r |= json_object_set_new(json, "acl", json_stringn(session->rule, acl));
		r |= json_object_set_new(json, "rule", json_string(session->rule));
	}
	return r;
}

static json_t *session_json(const struct session_view *session)
{
	json_t *json = json_pack(
		"{s:s, s:I, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "port",
		session->port, "domain", (json_int_t)session->domain, "opened",
		session->opened == SECG_FROM ? "from" : "to", "proto",
		protocol_json(session->protocol), "src",
		address_json(session->family, session->src), "dst",
		address_json(session->family, session->dst), "state", session->state, "age_s",
		seconds_json(session->age_s), "idle_s", seconds_json(session->idle_s), "expires_s",
		seconds_json(session->expires_s), "orig", counter_json(&session->orig), "reply",
		counter_json(&session->reply));

	if (!json || add_details(json, session)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static bool list_session(const struct session_view *session, void *data)
{
	struct listing *listing = data;

	if (json_array_size(listing->sessions) == listing->limit) {
		listing->has_more = true;
		return false;
	}
	if (json_array_append_new(listing->sessions, session_json(session))) {
		listing->is_broken = true;
		return false;
	}
	listing->last = session->position;
	return true;
}

bool sessions_resource_get(struct exchange *exchange)
{
	_cleanup_(query_fini) struct query query = {0};
	struct listing listing = {0};
	json_t *json;
	char cursor[24];
	int r;

	if (!read_query(&query, exchange))
		return true;
	listing.limit = query.limit;
	listing.sessions = json_array();
	r = engine_sessions(exchange->engine, &query.filter, query.cursor, list_session, &listing);
	if (r < 0 || listing.is_broken) {
		json_decref(listing.sessions);
		reply_failure(&exchange->reply, r < 0 ? r : -ENOMEM);
		return true;
	}
	json = json_pack("{s:o}", "sessions", listing.sessions);
	if (listing.has_more) {
		snprintf(cursor, sizeof(cursor), "%llu", (unsigned long long)listing.last);
		json_object_set_new(json, "cursor", json_string(cursor));
	}
	reply_json(&exchange->reply, 200, json);
	return true;
}

/* ── clearing ───────────────────────────────────────────────────────────────────────────────────── */

/* Clearing everything must be said, and said alone. */
static bool check_scope(struct exchange *exchange)
{
	const struct request *request = &exchange->request;
	const char *all = request_parameter(request, "all");

	if (all && strcmp(all, "1")) {
		reply_error(&exchange->reply, 400, ERROR_BAD_VALUE, "query.all",
			    "must be 1, or left out");
		return false;
	}
	if (all && request->parameter_count > 1) {
		reply_error(&exchange->reply, 400, ERROR_BAD_VALUE, "query.all",
			    "cannot go with a filter");
		return false;
	}
	if (!request->parameter_count) {
		reply_error(&exchange->reply, 400, ERROR_BAD_VALUE, "query",
			    "needs a filter, or all=1 to delete every session");
		return false;
	}
	return true;
}

bool sessions_resource_delete(struct exchange *exchange)
{
	_cleanup_(query_fini) struct query query = {0};
	const struct request *request = &exchange->request;
	int64_t deleted;

	if (!check_scope(exchange) || !read_query(&query, exchange))
		return true;
	if (request->has_if_match && request->if_match != engine_etag(exchange->engine)) {
		reply_error(&exchange->reply, 412, ERROR_PRECONDITION_FAILED, "headers.If-Match",
			    "the configuration has changed, its ETag is %llu now",
			    (unsigned long long)engine_etag(exchange->engine));
		return true;
	}
	deleted = engine_sessions_delete(exchange->engine, &query.filter);
	if (deleted < 0)
		reply_failure(&exchange->reply, (int)deleted);
	else
		reply_json(&exchange->reply, 200,
			   json_pack("{s:I}", "deleted", (json_int_t)deleted));
	return true;
}
