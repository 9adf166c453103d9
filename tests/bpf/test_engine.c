/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine on the real data path and real interfaces, in namespaces of its own: commits, restarts,
 * interfaces that come and go, ports that resist, stores that fail.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "dp_lab.h"

#include "engine/engine.h"

#define STATE "/tmp/secg-engine-state"

static struct engine_options options = {
	.state_directory = STATE,
	.dp = {.bpffs = LAB_PINS, .max_sessions = 1024},
};

static struct engine *open_engine(void)
{
	char message[DP_MESSAGE_SIZE] = "";
	struct engine *engine = NULL;

	if (engine_open(&engine, &options, message) < 0)
		fail_msg("engine_open: %s", message);
	return engine;
}

static struct engine *restart(struct engine *engine)
{
	engine_close(engine);
	return open_engine();
}

static int setup(void **state)
{
	lab_setup(state);
	*state = open_engine();
	return 0;
}

static int teardown(void **state)
{
	engine_close(*state);
	lab_run("rm -rf " STATE);
	for (char name = 'c'; name <= 'f'; name++) {
		char command[64];

		snprintf(command, sizeof(command), "ip link del secg-%c 2>/dev/null || true", name);
		lab_run(command);
	}
	return lab_clean(state);
}

/* ── changes ────────────────────────────────────────────────────────────────────────────────────── */

/* What a change was answered; its JSON is copied. */
struct answer {
	int calls;
	int status;
	enum error_code code;
	char field[128];
	bool is_changed;
	uint64_t generation, etag;
	size_t waiting, failed, changes;
};

static void note(struct change *change, void *data)
{
	const struct change_result *result = &change->result;
	struct answer *answer = data;

	answer->calls++;
	answer->status = result->status;
	answer->is_changed = result->is_changed;
	answer->generation = result->generation;
	answer->etag = result->etag;
	answer->waiting = json_array_size(result->waiting);
	answer->failed = json_array_size(result->failed);
	answer->changes = json_array_size(result->changes);
	if (result->errors.count == 0)
		return;
	answer->code = result->errors.items[0].code;
	snprintf(answer->field, sizeof(answer->field), "%s", result->errors.items[0].field);
}

static struct change *submit(struct engine *engine, struct answer *answer, enum change_kind kind,
			     const char *text)
{
	struct change *change = change_new();

	assert_non_null(change);
	change->kind = kind;
	change->document = text ? json_loads(text, 0, NULL) : NULL;
	assert_true(!text || change->document);
	change->done = note;
	change->data = answer;
	*answer = (struct answer){0};
	assert_int_equal(engine_submit(engine, change), 0);
	return change;
}

static struct answer merge(struct engine *engine, const char *text)
{
	struct answer answer;

	submit(engine, &answer, CHANGE_MERGE, text);
	assert_true(engine_has_pending(engine));
	engine_commit(engine);
	assert_false(engine_has_pending(engine));
	assert_int_equal(answer.calls, 1);
	return answer;
}

static struct answer merge_well(struct engine *engine, const char *text)
{
	struct answer answer = merge(engine, text);

	if (answer.status != 200)
		fail_msg("%d %s", answer.status, answer.field);
	return answer;
}

static void search(const struct port_status *status, void *data)
{
	struct port_status *wanted = data;

	if (strcmp(status->name, wanted->name) == 0)
		*wanted = *status;
}

static struct port_status port(const struct engine *engine, const char *name)
{
	struct port_status status = {.name = name, .ifindex = -1};

	engine_each_port(engine, search, &status);
	assert_int_not_equal(status.ifindex, -1);
	return status;
}

static void assert_state(const struct engine *engine, const char *name, enum port_state state)
{
	struct port_status status = port(engine, name);

	if (status.state != state)
		fail_msg("port %s is %s (%s), not %s", name, port_state_names[status.state],
			 status.message, port_state_names[state]);
}

