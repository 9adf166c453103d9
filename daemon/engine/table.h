/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One port as the data path reads it: from what a generation knows of it to struct secg_port. Pure.
 */
#ifndef SECG_ENGINE_TABLE_H
#define SECG_ENGINE_TABLE_H

#include "engine/generation.h"

/* Everything but the lines of policies and counters. */
void table_fill(struct secg_port *ret_table, const struct generation_port *entry,
		double ticks_per_second);
/* What holds where no rule of the direction decides; an audited port refuses nothing. */
enum secg_action table_otherwise(const struct generation_port *entry, int direction);
/* Infrastructure masks alone, for another side. */
void table_set_side(struct secg_port *table, const struct generation_port *entry,
		    enum port_side side);
/* Entry of a port that is being detached. It keeps the timeouts: its sessions stay visible until they are
 * removed. */
void table_release(struct secg_port *ret_table, const struct secg_port *before);
/* Digest of all that a session's verdict hangs on: rules, what holds without a rule, flags. -ENOMEM. */
int table_digest(struct digest *ret_digest, const struct generation_port *entry);

#endif
