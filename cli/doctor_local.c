/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at the socket, the process table and the groups. */
#include "doctor_local.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "memory.h"

#define PINS "/sys/fs/bpf/secgd/v*/links/*"

/* ── facts ──────────────────────────────────────────────────────────────────────────────────────── */

static int try_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, r = 0;

	if (strlen(path) >= sizeof(address.sun_path))
		return ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		r = errno;
	close(fd);
	return r;
}

static enum local_member find_member(const char *name)
{
	const struct group *group = getgrnam(name);
	_cleanup_free_ gid_t *groups = NULL;
	int count;

	if (!group)
		return LOCAL_NO_GROUP;
	if (getegid() == group->gr_gid)
		return LOCAL_INSIDE;
	count = getgroups(0, NULL);
	if (count <= 0)
		return LOCAL_OUTSIDE;
	groups = memory_check(calloc((size_t)count, sizeof(*groups)));
	count = getgroups(count, groups);
	for (int i = 0; i < count; i++)
		if (groups[i] == group->gr_gid)
			return LOCAL_INSIDE;
	return LOCAL_OUTSIDE;
}

/* A file of /proc/PID, at most `size` - 1 bytes of it; how many. */
static size_t read_of(const char *pid, const char *name, char *ret_text, size_t size)
{
	_cleanup_free_ char *path = memory_format("/proc/%s/%s", pid, name);
	FILE *file = fopen(path, "re");
	size_t length = 0;

	if (file) {
		length = fread(ret_text, 1, size - 1, file);
		fclose(file);
	}
	ret_text[length] = '\0';
	return length;
}

/* Arguments end in zero bytes; "--socket PATH" or "--socket=PATH". */
static void find_socket(struct local_facts *facts, const char *pid)
{
	char line[4096];
	size_t size = read_of(pid, "cmdline", line, sizeof(line));

	for (const char *at = line; at < line + size; at += strlen(at) + 1) {
		const char *value = NULL;

		if (strncmp(at, "--socket=", 9) == 0)
			value = at + 9;
		else if (strcmp(at, "--socket") == 0 && at + 9 < line + size)
			value = at + 9;
		if (value)
			snprintf(facts->daemon_socket, sizeof(facts->daemon_socket), "%s", value);
	}
}

/* False only where it is known; other users' processes do not tell. */
static bool is_in_this_network(const char *pid)
{
	_cleanup_free_ char *path = memory_format("/proc/%s/ns/net", pid);
	struct stat theirs, ours;

	return stat(path, &theirs) < 0 || stat("/proc/self/ns/net", &ours) < 0 ||
	       (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino);
}

/* Where the socket is silent, a daemon of another network is not the one that is missed. */
static void find_daemon(struct local_facts *facts)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char name[32];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		read_of(entry->d_name, "comm", name, sizeof(name));
		if (strcmp(name, "secgd\n") != 0 ||
		    (facts->error && !is_in_this_network(entry->d_name)))
			continue;
		facts->daemon = (pid_t)strtol(entry->d_name, NULL, 10);
		find_socket(facts, entry->d_name);
		break;
	}
	if (directory)
		closedir(directory);
}

void local_gather(struct local_facts *ret_facts, const char *socket)
{
	struct local_facts facts = {
		.socket = socket,
		.error = try_connect(socket),
		.uid = geteuid(),
		.admin = find_member("secg-admin"),
		.read = find_member("secg-read"),
		.has_systemd = access("/run/systemd/system", F_OK) == 0,
	};
	glob_t pins;

	find_daemon(&facts);
	if (glob(PINS, 0, NULL, &pins) == 0) {
		facts.pin_count = pins.gl_pathc;
		globfree(&pins);
	}
	*ret_facts = facts;
}

/* ── findings ───────────────────────────────────────────────────────────────────────────────────── */

static void add(json_t *list, const char *code, const char *severity, const char *fix,
		const char *format, ...) __attribute__((format(printf, 5, 6)));
static void add(json_t *list, const char *code, const char *severity, const char *fix,
		const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	memory_check(json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "code", code,
							   "severity", severity, "message", message,
							   "fix", fix)) < 0
			     ? NULL
			     : list);
}

static void judge_socket(json_t *list, const struct local_facts *facts, const char *start)
{
	switch (facts->error) {
	case 0:
		break;
	case ENOENT:
		add(list, "socket_missing", "error", start, "there is no socket %s", facts->socket);
		break;
	case ECONNREFUSED:
		add(list, "socket_stale", "error", start,
		    "nobody listens at %s: the daemon that made it has ended", facts->socket);
		break;
	case EACCES:
		add(list, "socket_forbidden", "error", "sudo sgctl doctor",
		    "uid %u may not reach the socket %s", (unsigned int)facts->uid, facts->socket);
		break;
	default:
		add(list, "socket_broken", "error", start, "the socket %s cannot be used: %s",
		    facts->socket, strerror(facts->error));
		break;
	}
}

static void judge_daemon(json_t *list, const struct local_facts *facts, const char *start)
{
	if (!facts->daemon) {
		add(list, "daemon_missing", "error", start,
		    "no process secgd is seen in this network namespace");
	} else if (facts->daemon_socket[0] && strcmp(facts->daemon_socket, facts->socket) != 0) {
		_cleanup_free_ char *fix =
			memory_format("sgctl --socket %s doctor", facts->daemon_socket);

		add(list, "daemon_elsewhere", "warning", fix,
		    "secgd runs (process %d) with another socket, %s", (int)facts->daemon,
		    facts->daemon_socket);
	} else {
		add(list, "daemon_running", "info", "journalctl -u secgd -n 20",
		    "secgd runs (process %d)%s", (int)facts->daemon,
		    facts->error ? "; it may be starting, or have another socket or mount namespace"
				 : "");
	}
	if (facts->error && facts->pin_count > 0)
		add(list, "pinned", "info", "bpftool net show",
		    "%zu hooks are pinned in /sys/fs/bpf/secgd: the last policy is in force without "
		    "the daemon",
		    facts->pin_count);
}

static void judge_rights(json_t *list, const struct local_facts *facts)
{
	if (facts->uid == 0 || facts->admin == LOCAL_INSIDE) {
		add(list, "rights", "info", "", "uid %u may read and change the policy",
		    (unsigned int)facts->uid);
	} else if (facts->read == LOCAL_INSIDE) {
		add(list, "rights", "info", "sudo usermod -aG secg-admin $USER",
		    "uid %u may read; changing needs uid 0 or the group secg-admin",
		    (unsigned int)facts->uid);
	} else {
		add(list, "rights", "error",
		    facts->read == LOCAL_NO_GROUP
			    ? "sudo groupadd --system secg-read; sudo usermod -aG secg-read $USER; then "
			      "log in anew"
			    : "sudo usermod -aG secg-read $USER; then log in anew",
		    "uid %u may neither read nor change: reading needs uid 0 or one of the groups "
		    "secg-read and secg-admin%s",
		    (unsigned int)facts->uid,
		    facts->read == LOCAL_NO_GROUP && facts->admin == LOCAL_NO_GROUP
			    ? ", which do not exist here"
			    : "");
	}
}

json_t *local_judge(const struct local_facts *facts)
{
	const char *start = facts->has_systemd ? "systemctl start secgd" : "secgd";
	json_t *list = memory_check(json_array());

	judge_socket(list, facts, start);
	judge_daemon(list, facts, start);
	judge_rights(list, facts);
	return memory_check(json_pack("{s:o}", "findings", list));
}
