/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a packet may be answered at all: never what is itself an answer, never a group, so that two
 * hosts cannot keep each other busy. Pure.
 */
#ifndef SECG_ENGINE_ANSWERABLE_H
#define SECG_ENGINE_ANSWERABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <secg/event.h>

/* `ip` is the network header inside the record, of which `size` bytes are there: a whole fixed header. */
bool answerable(const struct secg_event_reject *record, const uint8_t *ip, size_t size);

#endif
