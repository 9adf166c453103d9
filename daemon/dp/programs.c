/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of the object: which is which, and in what form they are loaded. Used by dp.c and trace.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>

#include "dp/internal.h"
#include "secg.skel.h"

int program_loaded(struct loaded *ret_loaded, const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	ret_loaded->fd = bpf_program__fd(program);
	if (bpf_obj_get_info_by_fd(ret_loaded->fd, &info, &size) < 0)
		return -errno;
	ret_loaded->id = info.id;
	for (size_t i = 0; i < sizeof(info.tag); i++)
		snprintf(ret_loaded->tag + 2 * i, 3, "%02x", info.tag[i]);
	return 0;
}

struct bpf_program *program_of(const struct secg *skel, enum dp_program program)
{
	struct bpf_program *const programs[DP_PROGRAM_COUNT] = {
		[DP_PROGRAM_XDP] = skel->progs.secg_xdp,
		[DP_PROGRAM_TC_FROM] = skel->progs.secg_tc_from,
		[DP_PROGRAM_TC_TO] = skel->progs.secg_tc_to,
	};

	return programs[program];
}

/* The flag comes from the name of the section, so that name is given another meaning meanwhile. */
int frags_hide(void)
{
	/* libbpf before 1.3 frees its list twice when the last handler goes: one stays for good. */
	static int keeper;
	int handler;

	if (keeper <= 0)
		keeper =
			libbpf_register_prog_handler("secg.none", BPF_PROG_TYPE_XDP, BPF_XDP, NULL);
	handler = libbpf_register_prog_handler("xdp.frags", BPF_PROG_TYPE_XDP, BPF_XDP, NULL);
	return keeper < 0 ? keeper : handler;
}

void frags_show(int handler)
{
	libbpf_unregister_prog_handler(handler);
}
