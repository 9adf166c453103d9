/* SPDX-License-Identifier: Apache-2.0 */
/* The table of paths. */
#include "api/route.h"

#include <stdio.h>
#include <string.h>

static const char *const write_parameters[] = {"dry_run", NULL};
static const char *const stats_parameters[] = {"port", NULL};
static const char *const event_parameters[] = {"after", "types", "client", NULL};
static const char *const list_parameters[] = {"port",  "domain", "proto", "src", "dst",
					      "sport", "dport",  "state", "acl", "rule",
					      "limit", "cursor", NULL};
static const char *const clear_parameters[] = {"port",  "domain", "proto", "src",  "dst", "sport",
					       "dport", "state",  "acl",   "rule", "all", NULL};

#define COLLECTION(name, object)                                   \
	{                                                          \
		.segments = {"v1", name},                          \
		.kind = (object),                                  \
		.handlers = {[METHOD_GET] = collection_list},      \
	},                                                         \
	{                                                          \
		.segments = {"v1", name, "*"}, .kind = (object),   \
		.handlers = {[METHOD_GET] = collection_get,        \
			     [METHOD_PUT] = collection_put,        \
			     [METHOD_DELETE] = collection_delete}, \
		.parameters = {                                    \
			[METHOD_PUT] = write_parameters,           \
			[METHOD_DELETE] = write_parameters,        \
		},                                                 \
	}

static const struct route routes[] = {
	{
		.segments = {"healthz"},
		.is_public = true,
		.handlers = {[METHOD_GET] = status_resource_health},
	},
	{
		.segments = {"metrics"},
		.handlers = {[METHOD_GET] = metrics_get},
	},
	{
		.segments = {"v1", "openapi.json"},
		.handlers = {[METHOD_GET] = openapi_resource_get},
	},
	{
		.segments = {"v1", "status"},
		.handlers = {[METHOD_GET] = status_resource_get},
	},
	{
		.segments = {"v1", "config"},
		.handlers = {[METHOD_GET] = config_resource_get,
			     [METHOD_PUT] = config_resource_put,
			     [METHOD_PATCH] = config_resource_patch},
		.parameters = {[METHOD_PUT] = write_parameters, [METHOD_PATCH] = write_parameters},
	},
	COLLECTION("acls", OBJECT_ACL),
	COLLECTION("groups", OBJECT_GROUP),
	{
		.segments = {"v1", "groups", "*", "members"},
		.handlers = {[METHOD_GET] = members_resource_get,
			     [METHOD_POST] = members_resource_post},
		.parameters = {[METHOD_POST] = write_parameters},
	},
	COLLECTION("services", OBJECT_SERVICE),
	COLLECTION("ports", OBJECT_PORT),
	COLLECTION("security_groups", OBJECT_SECURITY_GROUP),
	COLLECTION("macip", OBJECT_MACIP),
	COLLECTION("port_templates", OBJECT_PORT_TEMPLATE),
	{
		.segments = {"v1", "doctor"},
		.handlers = {[METHOD_GET] = doctor_resource_get},
	},
	{
		.segments = {"v1", "sessions"},
		.handlers = {[METHOD_GET] = sessions_resource_get,
			     [METHOD_DELETE] = sessions_resource_delete},
		.parameters = {[METHOD_GET] = list_parameters, [METHOD_DELETE] = clear_parameters},
	},
	{
		.segments = {"v1", "events"},
		.handlers = {[METHOD_GET] = events_resource_get},
		.parameters = {[METHOD_GET] = event_parameters},
	},
	{
		.segments = {"v1", "stats"},
		.handlers = {[METHOD_GET] = stats_resource_get},
		.parameters = {[METHOD_GET] = stats_parameters},
	},
	{
		.segments = {"v1", "trace"},
		.is_question = true,
		.handlers = {[METHOD_POST] = trace_resource_post},
	},
};

static bool route_matches(const struct route *route, const struct request *request)
{
	if (request->segment_count > REQUEST_MAX_SEGMENTS)
		return false;
	for (size_t i = 0; i < REQUEST_MAX_SEGMENTS; i++) {
		const char *pattern = route->segments[i];
		const char *segment = i < request->segment_count ? request->segments[i] : NULL;

		if (!pattern || !segment) {
			if (pattern || segment)
				return false;
			continue;
		}
		if (!strcmp(pattern, "*") ? !*segment : strcmp(pattern, segment))
			return false;
	}
	return true;
}

const struct route *route_find(const struct request *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		if (route_matches(&routes[i], request))
			return &routes[i];
	return NULL;
}

void route_allow(const struct route *route, char *text, size_t size)
{
	size_t length = 0;

	*text = '\0';
	for (enum method method = 0; method < METHOD_COUNT && length < size; method++) {
		if (!route->handlers[method])
			continue;
		length += (size_t)snprintf(text + length, size - length, "%s%s%s",
					   length ? ", " : "", method_names[method],
					   method == METHOD_GET ? ", HEAD" : "");
	}
}

static bool has_word(const char *const *words, const char *word)
{
	for (; words && *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

static void add_unknown(const char *const *known, const char *field, struct errors *reterr)
{
	char text[256] = "none";
	size_t size = 0;

	for (; known && *known && size < sizeof(text); known++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s", size ? ", " : "",
					 *known);
	errors_add(reterr, ERROR_UNKNOWN_FIELD, field,
		   "is not a parameter of this path and method, which take %s", text);
}

static void check_parameters(const struct route *route, const struct request *request,
			     struct errors *reterr)
{
	for (size_t i = 0; i < request->parameter_count; i++) {
		const struct parameter *parameter = &request->parameters[i];
		_cleanup_free_ char *field = NULL;

		if (asprintf(&field, "query.%s", parameter->key) < 0) {
			field = NULL;
			continue;
		}
		if (!has_word(route->parameters[request->method], parameter->key))
			add_unknown(route->parameters[request->method], field, reterr);
		else if (!strcmp(parameter->key, "dry_run") && strcmp(parameter->value, "1"))
			errors_add(reterr, ERROR_BAD_VALUE, field, "must be 1, or left out");
	}
}

static bool is_reading(const struct route *route, enum method method)
{
	return method == METHOD_GET || (method == METHOD_POST && route->is_question);
}

const struct route *route_admit(const struct request *request, enum right right,
				struct reply *reply)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	const struct route *route = route_find(request);

	if (right < RIGHT_READ && !(route && route->is_public)) {
		reply_error(reply, 403, ERROR_FORBIDDEN, "", "%s", auth_explain(RIGHT_READ));
		return NULL;
	}
	if (!route) {
		reply_error(reply, 404, ERROR_NOT_FOUND, "path", "there is no such path");
		return NULL;
	}
	if (request->method == METHOD_OTHER || !route->handlers[request->method]) {
		char allow[sizeof(reply->allow)];

		route_allow(route, allow, sizeof(allow));
		reply_error(reply, 405, ERROR_UNSUPPORTED, "method", "this path takes %s", allow);
		memcpy(reply->allow, allow, sizeof(allow));
		return NULL;
	}
	if (!is_reading(route, request->method) && right < RIGHT_WRITE) {
		reply_error(reply, 403, ERROR_FORBIDDEN, "", "%s", auth_explain(RIGHT_WRITE));
		return NULL;
	}
	check_parameters(route, request, &errors);
	if (errors.count) {
		reply_errors(reply, 400, &errors);
		return NULL;
	}
	return route;
}
