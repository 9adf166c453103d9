/* SPDX-License-Identifier: Apache-2.0 */
/* inet_pton and masks. */
#include "import_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int bits_of(int family)
{
	return family == 4 ? 32 : 128;
}

static void clear_host_bits(uint8_t address[16], unsigned int length)
{
	for (unsigned int i = 0; i < 16; i++) {
		unsigned int kept = length >= 8 * (i + 1) ? 8 : length > 8 * i ? length - 8 * i : 0;

		address[i] &= (uint8_t)(0xff00u >> kept);
	}
}

static bool parse_address(const char *text, int *ret_family, uint8_t address[16])
{
	memset(address, 0, 16);
	*ret_family = strchr(text, ':') ? 6 : 4;
	return inet_pton(*ret_family == 4 ? AF_INET : AF_INET6, text, address) == 1;
}

/* A netmask whose set bits all stand in front. */
static bool parse_netmask(const char *text, int family, unsigned int *ret_length)
{
	uint8_t mask[16], again[16];
	unsigned int length = 0;
	int mask_family;

	if (!parse_address(text, &mask_family, mask) || mask_family != family)
		return false;
	while (length < bits_of(family) && mask[length / 8] & (0x80 >> length % 8))
		length++;
	memcpy(again, mask, sizeof(again));
	clear_host_bits(again, length);
	*ret_length = length;
	return memcmp(mask, again, sizeof(mask)) == 0;
}

static bool parse_length(const char *text, int family, unsigned int *ret_length)
{
	char *end;
	unsigned long length;

	if (text[0] < '0' || text[0] > '9' || strpbrk(text, ".:"))
		return parse_netmask(text, family, ret_length);
	length = strtoul(text, &end, 10);
	if (*end != '\0' || length > bits_of(family))
		return false;
	*ret_length = (unsigned int)length;
	return true;
}

bool import_prefix_parse(const char *text, struct import_prefix *ret_prefix)
{
	char address[INET6_ADDRSTRLEN];
	size_t size = strcspn(text, "/");
	struct import_prefix prefix;

	if (size >= sizeof(address))
		return false;
	memcpy(address, text, size);
	address[size] = '\0';
	if (!parse_address(address, &prefix.family, prefix.address))
		return false;
	prefix.length = bits_of(prefix.family);
	if (text[size] == '/' && !parse_length(text + size + 1, prefix.family, &prefix.length))
		return false;
	*ret_prefix = prefix;
	return true;
}

bool import_prefix_has_host_bits(const struct import_prefix *prefix)
{
	uint8_t address[16];

	memcpy(address, prefix->address, sizeof(address));
	clear_host_bits(address, prefix->length);
	return memcmp(address, prefix->address, sizeof(address)) != 0;
}

void import_prefix_format(const struct import_prefix *prefix, char text[IMPORT_PREFIX_SIZE])
{
	uint8_t address[16];
	char name[INET6_ADDRSTRLEN];

	memcpy(address, prefix->address, sizeof(address));
	clear_host_bits(address, prefix->length);
	inet_ntop(prefix->family == 4 ? AF_INET : AF_INET6, address, name, sizeof(name));
	if (prefix->length == bits_of(prefix->family))
		snprintf(text, IMPORT_PREFIX_SIZE, "%s", name);
	else
		snprintf(text, IMPORT_PREFIX_SIZE, "%s/%u", name, prefix->length);
}

bool import_prefix_covers(const struct import_prefix *outer, const struct import_prefix *inner)
{
	uint8_t a[16], b[16];

	if (outer->family != inner->family || outer->length > inner->length)
		return false;
	memcpy(a, outer->address, sizeof(a));
	memcpy(b, inner->address, sizeof(b));
	clear_host_bits(a, outer->length);
	clear_host_bits(b, outer->length);
	return memcmp(a, b, sizeof(a)) == 0;
}

static bool parse_mac(const char *text, unsigned int mac[6])
{
	int end = 0;

	return sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &mac[0], &mac[1], &mac[2], &mac[3],
		      &mac[4], &mac[5], &end) == 6 &&
	       text[end] == '\0' && strspn(text, "0123456789abcdefABCDEF:") == (size_t)end;
}

static int print_mac(char *text, size_t size, const unsigned int mac[6])
{
	return snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
			mac[4], mac[5]);
}

bool import_mac_format(const char *mac, const char *mask, char text[IMPORT_PREFIX_SIZE])
{
	unsigned int bytes[6], mask_bytes[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	bool is_exact = true;
	int size;

	if (!parse_mac(mac, bytes) || (mask && !parse_mac(mask, mask_bytes)))
		return false;
	for (int i = 0; i < 6; i++) {
		is_exact = is_exact && mask_bytes[i] == 0xff;
		bytes[i] &= mask_bytes[i];
	}
	size = print_mac(text, IMPORT_PREFIX_SIZE, bytes);
	if (!is_exact) {
		text[size] = '/';
		print_mac(text + size + 1, IMPORT_PREFIX_SIZE - (size_t)size - 1, mask_bytes);
	}
	return true;
}