static uint32_t tcx_count(const char *name)
{
	uint32_t ids[SYS_MPROG_MAX], count = 0;

	assert_int_equal(
		sys_tcx_query((int)if_nametoindex(name), SYS_ATTACH_TCX_INGRESS, ids, &count), 0);
	return count;
}

/* ── traffic ────────────────────────────────────────────────────────────────────────────────────── */

/* A UDP packet that leaves the peer enters the host through secg-a: direction from. */
static void send_udp(uint16_t port_number, int count)
{
	struct {
		uint8_t ethernet[14];
		uint8_t ip[20];
		__be16 udp[4];
		uint8_t payload[18];
	} __attribute__((packed)) frame = {
		.ethernet = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0},
		.ip = {0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2},
		.udp = {htons(1000), htons(port_number), htons(26)},
	};
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = (int)if_nametoindex("secg-b"),
		.sll_halen = 6,
	};
	_cleanup_close_ int fd = socket(AF_PACKET, SOCK_RAW, 0);

	assert_true(fd >= 0);
	for (int i = 0; i < count; i++)
		assert_int_equal(sendto(fd, &frame, sizeof(frame), 0, (void *)&to, sizeof(to)),
				 sizeof(frame));
	usleep(20000);
}

static uint64_t rule_packets(const struct engine *engine, const char *only_port, const char *key)
{
	_cleanup_(engine_stats_fini) struct engine_stats stats = {0};

	assert_int_equal(engine_stats(engine, only_port, &stats), 0);
	for (size_t i = 0; i < stats.rule_count; i++)
		if (strcmp(stats.rules[i].key, key) == 0)
			return stats.rules[i].counter.packets;
	fail_msg("no counter %s", key);
	return 0;
}

static uint64_t reason_packets(const struct engine *engine, enum secg_reason reason)
{
	_cleanup_(engine_stats_fini) struct engine_stats stats = {0};

	assert_int_equal(engine_stats(engine, NULL, &stats), 0);
	return stats.reasons[reason];
}

static const struct session_filter any = {.domain = -1, .protocol = -1, .sport = -1, .dport = -1};

struct listing {
	int count;
	struct session_view last;
	char rule[64];
};

static bool list(const struct session_view *session, void *data)
{
	struct listing *listing = data;

	listing->count++;
	listing->last = *session;
	snprintf(listing->rule, sizeof(listing->rule), "%s", session->rule ? session->rule : "");
	return true;
}

static struct listing sessions(const struct engine *engine, const struct session_filter *filter)
{
	struct listing listing = {0};

	assert_int_equal(engine_sessions(engine, filter, 0, list, &listing), 0);
	return listing;
}

#define WEB                                                                                        \
	"\"acls\":{\"web\":{\"rules\":[{\"id\":\"dns\",\"action\":\"allow\",\"protocol\":\"udp\"," \
	"\"dst_ports\":[53]},{\"id\":\"ntp\",\"action\":\"drop\",\"protocol\":\"udp\","            \
	"\"dst_ports\":[123]}]}}"
#define PORT_A "\"a\":{\"interface\":\"secg-a\",\"from\":[\"web\"],\"to\":[]}"

/* ── commits ────────────────────────────────────────────────────────────────────────────────────── */

static void test_policy_judges_real_packets(void **state)
{
	struct engine *engine = *state;
	struct answer answer = merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	struct session_filter filter = any;
	struct listing listing;

	assert_true(answer.is_changed);
	assert_int_equal(answer.etag, 1);
	assert_int_equal(answer.waiting + answer.failed, 0);
	assert_int_equal(answer.generation, engine_generation(engine));
	assert_state(engine, "a", PORT_GUARDED);
	send_udp(53, 3);
	send_udp(123, 2);
	send_udp(99, 1);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 3);
	assert_int_equal(rule_packets(engine, "a", "web/ntp"), 2);
	assert_int_equal(reason_packets(engine, SECG_REASON_RULE_DROP), 2);
	assert_true(reason_packets(engine, SECG_REASON_DEFAULT) >= 1);
	filter.dport = 53;
	listing = sessions(engine, &filter);
	assert_int_equal(listing.count, 1);
	assert_string_equal(listing.rule, "web/dns");
	assert_int_equal(listing.last.opened, SECG_FROM);
	assert_int_equal((uint32_t)listing.last.src, 0xc0000201);
	assert_int_equal(listing.last.orig.packets, 3);
	assert_true(listing.last.expires_s > 25 && listing.last.expires_s <= 31);
	filter.dport = 54;
	assert_int_equal(engine_sessions_delete(engine, &filter), 0);
	filter.dport = 53;
	assert_int_equal(engine_sessions_delete(engine, &filter), 1);
	assert_int_equal(sessions(engine, &filter).count, 0);
}

