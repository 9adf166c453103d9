/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of every change of the configuration: submitted to the engine, answered when it is live.
 */
#ifndef SECG_API_WRITE_H
#define SECG_API_WRITE_H

#include "api/exchange.h"

/* Reads the body as JSON into change->document. False: the reply says what is wrong. */
bool write_read_body(struct exchange *exchange, struct change *change);
/* Takes the change; adds dry run and condition of the request. Return value of a handler. */
bool write_submit(struct exchange *exchange, struct change *change);

#endif
