/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session of the data path as people see it. Pure.
 */
#ifndef SECG_ENGINE_VIEW_H
#define SECG_ENGINE_VIEW_H

#include "engine/engine.h"

/* What a view needs besides the session. */
struct view_context {
	const char *port;        /* name of the port on which it opened */
	const char *rule;        /* "acl/rule" or NULL */
	const uint32_t *timeout; /* ticks, of the port */
	uint32_t now;            /* tick */
	double ticks_per_second;
};

/* Which endpoint of the key opened it: 0, 1. */
int view_opener(const struct dp_session *session);
/* Who opened it with whom: protocol, addresses, ports. The other fields are left alone. */
void view_set_tuple(struct session_view *view, const struct dp_session *session);
void view_fill(struct session_view *ret_view, const struct dp_session *session,
	       const struct view_context *context);
bool view_matches(const struct session_view *view, const struct session_filter *filter);

#endif
