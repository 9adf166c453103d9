/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lint in the answer to a change.
 */
#ifndef SECG_ENGINE_ADVICE_H
#define SECG_ENGINE_ADVICE_H

#include "engine/engine.h"

/*
 * Fills the warnings of the change's result, whose changes are known: with what concerns the objects
 * that the change touches, or for a dry run with everything in the state that it would make. -ENOMEM.
 */
int advice_give(struct change *change, const struct config *config);

#endif
