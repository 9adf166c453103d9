/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl on a unix socket. */
#include "client.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#include "memory.h"
#include "problems.h"
#include "value.h"

#define ANSWER_MAX_BYTES (256u << 20)

struct client {
	CURL *curl;
	char reason[CURL_ERROR_SIZE];
};

struct answer {
	char *bytes;
	size_t size, room;
};

void client_free(struct client *client)
{
	curl_easy_cleanup(client->curl);
	curl_global_cleanup();
	free(client);
}

static struct client *client_open(struct cli *cli)
{
	if (!cli->client) {
		cli->client = memory_check(calloc(1, sizeof(*cli->client)));
		curl_global_init(CURL_GLOBAL_NOTHING);
		cli->client->curl = memory_check(curl_easy_init());
	}
	return cli->client;
}

static size_t receive(char *bytes, size_t unit, size_t count, void *data)
{
	struct answer *answer = data;
	size_t size = unit * count;

	if (answer->size + size > ANSWER_MAX_BYTES)
		return 0;
	while (answer->size + size > answer->room)
		answer->bytes = memory_grow(answer->bytes, answer->room, &answer->room, 1);
	memcpy(answer->bytes + answer->size, bytes, size);
	answer->size += size;
	return size;
}

static void set_options(struct client *client, const struct cli *cli, const struct request *request,
			const char *body)
{
	CURL *curl = client->curl;
	_cleanup_free_ char *url = memory_format("http://secgd%s", request->path);

	curl_easy_reset(curl); /* keeps the connection */
	client->reason[0] = '\0';
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->reason);
	curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, cli->socket);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* an object may be called ".." */
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, cli->timeout_s);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
	if (body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	}
}

static struct curl_slist *set_headers(CURL *curl, const struct request *request)
{
	struct curl_slist *headers = NULL;

	if (request->body)
		headers =
			memory_check(curl_slist_append(headers, "Content-Type: application/json"));
	if (request->if_match) {
		_cleanup_free_ char *line = memory_format("If-Match: \"%s\"", request->if_match);

		headers = memory_check(curl_slist_append(headers, line));
	}
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	return headers;
}

/* No answer: why, and the exit code that says so. */
static int tell_failure(const struct cli *cli, CURLcode code, const struct request *request)
{
	struct client *client = cli->client;
	long system_error = 0;

	curl_easy_getinfo(client->curl, CURLINFO_OS_ERRNO, &system_error);
	if (code == CURLE_OPERATION_TIMEDOUT) {
		fprintf(stderr, "sgctl: no answer from %s within %ld s\n", cli->socket,
			cli->timeout_s);
		return CLI_TIMEOUT;
	}
	if (code == CURLE_COULDNT_CONNECT && request->is_try &&
	    (system_error == ENOENT || system_error == ECONNREFUSED))
		return CLI_NO_DAEMON;
	if (code == CURLE_COULDNT_CONNECT) {
		fprintf(stderr, "sgctl: no daemon at %s: %s; is secgd running?\n", cli->socket,
			system_error ? strerror((int)system_error) : client->reason);
		return CLI_NO_DAEMON;
	}
	fprintf(stderr, "sgctl: %s: %s\n", cli->socket,
		client->reason[0] != '\0' ? client->reason : curl_easy_strerror(code));
	return code == CURLE_WRITE_ERROR ? CLI_REFUSED : CLI_NO_DAEMON;
}

/* An error in the words of the command line: there a parameter of the query is an option, and an object
 * is named by its kind. */
static void add_error(struct problems *problems, const json_t *error, const struct request *request)
{
	static const char query[] = "query.";
	const char *field = value_member(error, "field");
	const char *message = value_member(error, "message");
	bool is_absent = strcmp(value_member(error, "code"), "not_found") == 0;

	if (is_absent && request->object)
		problems_add(problems, NULL, 0, 0, "there is no %s", request->object);
	else if (request->object && strcmp(value_member(error, "code"), "in_use") == 0)
		problems_add(problems, NULL, 0, 0, "%s is in use: %s; take it out there first",
			     request->object, field);
	else if (is_absent && strncmp(field, query, strlen(query)) == 0)
		problems_add(problems, NULL, 0, 0, "%s", message);
	else if (strncmp(field, query, strlen(query)) == 0)
		problems_add(problems, NULL, 0, 0, "--%s: %s", field + strlen(query), message);
	else
		problems_add_item(problems, request->positions, error);
}

