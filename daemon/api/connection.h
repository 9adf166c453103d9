/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections and requests as libmicrohttpd reports them: rights, limits, deadline, body. For server.c.
 */
#ifndef SECG_API_CONNECTION_H
#define SECG_API_CONNECTION_H

#include <event2/event.h>
#include <microhttpd.h>

#include "api/auth.h"
#include "engine/engine.h"

/* What connections share. */
struct hall {
	struct event_base *base;
	struct engine *engine;
	struct auth_groups groups;
	size_t connections;
	size_t guests;       /* connections without the right to change */
	size_t bodies_bytes; /* received and not yet answered */
};

/* Callbacks of libmicrohttpd; `cls` is the hall. */
void connection_notify(void *cls, struct MHD_Connection *mhd, void **socket_context,
		       enum MHD_ConnectionNotificationCode code);
void *connection_begin_request(void *cls, const char *target, struct MHD_Connection *mhd);
enum MHD_Result connection_handle(void *cls, struct MHD_Connection *mhd, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_size, void **request_context);
void connection_end_request(void *cls, struct MHD_Connection *mhd, void **request_context,
			    enum MHD_RequestTerminationCode code);

#endif
