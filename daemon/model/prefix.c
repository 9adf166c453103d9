/* SPDX-License-Identifier: Apache-2.0 */
/* Text of IP prefixes. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "model/addrset.h"

static addr_t number_from_bytes(const uint8_t *bytes, size_t size)
{
	addr_t number = 0;

	for (size_t i = 0; i < size; i++)
		number = number << 8 | bytes[i];
	return number;
}

static void number_to_bytes(uint8_t *bytes, size_t size, addr_t number)
{
	for (size_t i = size; i-- > 0; number >>= 8)
		bytes[i] = (uint8_t)number;
}

/* Decimal without sign or leading zero, at most `limit`. */
static int length_parse(uint8_t *ret_length, const char *text, unsigned int limit)
{
	unsigned int length = 0;
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 3 || text[digits] || (digits > 1 && text[0] == '0'))
		return -EINVAL;
	for (size_t i = 0; i < digits; i++)
		length = length * 10 + (unsigned int)(text[i] - '0');
	if (length > limit)
		return -EINVAL;
	*ret_length = (uint8_t)length;
	return 0;
}

int prefix_parse(struct prefix *ret_prefix, const char *text)
{
	const char *slash = strchr(text, '/');
	size_t size = slash ? (size_t)(slash - text) : strlen(text);
	char address[INET6_ADDRSTRLEN];
	struct prefix prefix = {0};
	unsigned int width;
	uint8_t bytes[16];
	addr_t host_bits;

	if (size >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, size);
	address[size] = '\0';
	if (inet_pton(AF_INET, address, bytes) == 1)
		prefix.family = 4;
	else if (inet_pton(AF_INET6, address, bytes) == 1)
		prefix.family = 6;
	else
		return -EINVAL;
	width = prefix.family == 4 ? 32 : 128;
	prefix.length = (uint8_t)width;
	if (slash && length_parse(&prefix.length, slash + 1, width) < 0)
		return -EINVAL;
	prefix.address = number_from_bytes(bytes, width / 8);
	/* Shifting a number by its width is undefined, hence the two steps. */
	host_bits =
		prefix.length == width ? 0 : ((addr_t)1 << (width - prefix.length - 1) << 1) - 1;
	if (prefix.address & host_bits) {
		prefix.address &= ~host_bits;
		*ret_prefix = prefix;
		return -EDOM;
	}
	*ret_prefix = prefix;
	return 0;
}

void prefix_format(char *text, const struct prefix *prefix)
{
	unsigned int width = prefix->family == 4 ? 32 : 128;
	char address[INET6_ADDRSTRLEN] = "";
	uint8_t bytes[16];

	number_to_bytes(bytes, width / 8, prefix->address);
	inet_ntop(prefix->family == 4 ? AF_INET : AF_INET6, bytes, address, sizeof(address));
	if (prefix->length == width)
		snprintf(text, PREFIX_STRING_SIZE, "%s", address);
	else
		snprintf(text, PREFIX_STRING_SIZE, "%s/%u", address, (unsigned int)prefix->length);
}
