/* SPDX-License-Identifier: Apache-2.0 */
/* Requests on their way in and answers on their way out. */
#include "api/stream.h"

#include <stdio.h>
#include <string.h>

#include "api/feed.h"
#include "api/route.h"
#include "api/server.h"

/* One request; the context of libmicrohttpd's request. The body grows in exchange.request. */
struct stream {
	struct exchange exchange; /* first: resume casts back */
	struct MHD_Connection *mhd;
	struct connection *connection;
	const struct route *route; /* NULL until admitted */
	char *target;
	bool has_headers;
	size_t received; /* bytes of the body, kept or not */
	size_t capacity; /* of the kept body */
};

/* ── answers ────────────────────────────────────────────────────────────────────────────────────── */

static struct MHD_Response *make_response(struct stream *stream)
{
	struct reply *reply = &stream->exchange.reply;
	struct MHD_Response *response;
	char etag[32];

	if (reply->feed)
		response = feed_response(TAKE_PTR(reply->feed), &stream->connection->hall->feeds,
					 stream->mhd);
	else if (!reply->body)
		response = MHD_create_response_from_buffer(reply->size, (void *)reply->fixed,
							   MHD_RESPMEM_PERSISTENT);
	else
		response = MHD_create_response_from_buffer(reply->size, reply->body,
							   MHD_RESPMEM_MUST_FREE);
	if (!response)
		return NULL;
	reply->body = NULL; /* the response frees it */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
	if (reply->allow[0])
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow);
	if (reply->has_etag) {
		snprintf(etag, sizeof(etag), "\"%llu\"", (unsigned long long)reply->etag);
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, etag);
	}
	return response;
}

static enum MHD_Result send_reply(struct stream *stream)
{
	struct reply *reply = &stream->exchange.reply;
	bool is_endless = reply->feed;
	struct MHD_Response *response = make_response(stream);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	result = MHD_queue_response(stream->mhd, reply->status, response);
	MHD_destroy_response(response);
	/* nothing is sent while nothing happens, so that the reader has gone would not be noticed */
	if (is_endless)
		connection_watch_reader(stream->connection);
	return result;
}

static void resume(struct exchange *exchange)
{
	const struct stream *stream = (struct stream *)exchange;

	MHD_resume_connection(stream->mhd);
}

/* ── requests ───────────────────────────────────────────────────────────────────────────────────── */

void *stream_begin(void *cls, const char *target, struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct hall *hall = cls;
	struct stream *stream;

	if (!info->socket_context)
		return NULL;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	stream->mhd = mhd;
	stream->connection = info->socket_context;
	stream->exchange.engine = hall->engine;
	stream->exchange.socket = hall->socket;
	stream->exchange.resume = resume;
	stream->target = strdup(target);
	if (!stream->target) {
		free(stream);
		return NULL;
	}
	return stream;
}

/*
 * The peer stopped sending before its body was whole. libmicrohttpd takes no answer any more and closes
 * the socket after this; the peer may still read.
 */
static void answer_cut_off(struct stream *stream)
{
	struct reply *reply = &stream->exchange.reply;

	if (!reply->status)
		reply_error(reply, 400, ERROR_BAD_JSON, "",
			    "the body ended before all of it had come");
	connection_answer(stream->connection->fd, reply);
}

void stream_end(void *cls, struct MHD_Connection *mhd, void **request_context,
		enum MHD_RequestTerminationCode code)
{
	struct stream *stream = *request_context;
	struct hall *hall = cls;

	(void)mhd;
	if (!stream)
		return;
	*request_context = NULL;
	if (code == MHD_REQUEST_TERMINATED_CLIENT_ABORT && stream->has_headers)
		answer_cut_off(stream);
	hall->bodies_bytes -= stream->capacity;
	connection_unwatch(stream->connection);
	connection_start_deadline(stream->connection);
	request_fini(&stream->exchange.request);
	reply_fini(&stream->exchange.reply);
	free(stream->target);
	free(stream);
}

struct condition {
	size_t count;
	const char *value;
};

static enum MHD_Result find_condition(void *cls, enum MHD_ValueKind kind, const char *key,
				      const char *value)
{
	struct condition *condition = cls;

	(void)kind;
	if (strcasecmp(key, MHD_HTTP_HEADER_IF_MATCH))
		return MHD_YES;
	condition->count++;
	condition->value = value;
	return MHD_YES;
}

/* Two If-Match lines are a list by HTTP's rules, and a list is refused. */
static void read_condition(struct stream *stream, struct errors *reterr)
{
	struct condition condition = {0};

	MHD_get_connection_values(stream->mhd, MHD_HEADER_KIND, find_condition, &condition);
	if (!condition.count)
		return;
	request_parse_if_match(&stream->exchange.request,
			       condition.count == 1 && condition.value ? condition.value : "",
			       reterr);
}

static const char *header(const struct stream *stream, const char *name)
{
	return MHD_lookup_connection_value(stream->mhd, MHD_HEADER_KIND, name);
}

