/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of one group that come and go: what that makes of the document and of the leases. Pure.
 */
#ifndef SECG_ENGINE_MEMBER_CHANGE_H
#define SECG_ENGINE_MEMBER_CHANGE_H

#include "engine/batch.h"

/*
 * Goes out first, comes in then: a member for good is in the group's `prefixes`, one for a while a lease.
 * Who is a member for good stays one. -EINVAL: the result has the answer; -ENOMEM.
 */
int member_change_apply(struct change *change, const struct draft *on, json_t **ret_document,
			struct leases **ret_leases);

#endif
