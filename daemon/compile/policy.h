/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule compiler: a list of ACLs becomes the lines that the data path searches
 * (include/secg/policy.h). Pure: no I/O, no globals; any thread.
 */
#ifndef SECG_COMPILE_POLICY_H
#define SECG_COMPILE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <secg/policy.h>

#include "core/error.h"
#include "model/config.h"

struct compiled {
	struct secg_line *lines; /* lines[0..2] are the struct secg_policy; 64-byte aligned */
	size_t line_count;
	/* Rules by slot: "acl/rule", in order of evaluation. */
	char **rule_keys;
	size_t rule_count;
	bool is_stateful; /* some rule has action allow */
};

/*
 * Compiles the concatenation of `acls`. A list without rules gives a policy that matches nothing.
 * Too many entries, lines or levels: -EINVAL with ERROR_LIMIT on `field`. -ENOMEM.
 */
int compile_policy(struct compiled **ret_compiled, const struct acl *const *acls, size_t acl_count,
		   const char *field, struct errors *reterr);
void compiled_free(struct compiled *compiled);
DEFINE_CLEANUP(struct compiled *, compiled_free);

/* A packet as rules see it. Host byte order. */
struct compile_packet {
	enum secg_family family;
	addr_t src, dst;
	uint8_t protocol;
	bool has_l4;   /* the packet shows ports, or ICMP type and code */
	uint16_t high; /* source port or ICMP type */
	uint16_t low;  /* destination port or ICMP code */
};

struct compile_verdict {
	enum secg_action action; /* ALLOW, ALLOW_STATELESS, DROP; NONE: no rule decides */
	uint32_t slot;           /* of the deciding rule; undefined with NONE */
};

/* Looks a packet up in compiled lines exactly as the data path does. For tests, trace and the eager
 * recheck of sessions. */
struct compile_verdict compiled_lookup(const struct compiled *compiled,
				       const struct compile_packet *packet);

#endif
