/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy that an import makes: its sections, and names that are one of a kind.
 */
#ifndef CLI_IMPORT_POLICY_H
#define CLI_IMPORT_POLICY_H

#include <jansson.h>
#include <stdbool.h>

struct import_policy {
	json_t *groups, *security_groups, *acls, *macip, *ports;
	json_t *group_names; /* taken by groups and security groups, which share a name space */
};

void import_policy_init(struct import_policy *policy);
void import_policy_fini(struct import_policy *policy);
/* The whole document, with the sections that hold something; the caller's. */
json_t *import_policy_document(const struct import_policy *policy);

/* A name made of `wanted` that `taken` (an object, whose keys are names) does not have, and has now; the
 * caller frees it. Empty or NULL becomes `otherwise`. */
char *import_name(json_t *taken, const char *wanted, const char *otherwise);
/* Is the name one that an interface may have? */
bool import_is_interface(const char *name);

/* Shorthands that do not fail; values are stolen. */
void import_put(json_t *object, const char *key, json_t *value);
void import_put_text(json_t *object, const char *key, const char *text);
void import_push(json_t *array, json_t *value);
void import_push_text(json_t *array, const char *text);
/* Adds the text unless the array has it. */
void import_push_once(json_t *array, const char *text);

#endif
