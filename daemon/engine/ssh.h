/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SSH connections to this host that a policy does not admit: the way in that an operator must not lose.
 * Found by the sockets that are open, judged by the compiled rules of the ports they come in through.
 */
#ifndef SECG_ENGINE_SSH_H
#define SECG_ENGINE_SSH_H

#include "engine/claim.h"
#include "engine/generation.h"
#include "net/device.h"
#include "net/tcp.h"

#define SSH_PORT    22
#define SSH_MAX     256 /* connections that are looked at */
#define SSH_CUT_MAX 16  /* of which so many are named */
#define SSH_TEXT    64
#define SSH_LISTS   1024

/*
 * Whether `entry` lets the packets of a connection that the peer opened come in, and its answers out. Where
 * it does not, *ret_direction is the one that stops them. Pure.
 */
bool ssh_is_admitted(const struct generation *generation, const struct generation_port *entry,
		     const struct net_tcp *connection, enum secg_direction *ret_direction);

struct ssh_cut {
	char port[NAME_MAX_LENGTH + 1];
	char peer[SSH_TEXT];           /* "192.0.2.7:40022" */
	char address[SSH_TEXT];        /* of the peer */
	enum secg_direction direction; /* in which its packets are stopped */
	char acl[SSH_TEXT]; /* name that no ACL has, for one that admits it; "": `lists` is too long */
	char lists[SSH_LISTS]; /* the direction's ACLs as they follow another in JSON: `,"web"` */
	bool is_certain; /* false: it may come in through another member of the same bridge or bond */
};

struct ssh_report {
	int error;       /* negative errno: connections cannot be listed */
	size_t count;    /* connections there are, looked at or not */
	size_t unrouted; /* of which it cannot be told through which interface they come */
	struct ssh_cut cut[SSH_CUT_MAX];
	size_t cut_count; /* may be larger than what is named */
};

/* Judges the connections of this moment by a generation, live or not, and by who has which interface. */
void ssh_look(struct ssh_report *ret_report, const struct generation *generation,
	      const struct claims *claims);
/* Sentence about one: "the SSH connection from …". */
void ssh_explain(char *text, size_t size, const struct ssh_cut *cut);
/* Adds {"code":"ssh_cut",…} for each to an array of warnings. -ENOMEM. */
int ssh_warn(json_t *warnings, const struct ssh_report *report);

#endif
