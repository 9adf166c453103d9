/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server over real sockets, with an engine that only remembers: rights, limits, framing, the write
 * answer. The server runs in a child; the tests are its clients.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "api/route.h"
#include "api/server.h"
#include "core/cleanup.h"
#include "engine/events.h"
#include "engine/trace.h"

/* ── an engine that remembers ───────────────────────────────────────────────────────────────────── */

#define QUEUE_MAX 64

struct engine {
	struct config config;
	struct events *events;
	struct change *queue[QUEUE_MAX];
	size_t queued;
	uint64_t generation;
};

const char *const port_state_names[] = {"waiting",   "guarded",  "quarantined",
					"ambiguous", "degraded", "failed"};
const char *const dp_feature_names[DP_FEATURE_COUNT] = {"tcx", "xdp_frags", "xdp_link"};
const char *const dp_mode_names[] = {"none", "native", "generic", "tcx", "clsact"};

struct change *change_new(void)
{
	return calloc(1, sizeof(struct change));
}

void change_free(struct change *change)
{
	errors_fini(&change->result.errors);
	json_decref(change->document);
	free(change->name);
	free(change);
}

int engine_submit(struct engine *engine, struct change *change)
{
	if (engine->queued == QUEUE_MAX)
		return -EBUSY;
	engine->queue[engine->queued++] = change;
	return 0;
}

bool engine_has_pending(const struct engine *engine)
{
	return engine->queued;
}

void engine_commit(struct engine *engine)
{
	engine->generation++;
	events_add(engine->events, EVENT_COMMIT, 0,
		   json_pack("{s:I}", "generation", (json_int_t)engine->generation));
	for (size_t i = 0; i < engine->queued; i++) {
		struct change *change = engine->queue[i];

		change->result.status = 200;
		change->result.generation = engine->generation;
		change->result.etag = engine->generation;
		change->result.is_changed = !change->is_dry_run;
		if (change->has_if_match && change->if_match != engine->generation - 1) {
			change->result.status = 412;
			errors_add(&change->result.errors, ERROR_PRECONDITION_FAILED,
				   "headers.If-Match", "the ETag is another one");
		}
		change->done(change, change->data);
		change_free(change);
	}
	engine->queued = 0;
}

const struct config *engine_config(const struct engine *engine)
{
	return &engine->config;
}

uint64_t engine_etag(const struct engine *engine)
{
	return engine->generation;
}

uint64_t engine_generation(const struct engine *engine)
{
	return engine->generation;
}

bool engine_is_healthy(const struct engine *engine)
{
	(void)engine;
	return true;
}

void engine_each_port(const struct engine *engine,
		      void (*each)(const struct port_status *status, void *data), void *data)
{
	const struct port_status status = {
		.name = "vm1",
		.state = PORT_GUARDED,
		.ifindex = 7,
		.interface = "tap1",
		.attachment = {.mode = DP_MODE_TCX, .mode_to = DP_MODE_TCX, .prog_tag = "0123"},
		.generation = engine->generation,
	};

	each(&status, data);
}

struct events *engine_events(const struct engine *engine)
{
	return engine->events;
}

struct engine_notices engine_notices(const struct engine *engine)
{
	(void)engine;
	return (struct engine_notices){.lost = 8, .suppressed = 9, .answers_sent = 10};
}

const struct dp *engine_dp(const struct engine *engine)
{
	(void)engine;
	return NULL;
}

bool dp_has_feature(const struct dp *dp, enum dp_feature feature)
{
	(void)dp;
	return feature == DP_FEATURE_TCX;
}

void dp_memory(const struct dp *dp, void (*each)(const char *map, uint64_t bytes, void *data),
	       void *data)
{
	(void)dp;
	each("secg_slots", 4096, data);
}

int dp_session_usage(const struct dp *dp, struct dp_session_usage *ret_usage)
{
	(void)dp;
	*ret_usage = (struct dp_session_usage){1, 2, 3, 4};
	return 0;
}