static void test_same_again_makes_no_generation(void **state)
{
	struct engine *engine = *state;
	struct answer first = merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	struct answer second = merge_well(engine, "{" WEB "}");

	assert_false(second.is_changed);
	assert_int_equal(second.generation, first.generation);
	assert_int_equal(second.etag, first.etag);
}

static void test_batch_of_writers_with_one_etag(void **state)
{
	struct engine *engine = *state;
	uint64_t before = engine_generation(engine);
	struct answer answers[4];

	for (int i = 0; i < 4; i++) {
		char text[64];
		struct change *change;

		snprintf(text, sizeof(text), "{\"groups\":{\"g%d\":{}}}", i);
		change = submit(engine, &answers[i], CHANGE_MERGE, text);
		change->has_if_match = i < 3;
		change->if_match = engine_etag(engine) + (i == 2);
	}
	engine_commit(engine);
	assert_int_equal(answers[0].status, 200);
	assert_int_equal(answers[0].etag, 1);
	assert_int_equal(answers[1].status, 412);
	assert_int_equal(answers[1].code, ERROR_PRECONDITION_FAILED);
	assert_int_equal(answers[2].status, 200);
	assert_int_equal(answers[2].etag, 2);
	assert_int_equal(answers[3].status, 200);
	assert_int_equal(answers[3].etag, 3);
	for (int i = 0; i < 4; i++)
		assert_true(answers[i].status != 200 || answers[i].generation == before + 1);
	assert_int_equal(engine_generation(engine), before + 1);
	assert_int_equal(engine_etag(engine), 3);
	assert_null(config_find_group(engine_config(engine), "g1"));
	assert_non_null(config_find_group(engine_config(engine), "g3"));
}

static void test_refused_change_does_not_stop_the_batch(void **state)
{
	struct engine *engine = *state;
	struct answer bad, good;

	submit(engine, &bad, CHANGE_MERGE,
	       "{\"ports\":{\"a\":{\"interface\":\"secg-a\",\"from\":[\"no\"]}}}");
	submit(engine, &good, CHANGE_MERGE, "{\"groups\":{\"g\":{}}}");
	engine_commit(engine);
	assert_int_equal(bad.status, 400);
	assert_string_equal(bad.field, "ports.a.from[0]");
	assert_int_equal(good.status, 200);
	assert_null(config_find_port(engine_config(engine), "a"));
}

static void test_object_in_use_stays(void **state)
{
	struct engine *engine = *state;
	struct change *change;
	struct answer answer;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	change = submit(engine, &answer, CHANGE_DELETE, NULL);
	change->object = OBJECT_ACL;
	change->name = strdup("web");
	engine_commit(engine);
	assert_int_equal(answer.status, 409);
	assert_int_equal(answer.code, ERROR_IN_USE);
	assert_string_equal(answer.field, "ports.a.from");
	assert_non_null(config_find_acl(engine_config(engine), "web"));
}

