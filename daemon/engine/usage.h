/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who names an object, so that it cannot be deleted under them. Pure.
 */
#ifndef SECG_ENGINE_USAGE_H
#define SECG_ENGINE_USAGE_H

#include <jansson.h>

#include "core/error.h"
#include "model/config.h"

/* Adds ERROR_IN_USE for each place of the normalised document that names the object; returns how many
 * there are, or -ENOMEM. */
int usage_find(const json_t *document, enum object_kind kind, const char *name,
	       struct errors *reterr);

#endif
