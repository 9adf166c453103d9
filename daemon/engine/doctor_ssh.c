/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about SSH connections, and the rules that would admit them. Pure. */
#include <stdio.h>
#include <string.h>

#include "engine/doctor.h"

static bool has_same_cure(const struct ssh_cut *a, const struct ssh_cut *b)
{
	return strcmp(a->port, b->port) == 0 && a->direction == b->direction;
}

/* One command cures all of a port: a second one must not undo the first. */
static void list_peers(char *text, size_t size, const struct ssh_report *report,
		       const struct ssh_cut *cut)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < report->cut_count && i < SSH_CUT_MAX; i++) {
		const struct ssh_cut *other = &report->cut[i];
		bool is_there = false;

		for (size_t k = 0; k < i; k++)
			is_there |= has_same_cure(&report->cut[k], cut) &&
				    strcmp(report->cut[k].address, other->address) == 0;
		if (is_there || !has_same_cure(other, cut) || length >= size)
			continue;
		length += (size_t)snprintf(text + length, size - length, "%s\"%s\"",
					   length ? "," : "", other->address);
	}
}

static void add_cure(struct doctor_findings *findings, const struct ssh_report *report,
		     const struct ssh_cut *cut)
{
	bool is_from = cut->direction == SECG_FROM;
	char peers[SSH_CUT_MAX * SSH_TEXT];

	if (!cut->acl[0]) {
		doctor_fix(findings, "sgctl get port %s; put an ACL that admits %s first",
			   cut->port, cut->address);
		return;
	}
	list_peers(peers, sizeof(peers), report, cut);
	doctor_fix(
		findings,
		"echo '{\"acls\":{\"%s\":{\"rules\":[{\"id\":\"ssh\",\"action\":\"%s\",\"%s\":[%s],"
		"\"protocol\":\"tcp\",\"%s\":%d}]}},\"ports\":{\"%s\":{\"%s\":[\"%s\"%s]}}}' | "
		"sgctl apply -f -",
		cut->acl, is_from ? "allow" : "allow-stateless", is_from ? "src" : "dst", peers,
		is_from ? "dst_ports" : "src_ports", SSH_PORT, cut->port, is_from ? "from" : "to",
		cut->acl, cut->lists);
}

static void judge_unknown(struct doctor_findings *findings, const struct ssh_report *report)
{
	if (report->error < 0)
		doctor_add(
			findings, DOCTOR_SSH_UNKNOWN, DOCTOR_INFO, NULL,
			"the kernel does not list TCP connections (%s): whether the policy admits "
			"yours is not known",
			strerror(-report->error));
	else if (report->unrouted > 0)
		doctor_add(
			findings, DOCTOR_SSH_UNKNOWN, DOCTOR_INFO, NULL,
			"of %zu SSH connections there is no route to the peer, so it is not known "
			"through which interface they come",
			report->unrouted);
	else if (report->count > SSH_MAX)
		doctor_add(findings, DOCTOR_SSH_UNKNOWN, DOCTOR_INFO, NULL,
			   "of %zu SSH connections only %d were looked at", report->count, SSH_MAX);
	else
		return;
	doctor_fix(findings, "ss -tn state established sport = :%d", SSH_PORT);
}

void doctor_judge_ssh(struct doctor_findings *findings, const struct ssh_report *report)
{
	for (size_t i = 0; i < report->cut_count && i < SSH_CUT_MAX; i++) {
		const struct ssh_cut *cut = &report->cut[i];
		char text[256];

		ssh_explain(text, sizeof(text), cut);
		doctor_add(findings, DOCTOR_SSH_CUT,
			   cut->is_certain ? DOCTOR_ERROR : DOCTOR_WARNING, cut->port, "%s", text);
		add_cure(findings, report, cut);
	}
	if (report->cut_count > SSH_CUT_MAX)
		doctor_add(findings, DOCTOR_SSH_CUT, DOCTOR_ERROR, NULL,
			   "%zu more SSH connections are not admitted",
			   report->cut_count - SSH_CUT_MAX);
	judge_unknown(findings, report);
}