int engine_stats(const struct engine *engine, const char *port, struct engine_stats *ret_stats)
{
	(void)engine;
	if (port && strcmp(port, "vm1"))
		return -ENOENT;
	*ret_stats = (struct engine_stats){.port_count = 1, .rule_count = 1};
	ret_stats->ports = calloc(1, sizeof(*ret_stats->ports));
	ret_stats->ports[0].name = "vm1";
	ret_stats->ports[0].counters.passed[SECG_TO].packets = 5;
	ret_stats->rules = calloc(1, sizeof(*ret_stats->rules));
	ret_stats->rules[0] = (struct engine_rule_counter){.key = "a\"b\\c", .counter = {6, 7}};
	return 0;
}

void engine_stats_fini(struct engine_stats *stats)
{
	free(stats->ports);
	free(stats->rules);
}

/* Three sessions, told apart by their source port. */
int engine_sessions(const struct engine *engine, const struct session_filter *filter,
		    uint64_t cursor, bool (*each)(const struct session_view *session, void *data),
		    void *data)
{
	(void)engine;
	for (uint64_t i = cursor + 1; i <= 3; i++) {
		const struct session_view view = {
			.port = "vm1",
			.protocol = 6,
			.family = 4,
			.src = 0x0a000001,
			.dst = 0x0a000002,
			.sport = (uint16_t)i,
			.has_ports = true,
			.state = "established",
			.rule = "web/https",
			.position = i,
		};

		if (filter->sport >= 0 && filter->sport != (int)i)
			continue;
		if (!each(&view, data))
			break;
	}
	return 0;
}

int64_t engine_sessions_delete(struct engine *engine, const struct session_filter *filter)
{
	(void)engine;
	return filter->sport >= 0 ? 1 : 3;
}

/* Passes port vm1, knows no other. */
int engine_trace(struct engine *engine, struct trace_request *request,
		 struct trace_result *ret_result, struct errors *reterr)
{
	if (!strcmp(request->port, "waiting")) {
		errors_add(reterr, ERROR_CONFLICT, "port", "waits");
		return -ENOLINK;
	}
	if (strcmp(request->port, "vm1")) {
		errors_add(reterr, ERROR_NOT_FOUND, "port", "there is none");
		return -ENOENT;
	}
	*ret_result = (struct trace_result){
		.antispoof = "off",
		.reason = request->spec.dport == 22 ? SECG_REASON_RULE_DROP : SECG_REASON_NONE,
		.rule = strdup(request->spec.dport == 22 ? "web/no" : "infra/ike"),
		.is_acl_rule = request->spec.dport == 22,
		.session = request->spec.dport == 22 ? NULL : "found",
		.generation = engine->generation,
		.prog_tag = "01",
		.attached_tag = "02",
	};
	return 0;
}

void trace_result_fini(struct trace_result *result)
{
	free(result->rule);
}

/* ── the server in a child ──────────────────────────────────────────────────────────────────────── */

static char socket_path[64];
static pid_t child;

static void on_stop(evutil_socket_t number, short what, void *data)
{
	(void)number;
	(void)what;
	event_base_loopbreak(data);
}

static int serve(int ready)
{
	struct event_base *base = event_base_new();
	struct event *stop = evsignal_new(base, SIGTERM, on_stop, base);
	_cleanup_(server_closep) struct server *server = NULL;
	struct port port = {.name = "vm1"};
	struct engine engine = {.config = {.ports = &port, .port_count = 1}, .generation = 1};
	char message[SERVER_MESSAGE_SIZE];

	signal(SIGPIPE, SIG_IGN);
	event_add(stop, NULL);
	if (events_new(&engine.events, 16, 65536) < 0)
		return 1;
	if (server_open(&server, socket_path, base, &engine, message) < 0) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	if (write(ready, "", 1) != 1)
		return 1;
	event_base_dispatch(base);
	server_close(TAKE_PTR(server));
	events_free(engine.events);
	event_free(stop);
	event_base_free(base);
	return 0;
}

