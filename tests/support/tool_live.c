/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends live UDP frames out of an interface from an XDP program (BPF_PROG_RUN with
 * BPF_F_TEST_XDP_LIVE_FRAMES), past the host's own stack. Each frame carries its number, so that who
 * receives it can tell what is missing:
 *
 *   payload  number (32 bits), its complement, complement of the destination port (16 bits), zeros
 *
 * What varies and its complement sum to a constant: the UDP checksum of the first frame holds for all.
 * A veth takes the frames only where its peer polls: an XDP program there, or GRO on.
 *
 * Prints {"sent": N, "seconds": S}. Ends after --count frames, or on SIGINT and SIGTERM.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/cleanup.h"
#include "insn.h"
#include "wire.h"

#define PAYLOAD_SIZE 10
#define BATCH        64
#define BURST_MAX    4096 /* frames of one call into the kernel */
#define SECOND_NS    1000000000ull

static volatile sig_atomic_t is_ended;

struct options {
	const char *device;
	struct wire wire;
	uint64_t count; /* 0: until a signal */
	uint64_t rate;  /* frames a second; 0: as fast as possible */
	uint32_t ports;
};

static void on_signal(int number)
{
	(void)number;
	is_ended = 1;
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "live: %s: %s\n", what, why);
	exit(2);
}

/* ── the program ────────────────────────────────────────────────────────────────────────────────── */

/* Numbers a frame by the counter in `map` and redirects it; `at` is where its UDP header begins. */
static int program_load(int map, const struct options *options, int ifindex, int at)
{
	const int payload = at + 8, end = payload + PAYLOAD_SIZE;
	const struct bpf_insn insns[] = {
		INSN_LOAD(BPF_W, 7, 1, offsetof(struct xdp_md, data)),
		INSN_LOAD(BPF_W, 8, 1, offsetof(struct xdp_md, data_end)),
		INSN_MOVE(2, 7),
		INSN_ALU(BPF_ADD, 2, end),
		INSN_SKIP_LE(2, 8, 2),
		INSN_SET(0, XDP_ABORTED),
		INSN_EXIT,
		/* r6 = number, counted on */
		INSN_MAP_VALUE(9, map),
		INSN_LOAD(BPF_DW, 6, 9, 0),
		INSN_MOVE(2, 6),
		INSN_ALU(BPF_ADD, 2, 1),
		INSN_STORE(BPF_DW, 9, 2, 0),
		/* number and complement */
		INSN_MOVE(2, 6),
		INSN_TO_BE(2, 32),
		INSN_STORE(BPF_W, 7, 2, payload),
		INSN_ALU(BPF_XOR, 2, -1),
		INSN_STORE(BPF_W, 7, 2, payload + 4),
		/* destination port = first + number % ports */
		INSN_MOVE(2, 6),
		INSN_ALU(BPF_MOD, 2, (int)options->ports),
		INSN_ALU(BPF_ADD, 2, options->wire.dport),
		INSN_TO_BE(2, 16),
		INSN_STORE(BPF_H, 7, 2, at + 2),
		INSN_ALU(BPF_XOR, 2, -1),
		INSN_STORE(BPF_H, 7, 2, payload + 8),
		/* out */
		INSN_SET(1, ifindex),
		INSN_SET(2, 0),
		INSN_CALL(BPF_FUNC_redirect),
		INSN_EXIT,
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "live", "GPL", insns, ARRAY_SIZE(insns), NULL);

	if (fd < 0)
		die("the program does not load", strerror(errno));
	return fd;
}

/* ── sending ────────────────────────────────────────────────────────────────────────────────────── */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Frames that are due now, of those that are left. */
static uint64_t due(const struct options *options, uint64_t sent, uint64_t elapsed_ns)
{
	uint64_t number = BURST_MAX;

	if (options->rate) {
		uint64_t target =
			(uint64_t)((double)elapsed_ns * (double)options->rate / SECOND_NS);

		number = target > sent ? target - sent : 0;
	}
	if (options->count && number > options->count - sent)
		number = options->count - sent;
	return number < BURST_MAX ? number : BURST_MAX;
}

static void send_all(const struct options *options, int program, const uint8_t *bytes, size_t size)
{
	static const struct timespec nap = {.tv_nsec = 500000};
	uint64_t sent = 0, start = now_ns();

	while (!is_ended && (!options->count || sent < options->count)) {
		uint64_t number = due(options, sent, now_ns() - start);
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = bytes,
			    .data_size_in = (uint32_t)size, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
			    .repeat = (int)number, .batch_size = BATCH);

		if (!number) {
			nanosleep(&nap, NULL);
			continue;
		}
		/* A signal ends a call early; the counter in the map knows how many left. */
		if (bpf_prog_test_run_opts(program, &opts) && errno != EINTR)
			die("a live run", strerror(errno));
		sent += number;
	}
}

/* ── command line ───────────────────────────────────────────────────────────────────────────────── */