static void test_dry_run_changes_nothing(void **state)
{
	struct engine *engine = *state;
	uint64_t generation = engine_generation(engine);
	struct answer answer;

	submit(engine, &answer, CHANGE_MERGE,
	       "{" WEB ",\"ports\":{" PORT_A ",\"z\":{\"interface\":\"secg-none\"}}}")
		->is_dry_run = true;
	engine_commit(engine);
	assert_int_equal(answer.status, 200);
	assert_true(answer.is_changed);
	assert_true(answer.changes >= 3);
	assert_int_equal(answer.waiting, 1);
	assert_int_equal(answer.etag, 0);
	assert_int_equal(engine_generation(engine), generation);
	assert_int_equal(engine_etag(engine), 0);
	assert_int_equal(engine_config(engine)->port_count, 0);
	assert_int_equal(tcx_count("secg-a"), 0);
	/* and it has not taken any room: the real thing goes as if nothing had been */
	assert_int_equal(merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}").generation,
			 generation + 1);
}

static void test_queue_is_bounded(void **state)
{
	struct engine *engine = *state;
	struct answer answer;
	struct change *change;

	for (int i = 0; i < 1024; i++)
		submit(engine, &answer, CHANGE_MERGE, "{}");
	change = change_new();
	assert_int_equal(engine_submit(engine, change), -EBUSY);
	change_free(change);
	engine_commit(engine);
	assert_int_equal(answer.status, 200);
}

/* ── what fails ─────────────────────────────────────────────────────────────────────────────────── */

static void test_store_that_fails_refuses_the_batch(void **state)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
	const struct rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	struct engine *engine = *state;
	struct answer first, second, third;
	uint64_t generation;

	generation = merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}").generation;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	submit(engine, &third, CHANGE_MERGE, "{\"groups\":{\"web\":1}}");
	submit(engine, &first, CHANGE_MERGE,
	       "{\"acls\":{\"web\":{\"rules\":[]}},\"groups\":{\"g\":{}}}");
	submit(engine, &second, CHANGE_MERGE, "{\"ports\":{\"a\":null}}");
	engine_commit(engine);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_true(first.status == 500 || first.status == 507);
	assert_int_equal(second.status, first.status);
	assert_int_equal(third.status, 400);
	assert_int_equal(engine_generation(engine), generation);
	assert_int_equal(engine_etag(engine), 1);
	assert_false(engine_is_healthy(engine));
	assert_state(engine, "a", PORT_GUARDED);
	send_udp(123, 1);
	assert_int_equal(rule_packets(engine, NULL, "web/ntp"), 1);
	/* the next one goes through */
	assert_int_equal(merge_well(engine, "{\"ports\":{\"a\":null}}").etag, 2);
	assert_true(engine_is_healthy(engine));
}

static void test_policy_too_large_for_the_tables(void **state)
{
	json_t *rules = json_array();
	struct engine *engine;
	struct answer large, small, dry;
	char *text = NULL;
	json_t *document;
	uint64_t generation;

	/* memory for a few kilobytes of tables */
	engine_close(*state);
	lab_clean(state);
	lab_setup(state);
	options.dp.table_memory_bytes = 65536;
	engine = open_engine();
	*state = engine;
	for (int i = 0; i < 3000; i++)
		json_array_append_new(rules,
				      json_pack("{s:o, s:s, s:o}", "id", json_sprintf("r%d", i),
						"action", "allow", "src",
						json_sprintf("10.%d.%d.1", i / 256, i % 256)));
	document = json_pack("{s:{s:{s:o}}, s:{s:{s:s, s:[s]}}}", "acls", "big", "rules", rules,
			     "ports", "b", "interface", "secg-b", "from", "big");
	text = json_dumps(document, 0);
	json_decref(document);
	generation = merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}").generation;
	submit(engine, &dry, CHANGE_MERGE, text)->is_dry_run = true;
	engine_commit(engine);
	assert_int_equal(dry.status, 507);
	large = merge(engine, text);
	assert_int_equal(large.status, 507);
	assert_int_equal(large.code, ERROR_LIMIT);
	assert_int_equal(engine_generation(engine), generation);
	assert_null(config_find_port(engine_config(engine), "b"));
	small = merge_well(engine,
			   "{\"ports\":{\"b\":{\"interface\":\"secg-b\",\"from\":[\"web\"]}}}");
	assert_int_equal(small.generation, generation + 1);
	send_udp(123, 1);
	assert_int_equal(rule_packets(engine, "a", "web/ntp"), 1);
	free(text);
	options.dp.table_memory_bytes = 0;
}