static int start(void **state)
{
	int fds[2];
	char byte;

	(void)state;
	snprintf(socket_path, sizeof(socket_path), "/tmp/secg-test-api-%d.sock", getpid());
	if (pipe(fds) < 0)
		return -1;
	child = fork();
	if (!child) {
		close(fds[0]);
		exit(serve(fds[1]));
	}
	close(fds[1]);
	if (read(fds[0], &byte, 1) != 1)
		return -1;
	close(fds[0]);
	return 0;
}

static int stop(void **state)
{
	int status;

	(void)state;
	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return -1;
	return access(socket_path, F_OK) ? 0 : -1;
}

/* ── a client ───────────────────────────────────────────────────────────────────────────────────── */

struct answer {
	char text[65536]; /* everything up to the end of the connection */
	size_t size;
	int status;
};

static int dial(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, socket_path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);

		if (sent < 0)
			return;
		text += sent;
		size -= (size_t)sent;
	}
}

static void hear(int fd, struct answer *answer)
{
	ssize_t r;

	answer->size = 0;
	while ((r = read(fd, answer->text + answer->size,
			 sizeof(answer->text) - 1 - answer->size)) > 0)
		answer->size += (size_t)r;
	answer->text[answer->size] = '\0';
	if (sscanf(answer->text, "HTTP/1.1 %d", &answer->status) != 1)
		answer->status = 0;
	close(fd);
}

/* One request on a connection of its own. `headers` end in CRLF each. */
static void ask(struct answer *answer, const char *line, const char *headers, const char *body)
{
	char text[8192];
	int fd = dial();
	int size;

	size = snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s",
			line, headers);
	if (body)
		size += snprintf(text + size, sizeof(text) - (size_t)size,
				 "Content-Length: %zu\r\n", strlen(body));
	size += snprintf(text + size, sizeof(text) - (size_t)size, "\r\n%s", body ? body : "");
	say(fd, text, (size_t)size);
	hear(fd, answer);
}

static void expect(const char *line, const char *headers, const char *body, int status,
		   const char *text)
{
	static struct answer answer;

	ask(&answer, line, headers, body);
	if (answer.status != status || !strstr(answer.text, text))
		fail_msg("%s: wanted %d and %s, got\n%s", line, status, text, answer.text);
	if (!strstr(answer.text, "Content-Type: application/json"))
		fail_msg("%s: is no JSON\n%s", line, answer.text);
}

/* ── tests ──────────────────────────────────────────────────────────────────────────────────────── */

static void reads_have_the_shapes_of_the_api(void **state)
{
	(void)state;
	expect("GET /healthz", "", NULL, 200, "{\"status\": \"ok\"}");
	expect("GET /v1/status", "", NULL, 200, "\"mode_to\": \"tcx\"");
	expect("GET /v1/status", "", NULL, 200, "\"kernel\": {\"tcx\": true");
	expect("GET /v1/openapi.json", "", NULL, 200, "{\"openapi\":\"3.1.0\"");
	expect("GET /v1/config", "", NULL, 200, "ETag: \"");
	expect("GET /v1/acls", "", NULL, 200, "{}");
	expect("GET /v1/stats?port=vm1", "", NULL, 200, "\"to\": {\"packets\": 5");
	expect("GET /v1/sessions?sport=2", "", NULL, 200, "\"rule\": \"web/https\"");
	expect("GET /v1/sessions?port=vm1", "", NULL, 200, "\"port\": \"vm1\"");
	expect("GET /v1/sessions?limit=2", "", NULL, 200, "\"cursor\": \"2\"");
}

static void sessions_are_listed_in_pages(void **state)
{
	static struct answer answer;

	(void)state;
	ask(&answer, "GET /v1/sessions?limit=3", "", NULL);
	assert_null(strstr(answer.text, "cursor"));
	ask(&answer, "GET /v1/sessions?cursor=2", "", NULL);
	assert_non_null(strstr(answer.text, "\"sport\": 3"));
	assert_null(strstr(answer.text, "\"sport\": 2"));
}

