/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that a bench measures beside those that guard a port: nothing, a bare lookup, and a wrapper
 * that gives each run another flow. A bench ends (exit 2) where the kernel refuses one. Descriptors are
 * the caller's; they live until the process ends.
 */
#ifndef SECG_TESTS_BENCH_PROGRAM_H
#define SECG_TESTS_BENCH_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <secg/flow.h>

#define BENCH_FIRST_PORT 1000 /* source port of flow 0 */

/* What a program of the type answers that lets the packet go on. */
uint32_t bench_pass(bool is_xdp);

int bench_load_empty(bool is_xdp);
/* Writes the source port of the next of `flows` flows into an IPv4 frame without options or tags, then
 * goes on with `target` by a tail call. */
int bench_load_wrapper(bool is_xdp, int flows, int target);
/* An LRU hash of the size of secg_new that holds `flows` keys like `key`, their port[0] the source port. */
int bench_make_lru(const struct secg_flow_key *key, int flows);
/* Makes the key of the next flow; looks it up where `map` is not -1. A miss does not pass. */
int bench_load_lookup(bool is_xdp, const struct secg_flow_key *key, int flows, int map);

#endif
