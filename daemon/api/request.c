/* SPDX-License-Identifier: Apache-2.0 */
/* Request line and headers. */
#include "api/request.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

const char *const method_names[METHOD_COUNT] = {
	[METHOD_GET] = "GET",     [METHOD_POST] = "POST",     [METHOD_PUT] = "PUT",
	[METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE",
};

enum method method_parse(const char *word)
{
	if (!strcmp(word, "HEAD"))
		return METHOD_GET;
	for (enum method method = 0; method < METHOD_COUNT; method++)
		if (!strcmp(word, method_names[method]))
			return method;
	return METHOD_OTHER;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string;
}

/* Decodes %XX. A plus sign stays one: interface names may have it. */
static int decode(char **ret_text, const char *raw, size_t size, const char *field,
		  struct errors *reterr)
{
	_cleanup_free_ char *text = malloc(size + 1);
	size_t length = 0;

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		int high, low;

		if (raw[i] != '%') {
			text[length++] = raw[i];
			continue;
		}
		high = size - i > 2 ? hex_digit(raw[i + 1]) : -1;
		low = size - i > 2 ? hex_digit(raw[i + 2]) : -1;
		if (high < 0 || low < 0)
			return errors_add(reterr, ERROR_BAD_VALUE, field,
					  "a percent sign needs two hexadecimal digits");
		if (!high && !low)
			return errors_add(reterr, ERROR_BAD_VALUE, field, "has a NUL byte");
		text[length++] = (char)(high << 4 | low);
		i += 2;
	}
	text[length] = '\0';
	if (!is_utf8(text))
		return errors_add(reterr, ERROR_BAD_VALUE, field, "is not UTF-8");
	*ret_text = TAKE_PTR(text);
	return 0;
}

static int parse_path(struct request *request, const char *path, size_t size, struct errors *reterr)
{
	const char *end = path + size;
	const char *segment = path + 1;

	while (segment <= end) {
		const char *stop = memchr(segment, '/', (size_t)(end - segment));
		int r;

		if (!stop)
			stop = end;
		if (request->segment_count++ < REQUEST_MAX_SEGMENTS) {
			r = decode(&request->segments[request->segment_count - 1], segment,
				   (size_t)(stop - segment), "path", reterr);
			if (r < 0)
				return r;
		}
		segment = stop + 1;
	}
	return 0;
}

static int parse_parameter(struct request *request, const char *text, size_t size,
			   struct errors *reterr)
{
	const char *equals = memchr(text, '=', size);
	size_t key_size = equals ? (size_t)(equals - text) : size;
	const char *value = equals ? equals + 1 : text + size;
	_cleanup_free_ char *field = NULL;
	struct parameter *parameter;
	_cleanup_free_ char *key = NULL;
	int r;

	r = decode(&key, text, key_size, "query", reterr);
	if (r < 0)
		return r;
	if (asprintf(&field, "query.%s", key) < 0) {
		field = NULL;
		return -ENOMEM;
	}
	if (request_parameter(request, key))
		return errors_add(reterr, ERROR_BAD_VALUE, field, "is given twice");
	if (request->parameter_count == REQUEST_MAX_PARAMETERS)
		return errors_add(reterr, ERROR_LIMIT, "query", "has more than %d parameters",
				  REQUEST_MAX_PARAMETERS);
	parameter = &request->parameters[request->parameter_count];
	r = decode(&parameter->value, value, (size_t)(text + size - value), field, reterr);
	if (r < 0)
		return r;
	parameter->key = TAKE_PTR(key);
	request->parameter_count++;
	return 0;
}

static int parse_query(struct request *request, const char *query, struct errors *reterr)
{
	int result = 0;

	for (;;) {
		size_t size = strcspn(query, "&");
		int r = size ? parse_parameter(request, query, size, reterr) : 0;

		if (r == -ENOMEM)
			return r;
		if (r < 0)
			result = r;
		if (!query[size])
			return result;
		query += size + 1;
	}
}

int request_parse_target(struct request *request, const char *target, struct errors *reterr)
{
	size_t size;
	int r;

	if (!strncmp(target, "http://", 7)) {
		target += 7;
		target += strcspn(target, "/?");
	}
	size = strcspn(target, "?");
	if (*target != '/')
		return errors_add(reterr, ERROR_BAD_VALUE, "path", "must start with a slash");
	r = parse_path(request, target, size, reterr);
	if (r < 0 || !target[size])
		return r;
	return parse_query(request, target + size + 1, reterr);
}

int request_parse_number(uint64_t *ret_number, const char *text, uint64_t min, uint64_t max)
{
	uint64_t number = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
			return -EINVAL;
	}
	if (number < min || number > max)
		return -EINVAL;
	*ret_number = number;
	return 0;
}

int request_parse_if_match(struct request *request, const char *value, struct errors *reterr)
{
	size_t size = strlen(value);
	char digits[24];

	if (!strcmp(value, "*"))
		return 0;
	if (size >= 2 && value[0] == '"' && value[size - 1] == '"') {
		value++;
		size -= 2;
	}
	if (size >= sizeof(digits))
		size = 0;
	memcpy(digits, value, size);
	digits[size] = '\0';
	if (request_parse_number(&request->if_match, digits, 0, UINT64_MAX) < 0)
		return errors_add(reterr, ERROR_BAD_VALUE, "headers.If-Match",
				  "must be one ETag as GET /v1/config gave it, or *");
	request->has_if_match = true;
	return 0;
}

const char *request_parameter(const struct request *request, const char *key)
{
	for (size_t i = 0; i < request->parameter_count; i++)
		if (!strcmp(request->parameters[i].key, key))
			return request->parameters[i].value;
	return NULL;
}

void request_fini(struct request *request)
{
	for (size_t i = 0; i < REQUEST_MAX_SEGMENTS; i++)
		free(request->segments[i]);
	for (size_t i = 0; i < request->parameter_count; i++) {
		free(request->parameters[i].key);
		free(request->parameters[i].value);
	}
	free(request->body);
	*request = (struct request){0};
}