#define TRACE(port, dport)                                                    \
	"{\"port\": \"" port "\", \"direction\": \"to\", \"proto\": \"tcp\"," \
	" \"src\": \"10.0.0.1\", \"dst\": \"10.0.0.2\", \"dport\": " dport "}"

static void a_trace_says_what_applies(void **state)
{
	(void)state;
	expect("POST /v1/trace", "", TRACE("vm1", "22"), 200,
	       "{\"verdict\": \"drop\", \"antispoof\": \"off\", \"would_create\": false, ");
	expect("POST /v1/trace", "", TRACE("vm1", "22"), 200,
	       "\"prog_tag\": \"01\", \"attached_tag\": \"02\", \"reason\": \"rule_drop\", "
	       "\"acl\": \"web\", \"rule\": \"web/no\"}");
	expect("POST /v1/trace", "", TRACE("vm1", "500"), 200,
	       "\"attached_tag\": \"02\", \"rule\": \"infra/ike\", \"session\": \"found\"}");
	expect("POST /v1/trace", "", TRACE("vm2", "22"), 404, "\"field\": \"port\"");
	expect("POST /v1/trace", "", TRACE("waiting", "22"), 409, "\"conflict\"");
	expect("POST /v1/trace", "", TRACE("vm1", "70000"), 400, "\"field\": \"dport\"");
	expect("POST /v1/trace", "", "[", 400, "\"bad_json\"");
	expect("POST /v1/trace", "", "[]", 400, "\"bad_type\"");
	expect("POST /v1/trace", "", NULL, 400, "\"bad_json\"");
	expect("GET /v1/trace", "", NULL, 405, "Allow: POST\r\n");
}

static void head_is_get_without_a_body(void **state)
{
	static struct answer answer;

	(void)state;
	ask(&answer, "HEAD /v1/status", "", NULL);
	assert_int_equal(answer.status, 200);
	assert_string_equal(strstr(answer.text, "\r\n\r\n"), "\r\n\r\n");
}

static void metrics_escape_their_labels(void **state)
{
	static struct answer answer;

	(void)state;
	ask(&answer, "GET /metrics", "", NULL);
	assert_int_equal(answer.status, 200);
	assert_non_null(strstr(answer.text, "text/plain; version=0.0.4"));
	assert_non_null(strstr(answer.text, "secg_rule_packets_total{rule=\"a\\\"b\\\\c\"} 6\n"));
	assert_non_null(
		strstr(answer.text, "secg_port_packets_total{port=\"vm1\",direction=\"to\"} 5\n"));
}

