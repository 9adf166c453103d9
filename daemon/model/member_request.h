/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of POST /v1/groups/{name}/members, read and checked: prefixes that come into a group and go out
 * of it, some of them for a while. Pure; whether the group exists is not known here.
 */
#ifndef SECG_MODEL_MEMBER_REQUEST_H
#define SECG_MODEL_MEMBER_REQUEST_H

#include <jansson.h>

#include "core/error.h"
#include "model/addrset.h"

struct member_item {
	struct prefix prefix;
	uint32_t ttl_s; /* 0: for good */
};

struct member_request {
	struct member_item *add;
	size_t add_count;
	struct member_item *remove; /* without a time */
	size_t remove_count;
};

/* -EINVAL: every mistake is in *reterr; -ENOMEM. Freed by member_request_fini in either case. */
int member_request_parse(struct member_request *ret_request, const json_t *document,
			 struct errors *reterr);
void member_request_fini(struct member_request *request);

#endif