/* ── restart ────────────────────────────────────────────────────────────────────────────────────── */

static void test_restart_keeps_numbers_counters_and_sessions(void **state)
{
	struct engine *engine = *state;
	struct session_filter filter = any;
	uint64_t generation, changed;
	struct listing listing;
	int ifindex;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	generation = merge_well(engine, "{\"groups\":{\"g\":{}}}").generation;
	changed = port(engine, "a").generation;
	assert_int_equal(changed, generation - 1);
	ifindex = port(engine, "a").ifindex;
	send_udp(53, 3);
	engine = restart(engine);
	*state = engine;
	assert_int_equal(engine_generation(engine), generation);
	assert_int_equal(engine_etag(engine), 2);
	assert_int_equal(port(engine, "a").generation, changed);
	assert_int_equal(port(engine, "a").ifindex, ifindex);
	assert_state(engine, "a", PORT_GUARDED);
	assert_int_equal(tcx_count("secg-a"), 1);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 3);
	filter.dport = 53;
	listing = sessions(engine, &filter);
	assert_int_equal(listing.count, 1);
	assert_string_equal(listing.rule, "web/dns");
	send_udp(53, 2);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 5);
	assert_int_equal(sessions(engine, &filter).last.orig.packets, 5);
	/* a second time, because the first one wrote nothing */
	engine = restart(engine);
	*state = engine;
	assert_int_equal(engine_generation(engine), generation);
	assert_int_equal(port(engine, "a").generation, changed);
}

/* While no daemon runs the hooks go on; a port that was removed from the store meanwhile goes at start. */
static void test_ports_that_the_store_does_not_know_are_detached(void **state)
{
	struct engine *engine = *state;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	engine_close(engine);
	assert_int_equal(tcx_count("secg-a"), 1);
	lab_run("rm -rf " STATE);
	*state = open_engine();
	assert_int_equal(tcx_count("secg-a"), 0);
	assert_int_equal(engine_config(*state)->port_count, 0);
}

static void test_store_that_is_not_valid_refuses_and_keeps_the_hooks(void **state)
{
	char message[DP_MESSAGE_SIZE] = "";
	struct engine *engine = NULL;

	merge_well(*state, "{" WEB ",\"ports\":{" PORT_A "}}");
	engine_close(*state);
	*state = NULL;
	lab_run("/usr/bin/python3 -c \"import sqlite3; d = sqlite3.connect('" STATE "/secg.db'); "
		"d.execute('UPDATE objects SET json = ? WHERE kind = ?', "
		"('{\\\"interface\\\":\\\"secg-a\\\",\\\"from\\\":[\\\"gone\\\"]}', 'ports')); d.commit()\"");
	assert_true(engine_open(&engine, &options, message) < 0);
	assert_non_null(strstr(message, "ports.a.from[0]"));
	assert_null(engine);
	assert_int_equal(tcx_count("secg-a"), 1);
}

static void test_interface_renamed_while_no_daemon_ran_is_let_go(void **state)
{
	merge_well(*state, "{" WEB ",\"ports\":{" PORT_A "}}");
	engine_close(*state);
	lab_run("ip link set secg-a down && ip link set secg-a name secg-c && ip link set secg-c up");
	*state = open_engine();
	assert_state(*state, "a", PORT_WAITING);
	assert_int_equal(tcx_count("secg-c"), 0);
}

/* ── interfaces ─────────────────────────────────────────────────────────────────────────────────── */

static void settle_links(struct engine *engine)
{
	usleep(20000);
	engine_dispatch(engine);
}