static void every_error_is_json_and_names_its_field(void **state)
{
	static const struct {
		const char *line, *headers, *body;
		int status;
		const char *text;
	} rows[] = {
		{"GET /v1/nothing", "", NULL, 404, "\"not_found\""},
		{"GET /v1/acls/", "", NULL, 404, "\"not_found\""},
		{"GET /v1/acls/a/b", "", NULL, 404, "\"not_found\""},
		{"GET /v1/acls/a/b/c/d", "", NULL, 404, "\"not_found\""},
		{"GET /v1/acls/web", "", NULL, 404, "\"not_found\""},
		{"GET /v1/stats?port=vm9", "", NULL, 404, "\"query.port\""},
		{"GET /v1/sessions?port=vm9", "", NULL, 404, "\"query.port\""},
		{"DELETE /v1/sessions?port=vm9", "", NULL, 404, "\"query.port\""},
		{"GET /v1/sessions?port=vm9&limit=0", "", NULL, 400, "\"query.limit\""},
		{"POST /v1/status", "", "{}", 405, "Allow: GET, HEAD\r\n"},
		{"DELETE /v1/config", "", NULL, 405, "Allow: GET, HEAD, PUT, PATCH\r\n"},
		{"PUT /v1/acls", "", "{}", 405, "\"unsupported\""},
		{"GET /v1/acls/a%00b", "", NULL, 400, "\"path\""},
		{"GET /v1/status?verbose=1", "", NULL, 400, "\"query.verbose\""},
		{"GET /v1/status?verbose=1", "", NULL, 400, "which take none"},
		{"GET /v1/stats?ports=1", "", NULL, 400, "which take port"},
		{"GET /v1/config?dry_run=1", "", NULL, 400, "\"query.dry_run\""},
		{"PUT /v1/config?dry_run=yes", "", "{}", 400, "\"query.dry_run\""},
		{"PUT /v1/config?dry-run=1", "", "{}", 400, "\"query.dry-run\""},
		{"PUT /v1/config", "If-Match: \"1\", \"2\"\r\n", "{}", 400, "\"headers.If-Match\""},
		{"PUT /v1/config", "If-Match: 1\r\nIf-Match: 2\r\n", "{}", 400,
		 "\"headers.If-Match\""},
		{"PUT /v1/config", "If-Match: W/\"1\"\r\n", "{}", 400, "\"headers.If-Match\""},
		{"PUT /v1/config", "If-Match: \"99\"\r\n", "{}", 412, "\"precondition_failed\""},
		{"PUT /v1/config", "", "{\"a\":", 400, "\"bad_json\""},
		{"PUT /v1/config", "", "", 400, "\"bad_json\""},
		{"PUT /v1/config", "", NULL, 400, "\"bad_json\""},
		{"PUT /v1/config", "", "{\"a\":1,\"a\":2}", 400, "\"bad_json\""},
		{"PUT /v1/config", "Content-Length: 67108865\r\n", NULL, 413, "\"too_large\""},
		{"GET /v1/sessions?proto=x", "", NULL, 400, "\"query.proto\""},
		{"GET /v1/sessions?src=10.0.0.1/8", "", NULL, 400, "write 10.0.0.0/8"},
		{"GET /v1/sessions?sport=65536", "", NULL, 400, "\"query.sport\""},
		{"GET /v1/sessions?limit=10001", "", NULL, 400, "\"query.limit\""},
		{"GET /v1/sessions?limit=0", "", NULL, 400, "\"query.limit\""},
		{"GET /v1/sessions?cursor=x", "", NULL, 400, "\"query.cursor\""},
		{"GET /v1/sessions?state=new", "", NULL, 400, "\"query.state\""},
		{"GET /v1/sessions?rule=https", "", NULL, 400, "\"query.rule\""},
		{"GET /v1/sessions?all=1", "", NULL, 400, "\"query.all\""},
		{"DELETE /v1/sessions", "", NULL, 400, "\"query\""},
		{"DELETE /v1/sessions?all=2", "", NULL, 400, "\"query.all\""},
		{"DELETE /v1/sessions?all=1&port=a", "", NULL, 400, "\"query.all\""},
		{"DELETE /v1/sessions?limit=5", "", NULL, 400, "\"query.limit\""},
		{"DELETE /v1/sessions?all=1", "If-Match: 99\r\n", NULL, 412,
		 "\"precondition_failed\""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i].line, rows[i].headers, rows[i].body, rows[i].status, rows[i].text);
}

