/* SPDX-License-Identifier: Apache-2.0 */
/* Answers. */
#include "api/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/feed.h"

static const char no_memory[] =
	"{\"errors\": [{\"code\": \"internal\", \"field\": \"\", \"message\": \"out of memory\"}]}\n";

void reply_fixed(struct reply *reply, unsigned int status, const char *content_type,
		 const char *text, size_t size)
{
	reply_fini(reply);
	reply->status = status;
	reply->fixed = text;
	reply->size = size;
	reply->content_type = content_type;
}

static void fill_without_memory(struct reply *reply)
{
	reply_fixed(reply, 500, "application/json", no_memory, sizeof(no_memory) - 1);
}

void reply_text(struct reply *reply, unsigned int status, const char *content_type, char *text,
		size_t size)
{
	free(reply->body);
	reply->status = status;
	reply->body = text;
	reply->size = size;
	reply->content_type = content_type;
}

void reply_feed(struct reply *reply, const char *content_type, struct feed *feed)
{
	reply_fini(reply);
	reply->status = 200;
	reply->feed = feed;
	reply->content_type = content_type;
}

void reply_json(struct reply *reply, unsigned int status, json_t *value)
{
	/* twelve digits keep a millisecond in any age a session can have */
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(value);
	if (!text) {
		fill_without_memory(reply);
		return;
	}
	reply_text(reply, status, "application/json", text, strlen(text));
}

/* A client's bytes may come back in a message; what is not UTF-8 cannot stand in JSON. */
static json_t *text_json(const char *text)
{
	json_t *string = json_string(text);

	return string ? string : json_string("(not UTF-8)");
}

void reply_errors(struct reply *reply, unsigned int status, const struct errors *errors)
{
	json_t *list = json_array();

	for (size_t i = 0; i < errors->count; i++) {
		const struct error *error = &errors->items[i];

		json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "code",
						      error_code_name(error->code), "field",
						      text_json(error->field), "message",
						      text_json(error->message)));
	}
	/* a list that lost items for want of memory must not look like one without mistakes */
	if (!json_array_size(list) || json_array_size(list) != errors->count) {
		json_decref(list);
		fill_without_memory(reply);
		return;
	}
	reply_json(reply, status, json_pack("{s:o}", "errors", list));
}

void reply_error(struct reply *reply, unsigned int status, enum error_code code, const char *field,
		 const char *format, ...)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	_cleanup_free_ char *message = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&message, format, args);
	va_end(args);
	if (r < 0) {
		message = NULL;
		fill_without_memory(reply);
		return;
	}
	errors_add(&errors, code, field, "%s", message);
	reply_errors(reply, status, &errors);
}

void reply_failure(struct reply *reply, int error)
{
	if (error == -ENOMEM)
		fill_without_memory(reply);
	else
		reply_error(reply, 500, ERROR_INTERNAL, "", "%s", strerror(-error));
}

void reply_set_etag(struct reply *reply, uint64_t etag)
{
	reply->has_etag = true;
	reply->etag = etag;
}

void reply_fini(struct reply *reply)
{
	if (reply->feed)
		reply->feed->free(reply->feed);
	free(reply->body);
	*reply = (struct reply){0};
}
