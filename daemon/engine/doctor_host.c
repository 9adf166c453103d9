/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about the host: kernel, pins, rights, memory. Pure. */
#include <string.h>

#include "engine/doctor.h"

#define NEARLY_FULL_PERCENT 80

/* ── kernel ─────────────────────────────────────────────────────────────────────────────────────── */

static const struct {
	enum doctor_code code;
	const char *present;
	const char *absent;
} features[DP_FEATURE_COUNT] = {
	[DP_FEATURE_TCX] =
		{DOCTOR_KERNEL_TCX, "TCX is there: our TC programs are links and stand first",
		 "TCX is not there (Linux 6.6 has it), or was switched off by --without: "
		 "clsact is used, where a filter of somebody else may be put before ours"},
	[DP_FEATURE_XDP_FRAGS] =
		{DOCTOR_KERNEL_XDP_FRAGS,
		 "XDP takes frames of several buffers: any MTU will do where the driver "
		 "takes them too",
		 "XDP does not take frames of several buffers (Linux 5.18 does), or this "
		 "was switched off by --without: with a large MTU hook tc is what works"},
	[DP_FEATURE_XDP_LINK] =
		{DOCTOR_KERNEL_XDP_LINK, "XDP links are there: XDP can be used and pinned",
		 "XDP links are not there (Linux 5.9 has them), or were switched off by "
		 "--without: every port uses hook tc"},
};

static void judge_jit(struct doctor_findings *findings, enum doctor_truth is_on)
{
	switch (is_on) {
	case DOCTOR_YES:
		doctor_add(findings, DOCTOR_KERNEL_JIT, DOCTOR_INFO, NULL,
			   "the kernel has compiled the programs to machine code");
		break;
	case DOCTOR_NO:
		doctor_add(
			findings, DOCTOR_KERNEL_JIT, DOCTOR_WARNING, NULL,
			"the kernel interprets the programs, which makes every packet cost several "
			"times as much");
		doctor_fix(findings,
			   "sysctl -w net.core.bpf_jit_enable=1 && systemctl restart secgd");
		break;
	case DOCTOR_UNKNOWN:
		doctor_add(findings, DOCTOR_KERNEL_JIT, DOCTOR_INFO, NULL,
			   "it cannot be told whether the kernel has compiled the programs");
		doctor_fix(findings, "sysctl net.core.bpf_jit_enable");
		break;
	}
}

static void judge_unprivileged(struct doctor_findings *findings, enum doctor_truth is_allowed)
{
	switch (is_allowed) {
	case DOCTOR_YES:
		doctor_add(findings, DOCTOR_UNPRIVILEGED_BPF, DOCTOR_WARNING, NULL,
			   "every user of this host may load BPF programs");
		doctor_fix(findings, "sysctl -w kernel.unprivileged_bpf_disabled=2");
		break;
	case DOCTOR_NO:
		doctor_add(findings, DOCTOR_UNPRIVILEGED_BPF, DOCTOR_INFO, NULL,
			   "only users with the right to do so may load BPF programs");
		break;
	case DOCTOR_UNKNOWN:
		doctor_add(findings, DOCTOR_UNPRIVILEGED_BPF, DOCTOR_INFO, NULL,
			   "it cannot be told whether every user may load BPF programs");
		doctor_fix(findings, "sysctl kernel.unprivileged_bpf_disabled");
		break;
	}
}

static void judge_kernel(struct doctor_findings *findings, const struct doctor_host *host)
{
	for (int i = 0; i < DP_FEATURE_COUNT; i++) {
		bool has = host->has_feature[i];

		doctor_add(findings, features[i].code, DOCTOR_INFO, NULL, "%s",
			   has ? features[i].present : features[i].absent);
		if (!has)
			doctor_fix(findings, "uname -r; grep without /etc/secgd/secgd.conf");
	}
	doctor_add(
		findings, DOCTOR_KERNEL_BTF, DOCTOR_INFO, NULL, "%s",
		host->has_btf == DOCTOR_YES
			? "the kernel describes its types (BTF): tools like bpftool and bpftrace can "
			  "show what they see"
			: "the kernel does not describe its types (BTF): secg works, tools like "
			  "bpftrace show less");
	judge_jit(findings, host->is_jit_on);
	judge_unprivileged(findings, host->is_bpf_unprivileged);
}

/* ── pins ───────────────────────────────────────────────────────────────────────────────────────── */

static void judge_pins(struct doctor_findings *findings, const struct doctor_host *host)
{
	const struct bpffs_place *place = &host->bpffs;

	if (!host->folder) {
		doctor_add(
			findings, DOCTOR_EPHEMERAL, DOCTOR_WARNING, NULL,
			"secgd runs with --ephemeral: when it ends, nothing is guarded any more");
		doctor_fix(
			findings,
			"remove --ephemeral, then: mount -t bpf bpf /sys/fs/bpf; systemctl restart "
			"secgd");
		return;
	}
	doctor_add(findings, DOCTOR_BPFFS, DOCTOR_INFO, NULL,
		   "pins lie in %s on the bpffs mounted at %s: the policy outlives the daemon%s",
		   host->folder, place->mount[0] ? place->mount : "(not found)",
		   !place->is_private ? ""
		   : place->is_outside
			   ? " and its private mount namespace, since process 1 has the same bpffs"
			   : "");
	doctor_fix(findings, "ls %s/links", host->folder);
	if (!place->is_private || place->is_outside)
		return;
	doctor_add(
		findings, DOCTOR_BPFFS_PRIVATE, DOCTOR_WARNING, NULL,
		"secgd runs in a private mount namespace and %s: the pins, and the policy with them, "
		"%s when it ends",
		place->is_outside_known ? "process 1 does not have its bpffs"
					: "the mounts of process 1 cannot be read",
		place->is_outside_known ? "go" : "may go");
	doctor_fix(findings, "nsenter -t 1 -m mount -t bpf bpf /sys/fs/bpf; start secgd with that "
			     "mounted, or use nsenter --net instead of ip netns exec");
}