static void readers_may_only_read(void **state)
{
	static const struct {
		const char *target;
		enum method method;
		enum right right;
		unsigned int status; /* 0: admitted */
	} rows[] = {
		{"/v1/config", METHOD_GET, RIGHT_READ, 0},
		{"/v1/config", METHOD_PUT, RIGHT_READ, 403},
		{"/v1/config?dry_run=1", METHOD_PATCH, RIGHT_READ, 403},
		{"/v1/acls/web", METHOD_DELETE, RIGHT_READ, 403},
		{"/v1/sessions?all=1", METHOD_DELETE, RIGHT_READ, 403},
		{"/v1/sessions?all=1", METHOD_DELETE, RIGHT_WRITE, 0},
		{"/v1/acls/web", METHOD_DELETE, RIGHT_WRITE, 0},
		{"/v1/acls/web", METHOD_OTHER, RIGHT_READ, 405},
		{"/v1/acls/web", METHOD_POST, RIGHT_READ, 405},
		{"/v1/trace", METHOD_POST, RIGHT_READ, 0},
		{"/v1/trace", METHOD_POST, RIGHT_NONE, 403},
		{"/v1/trace", METHOD_GET, RIGHT_READ, 405},
		{"/metrics", METHOD_GET, RIGHT_NONE, 403},
		{"/healthz", METHOD_GET, RIGHT_NONE, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(request_fini) struct request request = {.method = rows[i].method};
		_cleanup_(errors_fini) struct errors errors = {0};
		_cleanup_(reply_fini) struct reply reply = {0};

		assert_int_equal(request_parse_target(&request, rows[i].target, &errors), 0);
		if (!route_admit(&request, rows[i].right, &reply) != !!rows[i].status ||
		    reply.status != rows[i].status)
			fail_msg("row %zu: %u", i, reply.status);
	}
}

static void a_write_is_answered_with_its_generation(void **state)
{
	(void)state;
	expect("PUT /v1/config", "If-Match: *\r\n", "{}", 200, "\"changed\": true");
	expect("PATCH /v1/config?dry_run=1", "Content-Type: application/merge-patch+json\r\n", "{}",
	       200, "\"changed\": false");
	expect("PUT /v1/acls/web", "", "{}", 200,
	       "\"ports\": {\"waiting\": [], \"failed\": []}, \"warnings\": []");
	expect("DELETE /v1/acls/web", "", NULL, 200, "\"etag\": \"");
	expect("DELETE /v1/sessions?sport=2", "", NULL, 200, "{\"deleted\": 1}");
	expect("DELETE /v1/sessions?all=1", "", NULL, 200, "{\"deleted\": 3}");
}

static void hear_until(int fd, const char *text)
{
	char heard[4096];
	size_t size = 0;
	ssize_t r;

	do {
		r = read(fd, heard + size, sizeof(heard) - 1 - size);
		if (r <= 0)
			fail_msg("the stream ended before %s", text);
		size += (size_t)r;
		heard[size] = '\0';
	} while (!strstr(heard, text));
}

static void events_are_streamed_as_they_come(void **state)
{
	static const char request[] = "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n";
	static struct answer answer;
	int fd = dial(), left_open = dial();

	(void)state;
	say(fd, request, sizeof(request) - 1);
	hear_until(fd, "Transfer-Encoding: chunked");
	for (int i = 0; i < 3; i++) {
		ask(&answer, "PUT /v1/groups/g", "", "{}");
		hear_until(fd, "\"type\":\"commit\"");
	}
	/* who says no more gets what there is, and the end */
	shutdown(fd, SHUT_WR);
	hear_until(fd, "0\r\n\r\n");
	close(fd);
	/* a stream that is open does not keep the server from stopping (see stop) */
	say(left_open, request, sizeof(request) - 1);
	hear_until(left_open, "Transfer-Encoding: chunked");
}

static void events_that_cannot_be_streamed_are_refused(void **state)
{
	(void)state;
	expect("GET /v1/events?types=nothing", "", NULL, 400, "query.types");
	expect("GET /v1/events?after=99999", "", NULL, 410, "query.after");
	expect("GET /v1/events?colour=1", "", NULL, 400, "query.colour");
}

static json_int_t generation_of(const struct answer *answer)
{
	const char *found = strstr(answer->text, "\"generation\": ");

	assert_non_null(found);
	return atoll(found + strlen("\"generation\": "));
}

static void writers_that_wait_together_share_a_generation(void **state)
{
	static const char request[] = "PUT /v1/config HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
				      "Content-Length: 2\r\n\r\n{}";
	static struct answer answer;
	json_int_t first = 0;
	json_int_t last = 0;
	int fds[16];

	(void)state;
	kill(child, SIGSTOP);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dial();
		say(fds[i], request, sizeof(request) - 1);
	}
	kill(child, SIGCONT);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		hear(fds[i], &answer);
		assert_int_equal(answer.status, 200);
		last = generation_of(&answer);
		if (!i)
			first = last;
	}
	assert_int_equal(first, last);
}

