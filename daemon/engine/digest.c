/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 by libcrypto. */
#include "engine/digest.h"

#include <errno.h>
#include <openssl/evp.h>

void digest_init(struct digest_context *context)
{
	context->evp = EVP_MD_CTX_new();
	context->is_failed = !context->evp || !EVP_DigestInit_ex(context->evp, EVP_sha256(), NULL);
}

void digest_add(struct digest_context *context, const void *bytes, size_t size)
{
	if (!context->is_failed)
		context->is_failed = !EVP_DigestUpdate(context->evp, bytes, size);
}

int digest_finish(struct digest_context *context, struct digest *ret_digest)
{
	struct digest digest;

	if (!context->is_failed)
		context->is_failed = !EVP_DigestFinal_ex(context->evp, digest.bytes, NULL);
	EVP_MD_CTX_free(context->evp);
	if (context->is_failed)
		return -ENOMEM;
	*ret_digest = digest;
	return 0;
}

void digest_format(char text[DIGEST_STRING_SIZE], const struct digest *digest)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < DIGEST_SIZE; i++) {
		text[2 * i] = digits[digest->bytes[i] >> 4];
		text[2 * i + 1] = digits[digest->bytes[i] & 15];
	}
	text[2 * DIGEST_SIZE] = '\0';
}
