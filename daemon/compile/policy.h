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
	/* Rules by slot: "acl/rule", in order of evaluation; those that are disabled too. */
	char **rule_keys;
	/* By slot: a hash of what the rule matches and a session does not show, and of its action. 0: a
	 * session shows all that it matches. */
	uint64_t *rule_hidden;
	size_t rule_count;
	bool is_stateful; /* some rule has action allow, or passes as by allow because it is audited */
};

/*
 * Compiles the concatenation of `acls`. A list without rules gives a policy that matches nothing.
 * `is_audited`: all of them are, whatever they say themselves. Too many entries, lines or levels:
 * -EINVAL with ERROR_LIMIT on `field`. -ENOMEM.
 */
int compile_policy(struct compiled **ret_compiled, const struct acl *const *acls, size_t acl_count,
		   bool is_audited, const char *field, struct errors *reterr);
void compiled_free(struct compiled *compiled);
DEFINE_CLEANUP(struct compiled *, compiled_free);

/* A packet as rules see it. Host byte order. */
struct compile_packet {
	enum secg_family family;
	addr_t src, dst;
	uint8_t protocol;
	bool has_l4;        /* the packet shows ports, or ICMP type and code */
	uint16_t high;      /* source port or ICMP type */
	uint16_t low;       /* destination port or ICMP code */
	uint8_t tcp_flags;  /* of TCP that shows ports */
	uint8_t traffic;    /* of IP: DSCP, SECG_TRAFFIC_FRAGMENT for a first fragment */
	uint16_t vlan;      /* outermost VID; 0: untagged */
	uint16_t ethertype; /* of frames that are not IP; below 0x600: LLC */
	bool has_ethernet;  /* false: the device has no Ethernet header */
	uint8_t src_mac[6], dst_mac[6];
};

struct compile_verdict {
	enum secg_action action; /* ALLOW, ALLOW_STATELESS, DROP, REJECT; NONE: no rule decides */
	uint32_t slot;           /* of the deciding rule; undefined with NONE, like the rest */
	uint8_t flags;           /* SECG_ENTRY_* */
	uint32_t timeout_s;      /* of the session that it opens; 0: the port's */
};

/* Looks a packet up in compiled lines exactly as the data path does. For tests, trace and the eager
 * recheck of sessions. */
struct compile_verdict compiled_lookup(const struct compiled *compiled,
				       const struct compile_packet *packet);

/* The same for a session, whose opener's packet shows addresses, protocol, ports or ICMP alone. `own` is
 * the slot + 1 of the rule that opened it, where that rule stands unchanged and is not wholly shown
 * by a session (compiled.rule_hidden); else 0. */
struct compile_verdict compiled_recheck(const struct compiled *compiled,
					const struct compile_packet *packet, uint32_t own);

#endif
