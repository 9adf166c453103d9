/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine on the real data path and real interfaces, in namespaces of its own; changes, traffic and
 * what is seen of them.
 */
#ifndef SECG_TESTS_ENGINE_LAB_H
#define SECG_TESTS_ENGINE_LAB_H

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "dp_lab.h"

#include "engine/engine.h"

#define STATE "/tmp/secg-engine-state"

static struct engine_options options = {
	.state_directory = STATE,
	.dp = {.bpffs = LAB_PINS, .max_sessions = 1024},
};

static inline struct engine *open_engine(void)
{
	char message[DP_MESSAGE_SIZE] = "";
	struct engine *engine = NULL;

	if (engine_open(&engine, &options, message) < 0)
		fail_msg("engine_open: %s", message);
	return engine;
}

static inline struct engine *restart(struct engine *engine)
{
	engine_close(engine);
	return open_engine();
}

/* From now on as on a kernel that lacks the features of the mask. */
static inline struct engine *restart_without(struct engine *engine, uint32_t without)
{
	options.dp.without = without;
	return restart(engine);
}

static inline int setup(void **state)
{
	lab_setup(state);
	*state = open_engine();
	return 0;
}

static inline int teardown(void **state)
{
	engine_close(*state);
	options.dp.without = 0;
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
	char message[256];
	bool is_changed;
	uint64_t generation, etag;
	size_t waiting, failed, changes;
};

static inline void note(struct change *change, void *data)
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
	snprintf(answer->message, sizeof(answer->message), "%s", result->errors.items[0].message);
}

static inline struct change *submit(struct engine *engine, struct answer *answer,
				    enum change_kind kind, const char *text)
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

static inline struct answer merge(struct engine *engine, const char *text)
{
	struct answer answer;

	submit(engine, &answer, CHANGE_MERGE, text);
	assert_true(engine_has_pending(engine));
	engine_commit(engine);
	assert_false(engine_has_pending(engine));
	assert_int_equal(answer.calls, 1);
	return answer;
}

static inline struct answer merge_well(struct engine *engine, const char *text)
{
	struct answer answer = merge(engine, text);

	if (answer.status != 200)
		fail_msg("%d %s", answer.status, answer.field);
	return answer;
}

static inline void search(const struct port_status *status, void *data)
{
	struct port_status *wanted = data;

	if (strcmp(status->name, wanted->name) == 0)
		*wanted = *status;
}

static inline struct port_status port(const struct engine *engine, const char *name)
{
	struct port_status status = {.name = name, .ifindex = -1};

	engine_each_port(engine, search, &status);
	assert_int_not_equal(status.ifindex, -1);
	return status;
}

static inline void assert_state(const struct engine *engine, const char *name,
				enum port_state state)
{
	struct port_status status = port(engine, name);

	if (status.state != state)
		fail_msg("port %s is %s (%s), not %s", name, port_state_names[status.state],
			 status.message, port_state_names[state]);
}

static inline uint32_t tcx_count(const char *name)
{
	uint32_t ids[SYS_MPROG_MAX], count = 0;

	assert_int_equal(
		sys_tcx_query((int)if_nametoindex(name), SYS_ATTACH_TCX_INGRESS, ids, &count), 0);
	return count;
}

/* ── traffic ────────────────────────────────────────────────────────────────────────────────────── */

/* A UDP packet that leaves the peer enters the host through secg-a: direction from. */
static inline void send_udp(uint16_t port_number, int count)
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

static inline uint64_t rule_packets(const struct engine *engine, const char *only_port,
				    const char *key)
{
	_cleanup_(engine_stats_fini) struct engine_stats stats = {0};

	assert_int_equal(engine_stats(engine, only_port, &stats), 0);
	for (size_t i = 0; i < stats.rule_count; i++)
		if (strcmp(stats.rules[i].key, key) == 0)
			return stats.rules[i].counter.packets;
	fail_msg("no counter %s", key);
	return 0;
}

static inline uint64_t reason_packets(const struct engine *engine, enum secg_reason reason)
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

static inline bool list(const struct session_view *session, void *data)
{
	struct listing *listing = data;

	listing->count++;
	listing->last = *session;
	snprintf(listing->rule, sizeof(listing->rule), "%s", session->rule ? session->rule : "");
	return true;
}

static inline struct listing sessions(const struct engine *engine,
				      const struct session_filter *filter)
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

#endif
