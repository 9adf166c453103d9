/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be said of a host when no daemon answers: the socket, who may connect, whether secgd runs.
 */
#ifndef CLI_DOCTOR_LOCAL_H
#define CLI_DOCTOR_LOCAL_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

enum local_member {
	LOCAL_NO_GROUP, /* there is no such group */
	LOCAL_OUTSIDE,
	LOCAL_INSIDE,
};

struct local_facts {
	const char *socket; /* path */
	int error;          /* errno of connecting to it; 0: somebody answers */
	uid_t uid;
	enum local_member admin, read; /* whether this process is in secg-admin, in secg-read */
	pid_t daemon;                  /* a process called secgd; 0: none is seen */
	char daemon_socket[108];       /* the --socket it was started with; "": none */
	bool has_systemd;
	size_t pin_count; /* hooks pinned at the usual place */
};

void local_gather(struct local_facts *ret_facts, const char *socket);
/* {"findings": […]} as the daemon answers it. Pure. */
json_t *local_judge(const struct local_facts *facts);

#endif