/* The daemon says no. */
static int tell_refusal(const json_t *answer, long status, const struct request *request)
{
	const json_t *errors = json_object_get(answer, "errors"), *error;
	struct problems problems = {0};
	size_t i;

	json_array_foreach(errors, i, error) add_error(&problems, error, request);
	if (problems.count == 0)
		problems_add(&problems, NULL, 0, 0,
			     "the daemon answers HTTP %ld and does not say why", status);
	problems_print(&problems, request->positions, "sgctl: ", stderr);
	problems_fini(&problems);
	return CLI_REFUSED;
}

int client_call(json_t **ret_answer, struct cli *cli, const struct request *request)
{
	struct client *client = client_open(cli);
	_cleanup_free_ char *body = NULL;
	json_auto_t *json = NULL;
	struct answer answer = {0};
	struct curl_slist *headers;
	long status = 0;
	CURLcode code;

	if (request->body)
		body = memory_check(json_dumps(request->body, JSON_COMPACT));
	set_options(client, cli, request, body);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &answer);
	headers = set_headers(client->curl, request);
	code = curl_easy_perform(client->curl);
	curl_slist_free_all(headers);
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	if (answer.size > 0)
		json = json_loadb(answer.bytes, answer.size, 0, NULL);
	free(answer.bytes);
	if (code != CURLE_OK)
		return tell_failure(cli, code, request);
	if (status < 200 || status > 299)
		return tell_refusal(json, status, request);
	if (!json) {
		fprintf(stderr, "sgctl: %s answers something that is not JSON\n", cli->socket);
		return CLI_REFUSED;
	}
	*ret_answer = TAKE_PTR(json);
	return CLI_DONE;
}

int client_get(json_t **ret_answer, struct cli *cli, const char *path)
{
	return client_call(ret_answer, cli, &(struct request){.method = "GET", .path = path});
}

/* ── streams ────────────────────────────────────────────────────────────────────────────────────── */

struct lines {
	CURL *curl;
	struct answer rest; /* what has no newline yet; or a refusal */
	bool (*take)(const char *line, size_t size, void *data);
	void *data;
	bool is_enough;
};

static size_t receive_lines(char *bytes, size_t unit, size_t count, void *data)
{
	struct lines *lines = data;
	struct answer *rest = &lines->rest;
	size_t done = 0;
	long status = 0;
	char *end;

	if (receive(bytes, unit, count, rest) != unit * count)
		return 0;
	curl_easy_getinfo(lines->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200)
		return unit * count;
	while (!lines->is_enough && (end = memchr(rest->bytes + done, '\n', rest->size - done))) {
		size_t size = (size_t)(end - rest->bytes) - done;

		lines->is_enough = !lines->take(rest->bytes + done, size, lines->data);
		done += size + 1;
	}
	memmove(rest->bytes, rest->bytes + done, rest->size - done);
	rest->size -= done;
	return lines->is_enough ? 0 : unit * count;
}

int client_stream(struct cli *cli, const char *path, long limit_ms,
		  bool (*take)(const char *line, size_t size, void *data), void *data)
{
	const struct request request = {.method = "GET", .path = path};
	struct client *client = client_open(cli);
	struct lines lines = {.curl = client->curl, .take = take, .data = data};
	json_auto_t *json = NULL;
	long status = 0;
	CURLcode code;

	set_options(client, cli, &request, NULL);
	curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS, limit_ms);
	curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, receive_lines);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &lines);
	code = curl_easy_perform(client->curl);
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_OK && status != 200 && lines.rest.size > 0)
		json = json_loadb(lines.rest.bytes, lines.rest.size, 0, NULL);
	free(lines.rest.bytes);
	if (code == CURLE_OK && status != 200)
		return tell_refusal(json, status, &request);
	if (code == CURLE_OK || lines.is_enough || (limit_ms && code == CURLE_OPERATION_TIMEDOUT))
		return CLI_DONE;
	return CLI_NO_DAEMON;
}

char *client_escape(const char *text)
{
	char *escaped = memory_check(curl_easy_escape(NULL, text, 0));
	char *copy = memory_copy(escaped);

	curl_free(escaped);
	return copy;
}

char *client_query(char *path, const char *name, const char *value)
{
	_cleanup_free_ char *shorter = path;
	_cleanup_free_ char *escaped = client_escape(value);

	return memory_format("%s%c%s=%s", shorter, strchr(shorter, '?') ? '&' : '?', name, escaped);
}
