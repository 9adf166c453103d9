/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends live frames out of an interface from an XDP program (BPF_PROG_RUN with
 * BPF_F_TEST_XDP_LIVE_FRAMES), past the host's own stack; --help says what it can send. Used by tests and
 * by people who measure; not a bench itself.
 *
 * stdout: one line of JSON, what was handed to the device: {"sent", "bytes" (of the frames, without their
 * checksum), "seconds", "pps", "per_second" [frames in each second], "flows", "seed"}. stderr: the same for
 * people, a line a second. Exit: 0, 2 if it could not.
 */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "core/cleanup.h"
#include "generate.h"
#include "generate.skel.h"

#define AT_NONE   0xffff
#define BATCH     64
#define SECOND_NS 1000000000ull
/*
 * Frames of one call into the kernel. A call costs up to 20 ms whatever it sends, so as many as fit into a
 * tenth of a second or two: a signal or the end of the time is not noticed before.
 */
#define BURST_MIN    64
#define BURST_FIRST  4096
#define BURST_MAX    (1 << 20)
#define BURST_MIN_NS (SECOND_NS / 10)
#define BURST_MAX_NS (SECOND_NS / 5)

DEFINE_CLEANUP(struct generate *, generate__destroy);

static volatile sig_atomic_t is_ended;
static uint64_t per_second[GENERATE_SECONDS_MAX + 1];

static void on_signal(int number)
{
	(void)number;
	is_ended = 1;
}

/* ── the program ────────────────────────────────────────────────────────────────────────────────── */

static void read_mac(const char *device, uint8_t ret_mac[6])
{
	struct ifreq request = {0};
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strncpy(request.ifr_name, device, IFNAMSIZ - 1);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &request))
		generate_die(device, strerror(errno));
	memcpy(ret_mac, request.ifr_hwaddr.sa_data, 6);
}

static uint32_t place(uint32_t at)
{
	return at ? at : AT_NONE;
}

static void set_constants(struct generate *skel, const struct generate_options *options,
			  const struct generate_layout *at)
{
	const struct wire *wire = &options->wire;
	uint32_t slot = 0;

	skel->rodata->src = (uint32_t)wire->src;
	skel->rodata->dst = (uint32_t)wire->dst;
	skel->rodata->sport = at->spi ? options->spi : wire->sport;
	skel->rodata->dport = wire->dport;
	skel->rodata->srcs = options->srcs;
	skel->rodata->dsts = options->dsts;
	skel->rodata->sports = options->sports;
	skel->rodata->dports = options->dports;
	skel->rodata->is_random = options->is_random;
	skel->rodata->seed = options->seed;
	skel->rodata->at_ip_sum = place(at->ip_sum);
	skel->rodata->at_src = at->src;
	skel->rodata->at_dst = at->dst;
	skel->rodata->at_sport = place(at->sport);
	skel->rodata->at_dport = place(at->dport);
	skel->rodata->at_spi = place(at->spi);
	skel->rodata->at_sequence = place(at->sequence);
	skel->rodata->at_sum = place(at->sum);
	skel->rodata->at_number = at->number;
	for (size_t i = 0; i < options->size_count; i++) {
		for (uint32_t j = 0; j < options->sizes[i].weight; j++)
			skel->rodata->slots[slot++] = (uint8_t)i;
	}
	skel->rodata->slot_count = slot;
}

/* Loads the program and its frames; `frame` becomes what the kernel is given, the largest. */
static struct generate *load(const struct generate_options *options, int ifindex,
			     uint8_t frame[GENERATE_SIZE_MAX], uint32_t *ret_size)
{
	static struct generate_shape shapes[GENERATE_SHAPES_MAX];
	_cleanup_(generate__destroyp) struct generate *skel = generate__open();
	struct generate_layout layout;
	uint32_t size = generate_build(shapes, &layout, options);

	if (!skel)
		generate_die("the program does not open", strerror(errno));
	set_constants(skel, options, &layout);
	skel->rodata->target_ifindex = (uint32_t)ifindex;
	skel->rodata->size_max = size;
	if (generate__load(skel))
		generate_die("the program does not load", strerror(errno));
	for (uint32_t i = 0; i < options->size_count; i++) {
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.generate_shapes), &i, &shapes[i], 0))
			generate_die("the frames", strerror(errno));
		if (shapes[i].size == size)
			memcpy(frame, shapes[i].bytes, size);
	}
	*ret_size = size;
	return TAKE_PTR(skel);
}

