/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The REST server on a unix socket, driven by the event loop of the control thread.
 */
#ifndef SECG_API_SERVER_H
#define SECG_API_SERVER_H

#include <event2/event.h>

#include "core/cleanup.h"
#include "engine/engine.h"

#define SERVER_MAX_CONNECTIONS  256
#define SERVER_KEPT_FOR_WRITERS 64 /* of them; the others are for whoever comes */
#define SERVER_MAX_PER_GUEST    48 /* of one user without the right to change */
#define SERVER_MAX_BODY_BYTES   ((size_t)64 << 20)
#define SERVER_DRAIN_BYTES      65536               /* body that a refused request may still send */
#define SERVER_MAX_BODIES_BYTES ((size_t)256 << 20) /* of all requests being received */
#define SERVER_RECEIVE_S        30

#define SERVER_MESSAGE_SIZE     256

struct server;

/*
 * Listens on `socket_path` (mode 0666). What lies there is removed when it is a socket nobody answers
 * on. Base and engine outlive the server. On failure `message` says why.
 */
int server_open(struct server **ret_server, const char *socket_path, struct event_base *base,
		struct engine *engine, char message[SERVER_MESSAGE_SIZE]);
/* Answers the changes that wait, closes all connections, removes the socket. */
void server_close(struct server *server);
DEFINE_CLEANUP(struct server *, server_close);

#endif
