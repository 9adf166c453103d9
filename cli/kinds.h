/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of objects in a policy, and how each is shown.
 */
#ifndef CLI_KINDS_H
#define CLI_KINDS_H

#include <jansson.h>

struct kind {
	const char *plural; /* the API's spelling */
	const char *singular;
	/* All of a kind as a table; one of them in full. `status` is /v1/status, for ports; one group has the
	 * answer of its /members in that place. */
	void (*show_all)(const json_t *objects, const json_t *status);
	void (*show_one)(const char *name, const json_t *object, const json_t *status);
};

#define KINDS_COUNT 7
extern const struct kind kinds[KINDS_COUNT];

/* By plural or singular, '-' as good as '_'; NULL where there is none. */
const struct kind *kinds_find(const char *name);

/* The word for a kind that was probably meant, lent; NULL: none. */
const char *kinds_guess(const char *name);

void show_acls(const json_t *acls, const json_t *status);
void show_acl(const char *name, const json_t *acl, const json_t *status);
void show_groups(const json_t *groups, const json_t *status);
void show_group(const char *name, const json_t *group, const json_t *members);
void show_services(const json_t *services, const json_t *status);
void show_service(const char *name, const json_t *service, const json_t *status);
void show_security_groups(const json_t *groups, const json_t *status);
void show_security_group(const char *name, const json_t *group, const json_t *status);
void show_macips(const json_t *macips, const json_t *status);
void show_macip(const char *name, const json_t *macip, const json_t *status);
void show_ports(const json_t *ports, const json_t *status);
void show_port(const char *name, const json_t *port, const json_t *status);
void show_templates(const json_t *templates, const json_t *status);
void show_status(const json_t *status);

/* Fills the next cell with the state of a port, in its colour. */
struct table;
void show_state(struct table *table, const char *state);

#endif
