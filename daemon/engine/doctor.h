/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doctor: what an operator should know of this host, and what to type. Facts are gathered
 * (doctor_gather.c), then judged without looking anywhere else (doctor_host.c, doctor_port.c,
 * doctor_paths.c, doctor_ssh.c), so that every finding can be had in a test. One control thread.
 */
#ifndef SECG_ENGINE_DOCTOR_H
#define SECG_ENGINE_DOCTOR_H

#include "dp/bpffs.h"
#include "engine/doctor_codes.h"
#include "engine/engine.h"
#include "engine/ssh.h"
#include "net/device.h"

/* ── findings ───────────────────────────────────────────────────────────────────────────────────── */

enum doctor_severity {
	DOCTOR_INFO,
	DOCTOR_WARNING,
	DOCTOR_ERROR,
};

struct doctor_finding {
	enum doctor_code code;
	enum doctor_severity severity;
	char *port;    /* NULL: of the host */
	char *message; /* one sentence without a full stop */
	char *fix;     /* what to type; NULL: nothing needs to be done */
};

struct doctor_findings {
	struct doctor_finding *items;
	size_t count, capacity;
	bool is_incomplete; /* there was no memory for something */
};

extern const char *const doctor_code_words[DOCTOR_CODE_COUNT];
extern const char *const doctor_severity_words[];

/* Adds one; printf-like message. */
void doctor_add(struct doctor_findings *findings, enum doctor_code code,
		enum doctor_severity severity, const char *port, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* What to type about the finding that was added last. */
void doctor_fix(struct doctor_findings *findings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The worst first; among equals the host first, then by port, then in the order of the codes. */
void doctor_sort(struct doctor_findings *findings);
void doctor_findings_fini(struct doctor_findings *findings);

/* ── facts ──────────────────────────────────────────────────────────────────────────────────────── */

enum doctor_truth {
	DOCTOR_UNKNOWN,
	DOCTOR_NO,
	DOCTOR_YES,
};

struct doctor_host {
	bool has_feature[DP_FEATURE_COUNT];
	enum doctor_truth has_btf, is_jit_on, is_bpf_unprivileged;
	const char *folder; /* of the pins; NULL: --ephemeral */
	struct bpffs_place bpffs;
	const char *socket; /* path; NULL: not asked for */
	int socket_error;   /* errno of looking at it */
	unsigned int socket_mode;
	bool has_admin_group, has_read_group;
	bool is_store_broken, is_path_broken, is_net_broken, is_claim_broken;
	uint64_t table_used_bytes, table_size_bytes;
	bool has_sessions; /* what follows is known */
	struct dp_session_usage sessions;
	char vhost_user[108]; /* a socket that looks like one; "": none */
};

/* An interface that is up. */
struct doctor_interface {
	const struct net_device *device;
	struct dp_strangers strangers;
	bool is_guarded;
};

struct doctor_port {
	const char *name;
	const char *interface;
	enum port_state state;
	enum port_hook hook; /* asked for */
	struct dp_attachment attachment;
	const char *message;             /* why failed */
	const struct net_device *device; /* NULL: no interface */
	const struct net_device
		*master; /* bridge, bond or datapath that it belongs to; NULL: none */
	const struct net_device *upper; /* macvlan or macvtap in passthru mode on top; NULL: none */
	struct dp_strangers strangers;
	bool has_offloads; /* the driver tells */
	struct net_offloads offloads;
	bool is_routed; /* the kernel forwards what comes in */
};

struct doctor_facts {
	struct doctor_host host;
	struct doctor_port *ports;
	size_t port_count;
	struct doctor_interface *interfaces;
	size_t interface_count;
	struct net_devices devices; /* what the others point into */
	struct ssh_report ssh;
};

/* What only the API knows. */
struct doctor_setup {
	const char *socket;
	bool has_admin_group, has_read_group;
};

/* -ENOMEM, or the errno of the kernel's list of interfaces. */
int doctor_gather(struct doctor_facts *ret_facts, const struct engine *engine,
		  const struct doctor_setup *setup);
void doctor_facts_fini(struct doctor_facts *facts);

/* ── judging; pure ──────────────────────────────────────────────────────────────────────────────── */

void doctor_judge_host(struct doctor_findings *findings, const struct doctor_host *host);
void doctor_judge_port(struct doctor_findings *findings, const struct doctor_port *port,
		       const struct doctor_host *host);
/* Ways of packets around the hooks. */
void doctor_judge_paths(struct doctor_findings *findings, const struct doctor_facts *facts);
void doctor_judge_ssh(struct doctor_findings *findings, const struct ssh_report *report);
/* All of the above, sorted. */
void doctor_judge(struct doctor_findings *findings, const struct doctor_facts *facts);

#endif
