/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ports bring into groups: the host addresses that they declare, and how groups name them. Gathered
 * from the document before groups are read, which rules need before ports can be; whatever is wrong in a
 * port is left out here and said when the port itself is read.
 *
 * A member is an address of one host that a port declares in `addresses`, never one that is link-local,
 * multicast or unspecified; a wider prefix of a sender is none, nor is what a macip list says.
 */
#ifndef SECG_MODEL_MEMBERS_H
#define SECG_MODEL_MEMBERS_H

#include "model/config.h"
#include "model/parse.h"

struct members;

/* -ENOMEM. Borrows from the document and the runtime. */
int members_gather(struct members **ret_members, const json_t *document,
		   const struct config_runtime *runtime);
void members_free(struct members *members);
DEFINE_CLEANUP(struct members *, members_free);

/* Each adds to a set what ports bring; results are those of parse.h, ERROR_LIMIT at `path`. The first
 * notes a port that the document does not have. */
int members_add_port(struct parser *parser, const struct path *path, const char *port,
		     struct addrset *set);
/* Ports that have all these labels, an object of strings that is not empty. */
int members_add_selected(struct parser *parser, const struct path *path, const json_t *select,
			 struct addrset *set);
/* Ports that name the group in `groups` or wear the security group. */
int members_add_named(struct parser *parser, const struct path *path, const char *group,
		      struct addrset *set);

#endif