/* ── rights ─────────────────────────────────────────────────────────────────────────────────────── */

static void judge_rights(struct doctor_findings *findings, const struct doctor_host *host)
{
	if (host->socket && host->socket_error) {
		doctor_add(findings, DOCTOR_SOCKET_GONE, DOCTOR_ERROR, NULL,
			   "the socket %s cannot be looked at: %s", host->socket,
			   strerror(host->socket_error));
		doctor_fix(findings, "systemctl restart secgd");
	} else if (host->socket && (host->socket_mode & 0666) != 0666) {
		doctor_add(
			findings, DOCTOR_SOCKET_MODE, DOCTOR_WARNING, NULL,
			"the socket %s has mode %04o: members of secg-admin and secg-read may be "
			"unable to connect; who may do what is decided by group, not by mode",
			host->socket, host->socket_mode & 07777);
		doctor_fix(findings, "chmod 0666 %s", host->socket);
	}
	if (!host->has_admin_group) {
		doctor_add(findings, DOCTOR_GROUP_ADMIN, DOCTOR_INFO, NULL,
			   "there is no group secg-admin: only root can change the policy");
		doctor_fix(findings, "groupadd --system secg-admin && usermod -aG secg-admin USER");
	}
	if (!host->has_read_group) {
		doctor_add(findings, DOCTOR_GROUP_READ, DOCTOR_INFO, NULL,
			   "there is no group secg-read: only root and secg-admin can read");
		doctor_fix(findings, "groupadd --system secg-read && usermod -aG secg-read USER");
	}
}

/* ── the daemon and its tables ──────────────────────────────────────────────────────────────────── */

static void judge_health(struct doctor_findings *findings, const struct doctor_host *host)
{
	if (host->is_store_broken) {
		doctor_add(findings, DOCTOR_STORE_BROKEN, DOCTOR_ERROR, NULL,
			   "the last change could not be written to disk and was refused");
		doctor_fix(findings, "df /var/lib/secgd; journalctl -u secgd -n 20");
	}
	if (host->is_path_broken) {
		doctor_add(findings, DOCTOR_PATH_BROKEN, DOCTOR_ERROR, NULL,
			   "the data path did not take the last change: the policy before it is in "
			   "force");
		doctor_fix(findings, "journalctl -u secgd -n 20; systemctl restart secgd");
	}
	if (host->is_net_broken) {
		doctor_add(findings, DOCTOR_NET_BROKEN, DOCTOR_ERROR, NULL,
			   "news about interfaces do not arrive: one that appears is not guarded");
		doctor_fix(findings, "systemctl restart secgd");
	}
	if (host->is_claim_broken) {
		doctor_add(findings, DOCTOR_CLAIM_BROKEN, DOCTOR_ERROR, NULL,
			   "interfaces have come or changed and are not guarded as they should be; "
			   "it is tried again every second");
		doctor_fix(findings, "journalctl -u secgd");
	}
}

static unsigned int percent(uint64_t used, uint64_t size)
{
	return size ? (unsigned int)((double)used * 100 / (double)size) : 0;
}

static void judge_tables(struct doctor_findings *findings, const struct doctor_host *host)
{
	const struct dp_session_usage *sessions = &host->sessions;
	unsigned int full = percent(host->table_used_bytes, host->table_size_bytes);

	if (full >= NEARLY_FULL_PERCENT) {
		doctor_add(
			findings, DOCTOR_TABLE_MEMORY, DOCTOR_WARNING, NULL,
			"%u %% of the memory for compiled policies is used (%llu of %llu KiB); a "
			"change needs room beside what is live, so a larger one may be refused",
			full, (unsigned long long)host->table_used_bytes >> 10,
			(unsigned long long)host->table_size_bytes >> 10);
		doctor_fix(findings, "secgd --detach-all, then start it with --table-memory %lluM",
			   ((unsigned long long)host->table_size_bytes >> 19) + 1);
	}
	if (!host->has_sessions)
		return;
	full = percent(sessions->used, sessions->max);
	if (full >= NEARLY_FULL_PERCENT) {
		doctor_add(
			findings, DOCTOR_SESSIONS_FULL, DOCTOR_WARNING, NULL,
			"%u %% of the answered sessions there is room for are in use (%llu of %llu); "
			"when it is full, new ones are dropped (session_full)",
			full, (unsigned long long)sessions->used,
			(unsigned long long)sessions->max);
		doctor_fix(findings, "secgd --detach-all, then start it with --max-sessions %llu",
			   2 * (unsigned long long)sessions->max);
	}
	full = percent(sessions->new_used, sessions->new_max);
	if (full >= NEARLY_FULL_PERCENT) {
		doctor_add(
			findings, DOCTOR_NEW_SESSIONS_FULL, DOCTOR_WARNING, NULL,
			"%u %% of the half-open and one-way sessions there is room for are in use "
			"(%llu of %llu); when it is full, the oldest go. This may be a flood",
			full, (unsigned long long)sessions->new_used,
			(unsigned long long)sessions->new_max);
		doctor_fix(findings, "sgctl sessions --state half_open");
	}
}

void doctor_judge_host(struct doctor_findings *findings, const struct doctor_host *host)
{
	judge_kernel(findings, host);
	judge_pins(findings, host);
	judge_rights(findings, host);
	judge_health(findings, host);
	judge_tables(findings, host);
}
