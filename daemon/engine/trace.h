/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet judged by the live policy of a port without being counted or remembered, and the names of what
 * decided. Called by the API.
 */
#ifndef SECG_ENGINE_TRACE_H
#define SECG_ENGINE_TRACE_H

#include "engine/engine.h"
#include "model/trace_request.h"

struct trace_result {
	enum secg_reason reason; /* SECG_REASON_NONE: it passes */
	bool is_rejected;        /* dropped by a rule or default that says `reject` */
	char *rule;              /* "acl/rule" or "infra/name"; NULL: none has decided */
	bool is_acl_rule;        /* what stands before the slash is an ACL */
	const char *session;     /* "found", "related", "cut"; NULL: none */
	const char *antispoof;   /* "off", "pass", "fail" */
	bool would_create;
	uint64_t generation;
	char prog_tag[DP_TAG_SIZE];     /* of the program that was run */
	char attached_tag[DP_TAG_SIZE]; /* of the one that guards the interface */
};

/*
 * Fills in what the request left open (MACs) and shortens its packet to what a test run takes. -ENOENT:
 * no such port; -ENOLINK: it guards no interface now; -EINVAL: not a packet for it; each with a sentence
 * in *reterr. Other failures are not the client's.
 */
int engine_trace(struct engine *engine, struct trace_request *request,
		 struct trace_result *ret_result, struct errors *reterr);
void trace_result_fini(struct trace_result *result);

#endif
