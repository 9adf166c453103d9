/* SPDX-License-Identifier: Apache-2.0 */
/* The second load of the programs, and their runs. */
#include "dp/trace.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <string.h>

#include "dp/internal.h"
#include "dp/sessions.h"
#include "secg.skel.h"

#define VERDICT_NEXT UINT32_MAX /* TCX_NEXT, TC_ACT_UNSPEC */
#define VERDICT_SHOT 2          /* TCX_DROP, TC_ACT_SHOT */

/* One program, loaded apart, so that a first trace waits for one verification. */
struct tracer {
	struct secg *skel;
	struct loaded program;
};

void tracer_free(struct tracer *tracer)
{
	secg__destroy(tracer->skel);
	free(tracer);
}

/* ── loading ────────────────────────────────────────────────────────────────────────────────────── */

/* Maps that a traced run writes are its own, and so are the constants. */
static bool is_own(const struct secg *skel, const struct bpf_map *map)
{
	return map == skel->maps.secg_trace || map == skel->maps.secg_scratch ||
	       bpf_map__is_internal(map);
}

static int share_maps(struct secg *skel, const struct dp *dp)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, skel->obj)
	{
		const struct bpf_map *attached;
		int r;

		if (is_own(skel, map))
			continue;
		attached = bpf_object__find_map_by_name(dp->skel->obj, bpf_map__name(map));
		if (!attached)
			return -ENOENT;
		r = bpf_map__reuse_fd(map, bpf_map__fd(attached));
		if (r < 0)
			return r;
	}
	return 0;
}

static int load(struct tracer *tracer, const struct dp *dp, enum dp_program which)
{
	struct bpf_program *program;
	int r;

	tracer->skel = secg__open();
	if (!tracer->skel)
		return -errno;
	memcpy(tracer->skel->rodata, dp->skel->rodata, sizeof(*tracer->skel->rodata));
	tracer->skel->rodata->secg_is_trace = 1;
	bpf_object__for_each_program(program, tracer->skel->obj)
		bpf_program__set_autoload(program, program == program_of(tracer->skel, which));
	r = share_maps(tracer->skel, dp);
	if (r == 0)
		r = secg__load(tracer->skel);
	if (r == 0)
		r = program_loaded(&tracer->program, program_of(tracer->skel, which));
	return r;
}

static int tracer_new(struct tracer **ret_tracer, const struct dp *dp, enum dp_program which)
{
	_cleanup_(tracer_freep) struct tracer *tracer = calloc(1, sizeof(*tracer));
	bool has_frags = dp_has_feature(dp, DP_FEATURE_XDP_FRAGS);
	int handler = 0, r;

	if (!tracer)
		return -ENOMEM;
	/* The same kind of program as the attached one. */
	if (!has_frags)
		handler = frags_hide();
	if (handler < 0)
		return handler;
	r = load(tracer, dp, which);
	if (!has_frags)
		frags_show(handler);
	if (r < 0)
		return r;
	*ret_tracer = TAKE_PTR(tracer);
	return 0;
}

/* ── running ────────────────────────────────────────────────────────────────────────────────────── */

/* *ret_drops is the verdict. */
static int run(const struct loaded *program, bool is_xdp, int ifindex, const void *packet,
	       size_t size, bool *ret_drops)
{
	struct xdp_md xdp = {.data_end = (uint32_t)size, .ingress_ifindex = (uint32_t)ifindex};
	struct __sk_buff skb = {.ifindex = (uint32_t)ifindex};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = (uint32_t)size,
		    .repeat = 1);
	uint32_t pass = is_xdp ? XDP_PASS : VERDICT_NEXT, drop = is_xdp ? XDP_DROP : VERDICT_SHOT;

	opts.ctx_in = is_xdp ? (void *)&xdp : (void *)&skb;
	opts.ctx_size_in = is_xdp ? sizeof(xdp) : sizeof(skb);
	if (bpf_prog_test_run_opts(program->fd, &opts) < 0)
		return -errno;
	if (opts.retval != pass && opts.retval != drop)
		return -EPROTO;
	*ret_drops = opts.retval == drop;
	return 0;
}

static bool stop(const struct dp_session *session, void *data)
{
	(void)session;
	(void)data;
	return false;
}

/* Whether there is an entry of the last number that the hash has room for. */
static int overflow_is_full(const struct dp *dp, bool *ret_is_full)
{
	uint64_t last = bpf_map__max_entries(dp->skel->maps.secg_overflow) - 1;
	int r = session_each_hashed(dp, SESSIONS_OVERFLOW, last, stop, NULL);

	*ret_is_full = r == -ECANCELED;
	return *ret_is_full ? 0 : r;
}

static int judge(const struct dp *dp, const struct tracer *tracer, bool is_xdp, int ifindex,
		 const void *packet, size_t size, struct secg_trace *ret_told)
{
	int fd = bpf_map__fd(tracer->skel->maps.secg_trace);
	struct secg_trace told = {0};
	uint32_t zero = 0;
	bool drops = false, is_full = false;
	int r;

	if (bpf_map_update_elem(fd, &zero, &told, BPF_ANY) < 0)
		return -errno;
	r = run(&tracer->program, is_xdp, ifindex, packet, size, &drops);
	if (r < 0)
		return r;
	if (bpf_map_lookup_elem(fd, &zero, &told) < 0)
		return -errno;
	if (drops != (told.reason != SECG_REASON_NONE))
		return -EPROTO;
	if (told.needs_overflow) {
		r = overflow_is_full(dp, &is_full);
		if (is_full)
			told.reason = SECG_REASON_SESSION_FULL;
	}
	*ret_told = told;
	return r;
}

int dp_trace(struct dp *dp, int ifindex, enum secg_direction direction, bool is_xdp,
	     const void *packet, size_t size, struct dp_trace *ret_trace,
	     char message[DP_MESSAGE_SIZE])
{
	enum dp_program which = direction == SECG_TO ? DP_PROGRAM_TC_TO
				: is_xdp             ? DP_PROGRAM_XDP
						     : DP_PROGRAM_TC_FROM;
	const struct tracer *tracer;
	struct dp_trace trace = {0};
	int r;

	message[0] = '\0';
	if (size > DP_TRACE_MAX_SIZE)
		return -EMSGSIZE;
	if (!dp->tracers[which]) {
		r = tracer_new(&dp->tracers[which], dp, which);
		if (r < 0) {
			message_add(message, "cannot load the programs that trace: %s",
				    strerror(-r));
			return r == -EINVAL ? -EIO : r;
		}
	}
	tracer = dp->tracers[which];
	r = judge(dp, tracer, which == DP_PROGRAM_XDP, ifindex, packet, size, &trace.told);
	if (r < 0) {
		message_add(message, "cannot run the program: %s", strerror(-r));
		return r;
	}
	memcpy(trace.prog_tag, tracer->program.tag, sizeof(trace.prog_tag));
	*ret_trace = trace;
	return 0;
}
