/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record of the data path (include/secg/event.h) as the fields of an event. Pure; the caller knows the
 * names.
 */
#ifndef SECG_ENGINE_RECORD_H
#define SECG_ENGINE_RECORD_H

#include <jansson.h>

#include <secg/event.h>

#include "engine/events.h"

/* -1: such records are no events of their own. */
int record_type(const struct secg_event *event);
/* `port` NULL: it is gone; `rule` is "acl/rule", NULL: none. NULL: no memory. */
json_t *record_fields(const struct secg_event *event, const char *port, const char *rule);
/* Adds acl and rule. `rule` NULL: nothing. Non-zero: no memory. */
int record_add_rule(json_t *fields, const char *rule);
/* Label of a reason, as everywhere in the API. */
const char *record_reason(unsigned int reason);

#endif
