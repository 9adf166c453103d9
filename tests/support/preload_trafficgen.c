/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets Debian 12's xdp-trafficgen (xdp-tools 1.3.1) run on kernels newer than it: loaded into it by
 * LD_PRELOAD, stands between it and libbpf. Two things of such kernels it does not know:
 *
 *   - the tracepoints xdp_redirect_err and xdp_redirect_map_err are gone. Its programs on them only count
 *     errors for the screen; they are left out, and the rest loads.
 *   - a test run of an XDP program takes no packet shorter than an Ethernet header. Its probe for live
 *     frames is; it is made longer.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <linux/bpf.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACEPOINT "tp_btf/"
#define NAME_SIZE  128
#define PROBE_SIZE ETH_ZLEN

/* The function of that name in libbpf. */
static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "preload: no %s in libbpf\n", name);
		abort();
	}
	return function;
}

static void leave_out_unknown(const struct bpf_object *object)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	struct bpf_program *program;
	char name[NAME_SIZE];

	if (!kernel)
		return;
	bpf_object__for_each_program(program, object)
	{
		const char *section = bpf_program__section_name(program);

		if (strncmp(section, TRACEPOINT, strlen(TRACEPOINT)))
			continue;
		/* The kernel's type of a tracepoint's arguments. */
		snprintf(name, sizeof(name), "btf_trace_%s", section + strlen(TRACEPOINT));
		if (btf__find_by_name_kind(kernel, name, BTF_KIND_TYPEDEF) < 0)
			bpf_program__set_autoload(program, false);
	}
	btf__free(kernel);
}

int bpf_object__load(struct bpf_object *object)
{
	int (*load)(struct bpf_object *) = next("bpf_object__load");

	leave_out_unknown(object);
	return load(object);
}

int bpf_object__load_skeleton(struct bpf_object_skeleton *skeleton)
{
	int (*load)(struct bpf_object_skeleton *) = next("bpf_object__load_skeleton");

	leave_out_unknown(*skeleton->obj);
	return load(skeleton);
}

int bpf_prog_test_run_opts(int program, struct bpf_test_run_opts *options)
{
	static const unsigned char probe[PROBE_SIZE];
	int (*run)(int, struct bpf_test_run_opts *) = next("bpf_prog_test_run_opts");
	struct bpf_test_run_opts longer = *options;
	struct xdp_md context;
	int r;

	if (!(options->flags & BPF_F_TEST_XDP_LIVE_FRAMES) || options->data_size_in >= ETH_HLEN)
		return run(program, options);
	longer.data_in = probe;
	longer.data_size_in = sizeof(probe);
	if (options->ctx_in) {
		context = *(const struct xdp_md *)options->ctx_in;
		context.data_end = context.data + (unsigned int)sizeof(probe);
		longer.ctx_in = &context;
	}
	r = run(program, &longer);
	options->retval = longer.retval;
	options->duration = longer.duration;
	return r;
}