static bool has_body(const struct stream *stream)
{
	return header(stream, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
	       header(stream, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/*
 * Whether a refusal goes out before the body. A small one is taken first and thrown away: a client that is
 * still writing when the connection closes may never read the answer.
 */
static bool is_refused_early(const struct stream *stream)
{
	const char *length = header(stream, MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t size;

	return stream->exchange.reply.status && has_body(stream) &&
	       (!length || request_parse_number(&size, length, 0, SERVER_DRAIN_BYTES) < 0);
}

static void refuse_too_large(struct stream *stream)
{
	reply_error(&stream->exchange.reply, 413, ERROR_TOO_LARGE, "",
		    "a body must not be larger than %zu bytes", SERVER_MAX_BODY_BYTES);
}

/* Decides on the headers. Afterwards the reply is filled (refused) or the route is set. */
static void admit(struct stream *stream, const char *method)
{
	const char *length = header(stream, MHD_HTTP_HEADER_CONTENT_LENGTH);
	_cleanup_(errors_fini) struct errors errors = {0};
	struct request *request = &stream->exchange.request;
	struct reply *reply = &stream->exchange.reply;
	const struct route *route;
	uint64_t size;
	int r;

	request->method = method_parse(method);
	r = request_parse_target(request, stream->target, &errors);
	if (r < 0 && stream->connection->right < RIGHT_READ) {
		reply_error(reply, 403, ERROR_FORBIDDEN, "", "%s", auth_explain(RIGHT_READ));
		return;
	}
	if (r == -ENOMEM) {
		reply_failure(reply, r);
		return;
	}
	if (r < 0) {
		reply_errors(reply, 400, &errors);
		return;
	}
	route = route_admit(request, stream->connection->right, reply);
	if (!route)
		return;
	read_condition(stream, &errors);
	if (errors.count) {
		reply_errors(reply, 400, &errors);
		return;
	}
	if (length && request_parse_number(&size, length, 0, SERVER_MAX_BODY_BYTES) < 0) {
		refuse_too_large(stream);
		return;
	}
	stream->exchange.kind = route->kind;
	stream->route = route;
}

/* Room for `size` more bytes and a NUL. */
static int body_reserve(struct stream *stream, size_t size)
{
	struct hall *hall = stream->connection->hall;
	struct request *request = &stream->exchange.request;
	size_t needed = request->body_size + size + 1;
	size_t capacity = stream->capacity ? stream->capacity : 4096;
	char *body;

	if (needed <= stream->capacity)
		return 0;
	while (capacity < needed)
		capacity *= 2;
	if (hall->bodies_bytes + capacity - stream->capacity > SERVER_MAX_BODIES_BYTES)
		return -EBUSY;
	body = realloc(request->body, capacity);
	if (!body)
		return -ENOMEM;
	hall->bodies_bytes += capacity - stream->capacity;
	stream->capacity = capacity;
	request->body = body;
	return 0;
}

/*
 * Takes a piece of the body. What is refused here is answered only at the body's end, because
 * libmicrohttpd takes no answer in its middle; until then the pieces are thrown away, and the deadline
 * bounds how long.
 */
static void receive(struct stream *stream, const char *data, size_t size)
{
	struct request *request = &stream->exchange.request;
	struct reply *reply = &stream->exchange.reply;
	int r;

	stream->received += size;
	if (reply->status)
		return;
	if (stream->received > SERVER_MAX_BODY_BYTES) {
		refuse_too_large(stream);
		return;
	}
	if (request->method != METHOD_POST && request->method != METHOD_PUT &&
	    request->method != METHOD_PATCH)
		return;
	r = body_reserve(stream, size);
	if (r == -EBUSY) {
		reply_error(reply, 503, ERROR_BUSY, "",
			    "too many large requests at once, try again");
		return;
	}
	if (r < 0) {
		reply_failure(reply, r);
		return;
	}
	memcpy(request->body + request->body_size, data, size);
	request->body_size += size;
	request->body[request->body_size] = '\0';
}

enum MHD_Result stream_handle(void *cls, struct MHD_Connection *mhd, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *data_size, void **request_context)
{
	struct stream *stream = *request_context;
	struct exchange *exchange;

	(void)cls;
	(void)url;
	(void)version;
	if (!stream)
		return MHD_NO;
	exchange = &stream->exchange;
	if (!stream->has_headers) {
		stream->has_headers = true;
		admit(stream, method);
		/* without a body the answer can wait for the end, and the connection lives on */
		if (is_refused_early(stream))
			return send_reply(stream);
		if (has_body(stream))
			connection_watch(stream->connection);
		return MHD_YES;
	}
	if (*data_size) {
		receive(stream, data, *data_size);
		*data_size = 0;
		return MHD_YES;
	}
	connection_stop_deadline(stream->connection);
	connection_unwatch(stream->connection);
	if (exchange->reply.status)
		return send_reply(stream);
	if (stream->route->handlers[exchange->request.method](exchange))
		return send_reply(stream);
	MHD_suspend_connection(mhd);
	return MHD_YES;
}
