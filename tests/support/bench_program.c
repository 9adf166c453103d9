/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that a bench measures beside those that guard a port. */
#include "bench_program.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>

#include "core/cleanup.h"
#include "insn.h"

#define SPORT_AT    34 /* source port in an IPv4 frame */
#define LRU_ENTRIES 65536
#define HAS_FRAGS   (1u << 5) /* BPF_F_XDP_HAS_FRAGS */

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench: %s: %s\n", what, why);
	exit(2);
}

struct code {
	struct bpf_insn insns[64];
	size_t count;
};

#define EMIT(code, ...)                                                        \
	do {                                                                   \
		const struct bpf_insn _insns[] = {__VA_ARGS__};                \
		memcpy((code)->insns + (code)->count, _insns, sizeof(_insns)); \
		(code)->count += ARRAY_SIZE(_insns);                           \
	} while (0)

uint32_t bench_pass(bool is_xdp)
{
	return is_xdp ? XDP_PASS : (uint32_t)-1; /* TCX_NEXT */
}

static int load(bool is_xdp, const struct code *code)
{
	static char log[4096];
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log, .log_size = sizeof(log));
	int fd;

	/* As the attached program: a tail call connects equals only. */
	if (is_xdp) {
		opts.prog_flags = HAS_FRAGS;
		opts.expected_attach_type = BPF_XDP;
	}
	fd = bpf_prog_load(is_xdp ? BPF_PROG_TYPE_XDP : BPF_PROG_TYPE_SCHED_CLS, "bench", "GPL",
			   code->insns, code->count, &opts);
	if (fd < 0)
		die("a program to compare with", log);
	return fd;
}

int bench_load_empty(bool is_xdp)
{
	struct code code = {0};

	EMIT(&code, INSN_SET(0, (int)bench_pass(is_xdp)), INSN_EXIT);
	return load(is_xdp, &code);
}

static int make_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries)
{
	int fd = bpf_map_create(type, "bench", key, value, entries, NULL);

	if (fd < 0)
		die("a map", strerror(errno));
	return fd;
}

/* r9 = context, r7 = frame, r6 = source port of the next flow as on the wire. */
static void emit_flow(struct code *code, bool is_xdp, int flows)
{
	int counter = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1);
	int data = is_xdp ? offsetof(struct xdp_md, data) : offsetof(struct __sk_buff, data);
	int end = is_xdp ? offsetof(struct xdp_md, data_end) : offsetof(struct __sk_buff, data_end);

	EMIT(code, INSN_MOVE(9, 1), INSN_LOAD(BPF_W, 7, 1, data), INSN_LOAD(BPF_W, 8, 1, end),
	     INSN_MOVE(2, 7), INSN_ALU(BPF_ADD, 2, SPORT_AT + 2), INSN_SKIP_LE(2, 8, 2),
	     INSN_SET(0, 0), INSN_EXIT, INSN_MAP_VALUE(3, counter), INSN_LOAD(BPF_DW, 6, 3, 0),
	     INSN_MOVE(2, 6), INSN_ALU(BPF_ADD, 2, 1), INSN_STORE(BPF_DW, 3, 2, 0),
	     INSN_ALU(BPF_MOD, 6, flows), INSN_ALU(BPF_ADD, 6, BENCH_FIRST_PORT),
	     INSN_TO_BE(6, 16));
}

int bench_load_wrapper(bool is_xdp, int flows, int target)
{
	int targets = make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 1);
	struct code code = {0};
	uint32_t zero = 0;

	if (bpf_map_update_elem(targets, &zero, &target, BPF_ANY))
		die("the wrapper", strerror(errno));
	emit_flow(&code, is_xdp, flows);
	EMIT(&code, INSN_STORE(BPF_H, 7, 6, SPORT_AT), INSN_MOVE(1, 9), INSN_MAP(2, targets),
	     INSN_SET(3, 0), INSN_CALL(BPF_FUNC_tail_call), INSN_SET(0, 0), INSN_EXIT);
	return load(is_xdp, &code);
}

int bench_make_lru(const struct secg_flow_key *key, int flows)
{
	int map = make_map(BPF_MAP_TYPE_LRU_HASH, sizeof(struct secg_flow_key),
			   sizeof(struct secg_flow), LRU_ENTRIES);
	struct secg_flow flow = {0};

	for (int i = 0; i < flows; i++) {
		struct secg_flow_key other = *key;

		other.port[0] = htons((uint16_t)(BENCH_FIRST_PORT + i));
		if (bpf_map_update_elem(map, &other, &flow, BPF_ANY))
			die("the LRU hash", strerror(errno));
	}
	return map;
}

int bench_load_lookup(bool is_xdp, const struct secg_flow_key *key, int flows, int map)
{
	struct code code = {0};
	uint32_t half[10];

	memcpy(half, key, sizeof(half));
	emit_flow(&code, is_xdp, flows);
	for (int i = 0; i < 10; i++)
		EMIT(&code, INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -40 + 4 * i, (int)half[i]));
	EMIT(&code, INSN_STORE(BPF_H, 10, 6, -40 + (int)offsetof(struct secg_flow_key, port)));
	if (map >= 0)
		EMIT(&code, INSN_MAP(1, map), INSN_MOVE(2, 10), INSN_ALU(BPF_ADD, 2, -40),
		     INSN_CALL(BPF_FUNC_map_lookup_elem), INSN_SKIP_SET(0, 2), INSN_SET(0, 0),
		     INSN_EXIT);
	EMIT(&code, INSN_SET(0, (int)bench_pass(is_xdp)), INSN_EXIT);
	return load(is_xdp, &code);
}
