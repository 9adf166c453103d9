/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of paths: which handler, which rights, which query parameters. Pure.
 */
#ifndef SECG_API_ROUTE_H
#define SECG_API_ROUTE_H

#include "api/auth.h"
#include "api/exchange.h"

struct route {
	const char *segments[REQUEST_MAX_SEGMENTS]; /* "*" stands for a name */
	enum object_kind kind;
	bool is_public;                              /* needs no right */
	bool is_question;                            /* its POST changes nothing: it is reading */
	exchange_handler handlers[METHOD_COUNT];     /* NULL: not allowed */
	const char *const *parameters[METHOD_COUNT]; /* NULL-terminated; NULL: none */
};

/* NULL: no such path. */
const struct route *route_find(const struct request *request);
/* "GET, HEAD, PUT" for the Allow header. */
void route_allow(const struct route *route, char *text, size_t size);
/*
 * Judges a request on its headers: fills `reply` with what it is refused with and returns NULL, or
 * returns its route. Order: right to read, path, method, right to change, query.
 */
const struct route *route_admit(const struct request *request, enum right right,
				struct reply *reply);

#endif