/* ── sending ────────────────────────────────────────────────────────────────────────────────────── */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Frames that are due now, of those that are left; at most `max`. */
static uint64_t due(const struct generate_options *options, uint64_t sent, uint64_t elapsed_ns,
		    uint64_t max)
{
	uint64_t number = max;

	if (options->rate) {
		uint64_t target =
			(uint64_t)((unsigned __int128)elapsed_ns * options->rate / SECOND_NS);

		number = target > sent ? target - sent : 0;
	}
	if (options->count && number > options->count - sent)
		number = options->count - sent;
	return number < max ? number : max;
}

static void burst(struct generate *skel, const uint8_t *frame, uint32_t size, uint64_t number)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = size,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .repeat = (int)number,
		    .batch_size = BATCH);

	/* A signal ends a call early; the program's own counter knows how many left. */
	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.generate), &opts) && errno != EINTR)
		generate_die("a live run", strerror(errno));
}

/* How many may go into the next call. */
static uint64_t adapt(uint64_t max, uint64_t number, uint64_t took_ns)
{
	if (took_ns > BURST_MAX_NS && max > BURST_MIN)
		return max / 2;
	if (number == max && took_ns < BURST_MIN_NS && max < BURST_MAX)
		return max * 2;
	return max;
}

static void end_second(uint64_t second)
{
	fprintf(stderr, "second %" PRIu64 ": %" PRIu64 " frames\n", second + 1, per_second[second]);
}

/* Returns how long it took. */
static uint64_t send_all(struct generate *skel, const struct generate_options *options,
			 const uint8_t *frame, uint32_t size)
{
	static const struct timespec nap = {.tv_nsec = 500000};
	uint64_t seconds = options->duration ? options->duration : GENERATE_SECONDS_MAX;
	uint64_t start = now_ns(), elapsed = 0, second = 0, max = BURST_FIRST;

	while (!is_ended && elapsed < seconds * SECOND_NS) {
		uint64_t before = skel->bss->sent, last = elapsed;
		uint64_t number = due(options, before, elapsed, max);

		if (number)
			burst(skel, frame, size, number);
		else if (options->count && before >= options->count)
			break;
		else
			nanosleep(&nap, NULL);
		per_second[second] += skel->bss->sent - before;
		/* The program counts what it hands out; nothing means that it refused the frame. */
		if (number && skel->bss->sent == before && !is_ended)
			generate_die("the program", "makes no frame");
		elapsed = now_ns() - start;
		max = adapt(max, number, elapsed - last);
		for (; second < elapsed / SECOND_NS && second < GENERATE_SECONDS_MAX; second++)
			end_second(second);
	}
	return elapsed;
}

static void report(const struct generate *skel, const struct generate_options *options,
		   uint64_t elapsed)
{
	double seconds = (double)elapsed / SECOND_NS;
	double pps = elapsed ? (double)skel->bss->sent / seconds : 0;
	uint64_t flows =
		(uint64_t)options->srcs * options->dsts * options->sports * options->dports;

	printf("{\"sent\": %" PRIu64 ", \"bytes\": %" PRIu64
	       ", \"seconds\": %.3f, \"pps\": %.0f, \"per_second\": [",
	       (uint64_t)skel->bss->sent, (uint64_t)skel->bss->sent_bytes, seconds, pps);
	for (uint64_t i = 0; i * SECOND_NS < elapsed; i++)
		printf("%s%" PRIu64, i ? ", " : "", per_second[i]);
	printf("], \"flows\": %" PRIu64 ", \"seed\": %" PRIu64 "}\n", flows, options->seed);
	fprintf(stderr, "%" PRIu64 " frames, %" PRIu64 " bytes in %.3f s: %.0f frames a second\n",
		(uint64_t)skel->bss->sent, (uint64_t)skel->bss->sent_bytes, seconds, pps);
}

int main(int argc, char **argv)
{
	static uint8_t frame[GENERATE_SIZE_MAX];
	_cleanup_(generate__destroyp) struct generate *skel = NULL;
	struct sigaction action = {.sa_handler = on_signal};
	struct generate_options options;
	uint32_t size;
	int ifindex;

	generate_parse(&options, argc, argv);
	ifindex = (int)if_nametoindex(options.device);
	if (!ifindex)
		generate_die(options.device, strerror(errno));
	if (!options.has_src_mac)
		read_mac(options.device, options.wire.src_mac);
	skel = load(&options, ifindex, frame, &size);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	report(skel, &options, send_all(skel, &options, frame, size));
	return 0;
}
