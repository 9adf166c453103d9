/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The REST socket for tools, over one connection. In a header because only tools are linked with libcurl.
 */
#ifndef SECG_TESTS_REST_H
#define SECG_TESTS_REST_H

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/cleanup.h"

struct rest {
	const char *tool; /* its name, for messages */
	const char *socket;
	CURL *curl;
};

/* Not a verdict: the tool could not do its work. */
#define REST_EXIT_BROKEN 2

static inline void rest_broken(const struct rest *rest, const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", rest->tool, what, why);
	exit(REST_EXIT_BROKEN);
}

/* The answer, which the caller owns, and its status. No answer, or one that is not JSON, ends the tool. */
static inline json_t *rest_call(const struct rest *rest, const char *method, const char *path,
				const json_t *document, long *ret_status)
{
	_cleanup_free_ char *body = document ? json_dumps(document, JSON_COMPACT) : NULL;
	_cleanup_free_ char *bytes = NULL;
	_cleanup_free_ char *url = NULL;
	size_t size = 0;
	FILE *answer = open_memstream(&bytes, &size);
	CURL *curl = rest->curl;
	json_t *json;
	CURLcode code;

	if (!answer || asprintf(&url, "http://secgd%s", path) < 0)
		rest_broken(rest, path, "no memory");
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, rest->socket);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	if (body)
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_status);
	fclose(answer);
	if (code != CURLE_OK)
		rest_broken(rest, path, curl_easy_strerror(code));
	json = json_loadb(bytes, size, 0, NULL);
	if (!json)
		rest_broken(rest, path, "the answer is not JSON");
	return json;
}

/* Anything but 200 ends the tool. */
static inline json_t *rest_ask(const struct rest *rest, const char *method, const char *path,
			       const json_t *document)
{
	long status = 0;
	json_t *json = rest_call(rest, method, path, document, &status);

	if (status != 200)
		rest_broken(rest, path, json_dumps(json, 0));
	return json;
}

#endif
