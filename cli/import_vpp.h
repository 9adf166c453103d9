/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VPP's ACL plugin, read line by line from what vppctl shows or was told.
 */
#ifndef CLI_IMPORT_VPP_H
#define CLI_IMPORT_VPP_H

#include "import.h"

struct vpp {
	struct import *import;
	const char *file; /* where the line is from */
	size_t file_index;
	uint32_t line;
	json_t *acls;                    /* index → {name, index, rules, count} */
	json_t *macips;                  /* index → {name, index, entries} */
	json_t *interfaces;              /* sw_if_index → {name, input, output, …, line} */
	json_t *acl, *macip, *interface; /* lent: what the next lines are about; NULL: nothing */
	json_t *ids;                     /* of the rules of `acl` */
	json_int_t next_index;           /* of an ACL that a command adds */
};

/* "10.0.0.0/8" of a family, without host bits; false: told in errors. */
bool vpp_prefix(struct vpp *vpp, const char *text, int family, char *ret_text, bool *ret_is_any);
/* Says in `left` or `errors` what is the matter with the line. printf-like. */
void vpp_left(struct vpp *vpp, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool vpp_error(struct vpp *vpp, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One rule of an ACL, "ipv4 permit src … dst … proto …": adds it to vpp->acl. false: told. */
bool vpp_add_rule(struct vpp *vpp, const char *text);
/* One rule of a MACIP ACL, "ipv4 action 1 ip … mac … mask …", added to vpp->macip. */
bool vpp_add_entry(struct vpp *vpp, const char *text);
/* One line of output; false: not one that is known. */
bool vpp_take_output(struct vpp *vpp, const char *line);
/* One command, without prompt; false: not one that sets ACLs. */
bool vpp_take_command(struct vpp *vpp, const char *command);

/* The ACL of an index, made if there is none; it becomes vpp->acl. */
void vpp_begin_acl(struct vpp *vpp, json_int_t index, const char *tag);
/* The interface of an index, or of a name (index < 0); it becomes vpp->interface. */
void vpp_begin_interface(struct vpp *vpp, json_int_t index, const char *name);
/* Puts numbers such as "0, 1" behind those of a list of the interface. */
void vpp_add_numbers(struct vpp *vpp, const char *list, const char *text);

#endif