/* One request whose client stops sending before its end, and still listens. */
static void ask_in_part(struct answer *answer, const char *text)
{
	int fd = dial();

	say(fd, text, strlen(text));
	shutdown(fd, SHUT_WR);
	hear(fd, answer);
}

static void a_body_cut_off_changes_nothing(void **state)
{
	static const struct {
		const char *request;
		int status;
		const char *text;
	} rows[] = {
		{"PUT /v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{\"acls\":", 400,
		 "\"bad_json\""},
		{"PUT /v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n", 400,
		 "\"bad_json\""},
		{"PUT /v1/config HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
		 400, "\"bad_json\""},
		{"POST /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{}", 405,
		 "Allow: GET, HEAD\r\n"},
	};
	static struct answer before, after;

	(void)state;
	ask(&before, "GET /v1/status", "", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *length, *body;

		ask_in_part(&after, rows[i].request);
		if (after.status != rows[i].status || !strstr(after.text, rows[i].text))
			fail_msg("row %zu: got\n%s", i, after.text);
		length = strstr(after.text, "Content-Length: ");
		body = strstr(after.text, "\r\n\r\n");
		assert_int_equal(atoi(length + strlen("Content-Length: ")), strlen(body + 4));
	}
	ask(&after, "GET /v1/status", "", NULL);
	assert_int_equal(generation_of(&before), generation_of(&after));
}