static void test_interface_comes_goes_and_comes_again(void **state)
{
	struct engine *engine = *state;
	struct answer answer;

	answer = merge_well(engine, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]}}}");
	assert_int_equal(answer.waiting, 1);
	assert_state(engine, "c", PORT_WAITING);
	assert_true(engine_is_healthy(engine));
	for (int round = 0; round < 2; round++) {
		lab_run("ip link add secg-c type veth peer name secg-d");
		settle_links(engine);
		assert_state(engine, "c", PORT_GUARDED);
		assert_int_equal(port(engine, "c").ifindex, if_nametoindex("secg-c"));
		assert_int_equal(tcx_count("secg-c"), 1);
		lab_run("ip link del secg-c");
		settle_links(engine);
		assert_state(engine, "c", PORT_WAITING);
		assert_int_equal(port(engine, "c").ifindex, 0);
	}
}

static void test_interface_is_deleted_and_made_between_two_looks(void **state)
{
	struct engine *engine = *state;

	lab_run("ip link add secg-c type veth peer name secg-d");
	settle_links(engine);
	merge_well(engine, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]}}}");
	assert_state(engine, "c", PORT_GUARDED);
	lab_run("ip link del secg-c && ip link add secg-c type veth peer name secg-d");
	settle_links(engine);
	assert_state(engine, "c", PORT_GUARDED);
	assert_int_equal(port(engine, "c").ifindex, if_nametoindex("secg-c"));
	assert_int_equal(tcx_count("secg-c"), 1);
}

static void test_port_follows_the_name(void **state)
{
	struct engine *engine = *state;

	merge_well(engine, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]},"
			   "\"d\":{\"interface\":\"secg-d\",\"to\":[]}}}");
	lab_run("ip link add secg-c type veth peer name secg-e");
	settle_links(engine);
	assert_state(engine, "c", PORT_GUARDED);
	lab_run("ip link set secg-c name secg-d");
	settle_links(engine);
	assert_state(engine, "c", PORT_WAITING);
	assert_state(engine, "d", PORT_GUARDED);
	assert_int_equal(tcx_count("secg-d"), 1);
}

/* The side of an interface that is not there is not known; the flip for it is nobody's change. */
static void test_side_is_set_right_when_the_interface_appears(void **state)
{
	struct engine *engine = *state;
	struct answer answer;

	answer = merge_well(engine, "{\"ports\":{\"c\":{\"interface\":\"secg-c\",\"to\":[]}}}");
	lab_run("ip link add secg-c type bridge");
	settle_links(engine);
	assert_state(engine, "c", PORT_GUARDED);
	assert_int_equal(engine_generation(engine), answer.generation + 1);
	assert_int_equal(engine_etag(engine), answer.etag);
	assert_int_equal(port(engine, "c").generation, answer.generation);
	/* the number does not go back */
	engine = restart(engine);
	*state = engine;
	assert_int_equal(engine_generation(engine), answer.generation + 1);
	assert_int_equal(port(engine, "c").generation, answer.generation);
	assert_int_equal(merge_well(engine, "{\"groups\":{\"g\":{}}}").generation,
			 answer.generation + 2);
}

static void test_ports_swap_interfaces_in_one_commit(void **state)
{
	struct engine *engine = *state;

	merge_well(engine,
		   "{" WEB ",\"ports\":{" PORT_A ",\"b\":{\"interface\":\"secg-b\",\"to\":[]}}}");
	merge_well(
		engine,
		"{\"ports\":{\"a\":{\"interface\":\"secg-b\"},\"b\":{\"interface\":\"secg-a\"}}}");
	assert_state(engine, "a", PORT_GUARDED);
	assert_state(engine, "b", PORT_GUARDED);
	assert_int_equal(port(engine, "a").ifindex, if_nametoindex("secg-b"));
	assert_int_equal(port(engine, "b").ifindex, if_nametoindex("secg-a"));
	assert_int_equal(tcx_count("secg-a"), 1);
	assert_int_equal(tcx_count("secg-b"), 1);
}