static addr_t parse_address(const char *text, uint8_t *ret_family)
{
	struct prefix prefix;

	if (prefix_parse(&prefix, text) < 0 || prefix.length != (prefix.family == 4 ? 32 : 128))
		die(text, "not an address");
	*ret_family = prefix.family;
	return prefix.address;
}

static void parse_mac(const char *text, uint8_t ret_mac[6])
{
	struct ether_addr mac;

	if (!ether_aton_r(text, &mac))
		die(text, "not a MAC");
	memcpy(ret_mac, mac.ether_addr_octet, 6);
}

static uint64_t parse_number(const char *text, uint64_t max)
{
	char *end;
	uint64_t number = strtoull(text, &end, 0);

	if (!*text || *end || number > max)
		die(text, "not a number, or too large");
	return number;
}

static void usage(void)
{
	fputs("usage: live --device NAME --src-mac MAC --dst-mac MAC --src ADDRESS --dst ADDRESS\n"
	      "            [--sport N] [--dport N] [--ports N] [--count N] [--rate N] [--size BYTES]\n"
	      "  --ports N  frame i goes to port dport + i % N; 1\n"
	      "  --count N  0: until a signal; 0\n"
	      "  --rate N   frames a second, 0: as fast as possible; 0\n"
	      "  --size N   bytes of the frame; 64\n",
	      stderr);
	exit(2);
}

static void parse_options(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{"device", 1, NULL, 'd'}, {"src-mac", 1, NULL, 'm'}, {"dst-mac", 1, NULL, 'M'},
		{"src", 1, NULL, 's'},    {"dst", 1, NULL, 't'},     {"sport", 1, NULL, 'p'},
		{"dport", 1, NULL, 'P'},  {"ports", 1, NULL, 'f'},   {"count", 1, NULL, 'c'},
		{"rate", 1, NULL, 'r'},   {"size", 1, NULL, 'z'},    {0},
	};
	struct wire *wire = &options->wire;
	uint8_t families[2] = {0};

	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		switch (c) {
		case 'd':
			options->device = optarg;
			break;
		case 'm':
			parse_mac(optarg, wire->src_mac);
			break;
		case 'M':
			parse_mac(optarg, wire->dst_mac);
			break;
		case 's':
			wire->src = parse_address(optarg, &families[0]);
			break;
		case 't':
			wire->dst = parse_address(optarg, &families[1]);
			break;
		case 'p':
			wire->sport = (uint16_t)parse_number(optarg, UINT16_MAX);
			break;
		case 'P':
			wire->dport = (uint16_t)parse_number(optarg, UINT16_MAX);
			break;
		case 'f':
			options->ports = (uint32_t)parse_number(optarg, UINT16_MAX);
			break;
		case 'c':
			options->count = parse_number(optarg, UINT64_MAX);
			break;
		case 'r':
			options->rate = parse_number(optarg, UINT64_MAX);
			break;
		case 'z':
			wire->min_size = parse_number(optarg, WIRE_MAX_SIZE);
			break;
		default:
			usage();
		}
	}
	if (optind < argc || !options->device || !families[0] || families[0] != families[1] ||
	    !options->ports || options->ports + wire->dport > UINT16_MAX + 1u)
		usage();
	wire->family = families[0];
}

int main(int argc, char **argv)
{
	static uint8_t payload[WIRE_MAX_SIZE];
	struct options options = {
		.wire = {.protocol = IPPROTO_UDP, .sport = 4000, .dport = 4000, .min_size = 64},
		.ports = 1,
	};
	uint8_t bytes[WIRE_MAX_SIZE];
	struct sigaction action = {.sa_handler = on_signal};
	uint64_t sent = 0, start;
	uint32_t zero = 0;
	int ifindex, map, program, headers;
	size_t size;

	parse_options(&options, argc, argv);
	ifindex = (int)if_nametoindex(options.device);
	if (!ifindex)
		die(options.device, strerror(errno));
	/* What the program writes into every frame must sum to what it writes into the first. */
	headers = ETH_HLEN + (options.wire.family == 4 ? 20 : 40);
	memset(payload + 4, 0xff, 4);
	payload[8] = (uint8_t) ~(options.wire.dport >> 8);
	payload[9] = (uint8_t)~options.wire.dport;
	options.wire.payload = payload;
	options.wire.payload_size = PAYLOAD_SIZE;
	if (options.wire.min_size > (size_t)headers + 8 + PAYLOAD_SIZE)
		options.wire.payload_size = options.wire.min_size - (size_t)headers - 8;
	size = wire_build(bytes, &options.wire);

	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "live_counter", sizeof(zero), sizeof(sent), 1,
			     NULL);
	if (map < 0)
		die("the counter", strerror(errno));
	program = program_load(map, &options, ifindex, headers);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	start = now_ns();
	send_all(&options, program, bytes, size);
	if (bpf_map_lookup_elem(map, &zero, &sent))
		die("the counter", strerror(errno));
	printf("{\"sent\": %" PRIu64 ", \"seconds\": %.3f}\n", sent,
	       (double)(now_ns() - start) / SECOND_NS);
	close(program);
	close(map);
	return 0;
}
