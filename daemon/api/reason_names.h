/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of the reasons of drops, as stats and metrics show them.
 */
#ifndef SECG_API_REASON_NAMES_H
#define SECG_API_REASON_NAMES_H

#include <secg/reason.h>

static const char *const reason_names[SECG_REASON_COUNT] = {
#define REASON_NAME(name, label, text) [SECG_REASON_##name] = label,
	SECG_REASONS(REASON_NAME)
#undef REASON_NAME
};

#endif
