/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet in a few words, for lists: "tcp 10.0.0.1:1234 > 10.0.0.2:22 syn". Says what the bytes show
 * and nothing where they show nothing. Pure.
 */
#ifndef CLI_PACKET_TEXT_H
#define CLI_PACKET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `is_raw`: begins with the IP header. The caller frees it. */
char *packet_text(const uint8_t *bytes, size_t size, bool is_raw);

#endif
