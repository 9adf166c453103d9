/* SPDX-License-Identifier: Apache-2.0 */
/* A group being read. */
#ifndef SECG_MODEL_GROUP_DRAFT_H
#define SECG_MODEL_GROUP_DRAFT_H

#include "model/config.h"
#include "model/parse.h"

enum group_colour {
	GROUP_NEW,
	GROUP_OPEN, /* on the stack: meeting it again is a cycle */
	GROUP_DONE,
};

struct group_draft {
	json_t *json; /* the normalised object; owned by `group`. NULL: that of a security group */
	struct group group;
	const json_t *nested; /* as written, so that paths have the writer's indices; NULL: none */
	struct addrset except;
	enum group_colour colour;
	size_t edge;   /* next nested group to visit */
	size_t parent; /* draft from which this one is visited */
};

/* The fields of a group, with what prefixes and ports bring; nested groups are only noted. */
int group_parse_fields(struct parser *parser, const struct path *path, const json_t *value,
		       struct group_draft *draft);

#endif
