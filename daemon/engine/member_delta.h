/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies that have changed in nothing but who is in the groups that they name. Then `on_change` is for
 * the sessions of those who came and went; those of others go on. Pure.
 */
#ifndef SECG_ENGINE_MEMBER_DELTA_H
#define SECG_ENGINE_MEMBER_DELTA_H

#include "engine/generation.h"

/*
 * Whether the port of `next`, which has its policies already, and of `live` say the same but for members of groups. What has been found
 * out about a list is noted in `next`.
 */
bool member_delta_is_all(struct generation *next, const struct generation_port *entry,
			 const struct generation *live, const struct generation_port *before);

/* Addresses that are members of some group in one configuration and not in the other. -ENOMEM. */
int member_delta_find(struct addrset *ret_addresses, const struct config *before,
		      const struct config *next);

#endif
