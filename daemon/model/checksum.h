/* SPDX-License-Identifier: Apache-2.0 */
/* The Internet checksum (RFC 1071) over bytes as they are on the wire. */
#ifndef SECG_MODEL_CHECKSUM_H
#define SECG_MODEL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Sum of the 16-bit words; may be added to others that cover an even number of bytes, up to 128 KiB. */
static inline uint32_t checksum_add(const uint8_t *bytes, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	return sum;
}

static inline uint16_t checksum_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

#endif
