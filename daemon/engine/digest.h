/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4): tells whether a port's policy is the one under which its sessions were judged,
 * also across restarts. Pure.
 */
#ifndef SECG_ENGINE_DIGEST_H
#define SECG_ENGINE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_SIZE        32
#define DIGEST_STRING_SIZE (2 * DIGEST_SIZE + 1)

struct digest {
	uint8_t bytes[DIGEST_SIZE];
};

struct digest_context {
	struct evp_md_ctx_st *evp; /* owned between init and finish */
	bool is_failed;
};

void digest_init(struct digest_context *context);
void digest_add(struct digest_context *context, const void *bytes, size_t size);
/* Ends what digest_init began. -ENOMEM: one of the steps has failed. */
int digest_finish(struct digest_context *context, struct digest *ret_digest);
/* Lower-case hexadecimal. */
void digest_format(char text[DIGEST_STRING_SIZE], const struct digest *digest);

#endif
