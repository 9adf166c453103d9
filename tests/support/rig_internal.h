/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the rig share. */
#ifndef SECG_TESTS_RIG_INTERNAL_H
#define SECG_TESTS_RIG_INTERNAL_H

#include "rig.h"

/* One sentence, then the end of the process. */
void rig_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void rig_clear_sessions(struct rig *rig);
void rig_clear_counters(struct rig *rig);
void rig_clear_rule(struct rig *rig, uint32_t number);
void rig_init_policy(struct rig *rig);
/* Forgets watches, records and what was counted for limits. */
void rig_clear_events(struct rig *rig);
void rig_close_events(struct rig *rig);

#endif
