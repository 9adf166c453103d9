/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4): tells whether a port's policy is the one under which its sessions were judged,
 * also across restarts. Pure.
 */
#ifndef SECG_ENGINE_DIGEST_H
#define SECG_ENGINE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_SIZE        32
#define DIGEST_STRING_SIZE (2 * DIGEST_SIZE + 1)

struct digest {
	uint8_t bytes[DIGEST_SIZE];
};

struct digest_context {
	uint32_t state[8];
	uint64_t size; /* bytes so far */
	uint8_t block[64];
};

void digest_init(struct digest_context *context);
void digest_add(struct digest_context *context, const void *bytes, size_t size);
/* The context must be initialised again before its next use. */
void digest_finish(struct digest_context *context, struct digest *ret_digest);
/* Lower-case hexadecimal. */
void digest_format(char text[DIGEST_STRING_SIZE], const struct digest *digest);

#endif
