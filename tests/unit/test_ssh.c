/* SPDX-License-Identifier: Apache-2.0 */
/* Which SSH connections a port admits, by its compiled rules. No kernel needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "engine/ssh.h"

static enum port_side side_of(const struct port *port, void *data)
{
	(void)port;
	(void)data;
	return PORT_SIDE_HOST;
}

static struct generation *empty(void)
{
	struct generation *generation = NULL;
	struct store_state state = {
		.document = json_object(), .policies = json_object(), .generation = 1, .etag = 1};

	assert_int_equal(ids_new(&state.ports, 1, SECG_MAX_PORTS), 0);
	assert_int_equal(ids_new(&state.counters, 1, SECG_MAX_COUNTERS), 0);
	assert_int_equal(generation_from_store(&generation, &state), 0);
	return generation;
}

static struct generation *build(const char *text)
{
	_cleanup_(generation_freep) struct generation *live = empty();
	_cleanup_(errors_fini) struct errors errs = {0};
	const struct generation_context context = {
		.live = live,
		.number = 2,
		.etag = 2,
		.counter_limit = SECG_MAX_COUNTERS,
		.ticks_per_second = 100,
		.side = side_of,
	};
	json_t *document = json_loads(text, 0, NULL);
	struct generation *generation = NULL;
	struct config *config = NULL;

	assert_non_null(document);
	if (config_parse(&config, document, NULL, &errs) < 0)
		fail_msg("%s: %s", errs.items[0].field, errs.items[0].message);
	assert_int_equal(generation_build(&generation, config, document, &context, &errs), 0);
	json_decref(document);
	return generation;
}

static const char acls[] =
	"\"acls\":{"
	"\"ssh\":{\"rules\":[{\"id\":\"a\",\"action\":\"allow\","
	"\"src\":[\"192.0.2.7\",\"2001:db8::7\"],\"protocol\":\"tcp\",\"dst_ports\":22}]},"
	"\"bare\":{\"rules\":[{\"id\":\"a\",\"action\":\"allow-stateless\","
	"\"protocol\":\"tcp\",\"dst_ports\":22}]},"
	"\"answers\":{\"rules\":[{\"id\":\"a\",\"action\":\"allow-stateless\","
	"\"protocol\":\"tcp\",\"src_ports\":22}]},"
	"\"web\":{\"rules\":[{\"id\":\"a\",\"action\":\"allow\","
	"\"protocol\":\"tcp\",\"dst_ports\":443}]},"
	"\"mute\":{\"rules\":[{\"id\":\"a\",\"action\":\"drop\","
	"\"protocol\":\"tcp\",\"src_ports\":22}]},"
	"\"no\":{\"rules\":[{\"id\":\"a\",\"action\":\"drop\","
	"\"protocol\":\"tcp\",\"dst_ports\":22}]},"
	"\"high\":{\"rules\":[{\"id\":\"a\",\"action\":\"allow\","
	"\"protocol\":\"tcp\",\"src_ports\":\"40000-50000\"}]}}";

static const struct row {
	const char *port; /* fields after interface */
	const char *peer; /* NULL: both 192.0.2.7 and 2001:db8::7 */
	int direction;    /* that stops it; -1: it is admitted */
} rows[] = {
	{"", NULL, -1},
	{",\"from\":[]", NULL, SECG_FROM},
	{",\"from\":[\"ssh\"]", NULL, -1},
	{",\"from\":[\"ssh\"]", "192.0.2.8", SECG_FROM},
	{",\"from\":[\"ssh\"]", "2001:db8::8", SECG_FROM},
	{",\"from\":[\"ssh\"],\"to\":[]", NULL, -1},
	{",\"from\":[\"web\"]", NULL, SECG_FROM},
	{",\"from\":[\"web\",\"ssh\"]", NULL, -1},
	{",\"from\":[\"no\",\"ssh\"]", NULL, SECG_FROM},
	{",\"from\":[\"high\"]", NULL, -1},
	{",\"from\":[\"web\"],\"default\":{\"from\":{\"action\":\"allow\"}}", NULL, -1},
	{",\"from\":[\"no\"],\"default\":{\"from\":{\"action\":\"allow\"}}", NULL, SECG_FROM},
	/* not tracked: the answers need a rule */
	{",\"from\":[\"bare\"]", NULL, -1},
	{",\"from\":[\"bare\"],\"to\":[]", NULL, SECG_TO},
	{",\"from\":[\"bare\"],\"to\":[\"answers\"]", NULL, -1},
	/* an absent direction tracks beside a stateful list, and only then */
	{",\"to\":[\"web\"]", NULL, -1},
	{",\"to\":[\"bare\"]", NULL, SECG_TO},
	{",\"to\":[]", NULL, SECG_TO},
	{",\"to\":[\"answers\"]", NULL, -1},
	{",\"to\":[],\"default\":{\"to\":{\"action\":\"allow\"}}", NULL, -1},
	/* Its default tracks, and with it the direction without lists: answers are of a session. */
	{",\"to\":[\"mute\"],\"default\":{\"to\":{\"action\":\"allow\"}}", NULL, -1},
};

static struct net_tcp connection_from(const char *peer)
{
	struct prefix local, prefix;

	assert_int_equal(prefix_parse(&prefix, peer), 0);
	assert_int_equal(prefix_parse(&local, prefix.family == 4 ? "192.0.2.1" : "2001:db8::1"), 0);
	return (struct net_tcp){
		.family = prefix.family,
		.local = local.address,
		.peer = prefix.address,
		.local_port = 22,
		.peer_port = 40022,
	};
}

static void check(const struct row *row, const char *peer)
{
	_cleanup_(generation_freep) struct generation *generation = NULL;
	const struct net_tcp connection = connection_from(peer);
	enum secg_direction direction = SECG_DIRECTIONS;
	char text[2048];
	bool is_admitted;

	snprintf(text, sizeof(text), "{%s,\"ports\":{\"p\":{\"interface\":\"eth0\"%s}}}", acls,
		 row->port);
	generation = build(text);
	is_admitted = ssh_is_admitted(generation, &generation->ports[0], &connection, &direction);
	if (is_admitted != (row->direction < 0) ||
	    (!is_admitted && (int)direction != row->direction))
		fail_msg("%s from %s: admitted %d, direction %d", row->port, peer, is_admitted,
			 direction);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check(&rows[i], rows[i].peer ? rows[i].peer : "192.0.2.7");
		check(&rows[i], rows[i].peer ? rows[i].peer : "2001:db8::7");
	}
}

static void test_warnings_are_of_the_api(void **state)
{
	static struct ssh_report report = {.count = 1, .cut_count = 1};
	json_t *warnings = json_array();

	(void)state;
	strcpy(report.cut[0].port, "uplink");
	strcpy(report.cut[0].peer, "192.0.2.7:40022");
	report.cut[0].is_certain = true;
	assert_int_equal(ssh_warn(warnings, &report), 0);
	assert_int_equal(json_array_size(warnings), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(warnings, 0), "code")),
			    "ssh_cut");
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(warnings, 0), "field")),
		"ports.uplink");
	json_decref(warnings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_warnings_are_of_the_api),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
