/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may do what: rights by the credentials of the peer of a unix socket, primary and supplementary
 * groups. Credentials are those of the moment of connect(2).
 */
#ifndef SECG_API_AUTH_H
#define SECG_API_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#define AUTH_GROUP_WRITE "secg-admin"
#define AUTH_GROUP_READ  "secg-read"

/* Each includes those before it. */
enum right {
	RIGHT_NONE,
	RIGHT_READ,
	RIGHT_WRITE,
};

struct auth_groups {
	bool has_write, has_read; /* the group exists on this host */
	gid_t write, read;
	time_t loaded_at; /* CLOCK_MONOTONIC, seconds; 0: never */
};

struct peer {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* supplementary */
	size_t group_count;
};

/* Pure. */
enum right auth_decide(const struct peer *peer, const struct auth_groups *groups);
/* Looks the two groups up where what is known of them is older than AUTH_GROUPS_AGE_S. */
void auth_groups_refresh(struct auth_groups *groups);
/* Uid and rights of the peer of a connected socket; looks the two groups up again when what is known of them is
 * older than AUTH_GROUPS_AGE_S and the peer is not root. Negative errno when the kernel does not tell. */
int auth_peer(uid_t *ret_uid, enum right *ret_right, int fd, struct auth_groups *groups);
#define AUTH_GROUPS_AGE_S 10
/* The sentence of a refusal: what is needed for `needed`. */
const char *auth_explain(enum right needed);

#endif