static void a_whole_request_may_end_the_sending(void **state)
{
	static struct answer answer;

	(void)state;
	ask_in_part(&answer, "PUT /v1/config HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			     "Content-Length: 2\r\n\r\n{}");
	assert_int_equal(answer.status, 200);
	assert_null(strstr(answer.text, "bad_json"));
}

static void a_chunked_body_is_counted(void **state)
{
	static const char head[] = "PUT /v1/config HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
				   "Transfer-Encoding: chunked\r\n\r\n";
	static char chunk[(1 << 20) + 10];
	static struct answer answer;
	int size = snprintf(chunk, sizeof(chunk), "100000\r\n");
	int fd = dial();

	(void)state;
	memset(chunk + size, ' ', 1 << 20);
	strcpy(chunk + size + (1 << 20), "\r");
	say(fd, head, sizeof(head) - 1);
	for (int i = 0; i < 65; i++) {
		say(fd, chunk, (size_t)size + (1 << 20) + 1);
		say(fd, "\n", 1);
	}
	say(fd, "0\r\n\r\n", 5);
	hear(fd, &answer);
	assert_int_equal(answer.status, 413);
	assert_non_null(strstr(answer.text, "\"too_large\""));

	fd = dial();
	say(fd, head, sizeof(head) - 1);
	say(fd, "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", 17);
	hear(fd, &answer);
	assert_int_equal(answer.status, 200);
}

static void a_connection_serves_several_requests(void **state)
{
	static const char first[] = "GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n";
	static const char second[] = "PUT /v1/config HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
				     "Content-Length: 2\r\n\r\n{}";
	static struct answer answer;
	int fd = dial();

	(void)state;
	say(fd, first, sizeof(first) - 1);
	say(fd, second, sizeof(second) - 1);
	hear(fd, &answer);
	assert_int_equal(answer.status, 404);
	assert_non_null(strstr(answer.text, "HTTP/1.1 200"));
}

static void connections_beyond_the_limit_are_told_busy(void **state)
{
	static struct answer answer;
	int fds[SERVER_MAX_CONNECTIONS + 44];
	size_t busy = 0;

	(void)state;
	kill(child, SIGSTOP); /* so that they come all at once */
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = dial();
	kill(child, SIGCONT);
	for (size_t i = SERVER_MAX_CONNECTIONS; i < ARRAY_SIZE(fds); i++) {
		hear(fds[i], &answer);
		busy += answer.status == 503 && strstr(answer.text, "\"busy\"");
	}
	assert_int_equal(busy, 44);
	for (size_t i = 0; i < SERVER_MAX_CONNECTIONS; i++)
		close(fds[i]);
	expect("GET /healthz", "", NULL, 200, "ok");
}

/* Another user takes all the connections it can get and holds them until it is killed. */
static pid_t crowd(uid_t uid, size_t count)
{
	static const char asked[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
	/* idle, a part of a request, one that is answered and may be followed by another */
	static const size_t sizes[] = {0, 10, sizeof(asked) - 1};
	int told[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(uid) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		for (size_t i = 0; i < count; i++)
			say(dial(), asked, sizes[i % ARRAY_SIZE(sizes)]);
		if (write(told[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	close(told[0]);
	return pid;
}

static bool is_let_in(uid_t uid)
{
	static struct answer answer;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(65534) || setuid(uid))
			_exit(1);
		ask(&answer, "GET /healthz", "", NULL);
		_exit(answer.status == 200 ? 0 : answer.status == 503 ? 1 : 2);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return !WEXITSTATUS(status);
}

/* Whoever may only look cannot take the connections of those who must act, nor those of others. */
static void strangers_leave_room_for_writers(void **state)
{
	pid_t pids[5];

	(void)state;
	if (geteuid()) {
		print_message("skipped: only root can become another user\n");
		skip();
	}
	pids[0] = crowd(65534, 300);
	expect("PUT /v1/config", "", "{}", 200, "\"changed\": true");
	assert_false(is_let_in(65534));
	assert_true(is_let_in(65533));
	for (uid_t i = 1; i < ARRAY_SIZE(pids); i++)
		pids[i] = crowd(65534 - i, 100);
	assert_false(is_let_in(65000));
	for (int i = 0; i < SERVER_KEPT_FOR_WRITERS; i++)
		expect("PUT /v1/config", "", "{}", 200, "\"changed\": true");
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	assert_true(is_let_in(65534));
}

/* Rights come from the kernel, so another user must do the asking. */
static void strangers_may_only_ask_for_health(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (geteuid()) {
		print_message("skipped: only root can become another user\n");
		skip();
	}
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		expect("GET /healthz", "", NULL, 200, "ok");
		expect("GET /v1/status", "", NULL, 403, "secg-read");
		expect("GET /v1/nothing", "", NULL, 403, "\"forbidden\"");
		expect("PUT /v1/config", "Content-Length: 60000000\r\n", NULL, 403, "secg-read");
		expect("POST /healthz", "", "{}", 405, "\"unsupported\"");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_have_the_shapes_of_the_api),
		cmocka_unit_test(sessions_are_listed_in_pages),
		cmocka_unit_test(a_trace_says_what_applies),
		cmocka_unit_test(head_is_get_without_a_body),
		cmocka_unit_test(metrics_escape_their_labels),
		cmocka_unit_test(every_error_is_json_and_names_its_field),
		cmocka_unit_test(readers_may_only_read),
		cmocka_unit_test(a_write_is_answered_with_its_generation),
		cmocka_unit_test(events_are_streamed_as_they_come),
		cmocka_unit_test(events_that_cannot_be_streamed_are_refused),
		cmocka_unit_test(writers_that_wait_together_share_a_generation),
		cmocka_unit_test(a_body_cut_off_changes_nothing),
		cmocka_unit_test(a_whole_request_may_end_the_sending),
		cmocka_unit_test(a_chunked_body_is_counted),
		cmocka_unit_test(a_connection_serves_several_requests),
		cmocka_unit_test(connections_beyond_the_limit_are_told_busy),
		cmocka_unit_test(strangers_leave_room_for_writers),
		cmocka_unit_test(strangers_may_only_ask_for_health),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
