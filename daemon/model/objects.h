/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of objects, each parsed from the document's object of that kind into the parser's config, in
 * the order in which they refer to each other. Results are those of parse.h; what is there after a
 * mistake is incomplete and only good for being freed, but every name is, so that nobody else's
 * reference is called unknown.
 */
#ifndef SECG_MODEL_OBJECTS_H
#define SECG_MODEL_OBJECTS_H

#include "model/config.h"
#include "model/parse.h"

/* `path` is that of the kind; `value` an object. */
/* Groups, and one for each of the security groups, which may be NULL as `value` may be. */
int groups_parse(struct parser *parser, const struct path *path, const json_t *value,
		 const json_t *security_groups);
/* `value` NULL: only the shipped ones. */
int services_parse(struct parser *parser, const struct path *path, const json_t *value);
int macips_parse(struct parser *parser, const struct path *path, const json_t *value);
int acls_parse(struct parser *parser, const struct path *path, const json_t *value);
int security_groups_parse(struct parser *parser, const struct path *path, const json_t *value);
int ports_parse(struct parser *parser, const struct path *path, const json_t *value);
/* After everything that a port refers to. */
int templates_parse(struct parser *parser, const struct path *path, const json_t *value);
/* Adds the instances of `runtime` to ports that are sorted, and sorts them again. */
int instances_add(struct config *config, const struct config_runtime *runtime);

int rule_parse(struct parser *parser, const struct path *path, const json_t *value,
	       struct rule *ret_rule, json_t **ret_json);

/* Unique ids; `seen` maps those met so far to the index of their rule. */
int rule_check_id(struct parser *parser, const struct path *path, const struct rule *rule,
		  size_t index, json_t *seen);

/* A list of prefixes, and of "@group" where `may_refer`, into `set` (normalised) and `ret_json`.
 * `ret_families` are those that literal prefixes have, all where a group is named; it may be NULL. */
int addresses_parse(struct parser *parser, const struct path *path, const json_t *value,
		    bool may_refer, struct addrset *set, unsigned int *ret_families,
		    json_t **ret_json);
/* One prefix, no group. */
int prefix_item_parse(struct parser *parser, const struct path *path, const json_t *value,
		      struct prefix *ret_prefix);
/* -EINVAL and ERROR_LIMIT when `count` more ranges are too many; else counts them. */
int ranges_charge(struct parser *parser, const struct path *path, size_t count);

struct port_draft {
	json_t *json; /* the normalised object; borrowed */
	struct port *port;
	bool has_senders; /* `addresses` or `macip` is given */
	bool has_anti_spoof;
};
/* The fields of a port, into a zeroed one; `json` is the normalised object. */
int port_parse_fields(struct parser *parser, const struct path *path, const json_t *value,
		      struct port *port, json_t *json, bool is_template);

/* Services that come with the program. */
struct shipped_service {
	const char *name;
	uint8_t protocols[3];  /* 0: no more */
	struct range ports[3]; /* destination; 0-0: no more */
};
extern const struct shipped_service shipped_services[];
extern const size_t shipped_service_count;
/* "tcp, udp 53" */
struct shipped_service_text {
	char text[64];
};
struct shipped_service_text shipped_service_describe(const struct shipped_service *service);
/* NULL: none has this name. */
const struct shipped_service *shipped_service_find(const char *name);

void rule_fini(struct rule *rule);
void acl_fini(struct acl *acl);
void security_group_fini(struct security_group *group);
void group_fini(struct group *group);
void service_fini(struct service *service);
void macip_fini(struct macip *macip);
void port_fini(struct port *port);
/* Of an instance, whose fields are its template's. */
void instance_fini(struct port *port);
void template_fini(struct port_template *template);

#endif