static void test_hook_changes_in_place(void **state)
{
	struct engine *engine = *state;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	assert_false(port(engine, "a").attachment.is_xdp);
	merge_well(engine, "{\"ports\":{\"a\":{\"hook\":\"xdp\"}}}");
	assert_state(engine, "a", PORT_GUARDED);
	assert_true(port(engine, "a").attachment.is_xdp);
	assert_int_equal(tcx_count("secg-a"), 0);
}

static void test_removed_port_is_detached_and_its_sessions_gone(void **state)
{
	struct engine *engine = *state;

	merge_well(engine, "{" WEB ",\"ports\":{" PORT_A "}}");
	send_udp(53, 1);
	assert_true(sessions(engine, &any).count >= 1);
	merge_well(engine, "{\"ports\":{\"a\":null}}");
	assert_int_equal(tcx_count("secg-a"), 0);
	/* another port gets the number, and nothing of its former owner */
	merge_well(engine, "{\"ports\":{\"b\":{\"interface\":\"secg-a\",\"from\":[\"web\"],"
			   "\"on_change\":\"keep\"}}}");
	assert_int_equal(sessions(engine, &any).count, 0);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 0);
	send_udp(53, 1);
	assert_int_equal(rule_packets(engine, NULL, "web/dns"), 1);
}

/* ── ports that resist ──────────────────────────────────────────────────────────────────────────── */

static int foreign_xdp(const char *name)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	_cleanup_close_ int program =
		bpf_prog_load(BPF_PROG_TYPE_XDP, "foreigner", "GPL", code, ARRAY_SIZE(code), NULL);
	int fd = bpf_link_create(program, (int)if_nametoindex(name), BPF_XDP, NULL);

	assert_true(fd >= 0);
	return fd;
}

static void test_failed_port_does_not_hold_up_the_others(void **state)
{
	struct engine *engine = *state;
	int foreign = foreign_xdp("secg-b");
	struct answer answer;

	answer = merge_well(engine,
			    "{" WEB ",\"ports\":{" PORT_A
			    ",\"b\":{\"interface\":\"secg-b\",\"from\":[],\"hook\":\"xdp\"}}}");
	assert_int_equal(answer.failed, 1);
	assert_state(engine, "a", PORT_GUARDED);
	assert_state(engine, "b", PORT_FAILED);
	assert_non_null(strstr(port(engine, "b").message, "foreigner"));
	assert_false(engine_is_healthy(engine));
	for (int i = 0; i < 5; i++)
		engine_tick(engine);
	assert_state(engine, "b", PORT_FAILED);
	close(foreign);
	usleep(20000);
	/* backoff: 1, 2, 4, 8 seconds */
	for (int i = 0; i < 9; i++)
		engine_tick(engine);
	assert_state(engine, "b", PORT_GUARDED);
	assert_true(engine_is_healthy(engine));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_policy_judges_real_packets),
		TEST(test_same_again_makes_no_generation),
		TEST(test_batch_of_writers_with_one_etag),
		TEST(test_refused_change_does_not_stop_the_batch),
		TEST(test_object_in_use_stays),
		TEST(test_dry_run_changes_nothing),
		TEST(test_queue_is_bounded),
		TEST(test_store_that_fails_refuses_the_batch),
		TEST(test_policy_too_large_for_the_tables),
		TEST(test_restart_keeps_numbers_counters_and_sessions),
		TEST(test_ports_that_the_store_does_not_know_are_detached),
		TEST(test_store_that_is_not_valid_refuses_and_keeps_the_hooks),
		TEST(test_interface_renamed_while_no_daemon_ran_is_let_go),
		TEST(test_interface_comes_goes_and_comes_again),
		TEST(test_interface_is_deleted_and_made_between_two_looks),
		TEST(test_port_follows_the_name),
		TEST(test_side_is_set_right_when_the_interface_appears),
		TEST(test_ports_swap_interfaces_in_one_commit),
		TEST(test_hook_changes_in_place),
		TEST(test_removed_port_is_detached_and_its_sessions_gone),
		TEST(test_failed_port_does_not_hold_up_the_others),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
